"""Rules about what rewards are made of: form, groups without a signal, samples that were never scored.

Covered: shares of samples and of prompts.  Not covered: the score itself (`score_rules`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from code_rlvr.health.finding import Level
from code_rlvr.health.robust import last_stretch, rolling_medians, window_width
from code_rlvr.health.rule import Rule, Sign
from code_rlvr.health.signals import EXPLAINED, FORMAT, NO_SIGNAL, SCORE, UNJUDGED, Ints, Run
from code_rlvr.health.thresholds import HealthThresholds
from code_rlvr.health.words import share, span
from code_rlvr.smoothing import Floats


@dataclass(frozen=True)
class _LowForm:
    """The share of closed code blocks is low at the end of a run.

    Args:
        steps: The training steps since when it is.
        shares: The share at every step of the run, shape [points].
        now: Its median over the last window.
        best: The highest such median.
        was_learned: Whether it was there once, by more than chance explains.
        words: Steps and values.
    """

    steps: Ints
    shares: Floats
    now: float
    best: float
    was_learned: bool
    words: str

    def sign(self, level: Level, title: str) -> list[Sign]:
        return [Sign(level, title, int(self.steps[0]), int(self.steps[-1]), FORMAT[0], self.words)]


def _low_form(run: Run, thresholds: HealthThresholds) -> _LowForm | None:
    signal = run.get(FORMAT)
    if signal is None or len(signal) < thresholds.patience:
        return None
    width = window_width(len(signal), thresholds)
    medians, noise = rolling_medians(signal.values, width), _share_noise(run, width)
    low = last_stretch(medians + noise < thresholds.format_low, width)
    if low is None or not low.at_end:
        return None
    steps = signal.steps[low.start :]
    now, best = float(np.median(signal.values[-width:])), float(medians.max())
    words = (
        f"{signal.name} is below {share(thresholds.format_low)} {span(int(steps[0]), int(steps[-1]))}: {share(now)} in "
        f"the last {width} steps, {share(best)} at best."
    )
    return _LowForm(steps, signal.values, now, best, best - noise >= thresholds.format_low, words)


def _format_not_learned(run: Run, thresholds: HealthThresholds) -> list[Sign]:
    low = _low_form(run, thresholds)
    if low is None or low.was_learned:
        return []
    level = Level.WARNING if _comes_soon(run, low.shares, thresholds) else Level.DANGER
    return low.sign(level, f"The form is not learned: {share(low.now)} of responses have a code block")


def _format_unlearned(run: Run, thresholds: HealthThresholds) -> list[Sign]:
    low = _low_form(run, thresholds)
    if low is None or not low.was_learned:
        return []
    return low.sign(Level.DANGER, f"Responses lost their code block: {share(low.now)} have one, {share(low.best)} had")


def _comes_soon(run: Run, shares: Floats, thresholds: HealthThresholds) -> bool:
    """Whether the share rises from the second third of the run to the last, fast enough for the same time again."""
    third = len(shares) // 3
    if not third:
        return False
    late = float(np.median(shares[-third:]))
    rise = late - float(np.median(shares[-2 * third : -third]))
    return rise > 2 * _share_noise(run, third) and late + 3 * rise >= thresholds.format_low


def _share_noise(run: Run, width: int) -> float:
    """Two standard errors of a share over a window, at most; a twentieth where the number of samples is not known."""
    samples = run.one("reward/samples").values
    return 0.05 if not len(samples) else 1 / math.sqrt(max(1.0, float(np.median(samples))) * width)


def _no_signal(run: Run, thresholds: HealthThresholds) -> list[Sign]:
    signal = run.get(NO_SIGNAL)
    if signal is None:
        return []
    width = window_width(len(signal), thresholds)
    found = last_stretch(
        rolling_medians(signal.values, width) >= thresholds.no_signal_high, max(width, 2 * thresholds.window)
    )
    if found is None or not found.at_end:
        return []
    first, last = int(signal.steps[found.start]), int(signal.steps[-1])
    now = float(np.median(signal.values[found.start :]))
    score, has_critic = run.get(SCORE), run.get(EXPLAINED) is not None
    low, high = run.score_range()
    place = (float(np.median(score.values[-width:])) - low) / (high - low) if score is not None else math.nan
    if place >= thresholds.solved_score:
        return []
    evidence = f"{signal.name} has a median of {share(now)} {span(first, last)}"
    if score is not None:
        evidence += (
            f", at {share(place)} of the best score: most problems are too {'easy by now' if place > 0.5 else 'hard'}"
        )
    return [
        Sign(
            Level.DANGER if now >= thresholds.no_signal_danger and not has_critic else Level.WARNING,
            f"In {share(now)} of the prompts all samples earn the same",
            first,
            last,
            signal.name,
            evidence + ("; the critic still gives them an advantage." if has_critic else "."),
        )
    ]


def _lost_samples(run: Run, thresholds: HealthThresholds) -> list[Sign]:
    signal = run.get(UNJUDGED)
    if signal is None or not (signal.values > 0).any():
        return []
    lossy = np.flatnonzero(signal.values > 0)
    width = min(len(signal), thresholds.window)
    top = float(signal.values.max())
    worst = float(np.convolve(signal.values, np.ones(width) / width, mode="valid").max())
    first, last = int(signal.steps[lossy[0]]), int(signal.steps[lossy[-1]])
    return [
        Sign(
            Level.DANGER if worst >= thresholds.lost_danger else Level.WARNING,
            f"Samples were never scored in {len(lossy)} of {len(signal)} steps, {top:.1%} of one at most",
            first,
            last,
            signal.name,
            f"{signal.name} is above 0 in {len(lossy)} steps {span(first, last)}: {top:.1%} of a step "
            f"at most, {worst:.1%} over the worst {width} steps.",
        )
    ]


RULES = (
    Rule(
        key="format_not_learned",
        title="Form not learned",
        needs=(FORMAT,),
        fires="The share of closed code blocks is below `format_low` at the end of a run of `patience` steps or "
        "more, by more than chance explains. A danger, or a warning while it still rises fast enough.",
        thresholds=("format_low", "patience", "window"),
        causes=(
            "the prompt does not ask for a code block, or the model's chat template is not applied",
            "responses are cut off before the block is closed",
            "a base model that was never tuned to follow instructions",
        ),
        tries=(
            "read responses: what do they have in place of a code block?",
            "longer responses (data.max_response_tokens), if many are cut off",
            "reward.policy=tiered, which pays for form; reward.format_weight says how much",
            "an instruction-tuned model (model); for a small one of your own, `code-rlvr warmstart`",
        ),
        look=_format_not_learned,
        may_still_come=True,
    ),
    Rule(
        key="format_unlearned",
        title="Form unlearned",
        needs=(FORMAT,),
        fires="The share of closed code blocks is below `format_low` at the end of a run of `patience` steps or "
        "more, and was above it before, both by more than chance explains. A danger.",
        thresholds=("format_low", "patience", "window"),
        causes=(
            "updates too large: the policy has left the region where its samples are sensible",
            "responses have become longer, and are cut off before the block is closed",
            "a reward of your own that does not need the block",
        ),
        tries=(
            "merge a checkpoint before that step (`code-rlvr merge runs/NAME --step N`) and train on from it (model), "
            "with a lower actor.lr or a higher algorithm.kl_coef",
            "read responses: what do they have in place of a code block?",
            "longer responses (data.max_response_tokens), if many are cut off",
            "reward.policy=tiered, which pays for form; reward.format_weight says how much",
        ),
        look=_format_unlearned,
    ),
    Rule(
        key="no_signal_groups",
        title="Groups without a signal",
        needs=(NO_SIGNAL,),
        fires="In `no_signal_high` of the prompts all samples earned the same, for the last window or longer, and for "
        "twice `window` steps at least, while the score is below `solved_score`. A danger from `no_signal_danger` on "
        "where there is no critic.",
        thresholds=("no_signal_high", "no_signal_danger", "solved_score", "window"),
        causes=(
            "problems are too hard: every sample fails",
            "problems are too easy: every sample passes",
            "samples hardly differ: the entropy is gone, or the temperature low",
        ),
        tries=(
            "problems of a difficulty that the model solves now and then (data.train_file)",
            "more samples a prompt (rollout.samples_per_prompt)",
            "reward.policy=pass_rate in place of binary, which tells samples apart more finely",
            "rollout.temperature=1.0, if it is lower",
        ),
        look=_no_signal,
        silent_beside=("stuck_at_zero",),
    ),
    Rule(
        key="lost_samples",
        title="Samples that were never scored",
        needs=(UNJUDGED,),
        fires="Any sample was generated and not scored. A danger from `lost_danger` over a window on.",
        thresholds=("lost_danger", "window"),
        causes=(
            "the judge failed: out of memory, out of processes, a server that cannot be reached",
            "problems whose tests cannot be read",
            "the sampler gave up on prompts",
        ),
        tries=(
            "read the reasons in logs/verl.log of the run",
            "`code-rlvr doctor` on the machine that judges; reward.judge_url, if programs are judged elsewhere",
            "fewer programs at the same time (reward.workers), or more memory for the machine",
        ),
        look=_lost_samples,
        is_fact=True,
    ),
)
