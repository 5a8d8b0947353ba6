"""What became of each training problem: learned, lost, solved always or never, or neither of these.

Covered: sorting problems by their solve rates, choosing some to show, groups by how many of their samples were
solved; pure functions.  Not covered: reading records (`verdict_records`), drawing (`solve_map`).
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np

from code_rlvr.report.curves import Stack
from code_rlvr.report.verdict_records import Visit
from code_rlvr.smoothing import MAX_POINTS, Points, thin_out

CHANGE = 1 / 3
"""Difference of solve rates, second half of a problem's steps less the first, from which on it counts as a change."""


class Fate(str, Enum):
    """What became of a problem, in the order in which the page shows them."""

    LEARNED = "learned"
    LOST = "lost"
    MIXED = "mixed"
    NEVER = "never"
    ALWAYS = "always"


MEANINGS = {
    Fate.LEARNED: "solved more often in the second half of its steps than in the first, by a third of the samples "
    "or more",
    Fate.LOST: "solved less often in the second half, by a third of the samples or more",
    Fate.MIXED: "solved sometimes, with a smaller change or none",
    Fate.NEVER: "no sample was accepted",
    Fate.ALWAYS: "every sample was accepted",
}
"""What the page says of each."""


@dataclass(frozen=True)
class History:
    """A training problem over the run.

    Args:
        problem_id: The problem.
        steps: When it was sampled, in order; at least once.
        solved: Accepted samples at each of the steps.
        samples: Judged samples at each of the steps, at least 1.
    """

    problem_id: str
    steps: tuple[int, ...]
    solved: tuple[int, ...]
    samples: tuple[int, ...]

    @property
    def halves(self) -> tuple[float, float]:
        """Solve rates in the first and the second half of its steps, the middle one of an odd number left out."""
        half = len(self.steps) // 2
        if half == 0:
            rate = self.solved[0] / self.samples[0]
            return rate, rate
        return (
            sum(self.solved[:half]) / sum(self.samples[:half]),
            sum(self.solved[-half:]) / sum(self.samples[-half:]),
        )

    @property
    def change(self) -> float:
        """Solve rate of the second half less that of the first, from -1 to 1."""
        early, late = self.halves
        return late - early

    @property
    def fate(self) -> Fate:
        """What became of it; one of these always fits."""
        if not any(self.solved):
            return Fate.NEVER
        if self.solved == self.samples:
            return Fate.ALWAYS
        if abs(self.change) < CHANGE - 1e-9:
            return Fate.MIXED
        return Fate.LEARNED if self.change > 0 else Fate.LOST


def make_histories(visits: Mapping[str, Mapping[int, Visit]]) -> list[History]:
    """Put the visits of each problem in the order of steps."""
    histories = []
    for problem_id, by_step in visits.items():
        steps = tuple(sorted(by_step))
        counts = [by_step[step] for step in steps]
        histories.append(
            History(problem_id, steps, tuple(one.solved for one in counts), tuple(one.samples for one in counts))
        )
    return histories


def choose_rows(histories: Sequence[History], limit: int) -> dict[Fate, list[History]]:
    """Choose problems to show: of each fate the best documented ones, an equal share of places first.

    Args:
        histories: Every problem.
        limit: How many are shown at most, over all fates.

    Returns:
        Every fate with its problems, in the order in which they are shown; empty where there are none.
    """
    by_fate: dict[Fate, list[History]] = {fate: [] for fate in Fate}
    for history in histories:
        by_fate[history.fate].append(history)
    places = _places({fate: len(members) for fate, members in by_fate.items()}, limit)
    return {fate: sorted(_best_known(members, places[fate]), key=_order) for fate, members in by_fate.items()}


def _places(sizes: Mapping[Fate, int], limit: int) -> Counter[Fate]:
    """Deal places out one by one, until there are none or every problem has one."""
    places: Counter[Fate] = Counter()
    for fate in itertools.cycle(sizes):
        if places.total() >= min(limit, sum(sizes.values())):
            return places
        places[fate] += places[fate] < sizes[fate]
    return places


def _best_known(histories: Sequence[History], count: int) -> list[History]:
    """Those with the greatest change, then with the most steps; the same ones each time."""
    return sorted(histories, key=lambda one: (-abs(one.change), -len(one.steps), one.problem_id))[:count]


def _order(history: History) -> tuple[float, int, str]:
    first_solved = next((step for step, n in zip(history.steps, history.solved, strict=True) if n), 0)
    return (-sum(history.solved) / sum(history.samples), first_solved, history.problem_id)


OUTCOMES = {
    "none": "none solved",
    "some": "less than half solved",
    "most": "half or more solved",
    "all": "all solved",
}
"""Groups by how many of their samples were accepted, in the order in which they are stacked, and their names."""


def group_outcomes(histories: Sequence[History]) -> Stack | None:
    """Share of the groups of each step by how many of their samples were accepted.

    Returns:
        None if no problem has several samples at one step, so that there are no groups.
    """
    counts: dict[int, Counter[str]] = {}
    for history in histories:
        for step, solved, samples in zip(history.steps, history.solved, history.samples, strict=True):
            if samples > 1:
                counts.setdefault(step, Counter())[_outcome(solved, samples)] += 1
    if not counts:
        return None
    steps = np.array(sorted(counts), float)
    group = -(-len(steps) // MAX_POINTS)
    parts = {}
    for outcome in OUTCOMES:
        shares = np.array([counts[int(step)][outcome] / counts[int(step)].total() for step in steps])
        if shares.any():
            parts[outcome] = thin_out(Points(steps, shares), group).values
    return Stack(thin_out(Points(steps, steps), group).steps, parts)


def count_fates(histories: Sequence[History]) -> dict[Fate, int]:
    """Return how many problems each fate has, none included."""
    return {fate: sum(one.fate is fate for one in histories) for fate in Fate}


def outcome_ends(histories: Sequence[History]) -> dict[str, tuple[float, float]]:
    """Return the mean shares of groups by outcome in the first and the last tenth of the steps that have groups.

    Returns:
        By the keys of `OUTCOMES`, those that never occur left out; empty where there are no groups.
    """
    stack = group_outcomes(histories)
    if stack is None:
        return {}
    tenth = max(1, len(stack.steps) // 10)
    return {part: (float(one[:tenth].mean()), float(one[-tenth:].mean())) for part, one in stack.parts.items()}


def _outcome(solved: int, samples: int) -> str:
    if solved in (0, samples):
        return "all" if solved else "none"
    return "most" if 2 * solved >= samples else "some"
