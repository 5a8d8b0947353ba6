"""Drawing curves and stacks with Bokeh.

Every colour comes from `palette`, in its light form.  Charts have no titles, legends or toolbars: the page
has them, as text.  No tool pans or zooms, so that a finger on a chart scrolls the page.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from bokeh.models import (
    BasicTicker,
    ColumnDataSource,
    FixedTicker,
    HoverTool,
    NumeralTickFormatter,
    Range1d,
    SingleIntervalTicker,
)
from bokeh.models.annotations import BoxAnnotation, Label
from bokeh.models.renderers import DataRenderer
from bokeh.plotting import figure
from markupsafe import escape

from code_rlvr.health import Phase
from code_rlvr.report.curves import Curve, Stack
from code_rlvr.report.palette import light, phase_tone
from code_rlvr.smoothing import Floats

VALIDATION_TONES = ("validation", "validation-2", "validation-3", "validation-4", "validation-5", "validation-6")
SERIES_TONES = ("series-1", "series-2", "series-3", "series-4", "series-5", "series-6")
SHARE_BOUNDS = (-0.02, 1.02)
"""Ends of the y axis of a share that is drawn in full."""
MARKERS = ("diamond", "square", "triangle", "inverted_triangle", "plus", "circle")
MARKS = "◆■▲▼✚●"
"""The same marks as text."""
DASHES = ((3, 3), (7, 3), (1, 3), (9, 3, 2, 3), (12, 5), (2, 6))
MANY_MARKS = 30
"""Validation points above which their marks are small, so that they do not cover the curve."""

_TIP = '<div class="tip">step @step{0,0}<br><b>@value{0.000[0]}</b> &nbsp;smoothed @smooth{0.000[0]}</div>'


def draw_curve(
    curve: Curve, last_step: float, bounds: tuple[float, float], *, sources: Sequence[str], phases: Sequence[Phase]
) -> figure:
    """Draw one metric: raw points, smoothed line, validation points.

    Args:
        curve: The metric; at least one point, in training or validation.
        last_step: Right end of the x axis, the same for all charts.
        bounds: Ends of the y axis.
        sources: Data sources of validation, in the order of their colours, no more than there are; others of the
            curve's are not drawn.
        phases: Stretches of the run that are marked.
    """
    plot = _curve_figure(last_step, bounds, phases)
    source = ColumnDataSource({"step": curve.points.steps, "value": curve.points.values, "smooth": curve.smooth})
    plot.scatter("step", "value", source=source, size=4, color=light("accent"), alpha=0.45, line_color=None)
    line = plot.line("step", "smooth", source=source, line_width=2.2, color=light("accent"))
    plot.add_tools(HoverTool(renderers=[line], tooltips=_TIP, mode="vline", line_policy="nearest", show_arrow=False))
    _draw_validation(plot, curve, sources)
    return plot


def draw_lines(
    curves: Sequence[tuple[str, Curve]], last_step: float, bounds: tuple[float, float], *, phases: Sequence[Phase]
) -> figure:
    """Draw smoothed lines of several metrics in one chart.

    Args:
        curves: What the reader calls each, and the metric, with at least one point in some; as many as `SERIES_TONES`.
        last_step, bounds, phases: As for `draw_curve`.
    """
    plot = _curve_figure(last_step, bounds, phases)
    steps = np.unique(np.concatenate([curve.points.steps for _, curve in curves]))
    columns = {"step": steps}
    rows = []
    for tone, (number, (name, curve)) in zip(SERIES_TONES, enumerate(curves), strict=False):
        columns[f"line{number}"] = np.full(len(steps), np.nan)
        columns[f"line{number}"][np.searchsorted(steps, curve.points.steps)] = curve.smooth
        rows.append(TipRow(tone, name, f"@line{number}{{0.000[0]}}"))
    source = ColumnDataSource(columns)
    lines: list[DataRenderer] = [
        plot.line("step", f"line{number}", source=source, line_width=2, color=light(tone))
        for tone, number in zip(SERIES_TONES, range(len(curves)), strict=False)
    ]
    tip = make_tip(rows)
    plot.add_tools(HoverTool(renderers=lines[:1], tooltips=tip, mode="vline", line_policy="nearest", show_arrow=False))
    return plot


class TipRow(NamedTuple):
    """A line of a tip: the colour's name, what it stands for, and the column with its value and format."""

    tone: str
    name: str
    value: str


def make_tip(rows: Sequence[TipRow]) -> str:
    """Return the tip about several lines or areas at a step, as Bokeh takes it; names stay text, whatever they are."""
    lines = [
        f'<br><span style="color:var(--{row.tone})">■</span> {_escape(row.name)} <b>{row.value}</b>' for row in rows
    ]
    return f'<div class="tip">step @step{{0,0}}{"".join(lines)}</div>'


def _escape(name: str) -> str:
    """A name in a tip is HTML, in which `@` and `$` stand for columns."""
    return str(escape(name)).replace("@", "&#64;").replace("$", "&#36;")


def curve_figure(height: int, last_step: float, bounds: tuple[float, float]) -> figure:
    """Return a chart for curves, without any.

    Args:
        height: As for `blank_figure`.
        last_step: Likewise.
        bounds: Ends of the y axis; a share that is drawn in full has ticks of its own.
    """
    plot = blank_figure(height, last_step)
    plot.y_range = Range1d(start=bounds[0], end=bounds[1])
    share = bounds == SHARE_BOUNDS
    plot.yaxis.ticker = FixedTicker(ticks=[0, 0.25, 0.5, 0.75, 1]) if share else BasicTicker(desired_num_ticks=4)
    plot.yaxis.formatter = NumeralTickFormatter(format="0.00" if share else "0,0.[0000]")
    return plot


def _curve_figure(last_step: float, bounds: tuple[float, float], phases: Sequence[Phase]) -> figure:
    plot = curve_figure(206, last_step, bounds)
    for phase in phases:
        _mark_phase(plot, phase, last_step, bounds)
    return plot


def _mark_phase(plot: figure, phase: Phase, last_step: float, bounds: tuple[float, float]) -> None:
    left, right = phase.first_step - 0.5, phase.last_step + 0.5
    plot.add_layout(
        BoxAnnotation(
            left=left, right=right, fill_color=light(phase_tone(phase.name)), fill_alpha=1, line_color=None,
            level="underlay",
        )
    )  # fmt: skip
    if (right - left) / max(last_step, 1) < 0.05 + 0.018 * len(phase.name):  # its name would not fit on a phone
        return
    low = bounds == SHARE_BOUNDS  # shares tend to end near 1, where a name would hide them
    plot.add_layout(
        Label(
            x=left, y=bounds[0] if low else bounds[1], x_offset=4, y_offset=3 if low else -3,
            text=phase.name, text_baseline="bottom" if low else "top", text_color=light("muted"),
            text_font="system-ui, sans-serif", text_font_size="10px",
        )
    )  # fmt: skip


def _draw_validation(plot: figure, curve: Curve, sources: Sequence[str]) -> None:
    for number, name in enumerate(sources):
        points = curve.validation.get(name)
        if points is None:
            continue
        tone = light(VALIDATION_TONES[number])
        source = ColumnDataSource({"step": points.steps, "value": points.values})
        plot.line("step", "value", source=source, line_width=1.2, color=tone, line_dash=list(DASHES[number]))
        few = len(points.steps) <= MANY_MARKS
        marks = plot.scatter(
            "step",
            "value",
            source=source,
            size=10 if few else 4,
            marker=MARKERS[number],
            color=tone,
            line_color=light("surface") if few else None,
        )
        tip = '<div class="tip">validation, step @step<br><b>@value{0.000}</b></div>'
        plot.add_tools(HoverTool(renderers=[marks], tooltips=tip, show_arrow=False))


def draw_stack(stack: Stack, last_step: float, *, tones: str, labels: dict[str, str], top: float) -> figure:
    """Draw parts of a whole on top of each other.

    Args:
        stack: At least one step and one part.
        last_step: Right end of the x axis.
        tones: Prefix of the colours' names; the part's name follows.
        labels: Part to the name that the reader sees.
        top: Upper end of the y axis.
    """
    plot = blank_figure(height=280, last_step=last_step)
    plot.y_range = Range1d(start=0, end=top)
    plot.yaxis.ticker = BasicTicker(desired_num_ticks=4)
    plot.yaxis.formatter = NumeralTickFormatter(format="0.00" if top == 1 else "0,0.[00]")
    source = ColumnDataSource({"step": stack.steps, **stack.parts})
    colors = [light(f"{tones}-{part}") for part in stack.parts]
    if len(stack.steps) > 1:
        plot.varea_stack(list(stack.parts), x="step", color=colors, source=source)
    else:
        plot.vbar_stack(list(stack.parts), x="step", color=colors, source=source, width=0.8)
    # Areas have no points to hover over: invisible bars of full height stand in.
    bars = plot.vbar("step", top=top, width=_spacing(stack.steps), source=source, alpha=0)
    tip = make_tip([TipRow(f"{tones}-{part}", labels[part], f"@{part}{{0.00}}") for part in reversed(stack.parts)])
    plot.add_tools(
        HoverTool(renderers=[bars], tooltips=tip, mode="vline", point_policy="follow_mouse", show_arrow=False)
    )
    return plot


def _spacing(steps: Floats) -> float:
    return float(np.median(np.diff(steps))) if len(steps) > 1 else 1.0


def blank_figure(height: int, last_step: float) -> figure:
    """Return a chart without anything in it, whose x axis is the training step.

    Args:
        height: In pixels; the width is that of the page.
        last_step: Right end of the x axis.
    """
    end = max(last_step, 1)
    plot = figure(
        height=height,
        sizing_mode="stretch_width",
        toolbar_location=None,
        tools="",
        x_range=Range1d(start=-0.02 * end, end=1.02 * end),
        background_fill_color=None,
        border_fill_color=None,
        outline_line_color=None,
        min_border_left=44,
        min_border_right=8,
        min_border_top=6,
    )
    _style_axes([*plot.xaxis, *plot.yaxis])
    plot.yaxis.axis_line_color = None
    plot.xaxis.ticker = SingleIntervalTicker(interval=_tick_interval(last_step), num_minor_ticks=0)
    plot.xaxis.formatter = NumeralTickFormatter(format="0,0")
    plot.xaxis.axis_label = "training step"
    plot.xgrid.grid_line_color = None
    plot.ygrid.grid_line_color = light("grid")
    return plot


def _tick_interval(last_step: float) -> int:
    """About five round numbers, never a fraction of a step."""
    interval = 1
    for factor in itertools.cycle((2, 2.5, 2)):  # 1, 2, 5, 10, 20 …
        if last_step / interval <= 5:
            break
        interval = round(interval * factor)
    return interval


def _style_axes(axes: Sequence[object]) -> None:
    for axis in axes:
        axis.update(  # type: ignore[attr-defined]  # the axes' common base has no public type
            axis_line_color=light("rule"),
            major_tick_line_color=None,
            minor_tick_line_color=None,
            major_label_text_color=light("muted"),
            major_label_text_font="system-ui, sans-serif",
            major_label_text_font_size="11px",
            axis_label_text_color=light("muted"),
            axis_label_text_font="system-ui, sans-serif",
            axis_label_text_font_size="11px",
            axis_label_text_font_style="normal",
            axis_label_standoff=2,
        )
