"""Rules about the policy: far from the reference, no entropy left, another model than the one that sampled.

Covered: KL, entropy, agreement of sampler and trainer.  Not covered: losses and gradients (`loss_rules`).
"""

from __future__ import annotations

import numpy as np

from code_rlvr.health.finding import Level
from code_rlvr.health.robust import last_stretch, least_change, rolling_medians, score_noise, window_width
from code_rlvr.health.rule import Rule, Sign
from code_rlvr.health.signals import DISAGREEMENT, ENTROPY, KL, SCORE, Run
from code_rlvr.health.thresholds import HealthThresholds
from code_rlvr.health.words import moved, number, span


def _score_went(run: Run, since: int, thresholds: HealthThresholds) -> int:
    """Whether the score rose (1) or fell (-1) from a step to the end by more than chance explains; else 0."""
    score = run.get(SCORE)
    if score is None or len(score) < 2 * thresholds.window:
        return 0
    width = window_width(len(score), thresholds)
    before, after = moved(score, since, int(score.steps[-width:][0]), width)
    least = least_change(score_noise(run, score), len(score), width, thresholds)
    return 0 if abs(after - before) <= least else 1 if after > before else -1


def _kl_runaway(run: Run, thresholds: HealthThresholds) -> list[Sign]:
    signal = run.get(KL)
    if signal is None or len(signal) < 2 * thresholds.window:
        return []
    medians = rolling_medians(signal.values, thresholds.window)
    earlier = np.interp(signal.steps - thresholds.patience, signal.steps, medians)  # also across missing steps
    grown = (medians >= thresholds.kl_high) & (medians >= thresholds.kl_growth * np.maximum(earlier, 0))
    fast = last_stretch(grown, 1)
    far = last_stretch(medians >= thresholds.kl_far, thresholds.window)
    at = fast or (far if far is not None and far.at_end else None)
    if at is None or (at is fast and medians[-1] < thresholds.kl_high):
        return []
    first, last = int(signal.steps[at.start]), int(signal.steps[-1])
    now, top = float(medians[-1]), float(medians[at.start :].max())
    reached = float(medians[at.start : at.stop].max())
    bad = at is fast and (reached >= thresholds.kl_far or _score_went(run, first, thresholds) < 0)
    how = "ran away, to" if bad else "rose fast, to" if at is fast else "is far:"
    came = (
        f"{number(float(medians[at.start]))} at step {first}, {number(float(earlier[at.start]))} up to "
        f"{thresholds.patience} steps before"
    )
    return [
        Sign(
            Level.DANGER if bad else Level.WARNING,
            f"The KL to the reference {how} {number(now)} nats per token",
            first,
            last,
            signal.name,
            f"The median of {signal.name} over {thresholds.window} steps was {came}; {number(now)} at the end, "
            f"{number(top)} at most.",
        )
    ]


def _entropy_collapse(run: Run, thresholds: HealthThresholds) -> list[Sign]:
    signal = run.get(ENTROPY)
    if signal is None or len(signal) < max(thresholds.patience, 2 * thresholds.window):
        return []
    width = window_width(len(signal), thresholds)
    start = float(np.median(signal.values[: thresholds.window]))
    medians = rolling_medians(signal.values, width)
    gone = last_stretch(medians <= thresholds.entropy_share * start, thresholds.window)
    if start <= 0 or gone is None or not gone.at_end:
        return []
    first, last = int(signal.steps[gone.start]), int(signal.steps[-1])
    score = run.get(SCORE)
    low, high = run.score_range()
    place = (float(np.median(score.values[-width:])) - low) / (high - low) if score is not None else 0.0
    if place >= thresholds.solved_score:
        return []
    rising = _score_went(run, first, thresholds) > 0
    return [
        Sign(
            Level.WARNING if rising else Level.DANGER,
            f"The entropy collapsed from {number(start)} to {number(float(medians[-1]))}",
            first,
            last,
            signal.name,
            f"{signal.name} began at {number(start)} nats per token and is below {thresholds.entropy_share:.0%} of "
            f"that {span(first, last)}, {number(float(medians[-1]))} at the end"
            + (f", at {place:.0%} of the best score." if score is not None else ".")
            + (" The score still rises." if rising else ""),
        )
    ]


def _disagreement(run: Run, thresholds: HealthThresholds) -> list[Sign]:
    signal = run.get(DISAGREEMENT)
    if signal is None or len(signal) < thresholds.window:
        return []
    valid = run.one("training/rollout_probs_diff_valid")
    if len(valid) and float(np.median(valid.values)) < 1:
        return []
    medians = rolling_medians(signal.values, thresholds.window)
    found = last_stretch(medians >= thresholds.disagreement_high, thresholds.window)
    if found is None:
        return []
    first, last = int(signal.steps[found.start]), int(signal.steps[found.stop - 1])
    top = float(medians[found.start : found.stop].max())
    kl = run.one("rollout_corr/k3_kl").between(first, last)
    return [
        Sign(
            Level.DANGER if top >= thresholds.disagreement_danger else Level.WARNING,
            f"Sampler and trainer disagree by {number(top)} on the probabilities of tokens",
            first,
            last,
            signal.name,
            f"{signal.name} is above {number(thresholds.disagreement_high)} {span(first, last)}, {number(top)} at most"
            + (f"; the KL between them is {number(float(np.median(kl)))}." if len(kl) else "."),
        )
    ]


RULES = (
    Rule(
        key="kl_runaway",
        title="KL runaway",
        needs=(KL,),
        fires="The KL to the reference, a median of `window` steps, is at least `kl_high` and `kl_growth` times "
        "what it was `patience` steps before, and stays high; or it is above `kl_far` at the end, however it "
        "came there. A warning; a danger where it reached `kl_far`, or the score fell since.",
        thresholds=("kl_high", "kl_growth", "kl_far", "patience", "window", "noise_z"),
        causes=(
            "updates too large: the learning rate is too high for this model and batch",
            "the KL penalty is too weak to hold the policy",
            "the policy runs after a reward that can be had without solving problems",
        ),
        tries=(
            "a lower actor.lr, by half or more; a longer actor.lr_warmup_steps where it began at once",
            "a higher algorithm.kl_coef",
            "fewer updates for each batch (a larger actor.mini_batch), a smaller actor.clip_ratio",
            "read samples of these steps",
        ),
        look=_kl_runaway,
    ),
    Rule(
        key="entropy_collapse",
        title="Entropy collapse",
        needs=(ENTROPY,),
        fires="The entropy stays at or below `entropy_share` of its first value, while the score is below "
        "`solved_score`. A danger, or a warning while the score still rises by more than chance explains "
        "(`noise_z`).",
        thresholds=("entropy_share", "solved_score", "patience", "window", "noise_z"),
        causes=(
            "updates too large, or too many for each batch: the first programs that passed crowd out all others",
            "samples are drawn at a low temperature",
            "too few problems, learned by heart",
        ),
        tries=(
            "actor.entropy_coeff above 0, e.g. 0.001",
            "a lower actor.lr, a higher algorithm.kl_coef",
            "rollout.temperature=1.0, if it is lower; more samples a prompt (rollout.samples_per_prompt)",
            "more problems (data.train_file)",
        ),
        look=_entropy_collapse,
    ),
    Rule(
        key="sampler_disagrees",
        title="Sampler and trainer disagree",
        needs=(DISAGREEMENT,),
        fires="The mean distance between a token's probability in the sampler and in the trainer is above "
        "`disagreement_high`, as a median over `window` steps. A danger from `disagreement_danger` on.",
        thresholds=("disagreement_high", "disagreement_danger", "window"),
        causes=(
            "the sampler has other weights than the trainer: an update was not copied, or adapters were not applied",
            "other arithmetic: quantised weights, another attention kernel, other precision",
            "other sampling settings than the trainer assumes: a temperature, a penalty",
        ),
        tries=(
            "rollout.temperature alone decides how samples are drawn: drop words for verl that change top_p, top_k or "
            "penalties",
            "rollout.cuda_graphs=false, rollout.tensor_parallel=1, to see whether it is the engine",
            "actor.lora_rank=0, to see whether it is the adapters",
            "the versions that `code-rlvr doctor` names as tried",
        ),
        look=_disagreement,
    ),
)
