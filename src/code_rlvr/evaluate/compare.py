"""Before and after: is the second model better on the same problems?

Covered: the paired difference of Pass@1 with an interval, overall and by group, of every other pass@k, and
McNemar's exact test for one sample a problem.  Problems are what is resampled, so the interval speaks about other
problems like these, not about other training seeds: for those, train again.  Not covered: more than two models.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from code_rlvr.errors import DataError
from code_rlvr.evaluate.passk import pass_at_k
from code_rlvr.evaluate.scores import Interval, Scores, bootstrap_mean
from code_rlvr.words import counted

SAME_SETTINGS = ("samples_per_problem", "temperature", "top_p", "top_k", "max_new_tokens", "seed")
"""What two evaluations have to share to be comparable."""


class Difference(BaseModel):
    """A pass@k of two models on the same problems."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    problems: int
    before: float
    """pass@k, the mean over problems."""
    after: float
    """Likewise."""
    change: float
    """`after` less `before`."""
    interval: Interval
    """Of `change`, by resampling problems with both of their results."""
    better: int
    """Problems with a higher pass@k after."""
    worse: int
    """Problems with a lower one."""
    mcnemar_p: float | None = Field(default=None, ge=0, le=1)
    """Exact two-sided p-value for "neither is better"; only where each problem has one sample."""


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
    """Pass@1."""
    groups: dict[str, Difference]
    """Pass@1 by group."""
    pass_at: dict[str, Difference] = {}
    """The same by name for every `pass@k` that both have, over the problems with enough samples in both."""
    mcnemar_p: float | None = Field(ge=0, le=1)
    """Of `overall`."""


def compare_runs(before: Scores, after: Scores) -> Comparison:
    """Compare two evaluations of the same problems, made with the same settings.

    Args:
        before: Scores of the first model.
        after: Scores of the second.

    Returns:
        Differences of Pass@1, overall and by group, and of every pass@k, with 95% intervals.

    Raises:
        DataError: If the problems or the settings differ.
    """
    _check_comparable(before, after)
    groups = sorted({problem.group for problem in before.problems.values()})
    members = {group: [p for p, one in before.problems.items() if one.group == group] for group in groups}
    overall = _difference(before, after, before.problems)
    ks = {name: int(name.removeprefix("pass@")) for name in before.overall.pass_at if name in after.overall.pass_at}
    return Comparison(
        before=before.model,
        after=after.model,
        samples_per_problem=before.samples_per_problem,
        temperature=before.temperature,
        overall=overall,
        groups={group: _difference(before, after, problems) for group, problems in members.items()},
        pass_at={
            name: _difference(before, after, enough, k)
            for name, k in ks.items()
            if (enough := _with_samples(before, after, k))
        },
        mcnemar_p=overall.mcnemar_p,
    )


def _with_samples(before: Scores, after: Scores, k: int) -> list[str]:
    return [name for name, one in before.problems.items() if min(one.samples, after.problems[name].samples) >= k]


def _check_comparable(before: Scores, after: Scores) -> None:
    for name in SAME_SETTINGS:
        one, other = getattr(before, name), getattr(after, name)
        if one != other:
            raise DataError(f"the two evaluations differ in {name}: {one} before, {other} after; evaluate again")
    if before.engine and after.engine and before.engine != after.engine:
        raise DataError(f"{before.engine} sampled before, {after.engine} after; evaluate both with the same --engine")
    only = sorted(before.problems.keys() ^ after.problems.keys())
    if only:
        raise DataError(
            f"{counted(len(only), 'problem')} judged in one evaluation only, e.g. {only[0]}; "
            "evaluate both models on the same problems"
        )
    if not before.problems:
        raise DataError("no problem was judged")
    if before.asked and after.asked and before.asked != after.asked:
        raise DataError("the prompts, the tests or the limits were others before than after; evaluate again")


def _difference(before: Scores, after: Scores, problems: Iterable[str], k: int = 1) -> Difference:
    pairs = [(before.problems[problem], after.problems[problem]) for problem in problems]
    old = np.array([pass_at_k(one.samples, one.accepted, k) for one, _ in pairs])
    new = np.array([pass_at_k(one.samples, one.accepted, k) for _, one in pairs])
    better, worse = int((new > old).sum()), int((new < old).sum())
    return Difference(
        problems=len(pairs),
        before=float(old.mean()),
        after=float(new.mean()),
        change=float((new - old).mean()),
        interval=bootstrap_mean(new - old),
        better=better,
        worse=worse,
        mcnemar_p=mcnemar_p_value(better, worse) if before.samples_per_problem == 1 else None,
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
