"""Medians over windows, and how far chance alone would move them.

Covered: pure functions of arrays.  Not covered: which signal is compared with what (the rules).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from code_rlvr.health.signals import Run, Signal
from code_rlvr.health.thresholds import HealthThresholds
from code_rlvr.smoothing import Floats

WIDEST = 50
"""Points that a window has at most."""
MAD_TO_SIGMA = 1.4826
"""Standard deviation of normal values by the median of their absolute deviations."""
MEDIAN_TO_MEAN = 1.2533
"""Standard error of a median by that of a mean, for normal values: the root of π/2."""


@dataclass(frozen=True)
class Stretch:
    """Neighbouring points, by index.

    Args:
        start: First point.
        stop: One past the last.
        at_end: Whether the last point of the run is one of them.
    """

    start: int
    stop: int
    at_end: bool

    def __len__(self) -> int:
        return self.stop - self.start


def window_width(points: int, thresholds: HealthThresholds) -> int:
    """Return how many points a median is taken over."""
    return max(thresholds.window, min(points // 20, WIDEST))


def rolling_medians(values: Floats, width: int) -> Floats:
    """Return the median of the window around each point; near an end, of the window at that end.

    A smaller window there would let one wild step at the end of a run pass for the run's state.

    Args:
        values: Shape [points], at least one.
        width: Points of a window; an even one counts as the next odd one.

    Returns:
        Shape [points].
    """
    half = width // 2
    if len(values) <= 2 * half:
        return np.full(len(values), float(np.median(values)))
    return np.pad(np.median(sliding_window_view(values, 2 * half + 1), axis=1), half, mode="edge")


def stretches(mask: np.ndarray) -> list[Stretch]:
    """Return where a mask, shape [points], holds without a break, in order."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]]).astype(np.int8)))
    return [Stretch(int(a), int(b), int(b) == len(mask)) for a, b in zip(edges[::2], edges[1::2], strict=True)]


def last_stretch(mask: np.ndarray, points: int) -> Stretch | None:
    """Return the last stretch that is at least so long, or None."""
    return next((one for one in reversed(stretches(mask)) if len(one) >= points), None)


def empirical_noise(values: Floats) -> float:
    """Return the standard deviation of single points about a smooth curve.

    From second differences, in which a trend cancels: their variance is six times that of a point.

    Args:
        values: Shape [points]; fewer than 4 tell nothing, and give 0.
    """
    if len(values) < 4:
        return 0.0
    return MAD_TO_SIGMA * float(np.median(np.abs(np.diff(values, 2)))) / math.sqrt(6)


def score_noise(run: Run, signal: Signal) -> float:
    """Return the standard deviation of one step's mean score.

    The larger of what the curve shows and of what n independent samples in a range could have at most,
    √((hi - mean)(mean - lo)/n) (Bhatia and Davis 2000, American Mathematical
    Monthly 107, 353-357).
    """
    samples = run.samples(signal.steps)
    seen = empirical_noise(signal.values)
    if samples is None or not len(signal):
        return seen
    low, high = run.score_range()
    mean = float(np.clip(np.median(signal.values), low, high))
    return max(seen, math.sqrt((high - mean) * (mean - low) / max(1.0, float(np.median(samples)))))


def least_change(noise: float, points: int, width: int, thresholds: HealthThresholds) -> float:
    """Return by how much two windows have to differ for chance not to be the reason.

    `noise_z` standard errors of a difference of medians, and more where many windows are compared: the largest of m
    normal values is about √(2 ln m).
    """
    z = math.sqrt(thresholds.noise_z**2 + 2 * math.log(max(1.0, points / width)))
    return z * noise * MEDIAN_TO_MEAN * math.sqrt(2 / width)
