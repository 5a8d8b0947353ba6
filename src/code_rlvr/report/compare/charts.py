"""The charts of a comparison, with what the page says about each.

Covered: which metrics, their words, which runs lack them.  Not covered: drawing (`drawing`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from code_rlvr.health.signals import HELD_OUT_KEYS
from code_rlvr.report.catalogue import describe
from code_rlvr.report.chart import Chart, unit_and_direction
from code_rlvr.report.chart_specs import ChartSpec
from code_rlvr.report.charts import SHARE_BOUNDS
from code_rlvr.report.compare.drawing import PointStyle, RunLine, draw_runs
from code_rlvr.report.curves import comfortable_bounds, pick_curve
from code_rlvr.report.main_metrics import choose_metrics
from code_rlvr.report.numbers_as_text import format_number
from code_rlvr.report.run_state import RunState
from code_rlvr.report.visible import make_visible

MAX_RUNS_WITH_POINTS = 3
"""Runs up to which single steps are drawn beside the smoothed lines."""
MAX_VALIDATION_CHARTS = 6
"""Data sources of validation that have a chart."""


def make_run_charts(states: Sequence[RunState]) -> list[Chart]:
    """Draw the metrics that some run logged, validation first."""
    charts = []
    for source, (name, lines) in list(_validation_lines(states).items())[:MAX_VALIDATION_CHARTS]:
        spec = ChartSpec((name,), f"Validation: {make_visible(source, 60)}", full_scale=True)
        charts.append(_chart(states, spec, lines, PointStyle.MARK))
    points = PointStyle.FAINT if len(states) <= MAX_RUNS_WITH_POINTS else PointStyle.NONE
    for spec in choose_metrics([state.logged for state in states]):
        curves = [(number, state.name, state.curve(spec.name)) for number, state in enumerate(states)]
        lines = [RunLine(number, name, one.points, one.smooth) for number, name, one in curves if len(one.points.steps)]
        if lines:
            charts.append(_chart(states, spec, lines, points))
    return charts


def undrawn_sources(states: Sequence[RunState]) -> list[str]:
    """Data sources whose validation has no chart, because there are too many."""
    return [make_visible(source, 60) for source in list(_validation_lines(states))[MAX_VALIDATION_CHARTS:]]


def _validation_lines(states: Sequence[RunState]) -> dict[str, tuple[str, list[RunLine]]]:
    """For each data source, a metric and the runs that have it: the most telling key that some run logged."""
    found: dict[str, tuple[str, list[RunLine]]] = {}
    for key in HELD_OUT_KEYS:
        lines: dict[str, list[RunLine]] = {}
        for number, state in enumerate(states):
            for source, points in pick_curve(state.steps, "", key).validation.items():
                if len(points.steps):
                    lines.setdefault(source, []).append(RunLine(number, state.name, points, points.values))
        for source in sorted(lines):
            found.setdefault(source, (f"val-core/{source}/{key}/mean@1", lines[source]))
    return found


def _chart(states: Sequence[RunState], spec: ChartSpec, lines: list[RunLine], points: PointStyle) -> Chart:
    about = describe(spec.name)
    drawn = {line.number for line in lines}
    absent = [make_visible(state.name, 80) for number, state in enumerate(states) if number not in drawn]
    last_step = float(max(one.step for state in states for one in state.steps))
    words = ", ".join(
        f"{line.name} from {format_number(line.smooth[0])} to {format_number(line.smooth[-1])}" for line in lines
    )
    values = np.concatenate([line.smooth for line in lines])
    bounds = comfortable_bounds(values, robust=spec.robust)
    if spec.full_scale and values.min() >= 0 and values.max() <= 1:
        bounds = SHARE_BOUNDS
    return Chart(
        title=spec.title,
        about=unit_and_direction(about),
        meaning=about.meaning if about else "",
        label=make_visible(f"{spec.title} over training steps: {words}", 1_000),
        plot=draw_runs(lines, last_step, bounds, points),
        note=f"Not logged by {', '.join(absent)}." if absent else "",
    )
