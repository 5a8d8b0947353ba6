"""From metrics to what is drawn: curves with a smoothed line, and parts that add up to a whole.

Covered: picking; pure functions.  Not covered: smoothing (`smoothing`), drawing (`charts`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from code_rlvr.report.inputs import is_training
from code_rlvr.runs import StepMetrics
from code_rlvr.smoothing import MAX_POINTS, Floats, Points, smooth, smoothing_width, thin_out

VERDICTS = {
    "accepted": "accepted",
    "wrong_answer": "wrong answer",
    "runtime_error": "runtime error",
    "compile_error": "compile error",
    "no_code": "no code",
    "time_limit": "time limit",
    "memory_limit": "memory limit",
    "output_limit": "output limit",
}
"""Keys of the reward function that are verdicts, in the order in which they are stacked, and their names."""

STAGES = {
    "generate": "generate",
    "old_log_prob": "old log-prob",
    "ref": "reference",
    "values": "values",
    "verify": "verify",
    "update_critic": "update critic",
    "update_actor": "update actor",
    "update_weights": "update weights",
    "other": "other",
}
"""Stages of a step, in order; `other` is what is left of the step: advantages, checkpoints."""


Ends = tuple[float | None, float | None]
"""Averages of the first and of the last tenth of a run; None where no step of the tenth has a number."""


def is_time(name: str) -> bool:
    """Whether a metric is about time, so that a few steps that do more than others would bend its mean."""
    return name.startswith("timing_") or name in ("perf/time_per_step", "perf/throughput")


@dataclass(frozen=True)
class Curve:
    """One metric over the run.

    Args:
        name: The metric.
        points: Its finite values, averaged over `steps_per_point` neighbours.
        smooth: The smoothed line, shape [points].
        validation: The same quantity on validation problems, by data source.
        raw: Its value at each step that could have one, shape [steps]; NaN where there is no number.
    """

    name: str
    points: Points
    smooth: Floats
    validation: dict[str, Points]
    raw: Floats

    @property
    def ends(self) -> Ends | None:
        """Means of the first and the last tenth of the run; None unless there are two steps and a number."""
        return self._ends(np.mean)

    @property
    def median_ends(self) -> Ends | None:
        """Medians likewise: a single long step, such as one that saves a checkpoint, does not move them."""
        return self._ends(np.median)

    @property
    def shown_ends(self) -> Ends | None:
        """Those that a reader is shown: of times the medians, of all else the means."""
        return self.median_ends if is_time(self.name) else self.ends

    @property
    def missing(self) -> int:
        """Steps that could have a number and have none."""
        return int(np.isnan(self.raw).sum())

    def _ends(self, average: Callable[[Floats], np.floating[Any]]) -> Ends | None:
        if len(self.raw) < 2 or np.isnan(self.raw).all():
            return None
        tenth = max(1, len(self.raw) // 10)
        first, last = (part[~np.isnan(part)] for part in (self.raw[:tenth], self.raw[-tenth:]))
        return float(average(first)) if len(first) else None, float(average(last)) if len(last) else None


@dataclass(frozen=True)
class Stack:
    """Parts of a whole over the run.

    Args:
        steps: Shape [points].
        parts: Part to values, each of shape [points], in the order in which they are stacked.
    """

    steps: Floats
    parts: dict[str, Floats]

    @property
    def total(self) -> Floats:
        """The whole, shape [points]."""
        return sum(self.parts.values(), np.zeros_like(self.steps))

    @property
    def comfortable_top(self) -> float:
        """A top of the y axis that suits the usual step; a much longer one, such as the first, is cut off."""
        return float(min(self.total.max(), 3 * np.median(self.total))) * 1.04


def comfortable_bounds(values: Floats, *, robust: bool = False) -> tuple[float, float]:
    """Ends of a y axis that suit the values: it starts at 0 unless some are below.

    Args:
        values: At least one.
        robust: Leave out what is far off the middle nine tenths, such as a spike that would flatten the rest.
    """
    low, high = float(values.min()), float(values.max())
    if robust:
        inner_low, inner_high = (float(value) for value in np.quantile(values, (0.05, 0.95)))
        reach = 1.5 * (inner_high - inner_low)
        low, high = max(low, inner_low - reach), min(high, inner_high + reach)
    low, high = min(low, 0.0), max(high, 0.0)
    space = 0.08 * (high - low) or 0.08
    return (low - space if low < 0 else 0.0), high + space


def steps_per_point(steps: Sequence[StepMetrics]) -> int:
    """How many neighbouring steps one drawn point stands for."""
    return max(1, math.ceil(len(steps) / MAX_POINTS))


def pick_curve(steps: Sequence[StepMetrics], name: str, validation_key: str | None = None) -> Curve:
    """Take one metric out of the run.

    Args:
        steps: The run's metrics.
        name: The metric.
        validation_key: Key of the reward function under which validation logs the same quantity.
    """
    points = thin_out(_pick(steps, name), steps_per_point(steps))
    validation = _pick_validation(steps, validation_key) if validation_key else {}
    return Curve(name, points, smooth(points, smoothing_width(len(points.values))), validation, _raw(steps, name))


def pick_first(steps: Sequence[StepMetrics], names: Sequence[str], validation_key: str | None = None) -> Curve:
    """Take a quantity out of the run under the first of its names that has values, or else under the first.

    Args:
        steps, validation_key: As for `pick_curve`.
        names: At least one.
    """
    logged = (name for name in names if len(_pick(steps, name).steps))
    return pick_curve(steps, next(logged, names[0]), validation_key)


def validation_pattern(key: str) -> re.Pattern[str]:
    """Return the pattern of the names under which validation logs a key of the reward function, by ``source``."""
    return re.compile(rf"val-(?:core|aux)/(?P<source>.+)/{re.escape(key)}/mean@\d+")


def _raw(steps: Sequence[StepMetrics], name: str) -> Floats:
    """The metric at each training step, or at each validation if validation logs it; NaN where it is no number."""
    if name.startswith("val-") or name == "timing_s/testing":
        rows = [one.data for one in steps if any(key.startswith("val-") for key in one.data)]
    else:
        rows = [one.data for one in steps if is_training(one)]
    values = np.array([row.get(name, math.nan) for row in rows], float)
    return np.where(np.isfinite(values), values, math.nan)


def _pick(steps: Sequence[StepMetrics], name: str) -> Points:
    found = [(one.step, one.data[name]) for one in steps if math.isfinite(one.data.get(name, math.nan))]
    return Points(np.array([step for step, _ in found], float), np.array([value for _, value in found], float))


def _pick_validation(steps: Sequence[StepMetrics], key: str) -> dict[str, Points]:
    pattern = validation_pattern(key)
    names = {match["source"]: name for one in steps for name in one.data if (match := pattern.fullmatch(name))}
    return {source: _pick(steps, name) for source, name in sorted(names.items())}


def verdict_shares(steps: Sequence[StepMetrics]) -> Stack:
    """Shares of the verdicts among a step's samples; they add up to 1."""
    return _stack(
        [(one.step, [one.data.get(f"reward/{key}", 0.0) for key in VERDICTS]) for one in steps if _judged(one)],
        list(VERDICTS),
        steps_per_point(steps),
    )


def _judged(metrics: StepMetrics) -> bool:
    return "reward/accepted" in metrics.data


def time_split(steps: Sequence[StepMetrics]) -> Stack:
    """Seconds of a step's stages; they add up to the step's time.

    `verify` is the wait for verdicts after the models' passes; a run that judges before these has it in `generate`.
    """
    rows = [(one.step, _stage_seconds(one.data)) for one in steps if "timing_s/step" in one.data]
    return _stack(rows, list(STAGES), steps_per_point(steps))


def mean_stages(steps: Sequence[StepMetrics]) -> dict[str, dict[str, float]]:
    """Return mean seconds of each stage of a step, and its share of the step; empty if no times were logged."""
    stack = time_split(steps)
    whole = float(stack.total.mean()) if len(stack.steps) else 0.0
    if not whole:
        return {}
    means = {stage: float(seconds.mean()) for stage, seconds in stack.parts.items()}
    return {stage: {"mean_s": seconds, "share": seconds / whole} for stage, seconds in means.items()}


def _stage_seconds(timings: dict[str, float]) -> list[float]:
    seconds = {stage: timings.get(f"timing_s/{stage}", 0.0) for stage in STAGES}
    seconds["generate"] = timings.get("timing_s/gen", 0.0)
    seconds["other"] = max(0.0, timings["timing_s/step"] - sum(seconds.values()))
    return list(seconds.values())


def _stack(rows: list[tuple[int, list[float]]], parts: list[str], group: int) -> Stack:
    """Put rows of parts together; parts that never occur are left out."""
    sound = [(step, values) for step, values in rows if all(map(math.isfinite, values))]
    steps = np.array([step for step, _ in sound], float)
    table = np.array([values for _, values in sound], float).reshape(len(sound), len(parts))
    columns = [thin_out(Points(steps, column), group) for column in table.T]
    kept = {part: column.values for part, column in zip(parts, columns, strict=True) if column.values.any()}
    return Stack(columns[0].steps, kept)
