"""Charts of parts that add up to a whole: verdicts, a step's time, groups by how many of their samples were solved.

Covered: words and legends.  Not covered: the arithmetic (`curves`, `solve_history`), drawing (`charts`).
"""

from __future__ import annotations

from collections.abc import Sequence

from code_rlvr.report.chart import Chart
from code_rlvr.report.charts import draw_stack
from code_rlvr.report.curves import STAGES, VERDICTS, Stack, time_split, verdict_shares
from code_rlvr.report.numbers_as_text import format_number
from code_rlvr.report.solve_history import OUTCOMES, History, group_outcomes
from code_rlvr.runs import StepMetrics


def make_verdict_chart(steps: Sequence[StepMetrics]) -> Chart | None:
    """Draw the shares of the verdicts; None if the run did not log them."""
    stack = verdict_shares(steps)
    if not stack.parts:
        return None
    return Chart(
        title="Verdicts",
        about="share of the step's samples",
        meaning="Each sample has one verdict: that of its first failed test, or accepted.",
        label="Shares of verdicts over training steps: " + _stack_words(stack, VERDICTS),
        plot=draw_stack(stack, float(steps[-1].step), tones="verdict", labels=VERDICTS, top=1.0),
        legend=_legend(stack, "verdict", VERDICTS),
        wide=True,
    )


def make_time_chart(steps: Sequence[StepMetrics]) -> Chart | None:
    """Draw where a step's time goes; None if the run did not log it."""
    stack = time_split(steps)
    if not stack.parts:
        return None
    top = stack.comfortable_top
    longer = int((stack.total > top).sum())
    meaning = (
        "Programs are judged while the models work on the responses; verify is the wait that is left then. "
        "Validation is not part of a step."
    )
    if "verify" not in stack.parts:
        meaning = "Generation includes verification, which was not timed apart. Validation is not part of a step."
    return Chart(
        title="Time of a step",
        about="seconds",
        meaning=meaning,
        label="Seconds of a step's stages over training steps: " + _stack_words(stack, STAGES),
        plot=draw_stack(stack, float(steps[-1].step), tones="stage", labels=STAGES, top=top),
        legend=_legend(stack, "stage", STAGES),
        note=f"{longer} longer than drawn, up to {stack.total.max():.1f} s." if longer else "",
        wide=True,
    )


def make_outcome_chart(histories: Sequence[History], last_step: float) -> Chart | None:
    """Draw groups by how many of their samples were solved; None if the run has no groups of several samples."""
    stack = group_outcomes(histories)
    if stack is None:
        return None
    return Chart(
        title="Groups by samples solved",
        about="share of the step's problems",
        meaning="The samples of one problem are a group. From groups solved by none or by all a group advantage learns "
        "nothing, unless their scores differ in part.",
        label="Shares of groups over training steps: " + _stack_words(stack, OUTCOMES),
        plot=draw_stack(stack, last_step, tones="outcome", labels=OUTCOMES, top=1.0),
        legend=_legend(stack, "outcome", OUTCOMES),
        wide=True,
    )


def _legend(stack: Stack, tones: str, labels: dict[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple((f"{tones}-{part}", labels[part]) for part in stack.parts)


def _stack_words(stack: Stack, labels: dict[str, str]) -> str:
    return ", ".join(
        f"{labels[part]} {format_number(values[0])} to {format_number(values[-1])}"
        for part, values in stack.parts.items()
    )
