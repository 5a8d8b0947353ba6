"""The tables of a comparison: last values of the main metrics, and evaluations side by side.

Covered: what stands in each cell, and against which run it is compared.  Not covered: layout (the template).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from code_rlvr.errors import DataError
from code_rlvr.evaluate.compare import Difference
from code_rlvr.report.catalogue import Metric, describe
from code_rlvr.report.evaluation import Evaluation, Row, compare_pass_at_1
from code_rlvr.report.main_metrics import choose_metrics
from code_rlvr.report.numbers_as_text import format_number
from code_rlvr.report.run_state import RunState


@dataclass(frozen=True)
class ValueCell:
    """The last value of a metric in one run.

    Args:
        last: Mean of the last tenth of its steps, of a time the median, formatted; empty if it did not log the metric.
        at_common_step: The smoothed value where the shortest of the runs ends, formatted; empty if all end there.
    """

    last: str
    at_common_step: str


@dataclass(frozen=True)
class ValueRow:
    """One metric in all runs.

    Args:
        title: What the reader calls it.
        about: Unit and direction.
        common_step: Last step that all runs with this metric have.
        cells: One for each run.
    """

    title: str
    about: Metric | None
    common_step: int
    cells: list[ValueCell]


@dataclass(frozen=True)
class EvaluationCell:
    """One evaluation of one run.

    Args:
        row: Its figures; None if it was not evaluated so.
        baseline: The run that it is compared with; empty for that run itself.
        against: The paired difference from that run; None if there is none.
        note: Why there is none, if there might have been.
    """

    row: Row | None
    baseline: str = ""
    against: Difference | None = None
    note: str = ""


@dataclass(frozen=True)
class EvaluationRow:
    """One set of problems under one way of decoding, or a group of it, in all runs."""

    label: str
    decoding: str
    is_group: bool
    cells: list[EvaluationCell]


def make_value_rows(states: Sequence[RunState]) -> list[ValueRow]:
    """Return the last values of the main metrics that some run logged."""
    return [_value_row(states, one.name, one.title) for one in choose_metrics([state.logged for state in states])]


def _value_row(states: Sequence[RunState], name: str, title: str) -> ValueRow:
    curves = [state.curve(name) for state in states]
    ends = [int(curve.points.steps[-1]) for curve in curves if len(curve.points.steps)]
    common = min(ends, default=0)
    cells = []
    for curve in curves:
        points = curve.points
        if not len(points.steps):
            cells.append(ValueCell("", ""))
            continue
        last = curve.shown_ends[1] if curve.shown_ends else float(points.values[-1])
        has_it = max(ends) > common >= points.steps[0]
        earlier = format_number(float(np.interp(common, points.steps, curve.smooth))) if has_it else ""
        cells.append(ValueCell(format_number(math.nan if last is None else last), earlier))
    return ValueRow(title, describe(name), common, cells)


def make_evaluation_rows(states: Sequence[RunState]) -> list[EvaluationRow]:
    """Return the evaluations that some run has, in the order of the first that has each."""
    by_run = [_rows_by_key(state) for state in states]
    keys = dict.fromkeys(key for rows in by_run for key in rows)
    return [
        EvaluationRow(key[2], key[1] if key[0] == key[2] else "", key[0] != key[2], _cells(states, by_run, key))
        for key in keys
    ]


Key = tuple[str, str, str]
"""Title of the evaluation, decoding, and the group; of the whole, the title again."""


def _rows_by_key(state: RunState) -> dict[Key, Row]:
    rows: dict[Key, Row] = {}
    title = decoding = ""
    for row in state.rows:
        if not row.is_group:
            title, decoding = row.label, row.decoding
        rows[title, decoding, row.label] = row
    return rows


def _cells(states: Sequence[RunState], by_run: Sequence[dict[Key, Row]], key: Key) -> list[EvaluationCell]:
    title, decoding, label = key
    baseline: tuple[RunState, Evaluation] | None = None
    cells = []
    for state, rows in zip(states, by_run, strict=True):
        row = rows.get(key)
        evaluation = _evaluation(state, title, decoding)
        if row is None or row.after is None or evaluation is None or label != title:
            cells.append(EvaluationCell(row))
        elif baseline is None:
            baseline = state, evaluation
            cells.append(EvaluationCell(row))
        else:
            cells.append(_compared(row, *baseline, evaluation))
    return cells


def _evaluation(state: RunState, title: str, decoding: str) -> Evaluation | None:
    return next((one for one in state.evaluations if (one.title, one.decoding) == (title, decoding)), None)


def _compared(row: Row, first: RunState, base: Evaluation, other: Evaluation) -> EvaluationCell:
    assert base.after is not None, "only evaluations after training are compared"
    assert other.after is not None
    try:
        difference = compare_pass_at_1(base.after, other.after).overall
    except DataError:  # its words are about before and after
        return EvaluationCell(row, first.name, note="other problems or settings")
    return EvaluationCell(row, first.name, difference)
