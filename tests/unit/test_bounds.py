"""Values that were made to hurt do not hold up the judge; others are evaluated as ever."""

from __future__ import annotations

import ast
import time
from fractions import Fraction
from typing import Any

import pytest

from code_rlvr.verifier.assertions.arithmetic import NotPlain
from code_rlvr.verifier.assertions.bounds import TooCostly
from code_rlvr.verifier.assertions.evaluator import evaluate

COLLIDING = [k * (2**61 - 1) for k in range(60_000)]


def value(source: str, returned: Any) -> Any:
    return evaluate(ast.parse(source, mode="eval").body, {"r": returned})


@pytest.mark.parametrize(
    ("source", "returned"),
    [
        ("set(r) == set((4, 5))", COLLIDING),
        ("frozenset(r)", COLLIDING),
        ("Counter(r)", COLLIDING),
        ("set(map(tuple, r))", [[item] for item in COLLIDING]),
        ("dict(zip(r, r))", COLLIDING),
        ("dict(r)", [[item, n] for n, item in enumerate(COLLIDING)]),
        ("set((1, 2)).union(r)", COLLIDING),
        ("set((1, 2)).intersection(r)", COLLIDING),
        ("list(map(set, r))", [COLLIDING]),
        ("sorted(r, key=frozenset)", [COLLIDING, [1]]),
        ("sum(r, [])", [[1] * 8] * 40_000),
        ("sum(r, ())", [(1,)] * 60_000),
        ("sum(r)", [Fraction(1, 10**9 + n) for n in range(60_000)]),
        ("r.replace('', r)", "x" * 1_000_000),
        ("r.join(r)", "x" * 1_000_000),
    ],
    ids=lambda argument: argument if isinstance(argument, str) and len(argument) < 80 else "value",
)
def test_what_would_take_long_is_refused_at_once(source: str, returned: Any) -> None:
    started = time.process_time()
    with pytest.raises((TooCostly, NotPlain)):
        value(source, returned)
    assert time.process_time() - started < 5  # of minutes and more


@pytest.mark.parametrize(
    ("source", "returned", "expected"),
    [
        ("len(set(r))", [0, 1] * 100_000, 2),
        ("len(set(r))", [-1, -2] * 1_000, 2),  # these share a hash
        ("len(set(r))", list(range(100_000)), 100_000),
        ("len(set(r))", [2**k for k in range(4_000)], 4_000),  # 66 of them share each hash
        ("Counter(r)['a']", "banana", 3),
        ("dict(r)", {"a": 1}, {"a": 1}),
        ("dict(zip(r, r))", (1, 2), {1: 1, 2: 2}),
        ("int(r, 2)", "101", 5),
        ("int(r)", 2.5, 2),
        ("len(str(r))", 10**20_898, 20_899),
        ("str(r)[:3]", -(10**5_000), "-10"),
        ("sum(map(int, str(r)))", 10**9_000 + 7, 8),
        ("sum(r, [])", [[1], [2, 3]], [1, 2, 3]),
        ("sum(r, start=2)", [1, 2.5], 5.5),
        ("sum(r)", [Fraction(1, 3)] * 3, 1),
        ("sum(map(len, r))", ["ab", "c"], 3),
        ("', '.join(r)", ["a", "b"], "a, b"),
        ("r.replace('a', 'bb', 1)", "aa", "bba"),
        ("isinstance(r, str)", "a", True),
        ("str(r, 'ascii')", b"a", "a"),
        ("isinstance(r, set)", {1}, True),
        ("isinstance(r, (int, str))", "a", True),
        ("type(r) == dict", {}, True),
        ("type(r) is int", 3, True),
        ("list(map(str, r))", [1, 2], ["1", "2"]),
        ("sorted(r, key=str)", [10, 9], [10, 9]),
        ("set(r).union((3,))", [1], {1, 3}),
        ("set()", None, set()),
        ("str()", None, ""),
    ],
    ids=lambda argument: argument if isinstance(argument, str) and len(argument) < 80 else "value",
)
def test_what_right_programs_return_is_evaluated(source: str, returned: Any, expected: Any) -> None:
    assert value(source, returned) == expected
