"""The heat map of problems: a row for each, a column for a few steps, the solve rate as colour.

Covered: rows, columns, drawing with Bokeh.  Not covered: which problems are shown, what became of them
(`solve_history`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource, FixedTicker, HoverTool, LinearColorMapper, Range1d
from bokeh.models.annotations import Span
from bokeh.plotting import figure

from code_rlvr.report.charts import blank_figure
from code_rlvr.report.palette import SOLVE_RATES, light
from code_rlvr.report.solve_history import MEANINGS, Fate, History, choose_rows, count_fates
from code_rlvr.report.verdict_records import Records
from code_rlvr.report.visible import make_visible

MAX_ROWS = 100
MAX_COLUMNS = 50
ROW_PX = 6
GAP = 3
"""Rows left blank between the problems of two fates."""

_TIP = '<div class="tip">@problem<br>@steps: <b>@solved of @samples</b> solved</div>'


@dataclass(frozen=True)
class SolveMap:
    """The heat map with what the page says about it.

    Args:
        plot: The drawing.
        groups: For each fate its name, meaning, how many problems there are and how many of them are shown.
        problems: Of the run.
        once: Of these, problems that were sampled at one step only, so that no change can be seen.
        steps_per_column: How many steps a column stands for.
        note: Which steps' records were not read; empty if all were.
        label: The map in words.
    """

    plot: figure
    groups: tuple[tuple[str, str, int, int], ...]
    problems: int
    once: int
    steps_per_column: int
    note: str
    label: str


def make_solve_map(records: Records, histories: Sequence[History]) -> SolveMap | None:
    """Draw the map; None if no record names a training problem."""
    if not histories:
        return None
    rows = choose_rows(histories, MAX_ROWS)
    counts = count_fates(histories)
    last_step = max(one.steps[-1] for one in histories)
    width = -(-last_step // MAX_COLUMNS)
    unread = records.steps - len(records.steps_read)
    return SolveMap(
        plot=_draw(rows, last_step, width),
        groups=tuple((fate.value, MEANINGS[fate], counts[fate], len(rows[fate])) for fate in Fate),
        problems=len(histories),
        once=sum(len(one.steps) == 1 for one in histories),
        steps_per_column=width,
        note=f"The records of {unread} of {records.steps} steps were not read: they are too large." if unread else "",
        label="Solve rates of problems over training steps: "
        + ", ".join(f"{count} {fate.value}" for fate, count in counts.items()),
    )


def _draw(rows: Mapping[Fate, Sequence[History]], last_step: int, width: int) -> figure:
    shown = {fate: members for fate, members in rows.items() if members}
    height = sum(map(len, shown.values())) + GAP * (len(shown) - 1)
    plot = blank_figure(height=max(90, ROW_PX * height + 40), last_step=float(last_step))
    plot.y_range = Range1d(start=height, end=0)
    columns: dict[str, list[object]] = {
        key: [] for key in ("left", "right", "top", "bottom", "rate", "problem", "steps", "solved", "samples")
    }
    marks: dict[Any, Any] = {}  # place on the axis to name; Bokeh asks for wider types than it needs
    top = 0
    for fate, members in shown.items():
        if top:
            line = Span(location=top - GAP / 2, dimension="width", line_color=light("rule"), line_width=1)
            plot.add_layout(line)
        marks[top + len(members) / 2] = fate.value
        for place, history in enumerate(members, start=top):
            _add_cells(columns, history, place, width)
        top += len(members) + GAP
    _draw_cells(plot, columns)
    plot.yaxis.ticker = FixedTicker(ticks=list(marks))
    plot.yaxis.major_label_overrides = marks
    plot.ygrid.grid_line_color = None
    plot.min_border_left = 62
    return plot


def _add_cells(columns: dict[str, list[object]], history: History, place: int, width: int) -> None:
    """Add the cells of one row; steps at which the problem was not sampled have none."""
    cells: dict[int, tuple[int, int]] = {}
    for step, solved, samples in zip(history.steps, history.solved, history.samples, strict=True):
        before = cells.get((step - 1) // width, (0, 0))
        cells[(step - 1) // width] = (before[0] + solved, before[1] + samples)
    name = make_visible(history.problem_id, 60)
    for cell, (solved, samples) in cells.items():
        first = cell * width + 1
        last = first + width - 1
        columns["left"].append(first - 0.5)
        columns["right"].append(last + 0.5)
        columns["top"].append(place + 0.04)
        columns["bottom"].append(place + 0.96)
        columns["rate"].append(solved / samples)
        columns["problem"].append(name)
        columns["steps"].append(f"step {first}" if width == 1 else f"steps {first}–{last}")
        columns["solved"].append(solved)
        columns["samples"].append(samples)


def _draw_cells(plot: figure, columns: Mapping[str, list[object]]) -> None:
    texts = ("problem", "steps")
    numbers = {key: np.array(values, np.float32) for key, values in columns.items() if key not in texts}
    source = ColumnDataSource({**numbers, **{key: columns[key] for key in texts}})
    mapper = LinearColorMapper(palette=SOLVE_RATES, low=0, high=1)
    cells = plot.quad(
        left="left",
        right="right",
        top="top",
        bottom="bottom",
        source=source,
        fill_color={"field": "rate", "transform": mapper},
        line_color=light("surface"),
        line_width=0.4,
    )
    plot.add_tools(HoverTool(renderers=[cells], tooltips=_TIP, point_policy="follow_mouse", show_arrow=False))
