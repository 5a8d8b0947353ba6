"""Decides whether what a program printed or returned is what was expected.

Output of stdio tests, by the tests' `compare`:

| compare | what has to agree | forgiven |
|---|---|---|
| default | the lines, each as tokens; floats within tolerance | blanks; lines without a token; CRLF and CR |
| tokens | the tokens of the whole output, as text | any white space, line ends included |
| float | the tokens of the whole output; every number within tolerance | any white space; 1 for 1.0 |
| unordered_lines | the lines, each as tokens, as text, in any order | as default |
| exact | every byte | nothing |

White space is what C's `isspace` takes for it: space, tab, line feed, vertical tab, form feed, carriage return; a
line ends with a line feed or a carriage return.  All else belongs to tokens: no-break spaces, NUL, control
characters.  All but exact forgive a byte order mark at the start.  `case_sensitive: false` folds case.

A token has a tolerance only if the *expected* one is written as a float: with a point, or a signed exponent.
Integers are compared digit by digit, at any length: 1000000007 is not 1000000008, and 5 is not 5.0.
Two floats agree if they differ by at most `abs_tol` or by `rel_tol` × |expected|.  The default rel_tol is
1e-6; that of abs_tol is half a unit of the expected token's last decimal place, but at least 1e-9 and at most
1e-6: an expected answer is itself rounded, and yet 1e-7 is not 2e-7.  nan agrees with nan, inf with inf; digits
that no float can hold agree only with themselves.

Return values of call tests, where expected outputs come from JSON, by Python's `==` or after these steps:

| returned | compared as | why |
|---|---|---|
| tuple, deque, range, iterator, view of a dict | list, at any depth | JSON has no others; LeetCode writes them so |
| dict of any kind, keys that are not text | the same with the keys as JSON writes them | JSON has no other keys |
| a number, also a Decimal or Fraction; a float expected | within tolerance, abs_tol 1e-9; "exact": `==` | rounding |
| a number; "float", an integer expected | within tolerance | as in output |
| anything else | itself; sets equal no list, True equals 1, nan equals nan | Python's own rule, nan aside |

docs/comparison.md has examples of each line; the tests read them from there.

Covered: pure functions of text and plain data, in time that grows with their size.
Not covered: checkers for problems with several right answers; assertions (`assertions`).
Source: the `standard` checker of DMOJ, the default validator of Kattis and `rcmp6` of testlib, for what they share.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter, deque
from collections.abc import ItemsView, Iterator, KeysView, ValuesView
from decimal import Decimal
from fractions import Fraction
from itertools import islice
from typing import Any

from code_rlvr.ground_truth import MAX_INT_BITS, Tests

REL_TOL = 1e-6
ABS_TOL_MIN, ABS_TOL_MAX = 1e-9, 1e-6

# No two parts of these can match the same digits: a megabyte of them takes one pass.
_DIGITS = rb"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"
_NUMBER = re.compile(_DIGITS + rb"|[+-]?(?:inf|infinity|nan)", re.IGNORECASE)
_FLOAT = re.compile(rb"[+-]?(?:\d+\.\d*|\.\d+|\d+(?=[eE][+-]))(?:[eE][+-]?\d+)?")

_BOM = "\ufeff".encode()
_BLANKS_TO_SPACES = bytes.maketrans(b"\t\v\f\r", b"   \n")
_WHITE_TO_SPACES = bytes.maketrans(b"\t\v\f\r\n", b"     ")

_SLICE = 100_000  # tokens that are looked at together; what repeats among them is compared once
_LISTS = (list, tuple, deque, range, Iterator, KeysView, ValuesView, ItemsView)
_NUMBERS = (int, float, Decimal, Fraction)


def output_matches(printed: bytes, expected: str, tests: Tests) -> bool:
    """Whether a program's standard output is the expected one, by the rules of the module's docstring.

    Args:
        printed: Standard output; bytes that are not UTF-8 equal only a text that stands for the same bytes.
        expected: The expected output.
        tests: Says which comparison, tolerances and case rule hold.
    """
    got, want = printed, _encoded(expected)
    if got == want:
        return True
    if not tests.case_sensitive:
        got, want = _folded(got), _folded(want)
    if tests.compare == "exact":
        return got == want
    by_line = tests.compare in ("default", "unordered_lines")
    got, want = _single_spaced(got, by_line), _single_spaced(want, by_line)
    if got == want:
        return True
    if tests.compare == "unordered_lines":
        return len(got) == len(want) and _counted_lines(got) == _counted_lines(want)
    return tests.compare != "tokens" and _tokens_match(got, want, tests)


def value_matches(returned: Any, expected: Any, tests: Tests) -> bool:
    """Whether a returned value is the expected one, by the rules of the module's docstring.

    Args:
        returned: Plain data, decoded; iterators in it are used up.
        expected: A JSON value.
        tests: Says which comparison and tolerances hold.
    """
    try:
        return bool(returned == expected) or _values_match(returned, expected, tests)
    except (RecursionError, ArithmeticError, ValueError):  # nested beyond reason; a signalling NaN; a huge Fraction
        return False


def floats_match(got: float, want: float, rel_tol: float | None, abs_tol: float) -> bool:
    """Whether two floats differ by at most `abs_tol` or by `rel_tol` × |want|; None is the default 1e-6."""
    if not (math.isfinite(got) and math.isfinite(want)):
        return got == want or (math.isnan(want) and math.isnan(got))
    # The tiny factor keeps a difference of exactly half a unit, in decimals, on the accepting side.
    return abs(got - want) <= max(abs_tol, (REL_TOL if rel_tol is None else rel_tol) * abs(want)) * (1 + 1e-9)


def _encoded(text: str) -> bytes:
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # JSON can hold half a surrogate pair
        return text.encode("utf-8", "surrogatepass")


def _folded(text: bytes) -> bytes:
    return text.decode("utf-8", "surrogateescape").casefold().encode("utf-8", "surrogateescape")


def _single_spaced(text: bytes, by_line: bool) -> bytes:
    """The tokens with one space between them, or one line feed where a line ends."""
    text = text.removeprefix(_BOM).translate(_BLANKS_TO_SPACES if by_line else _WHITE_TO_SPACES).strip()
    text = _without_repeats(text, b" ")
    if by_line:
        text = _without_repeats(text.replace(b" \n", b"\n").replace(b"\n ", b"\n"), b"\n")
    return text


def _counted_lines(text: bytes) -> dict[bytes, int]:
    return dict(Counter(text.split(b"\n")))  # two dicts compare much faster than two Counters


def _without_repeats(text: bytes, blank: bytes) -> bytes:
    while blank * 2 in text:  # each round halves every run
        text = text.replace(blank * 2, blank)
    return text


def _tokens_match(got: bytes, want: bytes, tests: Tests) -> bool:
    """Whether two single-spaced texts agree token by token, where an end of line counts as a token."""
    theirs = want.replace(b"\n", b" \n ").split(b" ")
    mine = got.replace(b"\n", b" \n ").split(b" ", len(theirs))  # no further than it takes to see that it is longer
    if len(mine) != len(theirs):
        return False
    written_as = _NUMBER if tests.compare == "float" else _FLOAT
    for start in range(0, len(theirs), _SLICE):
        pairs = set(zip(mine[start : start + _SLICE], theirs[start : start + _SLICE], strict=True))
        for my, their in pairs:
            if my != their and not (written_as.fullmatch(their) and _numbers_match(my, their, tests)):
                return False
    return True


def _numbers_match(got: bytes, want: bytes, tests: Tests) -> bool:
    if not _NUMBER.fullmatch(got):
        return False
    mine, theirs = float(got), float(want)
    if abs(mine - theirs) <= (REL_TOL if tests.rel_tol is None else tests.rel_tol) * abs(theirs) < math.inf:
        return True  # as floats_match would say, in half the time
    if any(math.isinf(number) and token[-1:] not in b"fFyY" for number, token in ((mine, got), (theirs, want))):
        return False  # digits that no float can hold: nothing is known about them
    abs_tol = tests.abs_tol if tests.abs_tol is not None else _rounding_of(want)
    return floats_match(mine, theirs, tests.rel_tol, abs_tol)


def _rounding_of(token: bytes) -> float:
    """Half a unit of the last decimal place that a number is written with, within the bounds."""
    mantissa, _, exponent = token.lower().partition(b"e")
    places = len(mantissa.partition(b".")[2]) - int(exponent[:6] or 0)
    return min(max(0.5 * 10.0 ** -max(0, min(places, 300)), ABS_TOL_MIN), ABS_TOL_MAX)


def _values_match(got: Any, want: Any, tests: Tests) -> bool:
    if isinstance(want, list):
        if not isinstance(got, _LISTS):
            return False
        items = list(islice(got, len(want) + 1))  # a range or an iterator may be endless
        if len(items) != len(want):
            return False
        return all(_values_match(mine, theirs, tests) for mine, theirs in zip(items, want, strict=True))
    if isinstance(want, dict):
        if not isinstance(got, dict) or len(got) != len(want):
            return False
        keyed = {_key_as_json_has_it(key): value for key, value in got.items()}  # 1 and "1" become one: too few
        return all(key in keyed and _values_match(keyed[key], value, tests) for key, value in want.items())
    if isinstance(want, str) and isinstance(got, str) and not tests.case_sensitive:
        return got.casefold() == want.casefold()
    return bool(got == want) or (_is_number(got) and _is_number(want) and _number_values_match(got, want, tests))


def _is_number(value: Any) -> bool:
    return isinstance(value, _NUMBERS) and not isinstance(value, bool)


def _number_values_match(got: Any, want: Any, tests: Tests) -> bool:
    if tests.compare == "exact" or not (isinstance(want, float) or tests.compare == "float"):
        return bool(got != got and want != want)
    mine, theirs = float(got), float(want)
    if math.isinf(mine) and got != mine:  # a Decimal too large for a float
        return False
    return floats_match(mine, theirs, tests.rel_tol, ABS_TOL_MIN if tests.abs_tol is None else tests.abs_tol)


def _key_as_json_has_it(key: Any) -> Any:
    if isinstance(key, int) and not isinstance(key, bool):  # Python writes no longer ones; no expected key is so long
        return str(key) if key.bit_length() <= MAX_INT_BITS else key
    return json.dumps(key) if key is None or isinstance(key, (bool, float)) else key
