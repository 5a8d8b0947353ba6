"""One sentence about what the run did, which says no more than its numbers do.

The best evidence that there is decides: a paired difference on held-out problems with an interval; else
validation during training; else the training score; else nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from code_rlvr.evaluate.compare import Difference
from code_rlvr.health.signals import SCORE
from code_rlvr.report.curves import pick_curve, pick_first
from code_rlvr.report.evaluation import Row
from code_rlvr.report.inputs import RunInputs


def headline(run: RunInputs, rows: Sequence[Row]) -> str:
    """Sum the run up.

    Args:
        run: The run.
        rows: Rows of the evaluation table, the most important first.
    """
    for row in rows:
        if row.difference is not None and not row.is_group:
            return _compared(row, row.difference, run)
    return _missing(rows) + " " + (_validated(run) or _trained(run) or "No score was logged during training either.")


def format_difference(change: Difference) -> str:
    """Write a change with its interval, with as many digits as it takes to tell the interval from 0."""
    low, high = change.interval.low, change.interval.high
    digits = 2
    while digits < 4 and any(bound != 0 and round(bound, digits) == 0 for bound in (low, high)):
        digits += 1
    return (
        f"{_minus(f'{change.change:+.{digits}f}')}, {change.interval.level:.0%} interval "
        f"{_minus(f'{low:.{digits}f}')} to {_minus(f'{high:.{digits}f}')}"
    )


def _minus(number: str) -> str:
    return number.replace("-", "−")


def _compared(row: Row, change: Difference, run: RunInputs) -> str:
    excludes_zero = change.interval.low > 0 or change.interval.high < 0
    verb = ("rose" if change.change > 0 else "fell") if excludes_zero else "went"
    sentence = (
        f"{row.label.removesuffix(' problems')} Pass@1 ({row.decoding.split(',')[0]}) {verb} from "
        f"{change.before:.2f} to {change.after:.2f} ({format_difference(change)}){_in_steps(run, run.merged_step)}"
    )
    if excludes_zero:
        return sentence + "."
    return sentence + ": the interval includes 0, so this is no evidence of a change."


def _in_steps(run: RunInputs, step: int | None = None) -> str:
    """Up to which of the planned steps; `step` is the model's own, if that is not the last."""
    done, planned = step or run.trained_steps, run.setting("trainer.steps")
    if not done:
        return ""
    if isinstance(planned, int) and planned > done:
        return f" in {done} of {planned} steps"
    return f" in {done} step{'s' if done != 1 else ''}"


def _missing(rows: Sequence[Row]) -> str:
    if not rows:
        return "There is no evaluation before or after training."
    if any(row.before for row in rows) and any(row.after for row in rows):
        return "The evaluations before and after training cannot be compared."
    return "The model was evaluated " + ("before" if any(row.before for row in rows) else "after") + " training only."


def _validated(run: RunInputs) -> str:
    """First against last validation, of the data source that was validated most."""
    sources = pick_curve(run.steps, "reward/accepted", "accepted").validation
    source = max(sources, key=lambda name: len(sources[name].steps), default=None)
    if source is None or len(sources[source].steps) < 2:
        return ""
    points = sources[source]
    return (
        f"In validation ({source}) Pass@1 went from {points.values[0]:.2f} at step {points.steps[0]:.0f} to "
        f"{points.values[-1]:.2f} at step {points.steps[-1]:.0f}; no interval is known."
    )


def _trained(run: RunInputs) -> str:
    curve = pick_first(run.steps, SCORE)
    if curve.ends is None or len(curve.points.steps) < 2:
        return ""
    return (
        f"The training score went from {curve.ends[0]:.2f} to {curve.ends[1]:.2f} (means of the first and "
        f"last tenth){_in_steps(run)}; that is on problems that were trained on."
    )
