"""Assertions become calls and conditions; what cannot is refused, and never taken for true or false."""

from __future__ import annotations

import ast
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from code_rlvr import Tests, TestsFormatError
from code_rlvr.verifier.assertions.bindings import RAISED
from code_rlvr.verifier.assertions.cases import KEPT_CHARACTERS, AssertCase, take_apart
from code_rlvr.verifier.assertions.checker import CheckedCase
from code_rlvr.verifier.assertions.evaluator import is_true
from code_rlvr.verifier.guard.opaque import Opaque, OutOfReach
from code_rlvr.verifier.program import Call


def split(*blocks: str, entry_point: str | None = None, prelude: str | None = None) -> list[AssertCase | CheckedCase]:
    return take_apart(Tests("assert", asserts=blocks, entry_point=entry_point, prelude=prelude))


def cases(*blocks: str, entry_point: str | None = None) -> list[AssertCase]:
    """The test cases, all of which have to be plain."""
    found = split(*blocks, entry_point=entry_point)
    plain = [case for case in found if isinstance(case, AssertCase)]
    assert len(plain) == len(found)
    return plain


def kinds(*blocks: str, entry_point: str | None = "f", prelude: str | None = None) -> str:
    """P for a plain assertion, C for one that a checker runs."""
    found = split(*blocks, entry_point=entry_point, prelude=prelude)
    return "".join("P" if isinstance(case, AssertCase) else "C" for case in found)


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
        ("x = (1, 2)\nassert f(x) == x", ((1, 2),), (1, 2), (2,)),
        ("x = [1, 2]\ny = [2]\nassert f(x) == y", ([1, 2],), [2], [1, 2]),
        ("assert f(*[1, 2], **{}) == 1", (1, 2), 1, 2),
        ("assert f(range(3)) == range(3)", (range(3),), range(0, 3, 1), [0, 1, 2]),
        ("r = f(3)\nassert r[0] == 1 and r[1] == 2", (3,), [1, 2], [1, 3]),
        ("print\nassert f(1) == 1", (1,), 1, 2),
        ("import random\nassert f(1) == 1", (1,), 1, 2),
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


TRUE, FALSE = Opaque("a value of type Match", True, True), Opaque("a value of type Match", False, True)
WITHOUT_TRUTH = Opaque("a value of type Frame", None, False)


@pytest.mark.parametrize(
    ("source", "of_a_true_one", "of_a_false_one"),
    [
        ("assert f(1)", True, False),
        ("assert f(1), 'a message'", True, False),
        ("assert not f(1)", False, True),
        ("assert not not f(1)", True, False),
        ("assert bool(f(1))", True, False),
        ("assert bool(f(1)) == True", True, False),
        ("assert bool(f(1)) is False", False, True),
        ("assert (not f(1)) == False", True, False),
        ("assert f(1) is None", False, False),
        ("assert f(1) is not None", True, True),
        ("assert None is not f(1)", True, True),
        ("assert f(1) is True", False, False),
        ("assert f(1) is not False", True, True),
        ("assert f(1) != None", True, True),
        ("assert None == f(1)", False, False),
        ("assert (f(1) is not None) == True", True, True),
        ("assert f(1) and 5", True, False),
        ("assert (f(1) and 5) == 5", True, None),
        ("assert (f(1) or 5) == 5", None, True),
        ("assert 0 or f(1)", True, False),
        ("assert (1 if f(1) else 0) == 1", True, False),
        ("assert (f(1) if 1 else 0)", True, False),
        ("r = f(1)\nassert r and r is not None", True, False),
        ("assert isinstance(bool(f(1)), bool)", True, True),
        ("assert 1 == 2 and f(1) == 3", False, False),
    ],
)
def test_an_opaque_value_may_be_true_and_is_neither_none_true_nor_false(
    source: str, of_a_true_one: bool | None, of_a_false_one: bool | None
) -> None:
    (case,) = cases(source)
    for opaque, holds in ((TRUE, of_a_true_one), (FALSE, of_a_false_one)):
        if holds is None:
            with pytest.raises(OutOfReach, match="a value of type Match"):
                case.holds(opaque)
        else:
            assert case.holds(opaque) is holds


@pytest.mark.parametrize(
    "source",
    [
        "assert f(1) == 3",
        "assert 3 != f(1)",
        "assert f(1) == True",
        "assert f(1) != [None]",
        "assert f(1) is 3",
        "assert f(1) is not []",
        "assert f(1) < 3",
        "assert f(1) in (None, 1)",
        "assert f(1) not in []",
        "assert 1 in f(1)",
        "assert None is not f(1) != 3",
        "r = f(1)\nassert r == r",
        "r = f(1)\nassert r is r",
        "assert [f(1)] == [1]",
        "assert [f(1)]",
        "assert (f(1), 1)",
        "assert {f(1): 1}",
        "assert {1: f(1)}",
        "assert {f(1)}",
        "assert len(f(1)) == 1",
        "assert f(1)[0] == 1",
        "assert [1, 2][f(1)]",
        "assert 'ab'[f(1):]",
        "assert isinstance(f(1), int)",
        "assert not isinstance(f(1), int)",
        "assert type(f(1)) != int",
        "assert str(f(1)) != 'x'",
        "assert repr(f(1))",
        "assert list(f(1)) == []",
        "assert all([f(1)])",
        "assert any((f(1),))",
        "assert sorted([f(1)]) is not None",
        "assert f(1).count(1) == 1",
        "assert [1].count(f(1)) == 0",
        "assert -f(1) == 1",
        "assert f(1) + 1 == 1",
        "assert abs(f(1)) == 1",
        "assert bool(f(1), 1)",
        "assert len([0] * 3 if f(1) == 1 else []) == 0",
        "assert math.isclose(f(1), 1)",
    ],
)
def test_more_may_not_be_asked_of_an_opaque_value_and_never_fails_by_being_false(source: str) -> None:
    (case,) = cases(source)
    for opaque in (TRUE, FALSE):
        with pytest.raises(OutOfReach, match="a value of type Match; only whether it is true"):
            case.holds(opaque)


def test_a_value_without_truth_or_usual_equality_may_be_asked_only_whether_it_is_none() -> None:
    (case,) = cases("assert f(1) is not None")
    assert case.holds(WITHOUT_TRUTH)
    for source in ("f(1)", "not f(1)", "f(1) and 1", "1 if f(1) else 2", "bool(f(1))", "f(1) != None", "f(1) == None"):
        (case,) = cases(f"assert {source}")
        with pytest.raises(OutOfReach, match="a value of type Frame"):
            case.holds(WITHOUT_TRUTH)


CONDITIONS = st.recursive(
    st.sampled_from(["r", "None", "True", "False", "0", "2", "5", "''", "[]"]),
    lambda inner: st.one_of(
        st.tuples(st.sampled_from(["bool", "len", "str", "abs", "type", "tuple"]), inner).map("{0[0]}({0[1]})".format),
        st.tuples(
            inner,
            st.sampled_from(["and", "or", "is", "is not", "==", "!=", "<", "in", "+", "*"]),
            inner,
        ).map("({0[0]} {0[1]} {0[2]})".format),
        inner.map("(not {0})".format),
        st.tuples(inner, inner, inner).map("({0[0]} if {0[1]} else {0[2]})".format),
        st.lists(inner, max_size=2).map(lambda items: f"[{', '.join(items)}]"),
    ),
    max_leaves=8,
)


def outcome(condition: str, returned: Any) -> bool | None:
    """Whether a condition on `r` holds; None if more is asked of an opaque value than may be."""
    try:
        return is_true(ast.parse(condition, mode="eval").body, {"r": returned})
    except OutOfReach:
        return None
    except RAISED:
        return False


@settings(deadline=None, max_examples=300)
@given(CONDITIONS, st.booleans())
def test_whatever_an_opaque_value_gives_2_or_0_gives_as_well(condition: str, truth: bool) -> None:
    of_opaque = outcome(condition, TRUE if truth else FALSE)
    assert of_opaque in (None, outcome(condition, 2 if truth else 0))


def test_keyword_arguments_go_along() -> None:
    (case,) = cases("assert f(nums=[3, 1], **{'k': 2}) == 4")
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
    ("source", "expected"),
    [
        ("for i in range(3):\n    assert f(i) == i\nassert f(1) == 1", "CP"),
        ("assert f(1) == 1\nassert f(g(1)) == 2\nassert f(2) == 2", "PCP"),
        ("assert f(1) == f(2)", "C"),
        ("assert f(lambda x: x) == 1", "C"),
        ("assert all(x > 0 for x in f(1))", "C"),
        ("assert f(1).real == 1", "C"),
        ("assert f(1).__class__ == int", "C"),
        ("assert f(1)(2) == 1", "C"),
        ("assert list(map(f(1), [2])) == [1]", "C"),
        ("assert f(10 ** 10 ** 10) == 1", "C"),
        ("assert f([0] * 10 ** 10) == 1", "C"),
        ("assert (lambda: f(1))()", "C"),
        ("assert {**f(1)} == {}", "C"),
        ("assert '%s' % f(1) == '1'", "C"),
        ("assert f(1) == [0] * 10 ** 7", "C"),
        ("def same(a, b):\n    assert a == b\ndef check(g):\n    for x in [1]:\n        same(g(x), 1)", "C"),
        ("assert f'{f(1)}' == '1'", "C"),
        ("import random\nassert f(random.random())", "C"),
        ("try:\n    f(1)\n    assert False\nexcept ValueError:\n    pass", "C"),
        ("import pytest\nwith pytest.raises(ValueError):\n    f(1)\nassert f(2) == 2", "CP"),
        ("def same(a, b):\n    assert a == b\nsame(f(1), 2)\nsame(f(2), 3)", "CC"),
        ("import numpy as np\nnp.testing.assert_allclose(f(1), [1])", "C"),
        ("class TestF:\n    def test_a(self):\n        assert f(1)\n    def test_b(self):\n        assert f(2)", "CC"),
    ],
)
def test_other_assertions_belong_to_a_checker(source: str, expected: str) -> None:
    assert kinds(source) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("x = [1]\nf(x)\nassert x == [2]", "C"),
        ("x = [1]\nassert f(x) == x", "C"),
        ("x = [1]\nassert f(x) == 1\nassert f(x) == 2", "CC"),
        ("x = [1]\nassert f(x) == 1\nx = [2]\nassert f(x) == 2", "PP"),
        ("x = (1,)\nassert f(x) == 1\nassert f(x) == 2", "PP"),
        ("x = ([1],)\nassert f(x) == 1\nassert f(x) == 2", "CC"),
        ("x = [1]\ny = x\ny.append(2)\nassert f(x) == 1", "C"),
        ("x = [1]\ny = x\nx.append(2)\nassert f(y) == 1", "C"),
        ("x = [1]\ny = [x]\nx.append(2)\nassert f(y) == 1", "C"),
        ("x = [1]\nr = f(x)\nassert r == 1", "P"),
        ("x = [1]\nr = f(x)\nassert r == 1\nassert x == [1]", "CC"),
        ("x = [1]\nx.append(2)\nassert f(x) == 1", "C"),
        ("x = [1]\nx[0] = 2\nassert f(x) == 1", "C"),
        ("x = 1\nx += 1\nassert f(x) == 1", "C"),
        ("x = 1\nfor x in [2, 3]:\n    pass\nassert f(x) == 1", "C"),
        ("x = 1\nif f(2):\n    x = 2\nassert f(x) == 1", "C"),
        ("x = 1\nwith g(2) as x:\n    pass\nassert f(x) == 1", "C"),
        ("x = 1\nprint(x := 2)\nassert f(x) == 1", "C"),
        ("x = 1\ndel x\nassert f(x) == 1", "C"),
        ("pi = 3\nassert f(pi) == 1", "P"),
        ("import numpy as math\nassert f(math.pi) == 1", "C"),
        ("from mine import isclose\nassert isclose(f(1), 1)", "C"),
        ("x, y = 1, 2\nassert f(x) == 1", "C"),
        ("x = 1\ndef test_a():\n    assert f(x) == 1\nx = 2", "C"),
        ("x = [1]\ndef test_a():\n    assert f(x) == 1\ndef test_b():\n    assert f(x) == 2", "CC"),
        ("x = 1\ndef test_a():\n    global x\n    x = 2\ndef test_b():\n    assert f(x) == 2", "C"),
        ("def test_a():\n    if f(1):\n        return\n    assert f(2) == 1", "C"),
        ("r = f(1)\nr.append(2)\nassert r == [2]", "C"),
        ("r = f(1)\nassert sum(r) == 1\nassert list(r) == []", "CC"),
        ("f(1)\nassert f(2) == 2", "C"),
        ("for i in [1]:\n    f(i)\nassert f(2) == 2", "C"),
        ("import sys\nassert f(1) == 1\nsys.stdin = None\nassert f(2) == 2", "PC"),
        ("s = Stack()\ns.push(1)\nassert s.pop() == 1\nassert f(2) == 2", "CP"),
        ("try:\n    f(1)\n    assert False\nexcept ValueError:\n    pass\nassert f(2) == 2", "CP"),
        ("def sum(x):\n    return 1\nassert sum(f(1)) == 1", "C"),
    ],
)
def test_an_assertion_is_plain_only_if_its_names_are_certain(source: str, expected: str) -> None:
    assert kinds(source) == expected


def test_cases_come_in_the_order_of_the_source() -> None:
    block = "def test_a():\n    assert f(1) == 1\n    assert f(f(2)) == 2\ndef test_b():\n    assert f(3) == 3"
    assert kinds(block, "assert f(1) == 1") == "PCPP"


def test_a_prelude_s_functions_are_not_the_solution_and_its_classes_are() -> None:
    assert kinds("assert g(f(1)) == 2", prelude="def g(x):\n    return x") == "C"
    (case,) = split("assert f(Node(1)) == 2", entry_point="f", prelude="class Node:\n    pass")
    assert isinstance(case, CheckedCase)
    assert case.unit.stubs["functions"] == {"f": "f", "Node": "Node"}


def test_what_a_checker_does_not_need_the_solution_for_is_not_counted() -> None:
    assert kinds("import time\nt = time.time()\nassert f(1) == 1\nassert time.time() - t < 5") == "P"


def test_an_entry_point_that_the_block_defines_is_not_the_solution() -> None:
    (case,) = split("def check(x):\n    return solve(x)\nassert check(1) == 2", entry_point="check")
    assert isinstance(case, CheckedCase)
    assert case.unit.stubs["functions"] == {"solve": "solve"}


def test_a_checker_function_without_a_call_is_called_with_the_entry_point() -> None:
    block = "def check(candidate):\n    for x in [1, 2]:\n        assert candidate(x) == x"
    for entry, call in (("f", "check(f)"), ("Solution.run", "check(Solution().run)")):
        (case,) = split(block, entry_point=entry)
        assert isinstance(case, CheckedCase)
        assert call in case.unit.source


@pytest.mark.parametrize(
    "source",
    [
        "assert f(1) == unknown",
        "def check(candidate):\n    assert candidate(1)",
        "assert True",
        "assert 1 == 2",
        "x = 1\nassert x == 1",
        "for i in range(3):\n    assert i == i",
        "x = f(1)",
        "for i in range(3):\n    f(i)",
        "@decorated\ndef test_a():\n    assert f(1)",
        "async def test_a():\n    assert await f(1)",
        "return 1\nassert f(1)",
        "def test_a(capsys):\n    f(1)\n    assert capsys.readouterr().out == '1'",
        "@pytest.fixture\ndef x():\n    return 1\ndef test_a(x):\n    assert f(x) == 1",
        "def test_a(x, y):\n    assert f(x) == y",
        "with open('x', 'w') as x:\n    x.write('1')\nassert f('x') == 1",
        "import pickle\nassert pickle.loads(f(1)) == 1",
        "import asyncio\nassert asyncio.run(f(1)) == 1",
        "from asyncio import run\nassert run(f(1)) == 1",
        "import pytest\n@pytest.mark.skip\ndef test_a():\n    assert f(1) == 1\ndef test_b():\n    assert f(1) == 2",
        "from pytest import mark\n@mark.xfail(reason='x')\ndef test_a():\n    assert f(1) == 1",
        "from unittest import TestCase, skip\nclass T(TestCase):\n    @skip('')\n    def test_a(self): assert f(1)",
        "import unittest\nclass T(unittest.TestCase):\n    def test_a(self): self.skipTest(f(1))",
    ],
)
def test_what_tests_nothing_or_cannot_run_is_refused_and_named(source: str) -> None:
    with pytest.raises(TestsFormatError) as refused:
        split(source)
    assert refused.value.field is not None


def test_a_method_of_the_solution_may_be_called_skip() -> None:
    assert kinds("s = Stack()\ns.skip(2)\nassert s.skip(1) == 1", entry_point="Stack") != ""


def test_one_unsupported_block_refuses_the_whole_problem() -> None:
    with pytest.raises(TestsFormatError, match="bound nowhere"):
        split("assert f(1) == 1", "for i in []:\n    assert f(i) == YES")


@pytest.mark.parametrize(
    "blocks", [("f()",), ("",), ("assert f(1)", "pass"), ("assert True",), ("def helper(): pass",)]
)
def test_block_without_an_assertion_about_the_solution_is_refused(blocks: tuple[str, ...]) -> None:
    with pytest.raises(TestsFormatError, match="assert"):
        take_apart(Tests.parse({"assert_case": [*blocks], "entry_point": "f"}))


def test_tests_too_long_to_be_kept_are_taken_apart_each_time() -> None:
    tests = Tests(kind="assert", asserts=(f"assert f(1) == '{'x' * KEPT_CHARACTERS}'",), entry_point="f")
    first, second = take_apart(tests), take_apart(tests)
    assert len(first) == len(second) == 1
    assert first[0] is not second[0]


def test_tests_that_come_again_are_taken_apart_once() -> None:
    tests = Tests(kind="assert", asserts=("assert f(1) == 'once'",), entry_point="f")
    assert take_apart(tests)[0] is take_apart(tests)[0]
