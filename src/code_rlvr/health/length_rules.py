"""Rules about the length of responses: longer with the reward, and cut off.

Covered: mean length and the share that is cut.  Not covered: time per step (the report's curves).
"""

from __future__ import annotations

import numpy as np

from code_rlvr.health.finding import Level
from code_rlvr.health.robust import (
    empirical_noise,
    last_stretch,
    least_change,
    rolling_medians,
    score_noise,
    window_width,
)
from code_rlvr.health.rule import Rule, Sign
from code_rlvr.health.signals import CUT_OFF, LENGTH, SCORE, Run
from code_rlvr.health.thresholds import HealthThresholds
from code_rlvr.health.words import number, share, span


def _length_inflation(run: Run, thresholds: HealthThresholds) -> list[Sign]:
    length, score = run.get(LENGTH), run.get(SCORE)
    if length is None or score is None or len(length) < thresholds.patience or len(score) < thresholds.patience:
        return []
    width = max(thresholds.window, min(len(length), len(score)) // 5)  # both change slowly
    start, end = float(np.median(length.values[:width])), float(np.median(length.values[-width:]))
    noise = least_change(empirical_noise(length.values), len(length), width, thresholds)
    before, after = float(np.median(score.values[:width])), float(np.median(score.values[-width:]))
    rise = least_change(score_noise(run, score), len(score), width, thresholds)
    if start <= 0 or end < thresholds.length_growth * start or end - start < noise or after - before < rise:
        return []
    long = rolling_medians(length.values, width) >= start * (1 + (thresholds.length_growth - 1) / 2)
    found = last_stretch(long, 1)
    first, last = int(length.steps[found.start if found else 0]), int(length.steps[-1])
    cut = run.get(CUT_OFF)
    cut_now = float(np.median(cut.values[-width:])) if cut is not None else 0.0
    return [
        Sign(
            Level.DANGER if cut_now >= thresholds.cut_off_high else Level.WARNING,
            f"Responses grew from {start:.0f} to {end:.0f} tokens while the score rose",
            first,
            last,
            length.name,
            f"{length.name} went from {start:.0f} in the first {width} steps to {end:.0f} in the "
            f"last, {end / start:.1f} times as much, {score.name} from {number(before)} to {number(after)}; "
            f"{share(cut_now)} are cut off at the end.",
        )
    ]


def _cut_off(run: Run, thresholds: HealthThresholds) -> list[Sign]:
    signal = run.get(CUT_OFF)
    if signal is None or len(signal) < 2 * thresholds.window:
        return []
    width = window_width(len(signal), thresholds)
    found = last_stretch(rolling_medians(signal.values, width) >= thresholds.cut_off_high, 2 * thresholds.window)
    if found is None or not found.at_end:
        return []
    first, last = int(signal.steps[found.start]), int(signal.steps[-1])
    now = float(np.median(signal.values[-width:]))
    lasting = len(found) >= thresholds.patience
    return [
        Sign(
            Level.DANGER if now >= thresholds.cut_off_danger and lasting else Level.WARNING,
            f"{share(now)} of the responses are cut off",
            first,
            last,
            signal.name,
            f"{signal.name} is above {share(thresholds.cut_off_high)} {span(first, last)}, "
            f"{share(now)} in the last {width} steps.",
        )
    ]


RULES = (
    Rule(
        key="length_inflation",
        title="Longer responses with the reward",
        needs=(LENGTH, SCORE),
        fires="The mean length of the last window is `length_growth` times that of the first, and the score rose "
        "too, both by more than chance explains (`noise_z`). A warning: reasoning may need the room. A danger "
        "where `cut_off_high` of the responses are cut off besides.",
        thresholds=("length_growth", "cut_off_high", "patience", "window", "noise_z"),
        causes=(
            "length is rewarded by accident: a reward of your own, or several programs of which one passes",
            "the model reasons more before it writes code, which may be what solves the problems",
            "comments and repetition, which cost nothing",
        ),
        tries=(
            "read accepted samples of the last steps: is what they added of use?",
            "data.max_response_tokens bounds it; it also bounds the time of a step",
            "a reward of your own (reward.file) that takes something off for length",
        ),
        look=_length_inflation,
        show_samples=True,
    ),
    Rule(
        key="cut_off",
        title="Responses cut off",
        needs=(CUT_OFF,),
        fires="`cut_off_high` of the responses end at the longest length allowed, for the last two windows or "
        "longer. A danger from `cut_off_danger` on, over `patience` steps.",
        thresholds=("cut_off_high", "cut_off_danger", "patience", "window"),
        causes=(
            "responses are allowed too few tokens for the problems, or for the model's way of reasoning",
            "the model does not end its responses: it repeats itself, or the end token is never sampled",
        ),
        tries=(
            "a larger data.max_response_tokens",
            "read cut samples: if they repeat themselves, a lower rollout.temperature, or a lower actor.lr if it began "
            "during training",
            "check that the tokenizer's end token is the one that the chat template uses",
        ),
        look=_cut_off,
    ),
)
