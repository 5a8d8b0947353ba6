"""Which of a run's samples a reader can look through: some of each verdict, from each third of the run.

Covered: choosing.  Not covered: the few that are shown first (`programs`), showing (`program_section`).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from code_rlvr.report.program import Program

PER_CELL = 5
"""Samples of one verdict in one third of the run."""
THIRDS = ("early", "middle", "late")


def choose_samples(programs: Sequence[Program], steps: Sequence[int]) -> list[Program]:
    """Choose samples, those first that add most: one of each verdict in each third, then a second of each, and so on.

    Args:
        programs: In the order of steps.
        steps: All steps whose records were read, in order.

    Returns:
        At most `PER_CELL` distinct responses for a verdict in a third of the run.
    """
    cells: dict[tuple[str, str], list[Program]] = defaultdict(list)
    seen: set[tuple[str, str, str]] = set()
    for program in programs:
        cell = third(program.step, steps), program.verdict
        if (*cell, program.response) not in seen:
            seen.add((*cell, program.response))
            cells[cell].append(program)
    ranked = [(rank, place, one) for place, cell in enumerate(cells.values()) for rank, one in enumerate(_varied(cell))]
    return [program for _, _, program in sorted(ranked, key=lambda item: item[:2])]


def third(step: int, steps: Sequence[int]) -> str:
    """Say which third of the run a step is in.

    Args:
        step: The step.
        steps: All steps whose records were read, in order: the same for everything on a page.
    """
    first, last = steps[0], steps[-1]
    return THIRDS[min(2, 3 * (step - first) // (last - first + 1))]


def _varied(programs: Sequence[Program]) -> list[Program]:
    """A few of them: different problems before the same again, partly right before all wrong."""
    times: Counter[str] = Counter()
    ranked: list[tuple[int, int, Program]] = []
    for program in sorted(programs, key=lambda one: one.telling, reverse=True):
        ranked.append((times[program.problem_id], len(ranked), program))
        times[program.problem_id] += 1
    return [program for _, _, program in sorted(ranked, key=lambda item: item[:2])[:PER_CELL]]
