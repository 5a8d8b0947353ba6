"""What equals what, for output and for returned values."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from code_rlvr import Tests
from code_rlvr.verifier.compare import output_matches, value_matches


def agrees(printed: str | bytes, expected: str, **options: Any) -> bool:
    tests = Tests.stdio(["x"], [expected], **options)
    return output_matches(printed.encode() if isinstance(printed, str) else printed, expected, tests)


@pytest.mark.parametrize(
    ("printed", "expected", "same"),
    [
        ("1\n2\n", "1\n2\n", True),
        ("1\n2", "1\n2\n", True),
        ("1\n2\n\n\n", "1\n2", True),
        ("1  \r\n2\r\n", "1\n2", True),
        ("1\n2", "1\r\n2\r\n", True),
        ("1   2\n", "1 2", True),
        ("  1 2", "1 2", True),
        ("", "", True),
        ("\n", "", True),
        ("1", "", False),
        ("", "1", False),
        ("1\n2", "1 2", False),
        ("1\n\n2", "1\n2", False),
        ("1", "1\n2", False),
        ("1\n2\n3", "1\n2", False),
        ("valid", "invalid", False),
        ("invalid", "valid", False),
        ("YES", "Yes", False),
        ("1000000008", "1000000007", False),
        ("5.0", "5", False),
        ("05", "5", False),
        ("1" * 6000, "1" * 6000, True),
        ("1" * 5999 + "2", "1" * 6000, False),
        ("0.3333333", "0.333333333", True),
        ("0.33", "0.333333333", False),
        ("3", "3.0", True),
        ("3.0000001", "3.0", True),
        ("3.0001", "3.0", False),
        ("1e-7", "2e-7", False),
        ("0.0000001", "0.0", True),
        ("0.000012345", "0.000012", True),
        ("1000000.5", "1000000.0", True),
        ("1000002.5", "1000000.0", False),
        ("nan", "1.5", False),
        ("inf", "1.5", False),
        ("1_5.0", "15.0", False),
        ("0x1p3", "8.0", False),
        ("٣.0", "3.0", False),
        ("x 1.0000001", "x 1.0", True),
        ("y 1.0000001", "x 1.0", False),
        ("1e5", "100000", False),
        ("1" + "0" * 400 + ".0", "1.0", False),
    ],
)
def test_default_compares_lines_of_tokens(printed: str, expected: str, same: bool) -> None:
    assert agrees(printed, expected) is same


def test_output_that_is_not_text_equals_nothing() -> None:
    assert not agrees(b"\xff\xfe", "\ufffd\ufffd")
    assert agrees("naïve ✓", "naïve ✓")


def test_tolerances_of_the_problem_take_the_place_of_the_defaults() -> None:
    assert agrees("1.05", "1.0", abs_tol=0.1)
    assert not agrees("1.05", "1.0", abs_tol=0.01)
    assert agrees("101.0", "100.0", rel_tol=0.02)
    assert not agrees("1.0000001", "1.0", rel_tol=0, abs_tol=0)
    assert not agrees("101", "100", rel_tol=0.5, abs_tol=5)


def test_case_is_folded_only_if_asked() -> None:
    assert agrees("YES", "Yes", case_sensitive=False)
    for compare in ("exact", "tokens", "float", "unordered_lines"):
        assert agrees("YES", "Yes", compare=compare, case_sensitive=False)
        assert not agrees("YES", "Yes", compare=compare)


def test_exact_forgives_nothing() -> None:
    assert agrees("1\n", "1\n", compare="exact")
    assert not agrees("1", "1\n", compare="exact")
    assert not agrees("1 \n", "1\n", compare="exact")
    assert not agrees("1\r\n", "1\n", compare="exact")


def test_tokens_ignores_all_white_space_and_no_digit() -> None:
    assert agrees("1 2\n3", "1\n2 3", compare="tokens")
    assert not agrees("12 3", "1 2 3", compare="tokens")
    assert not agrees("1.00", "1.0", compare="tokens")


def test_float_has_tolerance_for_integers_too() -> None:
    assert agrees("3.0000001\n4", "3 4", compare="float")
    assert agrees("NaN", "nan", compare="float")
    assert agrees("inf", "Infinity", compare="float")
    assert not agrees("-inf", "inf", compare="float")
    assert not agrees("x", "y", compare="float")


def test_unordered_lines_compares_lines_as_a_bag() -> None:
    assert agrees("b\na \na", "a\nb\na", compare="unordered_lines")
    assert not agrees("b\na\nb", "a\nb\na", compare="unordered_lines")
    assert not agrees("a\nb", "a\nb\na", compare="unordered_lines")


@given(st.text(alphabet="ab1. \n\r\t", max_size=30))
def test_everything_equals_itself(text: str) -> None:
    for compare in ("default", "exact", "tokens", "float", "unordered_lines"):
        assert agrees(text, text, compare=compare)


@given(st.integers(), st.integers())
def test_integers_agree_only_if_they_are_the_same(left: int, right: int) -> None:
    assert agrees(str(left), str(right)) is (left == right)


def returns(value: Any, expected: Any, **options: Any) -> bool:
    return value_matches(value, expected, Tests.call("f", [[]], [expected], **options))


@pytest.mark.parametrize(
    ("value", "expected", "same"),
    [
        (1, 1, True),
        (True, 1, True),
        (1, True, True),
        ("1", 1, False),
        (None, None, True),
        (0, None, False),
        ([1, 2], [1, 2], True),
        ((1, (2, 3)), [1, [2, 3]], True),
        ([1], [1, 2], False),
        ([2, 1], [1, 2], False),
        ({1, 2}, [1, 2], False),
        ({"a": 1}, {"a": 1}, True),
        ({1: "a", None: 2}, {"1": "a", "null": 2}, True),
        ({"a": 1, "b": 2}, {"a": 1}, False),
        (0.1 + 0.2, 0.3, True),
        ([0.30001], [0.3], False),
        (1, 1.0, True),
        (1.0, 1, True),
        (float("nan"), 1.0, False),
        ("a ", "a", False),
        (b"a", "a", False),
        (1e-10, 0.0, True),
    ],
)
def test_values_are_compared_as_json_would_have_them(value: Any, expected: Any, same: bool) -> None:
    assert returns(value, expected) is same


def test_integers_of_any_length_are_values() -> None:
    assert returns(10**4000, 10**4000)
    assert not returns(10**6000, 1)
    assert not returns(10**400, 1.0)
    assert not returns({10**6000: 1}, {"1": 1})


def test_values_are_compared_by_equality_if_exact() -> None:
    assert not returns(0.1 + 0.2, 0.3, compare="exact")
    assert returns((1, 2.5), [1, 2.5], compare="exact")


def test_value_nested_beyond_reason_equals_nothing() -> None:
    value: Any = []
    for _ in range(100_000):
        value = [value]
    assert not returns(value, [[]])
