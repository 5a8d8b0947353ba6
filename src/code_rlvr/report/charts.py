"""Drawing curves and stacks with Bokeh.

Every colour comes from `palette`, in its light form.  Charts have no titles, legends or toolbars: the page
has them, as text.  No tool pans or zooms, so that a finger on a chart scrolls the page.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
from bokeh.models import (
    BasicTicker,
    ColumnDataSource,
    DataRange1d,
    FixedTicker,
    HoverTool,
    NumeralTickFormatter,
    Range1d,
    SingleIntervalTicker,
)
from bokeh.plotting import figure

from code_rlvr.report.curves import Curve, Floats, Stack
from code_rlvr.report.palette import light

VALIDATION_TONES = ("validation", "validation-2", "validation-3")
MARKERS = ("diamond", "square", "triangle")
MANY_MARKS = 30
"""Validation points above which their marks are small, so that they do not cover the curve."""

_TIP = '<div class="tip">step @step{0,0}<br><b>@value{0.000[0]}</b> &nbsp;smoothed @smooth{0.000[0]}</div>'


def draw_curve(curve: Curve, last_step: float, *, sources: Sequence[str], share: bool) -> figure:
    """Draw one metric: raw points, smoothed line, validation points.

    Args:
        curve: The metric; at least one point, in training or validation.
        last_step: Right end of the x axis, the same for all charts.
        sources: Data sources of validation, in the order of their colours.
        share: Whether the y axis is 0 to 1; otherwise it starts at 0 and fits the values.
    """
    plot = _figure(height=206, last_step=last_step)
    if share:
        plot.y_range = Range1d(start=-0.02, end=1.02)
        plot.yaxis.ticker = FixedTicker(ticks=[0, 0.25, 0.5, 0.75, 1])
        plot.yaxis.formatter = NumeralTickFormatter(format="0.00")
    else:
        plot.y_range = _fitted_range(curve)
        plot.yaxis.ticker = BasicTicker(desired_num_ticks=4)
        plot.yaxis.formatter = NumeralTickFormatter(format="0,0.[0000]")
    source = ColumnDataSource({"step": curve.points.steps, "value": curve.points.values, "smooth": curve.smooth})
    plot.scatter("step", "value", source=source, size=4, color=light("accent"), alpha=0.45, line_color=None)
    line = plot.line("step", "smooth", source=source, line_width=2.2, color=light("accent"))
    plot.add_tools(HoverTool(renderers=[line], tooltips=_TIP, mode="vline", line_policy="nearest", show_arrow=False))
    _draw_validation(plot, curve, sources)
    return plot


def _fitted_range(curve: Curve) -> Range1d | DataRange1d:
    """From 0 to a little above the largest value; whatever fits if a value is below 0."""
    series = [curve.points.values, *(points.values for points in curve.validation.values())]
    values = np.concatenate(series)
    if values.min() < 0:
        return DataRange1d(range_padding=0.1)
    return Range1d(start=0, end=float(values.max()) * 1.08 or 1.0)


def _draw_validation(plot: figure, curve: Curve, sources: Sequence[str]) -> None:
    for name, points in curve.validation.items():
        number = sources.index(name)
        tone = light(VALIDATION_TONES[number % len(VALIDATION_TONES)])
        source = ColumnDataSource({"step": points.steps, "value": points.values})
        plot.line("step", "value", source=source, line_width=1.2, color=tone, line_dash=[3, 3])
        few = len(points.steps) <= MANY_MARKS
        marks = plot.scatter(
            "step",
            "value",
            source=source,
            size=10 if few else 4,
            marker=MARKERS[number % len(MARKERS)],
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
    plot = _figure(height=280, last_step=last_step)
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
    tip = _stack_tip(stack, tones, labels)
    plot.add_tools(
        HoverTool(renderers=[bars], tooltips=tip, mode="vline", point_policy="follow_mouse", show_arrow=False)
    )
    return plot


def _stack_tip(stack: Stack, tones: str, labels: dict[str, str]) -> str:
    rows = "".join(
        f'<br><span style="color:var(--{tones}-{part})">■</span> {labels[part]} <b>@{part}{{0.00}}</b>'
        for part in reversed(stack.parts)
    )
    return f'<div class="tip">step @step{rows}</div>'


def _spacing(steps: Floats) -> float:
    return float(np.median(np.diff(steps))) if len(steps) > 1 else 1.0


def _figure(height: int, last_step: float) -> figure:
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
