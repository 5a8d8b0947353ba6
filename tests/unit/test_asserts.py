"""Assertions become calls and conditions; what cannot is refused, and never taken for true or false."""

from __future__ import annotations

from typing import Any

import pytest

from code_rlvr import Tests, TestsFormatError
from code_rlvr.verifier.asserts import AssertCase, take_apart
from code_rlvr.verifier.program import Call


def cases(*blocks: str, entry_point: str | None = None) -> list[AssertCase]:
    return take_apart(Tests.assertions(blocks, entry_point=entry_point))


@pytest.mark.parametrize(
    ("source", "args", "right", "wrong"),
    [
        ("assert f(1, [2]) == (3, 4)", (1, [2]), (3, 4), [3, 4]),
        ("assert (3, 4) == f(1)", (1,), (3, 4), None),
        ("assert f('a'), 'a message'", ("a",), [0], []),
        ("assert not f(b'x')", (b"x",), 0, 1),
        ("assert f(None) is None", (None,), None, False),
        ("assert f(1) is True", (1,), True, 1),
        ("assert f(-1) is not None", (-1,), 0, None),
        ("assert f(1) != 2", (1,), 1, 2),
        ("assert abs(f(2.0) - 4.0) < 1e-6", (2.0,), 4.0000001, 4.1),
        ("assert math.isclose(f(1), 2.5, rel_tol=0.001)", (1,), 2.5001, 2.6),
        ("import math\nassert f(math.pi) == math.inf", (3.141592653589793,), float("inf"), 0),
        ("assert set(f((4, 5))) == set((4, 5))", ((4, 5),), [5, 4, 4], [4]),
        ("assert sorted(f({1: 2})) == [1, 2]", ({1: 2},), (2, 1), (2,)),
        ("assert f({1, 2}) in (1, 2)", ({1, 2},), 2, 3),
        ("assert len(f(2 ** 10)) == 3 and True", (1024,), "abc", "ab"),
        ("assert f([0] * 3)[0] == 1", ([0, 0, 0],), [1], [2]),
        ("assert f('x').strip().lower() == 'a'", ("x",), " A ", "B"),
        ("assert 1 <= f(1) < 3", (1,), 2, 3),
        ("assert round(f(1), 2) == 0.33", (1,), 0.3333, 0.34),
        ("assert f(1) == 2.0 / 3.0", (1,), 2 / 3, 0.66),
        ("x = [1, 2]\nassert f(x) == x", ([1, 2],), [1, 2], [2]),
        ("result = f(7)\nassert result == 8", (7,), 8, 7),
        ("assert isinstance(f(1), int)", (1,), 1, "1"),
    ],
)
def test_assertion_holds_for_the_right_value_only(source: str, args: tuple[Any, ...], right: Any, wrong: Any) -> None:
    (case,) = cases(source)
    assert case.call == Call("f", args)
    assert case.holds(right)
    assert not case.holds(wrong)


def test_assertion_that_raises_does_not_hold() -> None:
    (case,) = cases("assert abs(f(1) - 1) < 0.1")
    for value in ("text", None, 10**400, float("nan"), [1]):
        assert not case.holds(value)


def test_keyword_arguments_go_along() -> None:
    (case,) = cases("assert f(nums=[3, 1], k=2) == 4")
    assert case.call == Call("f", (), (("nums", [3, 1]), ("k", 2)))


def test_checker_is_read_with_what_it_is_called_with() -> None:
    source = "METADATA = {}\ndef check(candidate):\n    assert candidate(1) == 2\n    assert True, 'fine'\n"
    for block, entry in ((source, "g"), (source + "check(g)\n", None)):
        (case,) = cases(block, entry_point=entry)
        assert case.call == Call("g", (1,))


def test_method_of_solution_is_a_path() -> None:
    source = "def check(candidate):\n    assert candidate(k=1) == 2\ncheck(Solution().run)"
    (case,) = cases(source, entry_point="Solution")
    assert case.call == Call("Solution.run", (), (("k", 1),))


def test_test_functions_are_read_in_order() -> None:
    source = (
        "from solution import f\ndef test_a():\n    'doc'\n    assert f(1) == 1\ndef test_b():\n    assert f(2) == 2"
    )
    assert [case.call.args for case in cases(source)] == [(1,), (2,)]


def test_function_named_like_a_builtin_is_called_if_it_is_the_entry_point() -> None:
    (case,) = cases("assert sum(1, 2) == 3", entry_point="sum")
    assert case.call == Call("sum", (1, 2))


@pytest.mark.parametrize(
    "source",
    [
        "for i in range(3):\n    assert f(i) == i",
        "assert f(g(1)) == 2",
        "assert f(1) == f(2)",
        "assert f(*[1]) == 1",
        "assert f(**{'a': 1}) == 1",
        "assert f(lambda x: x) == 1",
        "assert f(range(3)) == 1",
        "assert all(x > 0 for x in f(1))",
        "assert f(1) == unknown",
        "assert f(1).real == 1",
        "assert f(1).__class__ == int",
        "assert f(10 ** 10 ** 10) == 1",
        "assert f([0] * 10 ** 10) == 1",
        "try:\n    f(1)\n    assert False\nexcept ValueError:\n    pass",
        "x = [1]\nf(x)\nassert x == [2]",
        "import random\nassert f(random.random())",
        "def check(candidate):\n    assert candidate(1)",
        "assert True",
        "assert 1 == 2",
        "assert (lambda: f(1))()",
        "assert f'{f(1)}' == '1'",
        "@decorated\ndef test_a():\n    assert f(1)",
    ],
)
def test_unsupported_forms_are_refused_and_named(source: str) -> None:
    with pytest.raises(TestsFormatError) as refused:
        cases(source)
    assert refused.value.field is not None


def test_one_unsupported_assertion_refuses_the_whole_problem() -> None:
    with pytest.raises(TestsFormatError, match="not supported"):
        cases("assert f(1) == 1", "for i in []:\n    assert f(i)")
