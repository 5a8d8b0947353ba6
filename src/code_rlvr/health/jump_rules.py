"""The rule about a sudden jump of the score, the sign of a reward that is earned without solving problems.

A jump is told from fast learning in three ways: it is larger than the rise of the windows beside it, it does not lie
across missing steps, and two levels fit it better than a straight line does.

Covered: finding jumps, and what moved with them.  Not covered: whether the programs are honest; samples decide that.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from code_rlvr.health.finding import Level
from code_rlvr.health.robust import MEDIAN_TO_MEAN, Stretch, least_change, score_noise, stretches
from code_rlvr.health.rule import Rule, Sign
from code_rlvr.health.signals import FORMAT, LENGTH, SCORE, Run, Signal
from code_rlvr.health.thresholds import HealthThresholds
from code_rlvr.health.words import moved, number, share
from code_rlvr.smoothing import Floats


def _sudden_jump(run: Run, thresholds: HealthThresholds) -> list[Sign]:
    signal = run.get(SCORE)
    if signal is None or len(signal) < 3 * thresholds.window:
        return []
    fits = {}
    for stretch in stretches(_outstanding(run, signal, thresholds)):
        at, fit = _best_step(signal.values, stretch, thresholds.window)
        if fit < thresholds.jump_fit:
            fits[at] = fit
    return [_jump_sign(run, signal, at, fit, thresholds) for at, fit in fits.items()]


def _best_step(scores: Floats, around: Stretch, width: int) -> tuple[int, float]:
    """The point, at most half a window from a stretch, from which on a second level fits best; and how well."""
    first, last = max(2 * width, around.start - width // 2), min(len(scores) - width, around.stop - 1 + width // 2)
    fits = {at: _step_fit(scores, at, width) for at in range(first, last + 1)}
    best = min(fits, key=lambda at: fits[at])
    return best, fits[best]


def _outstanding(run: Run, signal: Signal, thresholds: HealthThresholds) -> np.ndarray:
    """Where the rise from the window before a point to the window that it begins is large, shape [points]."""
    width = thresholds.window
    medians = np.median(sliding_window_view(signal.values, width), axis=1)
    rises = np.zeros(len(signal))
    rises[width : len(signal) - width + 1] = medians[width:] - medians[:-width]
    noise = score_noise(run, signal)
    beside = np.maximum(_shifted(rises, width), _shifted(rises, -width)) + noise * MEDIAN_TO_MEAN * math.sqrt(2 / width)
    low, high = run.score_range()
    enough = max(thresholds.jump_rise * (high - low), least_change(noise, len(signal), width, thresholds))
    found: np.ndarray = (rises >= enough) & (rises >= thresholds.jump_ratio * beside)
    found &= _without_gaps(signal, width)
    found[: 2 * width] = False  # the first steps have no steady learning before them to compare with
    return found


def _without_gaps(signal: Signal, width: int) -> np.ndarray:
    """Where the window before a point and the one that it begins take at most twice the usual steps, shape [points]."""
    taken = np.zeros(len(signal))
    taken[width : len(signal) - width + 1] = signal.steps[2 * width - 1 :] - signal.steps[: 1 - 2 * width]
    within: np.ndarray = taken <= 2 * (2 * width - 1) * np.median(np.diff(signal.steps))
    return within


def _shifted(rises: Floats, by: int) -> Floats:
    """The rises so many points earlier, or later if negative; 0 where the run has none."""
    shifted = np.zeros_like(rises)
    if by > 0:
        shifted[by:] = rises[:-by]
    else:
        shifted[:by] = rises[-by:]
    return shifted


def _step_fit(scores: Floats, index: int, width: int) -> float:
    """Squared errors of two levels, the second from a point on, as a share of a line's; two windows on each side."""
    before, after = scores[index - 2 * width : index], scores[index : index + 2 * width]
    values = np.concatenate([before, after])
    at = np.arange(len(values))
    line = np.polyval(np.polyfit(at, values, 1), at)
    levels = np.concatenate([np.full(len(before), before.mean()), np.full(len(after), after.mean())])
    return float(((values - levels) ** 2).sum() / max(((values - line) ** 2).sum(), 1e-12))


def _jump_sign(run: Run, signal: Signal, at: int, fit: float, thresholds: HealthThresholds) -> Sign:
    width = thresholds.window
    before, after = (
        float(np.median(part)) for part in (signal.values[at - width : at], signal.values[at : at + width])
    )
    first, last = int(signal.steps[at]), int(signal.steps[min(at + width, len(signal)) - 1])
    evidence = [
        f"The median of {signal.name} over {width} steps went from {number(before)} before step {first} to "
        f"{number(after)} from there on."
    ]
    level = Level.DANGER if fit < thresholds.jump_sure else Level.WARNING
    form, length = run.get(FORMAT), run.get(LENGTH)
    if form is not None:
        then, now = moved(form, first - 1, first, width)
        if now - then >= (after - before) / 2:
            level = Level.WARNING
            evidence.append(
                f"The share with a closed code block rose with it, from {share(then)} to {share(now)}, which may "
                "explain it."
            )
    if length is not None:
        then, now = moved(length, first - 1, first, width)
        evidence.append(f"Responses had {then:.0f} tokens before and {now:.0f} after.")
    title = f"The score jumped from {number(before)} to {number(after)} at step {first}"
    return Sign(level, title, first, last, signal.name, " ".join(evidence))


RULES = (
    Rule(
        key="sudden_jump",
        title="A sudden jump of the score",
        needs=(SCORE,),
        fires="The median of `window` steps is higher than that of the `window` steps before by `jump_rise`, by "
        "more than chance explains (`noise_z`), and by `jump_ratio` times the rise of the windows beside it; "
        "and two levels fit better than a line (`jump_fit`). A danger where they fit much better "
        "(`jump_sure`), unless the share of closed code blocks rose by half as much.",
        thresholds=("window", "jump_rise", "jump_ratio", "jump_fit", "jump_sure", "noise_z"),
        causes=(
            "the model has found something that earns reward without solving problems: weak tests, a constant answer, "
            "output that the comparison lets pass",
            "it has learned a form that its programs were failing for",
            "other problems from here on: a new pass over the data, a resumed run with other data",
        ),
        tries=(
            "read accepted samples of these steps: do they solve the problems?",
            "if not: more and stricter tests (`code-rlvr audit` finds the weak ones; reward.max_tests unset runs all), "
            "and train on from a checkpoint before the jump (`code-rlvr merge runs/NAME --step N`)",
            "compare with held-out problems whose tests are stricter (data.validation_file)",
        ),
        look=_sudden_jump,
        show_samples=True,
    ),
)
