"""Rules about the level of the training score: stuck at zero, collapsed.

Covered: levels.  Not covered: sudden rises (`jump_rules`), what the score is made of (`reward_rules`), held-out
problems (`held_out_rules`).
"""

from __future__ import annotations

import numpy as np

from code_rlvr.health.finding import Level
from code_rlvr.health.robust import (
    last_stretch,
    least_change,
    rolling_medians,
    score_noise,
    window_width,
)
from code_rlvr.health.rule import Rule, Sign
from code_rlvr.health.signals import FORMAT, PASSED, SCORE, Run
from code_rlvr.health.thresholds import HealthThresholds
from code_rlvr.health.words import number, span

SURE_SAMPLES = 300
"""With so many samples and no success, the rate is below 1% (the rule of three: 3/n at 95%)."""


def _stuck_at_zero(run: Run, thresholds: HealthThresholds) -> list[Sign]:
    signal = run.get(PASSED)
    if signal is None:
        return []
    low = np.abs(rolling_medians(signal.values, thresholds.window)) <= thresholds.stuck_score
    form = run.get(FORMAT)
    formless = form is not None and not form.values.any()
    stuck = last_stretch(low, thresholds.window if formless else thresholds.patience)
    if stuck is None or not stuck.at_end:
        return []
    values = signal.values[stuck.start :]
    if abs(values.mean()) > thresholds.stuck_score:
        return []
    first, last = int(signal.steps[stuck.start]), int(signal.steps[-1])
    samples = run.samples(signal.steps[stuck.start :])
    total = int(samples.sum()) if samples is not None else None
    of = f" of {total:,} samples" if total else ""
    return [
        Sign(
            Level.WARNING if total is not None and total < SURE_SAMPLES else Level.DANGER,
            f"Nothing has been earned since step {first}" if first > 1 else "Nothing has been earned so far",
            first,
            last,
            signal.name,
            f"{signal.name} has a mean of {number(float(values.mean()))} and a highest value of "
            f"{number(float(values.max()))} {span(first, last)}{of}"
            + (", of which none had a closed code block." if formless else "."),
        )
    ]


def _collapsed(run: Run, thresholds: HealthThresholds) -> list[Sign]:
    signal = run.get(SCORE)
    if signal is None:
        return []
    width = window_width(len(signal), thresholds)
    if len(signal) < max(thresholds.patience, width + 2):
        return []
    low, high = run.score_range()
    medians = rolling_medians(signal.values, width)[width // 2 : len(signal) - width // 2]
    best = int(medians.argmax()) + width // 2
    top, now = float(medians.max()), float(np.median(signal.values[-width:]))
    enough = max(
        thresholds.collapse_fall * (high - low),
        least_change(score_noise(run, signal), len(signal), width, thresholds),
    )
    if top - now < enough or now - low > thresholds.collapse_share * (top - low):
        return []
    first, last = int(signal.steps[best]), int(signal.steps[-1])
    return [
        Sign(
            Level.DANGER,
            f"The score fell from {number(top)} to {number(now)}",
            first,
            last,
            signal.name,
            f"The median of {signal.name} over {width} steps was best around step {first}, {number(top)}, and is "
            f"{number(now)} at the end, step {last}.",
        )
    ]


RULES = (
    Rule(
        key="stuck_at_zero",
        title="Stuck at zero",
        needs=(PASSED,),
        fires="The pass rate (or the score) is at most `stuck_score` for the last `patience` steps or longer; "
        "`window` steps are enough where no response of the run has had a closed code block. A danger from "
        f"{SURE_SAMPLES} samples on, a warning below.",
        thresholds=("stuck_score", "patience", "window"),
        causes=(
            "the problems are too hard for the model: no sample passes, so there is nothing to learn from",
            "the tests or the prompt do not fit the problems: even a right program fails",
            "responses are cut off, or have no code that can be found",
        ),
        tries=(
            "read a few responses and their verdicts; run `code-rlvr audit` on the data",
            "train on easier problems (data.train_file) or start from a stronger model (model)",
            "reward.policy=pass_rate in place of binary, so that half a solution earns something",
            "more samples a prompt (rollout.samples_per_prompt), longer ones (data.max_response_tokens), and time for "
            "the tests (reward.time_limit_s)",
        ),
        look=_stuck_at_zero,
    ),
    Rule(
        key="score_collapsed",
        title="The score collapsed",
        needs=(SCORE,),
        fires="The last window's median is at most `collapse_share` of the best window's, `collapse_fall` lower, "
        "and lower by more than chance explains (`noise_z`). A danger.",
        thresholds=("collapse_share", "collapse_fall", "window", "patience", "noise_z"),
        causes=(
            "updates too large: the policy has left the region where its samples are sensible",
            "the critic is wrong, so that good samples are punished",
            "judging has changed: an overloaded judge, another time limit",
        ),
        tries=(
            "merge the checkpoint with the best validation (`code-rlvr merge runs/NAME --step best`) and train on from "
            "it (model)",
            "a lower actor.lr, a smaller actor.clip_ratio, a higher algorithm.kl_coef",
            "larger batches (trainer.batch), so that each update is less noisy",
            "look at the shares of verdicts: time limits point to the judge (reward.workers, reward.time_limit_s)",
        ),
        look=_collapsed,
    ),
)
