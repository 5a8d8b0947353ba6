"""Smooth a series of values at steps, and make it shorter.

Covered: averages over neighbours, a Gaussian kernel; pure functions of arrays.  Not covered: picking the series out of
a run's metrics, which those do who need it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

MAX_POINTS = 600
"""Points of one curve; longer ones are averaged over neighbouring steps."""


@dataclass(frozen=True)
class Points:
    """Values at steps, in order; both of shape [points]."""

    steps: Floats
    values: Floats


def smoothing_width(points: int) -> float:
    """Standard deviation of the smoothing kernel, in points: a thirtieth of the run."""
    return max(1.0, points / 30)


def thin_out(points: Points, group: int) -> Points:
    """Average over groups of neighbouring points.

    Args:
        points: At least none.
        group: Size of a group; 1 changes nothing.
    """
    if group <= 1:
        return points
    starts = np.arange(0, len(points.values), group)
    sizes = np.diff([*starts, len(points.values)])
    return Points(np.add.reduceat(points.steps, starts) / sizes, np.add.reduceat(points.values, starts) / sizes)


def smooth(points: Points, width: float) -> Floats:
    """Smooth with a Gaussian kernel, which does not lag behind as a running average would.

    Args:
        points: Values at steps, equally spaced or not.
        width: Standard deviation of the kernel, in typical distances between points.

    Returns:
        Smoothed values, shape [points].

    Source: the kernel estimator of Nadaraya 1964 and Watson 1964.
    """
    if len(points.values) < 3:
        return points.values
    scale = width * float(np.median(np.diff(points.steps)))
    weights = np.exp(-0.5 * ((points.steps[:, None] - points.steps[None, :]) / scale) ** 2)
    smoothed: Floats = weights @ points.values / weights.sum(axis=1)
    return smoothed
