"""Before and after: is the second model better on the same problems?

Covered: the paired difference of Pass@1 with an interval, overall and by group, and McNemar's exact test for
one sample a problem.  Problems are what is resampled, so the interval speaks about other problems like these,
not about other training seeds: for those, train again.  Not covered: more than two models.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from code_rlvr.errors import DataError
from code_rlvr.evaluate.scores import Interval, Scores, bootstrap_mean

SAME_SETTINGS = ("samples_per_problem", "temperature", "top_p", "top_k", "max_new_tokens", "seed")
"""What two evaluations have to share to be comparable."""


class Difference(BaseModel):
    """Pass@1 of two models on the same problems."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    problems: int
    before: float
    """Pass@1."""
    after: float
    """Pass@1."""
    change: float
    """`after` less `before`."""
    interval: Interval
    """Of `change`, by resampling problems with both of their results."""
    better: int
    """Problems with a higher share of accepted samples after."""
    worse: int
    """Problems with a lower one."""


class Comparison(BaseModel):
    """Two evaluations, compared."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    before: str
    """Model folder."""
    after: str
    """Model folder."""
    samples_per_problem: int
    temperature: float
    overall: Difference
    groups: dict[str, Difference]
    mcnemar_p: float | None = Field(ge=0, le=1)
    """Exact two-sided p-value for "neither is better"; only where each problem has one sample."""


def compare_runs(before: Scores, after: Scores) -> Comparison:
    """Compare two evaluations of the same problems, made with the same settings.

    Args:
        before: Scores of the first model.
        after: Scores of the second.

    Returns:
        Differences of Pass@1, overall and by group, with 95% intervals.

    Raises:
        DataError: If the problems or the settings differ.
    """
    _check_comparable(before, after)
    groups = sorted({problem.group for problem in before.problems.values()})
    members = {group: [p for p, one in before.problems.items() if one.group == group] for group in groups}
    overall = _difference(before, after, before.problems)
    single = before.samples_per_problem == 1
    return Comparison(
        before=before.model,
        after=after.model,
        samples_per_problem=before.samples_per_problem,
        temperature=before.temperature,
        overall=overall,
        groups={group: _difference(before, after, problems) for group, problems in members.items()},
        mcnemar_p=mcnemar_p_value(overall.better, overall.worse) if single else None,
    )


def _check_comparable(before: Scores, after: Scores) -> None:
    for name in SAME_SETTINGS:
        one, other = getattr(before, name), getattr(after, name)
        if one != other:
            raise DataError(f"the two evaluations differ in {name}: {one} before, {other} after; evaluate again")
    only = sorted(before.problems.keys() ^ after.problems.keys())
    if only:
        raise DataError(
            f"{len(only)} problems were judged in one evaluation only, e.g. {only[0]}; "
            "evaluate both models on the same problems"
        )
    if not before.problems:
        raise DataError("no problem was judged")


def _difference(before: Scores, after: Scores, problems: Iterable[str]) -> Difference:
    pairs = [(before.problems[problem], after.problems[problem]) for problem in problems]
    old = np.array([one.accepted / one.samples for one, _ in pairs])
    new = np.array([one.accepted / one.samples for _, one in pairs])
    return Difference(
        problems=len(pairs),
        before=float(old.mean()),
        after=float(new.mean()),
        change=float((new - old).mean()),
        interval=bootstrap_mean(new - old),
        better=int((new > old).sum()),
        worse=int((new < old).sum()),
    )


def mcnemar_p_value(better: int, worse: int) -> float:
    """Test whether as many problems were won as lost.

    Args:
        better: Problems accepted by the second model only.
        worse: Problems accepted by the first model only.

    Returns:
        The exact two-sided p-value: twice the smaller tail of a fair coin, at most 1.

    Source: McNemar 1947, Psychometrika 12:153; the exact (binomial) form.
    """
    flips = better + worse
    tail = sum(math.comb(flips, i) for i in range(min(better, worse) + 1))
    return min(1.0, float(2 * tail / 2**flips))
