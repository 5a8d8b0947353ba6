"""What equals what, for output and for returned values."""

from __future__ import annotations

import ast
import math
import re
import time
from collections import Counter, deque
from decimal import Decimal
from fractions import Fraction
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from code_rlvr import Tests
from code_rlvr.verifier.compare import output_matches, value_matches

DOCUMENTED = (Path(__file__).parents[2] / "docs" / "comparison.md").read_text(encoding="utf-8")
VALUES: dict[str, Any] = {
    "nan": math.nan, "inf": math.inf, "deque": deque, "Counter": Counter, "Decimal": Decimal, "Fraction": Fraction,
    "count": count,
}  # fmt: skip


def documented(section: str) -> list[tuple[str, str, str, bool]]:
    """The example rows of a section of the docs page: left, right, options, whether they are equal."""
    text = DOCUMENTED.partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (`.*`|) \| (`.*`|) \| (`.*`|) \| (yes|no) \|$", text, re.MULTILINE)
    assert len(rows) == len(re.findall(r"\| (?:yes|no) \|$", text, re.MULTILINE)) > 50
    return [(left[1:-1], right[1:-1], options[1:-1], equal == "yes") for left, right, options, equal in rows]


def options_of(text: str) -> dict[str, Any]:
    return {str(word.arg): ast.literal_eval(word.value) for word in ast.parse(f"dict({text})").body[0].value.keywords}  # type: ignore[attr-defined]


def agrees(printed: str | bytes, expected: str, **options: Any) -> bool:
    tests = Tests.stdio(["x"], [expected], **options)
    return output_matches(printed.encode() if isinstance(printed, str) else printed, expected, tests)


@pytest.mark.parametrize(("printed", "expected", "options", "same"), documented("Output"))
def test_output_is_compared_as_documented(printed: str, expected: str, options: str, same: bool) -> None:
    printed, expected = ast.literal_eval(f'"{printed}"'), ast.literal_eval(f'"{expected}"')
    assert agrees(printed.encode("utf-8", "surrogateescape"), expected, **options_of(options)) is same


@pytest.mark.parametrize(("value", "expected", "options", "same"), documented("Returned values"))
def test_values_are_compared_as_documented(value: str, expected: str, options: str, same: bool) -> None:
    assert returns(eval(value, dict(VALUES)), eval(expected, dict(VALUES)), **options_of(options)) is same


@pytest.mark.parametrize(
    ("printed", "expected", "same"),
    [
        ("1" * 6000, "1" * 6000, True),
        ("1" * 5999 + "2", "1" * 6000, False),
        ("1" + "0" * 400 + ".0", "1.0", False),
        ("1" + "0" * 400 + ".0", "2" + "0" * 400 + ".0", False),
        ("1" + "0" * 400 + ".", "2" + "0" * 400 + ".", False),
        ("0." + "3" * 5000, "0.333333333", True),
        ("1" * 400, "1" * 399 + "2", False),
    ],
)
def test_numbers_of_any_length_are_compared(printed: str, expected: str, same: bool) -> None:
    assert agrees(printed, expected) is same
    assert agrees(printed, expected, compare="float") is same


BIG = 1 << 20


@pytest.mark.parametrize(
    ("printed", "expected", "compare"),
    [
        ("1 \n" * BIG, "1\n" * BIG, "default"),
        ("1 " * BIG, "1\n" * BIG, "default"),
        ("1" * BIG + "x", "1.0", "default"),
        ("." * BIG, "1.0", "default"),
        ("1e" + "9" * BIG, "1.0", "default"),
        ("1.0", "1e-" + "9" * BIG, "default"),
        ("1" * BIG, "2" * BIG, "float"),
        ("a" + " " * BIG + "b", "a b", "tokens"),
        ("a" + "\n " * BIG + "b", "a\nb", "default"),
        ("0.1234567\n" * (BIG // 10), "0.123456701\n" * (BIG // 10), "default"),
        ("\n".join(map(str, range(BIG // 8))), "\n".join(map(str, range(BIG // 8, 0, -1))), "unordered_lines"),
    ],
)
def test_large_output_is_compared_in_little_time(printed: str, expected: str, compare: str) -> None:
    started = time.process_time()
    agrees(printed, expected, compare=compare)
    assert time.process_time() - started < 2  # about 0.1 s; what grows with the square takes hours


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
