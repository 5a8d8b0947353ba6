"""Histograms of the numbers of a set, drawn with Bokeh; every colour comes from the report's `palette`.

Covered: bins, linear or by powers, and drawing them.  Not covered: the page around them (`page`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from bokeh.models import BasicTicker, ColumnDataSource, FixedTicker, HoverTool, NumeralTickFormatter, Range1d
from bokeh.plotting import figure

from code_rlvr.audit.statistics import Statistics, percentiles
from code_rlvr.report.numbers_as_text import format_number
from code_rlvr.report.palette import light

BINS = 30
TICKS = 6
WIDE = 50  # values that span more than this factor are drawn by powers


@dataclass(frozen=True)
class Histogram:
    """How often values fall into each of some ranges.

    Args:
        edges: Of the ranges, one more than counts.
        counts: Values in each.
        by_powers: Whether all ranges are alike in factor, not in width.
    """

    edges: tuple[float, ...]
    counts: tuple[int, ...]
    by_powers: bool = False

    @property
    def words(self) -> list[str]:
        """Each range in words; one around a whole number is that number."""
        return [
            format_number(round(low + 0.5))
            if low % 1 == high % 1 == 0.5
            else f"{format_number(low)} to {format_number(high)}"
            for low, high in pairwise(self.edges)
        ]


@dataclass(frozen=True)
class Plot:
    """One histogram with what the page says about it.

    Args:
        title: Heading.
        about: The unit.
        spread: Least, median and largest value, in words.
        drawing: The drawing.
    """

    title: str
    about: str
    spread: str
    drawing: figure


_PLOTS = (
    ("statement_chars", "Length of statements", "characters", "problems"),
    ("tests", "Tests", "a problem", "problems"),
    ("tests_bytes", "Size of tests", "bytes a problem", "problems"),
    ("literal_shares", "Best constant answer", "share of a problem’s tests that it passes", "problems"),
    ("reference_max_cpu_s", "Longest test of a reference", "CPU seconds", "references"),
    ("reference_total_cpu_s", "All tests of a reference", "CPU seconds", "references"),
)


def make_plots(statistics: Statistics) -> list[Plot]:
    """Draw the numbers of a set; those of which there are none are left out."""
    plots = []
    for name, title, about, counted in _PLOTS:
        values = getattr(statistics, name)
        spread = percentiles(values)
        if spread is None:
            continue
        words = " · ".join(format_number(spread[key]) for key in ("p0", "p50", "p100"))
        histogram = make_histogram(values, share=name == "literal_shares")
        plots.append(Plot(title, about, words, _draw(histogram, counted)))
    return plots


def make_histogram(values: Sequence[float], *, share: bool = False) -> Histogram:
    """Count values by range.

    Args:
        values: At least one, none below 0.
        share: Whether the ranges go from 0 to 1.
    """
    given = np.asarray(values, dtype=float)
    high = float(given.max())
    positive = given[given > 0]
    low = float(positive.min()) if len(positive) else 0.0
    by_powers = False
    if share:
        edges = np.linspace(0, 1, 21)
    elif high <= BINS and not (given % 1).any():  # a bar for each whole number
        edges = np.arange(-0.5, high + 1)
    elif low and high / low > WIDE:
        by_powers = True
        edges = np.geomspace(low, high * 1.0001, BINS + 1)
        edges[0] = low
        given = np.maximum(given, low)  # zeros have no power; they are counted with the least
    else:
        edges = np.linspace(0, high * 1.0001 or 1, BINS + 1)
    counts, _ = np.histogram(given, edges)
    return Histogram(tuple(map(float, edges)), tuple(map(int, counts)), by_powers)


def _draw(histogram: Histogram, counted: str) -> figure:
    places = [math.log10(edge) for edge in histogram.edges] if histogram.by_powers else list(histogram.edges)
    plot = figure(
        height=190,
        sizing_mode="stretch_width",
        toolbar_location=None,
        tools="",
        x_range=Range1d(start=places[0], end=places[-1]),
        y_range=Range1d(start=0, end=max(histogram.counts) * 1.08),
        background_fill_color=None,
        border_fill_color=None,
        outline_line_color=None,
        min_border_left=44,
        min_border_right=16,
    )
    source = ColumnDataSource(
        {"left": places[:-1], "right": places[1:], "top": histogram.counts, "words": histogram.words}
    )
    bars = plot.quad("left", "right", "top", 0, source=source, color=light("accent"), line_color=light("surface"))
    tip = f'<div class="tip">@words<br><b>@top{{0,0}}</b> {counted}</div>'
    plot.add_tools(HoverTool(renderers=[bars], tooltips=tip, show_arrow=False))
    _style(plot, histogram, places)
    return plot


def _style(plot: figure, histogram: Histogram, places: Sequence[float]) -> None:
    for axis in (*plot.xaxis, *plot.yaxis):
        axis.update(
            axis_line_color=light("rule"),
            major_tick_line_color=None,
            minor_tick_line_color=None,
            major_label_text_color=light("muted"),
            major_label_text_font="system-ui, sans-serif",
            major_label_text_font_size="11px",
        )
    plot.xgrid.grid_line_color = None
    plot.ygrid.grid_line_color = light("grid")
    plot.yaxis.axis_line_color = None
    plot.yaxis.ticker = BasicTicker(desired_num_ticks=4, min_interval=1)
    plot.yaxis.formatter = NumeralTickFormatter(format="0,0")
    ticks = _powers(places) if histogram.by_powers else _even(places)
    plot.xaxis.ticker = FixedTicker(ticks=ticks)
    plot.xaxis.major_label_overrides = {
        tick: format_number(float(f"{10**tick if histogram.by_powers else tick:.4g}")) for tick in ticks
    }


def _even(places: Sequence[float]) -> list[float]:
    first, last = places[0], places[-1]
    if first == -0.5:  # bars of whole numbers
        step = max(1, round((last - 0.5) / TICKS))
        return [float(number) for number in range(0, math.ceil(last), step)]
    return [float(tick) for tick in np.linspace(first, last, TICKS)]


def _powers(places: Sequence[float]) -> list[float]:
    """Whole powers of ten in the range, and twice and five times as much where those are few."""
    first, last = places[0], places[-1]
    whole: list[float] = [float(power) for power in range(math.ceil(first), math.floor(last) + 1)]
    others = [
        power + part for power in range(math.floor(first), math.ceil(last)) for part in (math.log10(2), math.log10(5))
    ]
    return whole if len(whole) >= 3 else sorted([*whole, *(place for place in others if first <= place <= last)])
