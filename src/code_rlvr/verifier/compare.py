"""Decides whether what a program printed or returned is what was expected.

Output of stdio tests, by the tests' `compare`:

| compare | what has to agree | forgiven |
|---|---|---|
| default | the lines, each as tokens; floats within tolerance | CRLF; blanks; empty lines at the end |
| tokens | the tokens of the whole output, as text | any white space, line ends included |
| float | the tokens of the whole output; every number within tolerance | any white space; 1 for 1.0 |
| unordered_lines | the lines, each as tokens, as text, in any order | as default |
| exact | every character | nothing |

A token has a tolerance only if the *expected* one is written as a float: with a point, or a signed exponent.
Integers are compared digit by digit, at any length: 1000000007 is not 1000000008, and 5 is not 5.0.
Two floats agree if they differ by at most `abs_tol` or by `rel_tol` × |expected|.  The default rel_tol is
1e-6; that of abs_tol is half a unit of the expected token's last decimal place, but at least 1e-9 and at most
1e-6: an expected answer is itself rounded, and yet 1e-7 is not 2e-7.  nan agrees with nan.
`case_sensitive: false` folds case in all of them.

Return values of call tests, where expected outputs come from JSON, by Python's `==` after these steps:

| returned | compared as | why |
|---|---|---|
| tuple | list, at any depth | JSON has no tuples |
| dict with keys that are not text | the same with the keys as JSON writes them | JSON has no other keys |
| a number, a float expected | within tolerance, abs_tol 1e-9; "exact": `==` | sums depend on their order |
| anything else | itself; sets equal no list, True equals 1 | Python's own rule |

Covered: pure functions of text and plain data.
Not covered: checkers for problems with several right answers; assertions (`asserts`).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from itertools import chain
from typing import Any

from code_rlvr.ground_truth import Tests

REL_TOL = 1e-6
ABS_TOL_MIN, ABS_TOL_MAX = 1e-9, 1e-6

_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|[+-]?(?:inf|infinity|nan)", re.ASCII | re.IGNORECASE)
_FLOAT = re.compile(r"[+-]?(?:\d+\.\d*|\.\d+|\d+(?=[eE][+-]))(?:[eE][+-]?\d+)?", re.ASCII)


def output_matches(printed: bytes, expected: str, tests: Tests) -> bool:
    """Whether a program's standard output is the expected one, by the rules of the module's docstring.

    Args:
        printed: Standard output; bytes that are not UTF-8 equal nothing.
        expected: The expected output.
        tests: Says which comparison, tolerances and case rule hold.
    """
    text = printed.decode("utf-8", "surrogateescape")
    if tests.compare == "exact":
        return _folded(text, tests) == _folded(expected, tests)
    text, expected = (
        _folded(text, tests).replace("\r\n", "\n"),
        _folded(expected, tests).replace("\r\n", "\n"),
    )
    if text.rstrip() == expected.rstrip():
        return True
    if tests.compare in ("tokens", "float"):
        got, want = text.split(), expected.split()
        return got == want if tests.compare == "tokens" else _tokens_match(got, want, tests, floats_only=False)
    got_lines = [line.split() for line in text.rstrip().split("\n")]
    want_lines = [line.split() for line in expected.rstrip().split("\n")]
    if [*map(len, got_lines)] != [*map(len, want_lines)] and tests.compare == "default":
        return False
    if tests.compare == "unordered_lines":
        return Counter(map(tuple, got_lines)) == Counter(map(tuple, want_lines))
    return _tokens_match([*chain(*got_lines)], [*chain(*want_lines)], tests, floats_only=True)


def value_matches(returned: Any, expected: Any, tests: Tests) -> bool:
    """Whether a returned value is the expected one, by the rules of the module's docstring.

    Args:
        returned: Plain data, decoded.
        expected: A JSON value.
        tests: Says which comparison and tolerances hold.
    """
    try:
        return _values_match(_as_json_has_it(returned), expected, tests)
    except RecursionError:  # nested deeper than any expected value
        return False


def _folded(text: str, tests: Tests) -> str:
    return text if tests.case_sensitive else text.casefold()


def _tokens_match(got: list[str], want: list[str], tests: Tests, floats_only: bool) -> bool:
    return len(got) == len(want) and all(
        mine == theirs or _numbers_match(mine, theirs, tests, floats_only)
        for mine, theirs in zip(got, want, strict=True)
    )


def _numbers_match(got: str, want: str, tests: Tests, floats_only: bool) -> bool:
    written_as = _FLOAT if floats_only else _NUMBER
    if not written_as.fullmatch(want) or not _NUMBER.fullmatch(got):
        return False
    abs_tol = tests.abs_tol if tests.abs_tol is not None else _rounding_of(want)
    return floats_match(float(got), float(want), tests.rel_tol, abs_tol)


def _rounding_of(token: str) -> float:
    """Half a unit of the last decimal place that a number is written with, within the bounds."""
    mantissa, _, exponent = token.lower().partition("e")
    places = len(mantissa.partition(".")[2]) - int(exponent[:6] or 0)
    return min(max(0.5 * 10.0 ** -max(0, min(places, 300)), ABS_TOL_MIN), ABS_TOL_MAX)


def floats_match(got: float, want: float, rel_tol: float | None, abs_tol: float) -> bool:
    """Whether two floats differ by at most `abs_tol` or by `rel_tol` × |want|; None is the default 1e-6."""
    if math.isnan(want) or math.isinf(want):
        return got == want or (math.isnan(want) and math.isnan(got))
    # The tiny factor keeps a difference of exactly half a unit, in decimals, on the accepting side.
    return abs(got - want) <= max(abs_tol, (REL_TOL if rel_tol is None else rel_tol) * abs(want)) * (1 + 1e-9)


def _as_json_has_it(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_as_json_has_it(item) for item in value]
    if isinstance(value, dict):
        return {_key_as_json_has_it(key): _as_json_has_it(item) for key, item in value.items()}
    return value


def _key_as_json_has_it(key: Any) -> Any:
    if isinstance(key, bool) or key is None:
        return {True: "true", False: "false", None: "null"}[key]
    return repr(key) if isinstance(key, float) else _digits(key) if isinstance(key, int) else key


def _digits(number: int) -> Any:
    return (
        str(number) if number.bit_length() < 4096 else number
    )  # str() refuses 4,300 digits; no expected key is so long


def _values_match(got: Any, want: Any, tests: Tests) -> bool:
    if isinstance(want, list):
        return (
            isinstance(got, list)
            and len(got) == len(want)
            and all(_values_match(mine, theirs, tests) for mine, theirs in zip(got, want, strict=True))
        )
    if isinstance(want, dict):
        return (
            isinstance(got, dict)
            and got.keys() == want.keys()
            and all(_values_match(got[key], value, tests) for key, value in want.items())
        )
    if isinstance(want, float) and type(got) in (int, float) and tests.compare != "exact":
        if isinstance(got, int) and got.bit_length() > 1000:
            return False
        return floats_match(float(got), want, tests.rel_tol, ABS_TOL_MIN if tests.abs_tol is None else tests.abs_tol)
    if isinstance(want, str) and isinstance(got, str):
        return _folded(got, tests) == _folded(want, tests)
    return bool(got == want)
