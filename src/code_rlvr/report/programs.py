"""A few of the programs that the model wrote, chosen so that each shows something else.

Covered: choosing those that are shown first.  Not covered: reading records (`verdict_records`), the rest of the
samples (`samples`), showing (`program_section`).
The choice is: a program accepted late, an early failure (on the same problem, if there is one), then the
latest failure of each kind, frequent kinds first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from code_rlvr.report.program import Program


@dataclass(frozen=True)
class Choice:
    """A program and why it is shown."""

    reason: str
    program: Program


def choose_programs(programs: Sequence[Program], count: int = 5) -> list[Choice]:
    """Choose the most telling programs.

    Args:
        programs: In the order of steps.
        count: How many at most.

    Returns:
        Distinct responses; fewer than `count` if there are no more.
    """
    choices: list[Choice] = []

    def add(reason: str, candidates: Iterable[Program], prefer: Callable[[Program], Any]) -> Program | None:
        shown = {choice.program.response for choice in choices}
        best = max((one for one in candidates if one.response not in shown), key=prefer, default=None)
        if best is not None and len(choices) < count:
            choices.append(Choice(reason.format(step=best.step), best))
        return best

    failed = [one for one in programs if not one.accepted]
    first_step = min((one.step for one in programs), default=0)
    half = (first_step + max((one.step for one in programs), default=0)) / 2
    early = [one for one in failed if one.step <= half]
    failed_early = {one.problem_id for one in early}
    late = add(
        "Accepted, step {step}",
        (one for one in programs if one.accepted and one.step > first_step),
        lambda one: (one.step > half and one.problem_id in failed_early, one.step, one.telling),
    )
    same = [one for one in early if late is not None and one.problem_id == late.problem_id]
    add(
        "The same problem, earlier: step {step}" if same else "An early failure: step {step}",
        same or early,
        lambda one: (-one.step, one.telling),
    )
    shown_kinds = {choice.program.verdict for choice in choices}
    counts = Counter(one.verdict for one in failed if one.step > half)
    for verdict in sorted(counts, key=lambda kind: (kind in shown_kinds, -counts[kind])):
        kind = [one for one in failed if one.verdict == verdict]
        add("The latest of its kind: step {step}", kind, lambda one: (one.step, one.telling))
    while len(choices) < count and add(
        "Step {step}", programs, lambda one: (one.is_partly_right, one.step, one.telling)
    ):
        pass
    return choices
