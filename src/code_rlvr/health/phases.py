"""The phases of a run: the form is learned, then programs, and then little more.

Covered: finding them in smoothed curves.  Not covered: drawing them (the report).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from code_rlvr.health.robust import MEDIAN_TO_MEAN, empirical_noise, least_change, score_noise, window_width
from code_rlvr.health.signals import FORMAT, SCORE, Run, Signal
from code_rlvr.health.thresholds import HealthThresholds
from code_rlvr.health.words import number, share
from code_rlvr.runs import StepMetrics
from code_rlvr.smoothing import MAX_POINTS, Floats, Points, smooth, smoothing_width, thin_out

THRESHOLDS = ("window", "noise_z", "phase_rise", "phase_done", "phase_flat_steps")
"""The thresholds that phases depend on."""


@dataclass(frozen=True)
class Phase:
    """A stretch of a run.

    Args:
        name: ``format``, ``writing`` or ``diminishing returns``.
        first_step: First training step.
        last_step: Last training step of it.
        why: What in the curves says so, in words.
    """

    name: str
    first_step: int
    last_step: int
    why: str


@dataclass(frozen=True)
class _Rise:
    """A smoothed curve that rises.

    Args:
        steps, values: The smoothed curve, both of shape [points].
        begun, done: Index where a tenth, and where nearly all of the rise is behind it.
    """

    steps: Floats
    values: Floats
    begun: int
    done: int

    @property
    def pace(self) -> float:
        """Rise per step between the two."""
        taken = max(1.0, self.steps[self.done] - self.steps[self.begun])
        return float(self.values[self.done] - self.values[self.begun]) / float(taken)

    def value_at(self, step: float) -> float:
        return float(np.interp(step, self.steps, self.values))


def find_phases(steps: Sequence[StepMetrics], thresholds: HealthThresholds) -> list[Phase]:
    """Find the phases of a run.

    Args:
        steps: Metrics of the run.
        thresholds: What a rise is, and when it is over.

    Returns:
        In order, without overlap; a run may lack any of them, or have none.
    """
    run = Run(steps)
    form, score = run.get(FORMAT), run.get(SCORE)
    phases: list[Phase] = []
    if form is not None and (rise := _find_rise(form, empirical_noise(form.values), 1.0, thresholds)):
        first, last = int(form.steps[0]), int(rise.steps[rise.done])
        ends = share(float(rise.values[0])), share(float(rise.values[rise.done]))
        phases.append(
            Phase("format", first, last, f"The share with a closed code block rose from {ends[0]} to {ends[1]}.")
        )
    if score is None:
        return phases
    low, high = run.score_range()
    rise = _find_rise(score, score_noise(run, score), high - low, thresholds)
    if rise is None:
        return phases
    formed = phases[0].last_step if phases else 0
    writing = _writing(rise, formed + 1, thresholds.phase_rise * (high - low) / 2)
    flat = _diminishing(run, score, rise, max(formed, rise.steps[rise.done]), thresholds)
    return [*phases, *filter(None, (writing, flat))]


def _find_rise(signal: Signal, noise: float, span: float, thresholds: HealthThresholds) -> _Rise | None:
    """The rise from the first values to the highest, if it is more than `phase_rise` of a range and than chance."""
    if len(signal) < 2 * thresholds.window:
        return None
    points = thin_out(Points(signal.steps.astype(float), signal.values), math.ceil(len(signal) / MAX_POINTS))
    values = smooth(points, smoothing_width(len(points.values)))
    first, top = float(values[0]), float(values.max())
    width = window_width(len(signal), thresholds)
    if top - first < max(thresholds.phase_rise * span, least_change(noise, len(signal), width, thresholds)):
        return None
    begun = int(np.argmax(values >= first + (1 - thresholds.phase_done) * (top - first)))
    done = int(np.argmax(values >= first + thresholds.phase_done * (top - first)))
    return _Rise(points.steps, values, begun, done)


def _writing(rise: _Rise, earliest: int, least: float) -> Phase | None:
    """From where the score rises, and the form is there, to where nearly all of its rise is behind it."""
    first, last = max(earliest, int(rise.steps[rise.begun])), int(rise.steps[rise.done])
    ends = rise.value_at(first), rise.value_at(last)
    if first >= last or ends[1] - ends[0] < least:
        return None  # all of the rise came with the form
    return Phase("writing", first, last, f"The score rose from {number(ends[0])} to {number(ends[1])}.")


def _diminishing(run: Run, score: Signal, rise: _Rise, after: float, thresholds: HealthThresholds) -> Phase | None:
    """The end of the run, after a step, if it rises less than half as fast as before and does not fall.

    It has to be so long that chance would not hide a rise that went on.
    """
    start = score.index_at(after) + 1
    rest = score.values[start:]
    half = len(rest) // 2
    if len(rest) < max(2 * thresholds.window, thresholds.phase_flat_steps * len(score)):
        return None
    early, late = float(np.median(rest[:half])), float(np.median(rest[half:]))
    apart = float(np.mean(score.steps[start + half :]) - np.mean(score.steps[start : start + half]))
    expected = rise.pace * apart
    error = score_noise(run, score) * MEDIAN_TO_MEAN * math.sqrt(2 / half)
    if expected < 2 * error or not -max(expected / 2, 3 * error) < late - early < expected / 2:
        return None
    why = f"The score had a median of {number(early)} in the first half of it and of {number(late)} in the second."
    return Phase("diminishing returns", int(score.steps[start]), int(score.steps[-1]), why)
