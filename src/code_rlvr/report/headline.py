"""One sentence about what the run did, which says no more than its numbers do.

The best evidence that there is decides: a paired difference on held-out problems with an interval; else
validation during training; else the training score; else nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from code_rlvr.evaluate.compare import Difference
from code_rlvr.health.signals import SCORE, Run
from code_rlvr.report.curves import pick_first
from code_rlvr.report.evaluation import Row
from code_rlvr.report.inputs import RunInputs
from code_rlvr.report.numbers_as_text import digits_for, format_signed, side_of_zero
from code_rlvr.words import counted

MAX_FALLS = 3
"""Evaluations that are named because they fell, besides the one that the sentence is about."""


_HELD_OUT = {"accepted": "Pass@1", "acc": "the accuracy"}
"""What validation logs under a key, where it is not the score."""


def headline(run: RunInputs, rows: Sequence[Row]) -> str:
    """Sum the run up.

    Args:
        run: The run.
        rows: Rows of the evaluation table, the most important first.
    """
    for row in rows:
        if row.difference is not None and not row.is_group:
            return _compared(row, row.difference, run) + _falls([one for one in rows if one is not row])
    return _missing(rows) + " " + (_validated(run) or _trained(run) or "No score was logged during training either.")


def format_difference(change: Difference) -> str:
    """Write a change with its interval, with as many digits as it takes to tell the interval from 0."""
    low, high = change.interval.low, change.interval.high
    digits = digits_for(low, high)
    return (
        f"{format_signed(change.change, digits)}, {change.interval.level:.0%} interval "
        f"{format_signed(low, digits).removeprefix('+')} to {format_signed(high, digits).removeprefix('+')}"
    )


def _compared(row: Row, change: Difference, run: RunInputs) -> str:
    excludes_zero = side_of_zero(change.interval.low, change.interval.high) != 0
    verb = ("rose" if change.change > 0 else "fell") if excludes_zero else "went"
    sentence = (
        f"{row.label.removesuffix(' problems')} Pass@1 ({row.decoding.split(',')[0]}) {verb} from "
        f"{change.before:.2f} to {change.after:.2f} ({format_difference(change)}){_in_steps(run, run.merged_step)}"
    )
    if excludes_zero:
        return sentence + "."
    return sentence + ": the interval includes 0, so this is no evidence of a change."


def _falls(rows: Sequence[Row]) -> str:
    """What became worse for sure, among the other evaluations."""
    fallen = [(row, row.difference) for row in rows if not row.is_group and row.difference is not None]
    fallen = [(row, change) for row, change in fallen if side_of_zero(change.interval.low, change.interval.high) < 0]
    if not fallen:
        return ""
    named = [f"{row.label} ({row.decoding.split(',')[0]}: {format_difference(one)})" for row, one in fallen[:MAX_FALLS]]
    more = len(fallen) - len(named)
    return f" Worse than before: {'; '.join(named)}" + (f" and {more} more." if more else ".")


def _in_steps(run: RunInputs, step: int | None = None) -> str:
    """Up to which of the planned steps; `step` is the model's own, if that is not the last."""
    done, planned = step or run.trained_steps, run.setting("trainer.steps")
    if not done:
        return ""
    if isinstance(planned, int) and planned > done:
        return f" in {done} of {planned} steps"
    return f" in {counted(done, 'step')}"


def _missing(rows: Sequence[Row]) -> str:
    if not rows:
        return "There is no evaluation before or after training."
    if any(row.before for row in rows) and any(row.after for row in rows):
        return "The evaluations before and after training cannot be compared."
    return "The model was evaluated " + ("before" if any(row.before for row in rows) else "after") + " training only."


def _validated(run: RunInputs) -> str:
    """First against last validation, of the data source that was validated most."""
    sources = Run(run.steps).held_out()
    source = max(sources, key=lambda name: len(sources[name]), default=None)
    if source is None or len(sources[source]) < 2:
        return ""
    points = sources[source]
    what = _HELD_OUT.get(points.name.split("/")[-2], "the score")
    return (
        f"In validation ({source}) {what} went from {points.values[0]:.2f} at step {points.steps[0]:.0f} to "
        f"{points.values[-1]:.2f} at step {points.steps[-1]:.0f}; no interval is known."
    )


def _trained(run: RunInputs) -> str:
    curve = pick_first(run.steps, SCORE)
    if curve.ends is None or len(curve.points.steps) < 2:
        return ""
    first, last = curve.ends
    if first is None or last is None:
        where = "first" if first is None else "last"
        return (
            f"The training score is no number in the {where} tenth of the run (at step "
            f"{curve.points.steps[-1]:.0f} it was {curve.points.values[-1]:.2f}){_in_steps(run)}."
        )
    return (
        f"The training score went from {first:.2f} to {last:.2f} (means of the first and "
        f"last tenth){_in_steps(run)}; that is on problems that were trained on."
    )
