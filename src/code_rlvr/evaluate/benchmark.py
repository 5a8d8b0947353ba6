"""What a benchmark is once it is read: problems, what each is recognised by, and the task that they make.

Covered: problems that programs solve, and numbers.  Not covered: reading them (`benchmarks`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from code_rlvr.evaluate.gsm8k import NumberProblem, number_task
from code_rlvr.evaluate.programs import programming_task
from code_rlvr.evaluate.task import Task
from code_rlvr.evaluate.training_data import Known
from code_rlvr.types import Problem
from code_rlvr.verifier.judge import Judge


class Benchmark(Protocol):
    """Problems to evaluate on."""

    @property
    def name(self) -> str:
        """What results are called by."""

    @property
    def about(self) -> Mapping[str, str | int]:
        """Files, window, counts of rows left out, and ``limit`` if there are more problems, for `Scores.benchmark`."""

    def __len__(self) -> int:
        """How many problems."""

    def known(self) -> dict[str, Known]:
        """What each problem is recognised by, by its id."""

    def task(self, judge: Judge, instruction: str | None) -> Task:
        """Questions and grader."""


def limit_of(benchmark: Benchmark) -> int | None:
    """To how many problems it was cut; None for all of them."""
    limit = benchmark.about.get("limit")
    return int(limit) if limit is not None else None


@dataclass(frozen=True, slots=True)
class Programming:
    """A benchmark of problems that programs solve.

    Args:
        name: What results are called by.
        problems: With distinct ids, their tests known to be usable.
        groups: Group of each problem by its id.
        about: See `Benchmark`.
        other_statements: Further forms of a problem's statement by its id.
    """

    name: str
    problems: tuple[Problem, ...]
    groups: Mapping[str, str]
    about: Mapping[str, str | int]
    other_statements: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.problems)

    def known(self) -> dict[str, Known]:
        return {
            one.problem_id: Known((one.statement, *self.other_statements.get(one.problem_id, ())), one.tests)
            for one in self.problems
        }

    def task(self, judge: Judge, instruction: str | None) -> Task:
        return programming_task(self.problems, judge, instruction, self.groups)


@dataclass(frozen=True, slots=True)
class Numbers:
    """A benchmark of questions whose answers are numbers.

    Args:
        name: What results are called by.
        problems: With distinct ids.
        about: See `Benchmark`.
    """

    name: str
    problems: tuple[NumberProblem, ...]
    about: Mapping[str, str | int]

    def __len__(self) -> int:
        return len(self.problems)

    def known(self) -> dict[str, Known]:
        return {one.problem_id: Known((one.question,), None) for one in self.problems}

    def task(self, judge: Judge, instruction: str | None) -> Task:  # its prompt is its own
        return number_task(self.problems, self.name)
