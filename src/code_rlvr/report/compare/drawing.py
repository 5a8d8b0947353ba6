"""Drawing several runs on the same axes.

Covered: smoothed curves of training, points of validation, one tip for all runs at a step.  Not covered: which
metrics, and what the page says about them (`charts`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np
from bokeh.models import ColumnDataSource, HoverTool
from bokeh.plotting import figure

from code_rlvr.report.charts import TipRow, curve_figure, make_tip
from code_rlvr.report.compare.run_styles import RUN_STYLES, RunStyle
from code_rlvr.report.numbers_as_text import format_number
from code_rlvr.report.visible import make_visible
from code_rlvr.smoothing import Floats, Points

MAX_TIPS = 200
"""Places along the x axis that have a tip."""


class PointStyle(Enum):
    """How single points are drawn: their size in pixels and their opacity."""

    MARK = (7, 1.0)
    """Each counts, as in validation."""
    FAINT = (3, 0.22)
    """Steps of training, behind the smoothed line."""
    NONE = (0, 0.0)
    """Of many runs they would hide the lines."""


@dataclass(frozen=True)
class RunLine:
    """One run in one chart.

    Args:
        number: Place of the run, from 0; decides its style.
        name: The run's.
        points: Single steps, or validations; at least one.
        smooth: The line, shape [points].
    """

    number: int
    name: str
    points: Points
    smooth: Floats

    @property
    def style(self) -> RunStyle:
        """Its colour and dashes."""
        return RUN_STYLES[self.number]


def draw_runs(lines: Sequence[RunLine], last_step: float, bounds: tuple[float, float], points: PointStyle) -> figure:
    """Draw runs over their training steps.

    Args:
        lines: At least one.
        last_step: Right end of the x axis, the same for all charts.
        bounds: Ends of the y axis.
        points: How single points are drawn beside the lines; a run that has only one point always shows it.
    """
    plot = curve_figure(236, last_step, bounds)
    for line in lines:
        _draw_line(plot, line, PointStyle.MARK if len(line.points.steps) == 1 else points)
    _add_tips(plot, lines, bounds)
    return plot


def _draw_line(plot: figure, line: RunLine, points: PointStyle) -> None:
    source = ColumnDataSource({"step": line.points.steps, "value": line.points.values, "smooth": line.smooth})
    color = line.style.tone.light
    name = f"run-{line.number}"  # what compare.js switches
    if points is not PointStyle.NONE:
        size, alpha = points.value
        plot.scatter("step", "value", source=source, color=color, line_color=None, name=name, size=size, alpha=alpha)
    dash = list(line.style.dash) or "solid"
    plot.line("step", "smooth", source=source, line_width=2.2, color=color, line_dash=dash, name=name)


def _add_tips(plot: figure, lines: Sequence[RunLine], bounds: tuple[float, float]) -> None:
    """One tip with all runs: lines of their own would each open one, on top of each other."""
    steps = np.unique(np.concatenate([line.points.steps for line in lines]))
    if len(steps) > MAX_TIPS:
        steps = steps[np.linspace(0, len(steps) - 1, MAX_TIPS).round().astype(int)]
    columns = {f"v{line.number}": [_value_at(line, step) for step in steps] for line in lines}
    source = ColumnDataSource({"step": steps, **columns})
    width = float(np.median(np.diff(steps))) if len(steps) > 1 else 1.0
    # Invisible bars of full height: a tip opens wherever the pointer is in the chart.
    bars = plot.vbar("step", bottom=bounds[0], top=bounds[1], width=width, source=source, alpha=0)
    tip = make_tip([TipRow(line.style.name, make_visible(line.name, 40), f"@v{line.number}") for line in lines])
    plot.add_tools(
        HoverTool(renderers=[bars], tooltips=tip, mode="vline", point_policy="follow_mouse", show_arrow=False)
    )


def _value_at(line: RunLine, step: float) -> str:
    steps = line.points.steps
    if not steps[0] <= step <= steps[-1]:
        return "–"
    return format_number(float(np.interp(step, steps, line.smooth)))
