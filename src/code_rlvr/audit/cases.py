"""The tests of a problem, all kinds alike: what goes in, which answer is known to be right, which answers are.

An *answer* is what a program would print (bytes), or what a call of it would return (plain data).  Assertions that
are more than a call and a condition run as a checker; about those nothing is known before they run.

Covered: a view of the judge's own cases and rules.  Not covered: running anything.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from code_rlvr.ground_truth import Tests
from code_rlvr.verifier.assertions.bindings import NO_VALUE, RETURNED, value_of
from code_rlvr.verifier.assertions.cases import AssertCase
from code_rlvr.verifier.compare import output_matches, value_matches
from code_rlvr.verifier.guard.values import encode
from code_rlvr.verifier.job import cases_of

UNKNOWN: Any = NO_VALUE


@dataclass(frozen=True, slots=True)
class PlainCase:
    """One test.

    Args:
        key: What goes in, as a text that is the same for the same input.
        args: What a call is given; for stdio tests the input as bytes, alone.
        answer: The right answer; `UNKNOWN` if the test does not name it.
        accepts: Whether an answer passes, by the judge's rules.
    """

    key: str
    args: tuple[Any, ...]
    answer: Any
    accepts: Callable[[Any], bool]


@dataclass(frozen=True, slots=True)
class Cases:
    """All tests of one problem.

    Args:
        plain: Those about which something can be said without running them.
        checked: How many others there are.
    """

    plain: tuple[PlainCase, ...]
    checked: int

    @property
    def total(self) -> int:
        """How many tests there are."""
        return len(self.plain) + self.checked


def read_cases(tests: Tests) -> Cases:
    """Look at tests as the judge will take them.

    Raises:
        TestsFormatError: If an assertion has a form that cannot be run.
    """
    if tests.kind == "assert":
        cases = cases_of(tests)
        plain = tuple(_of_assertion(case) for case in cases if isinstance(case, AssertCase))
        return Cases(plain, len(cases) - len(plain))
    of_pair = _of_output if tests.kind == "stdio" else _of_call
    pairs = zip(tests.inputs, tests.outputs, strict=True)
    return Cases(tuple(of_pair(given, expected, tests) for given, expected in pairs), 0)


def _of_output(given: str, expected: str, tests: Tests) -> PlainCase:
    return PlainCase(
        given, (_as_bytes(given),), _as_bytes(expected), lambda answer: output_matches(answer, expected, tests)
    )


def _as_bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _of_call(args: list[Any], expected: Any, tests: Tests) -> PlainCase:
    key = json.dumps(args, sort_keys=True)
    return PlainCase(key, tuple(args), expected, lambda answer: value_matches(answer, expected, tests))


def _of_assertion(case: AssertCase) -> PlainCase:
    call = case.call
    key = f"{call.function} {encode((call.args, call.kwargs))}"
    return PlainCase(key, call.args, _answer_of(case.condition), case.holds)


def _answer_of(condition: ast.expr) -> Any:
    """The value in `□ == value` or `value == □`, or in `is`."""
    if not isinstance(condition, ast.Compare) or len(condition.ops) != 1:
        return UNKNOWN
    if not isinstance(condition.ops[0], ast.Eq | ast.Is):
        return UNKNOWN
    sides = [condition.left, condition.comparators[0]]
    others = [side for side in sides if not (isinstance(side, ast.Name) and side.id == RETURNED)]
    return value_of(others[0]) if len(others) == 1 else UNKNOWN
