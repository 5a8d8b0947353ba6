"""Operations whose result may be far larger than what they are given, bounded: nothing here takes long.

Covered: powers, shifts, repetitions, products, sums, ranges, texts that are joined or replaced in, the decimal text of
an integer.
Not covered: tables (`bounds`); expressions, of which these are parts (`evaluator`).
"""

from __future__ import annotations

import operator
from collections import deque
from collections.abc import Callable, Iterable, Sized
from decimal import Decimal
from fractions import Fraction
from typing import Any

MAX_ITEMS = 1_000_000  # of a sequence that is built by repetition or by range()
MAX_BITS = 1_000_000  # of an integer that is built by a power or a shift
MAX_TEXT_BITS = 100_000  # of an integer that is written in decimal, which takes quadratic time: 30,103 digits, 15 ms
PYTHON_WRITES_BITS = 14_000  # of an integer, at least: 4,300 digits
MAX_PRODUCT = 10_000_000_000  # of the bits of two integers that are multiplied or divided
MAX_COPIES = 100_000_000  # of items: a sum of sequences copies what it has at each of them
MAX_DENOMINATORS = 20_000  # bits of all fractions of a sum: that of the sum may have as many
MAX_CHARACTERS = 20_000_000  # of a text that is joined or replaced in


class NotPlain(ValueError):  # noqa: N818  says what the expression is
    """The expression is outside of what is evaluated."""


def bounded_range(*bounds: int) -> range:
    """As `range`; NotPlain if it has more than `MAX_ITEMS` items."""
    items = range(*bounds)
    if len(items) > MAX_ITEMS:
        raise NotPlain(f"range of {len(items)} items")
    return items


def power(base: Any, exponent: Any) -> Any:
    """As `**`; NotPlain if the result might have more than `MAX_BITS` bits."""
    if not isinstance(exponent, (int, float, complex)):
        raise NotPlain("a power of a number that is not plain")  # 2 ** Fraction(10**9) is an integer's power too
    bits = max(base.numerator.bit_length(), base.denominator.bit_length()) if isinstance(base, (int, Fraction)) else 0
    if isinstance(exponent, int) and bits * abs(exponent) > MAX_BITS:
        raise NotPlain("a power that is too large")
    return base**exponent


def quick(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """An operation of two numbers, which is NotPlain if both are so long that it would take long."""

    def operate(left: Any, right: Any) -> Any:
        if isinstance(left, int) and isinstance(right, int) and left.bit_length() * right.bit_length() > MAX_PRODUCT:
            raise NotPlain("an operation of long numbers")
        return function(left, right)

    return operate


def times(left: Any, right: Any) -> Any:
    """As `*`; NotPlain if a sequence of more than `MAX_ITEMS` items would be made."""
    for sequence, count in ((left, right), (right, left)):
        sizes = isinstance(sequence, (str, bytes, bytearray, list, tuple, deque)) and isinstance(count, int)
        if sizes and len(sequence) * count > MAX_ITEMS:
            raise NotPlain("a repetition that is too long")
    return quick(operator.mul)(left, right)


def total(items: Iterable[Any], /, start: Any = 0) -> Any:
    """As `sum`; NotPlain if its terms are sequences or fractions of which that takes long."""
    items = list(items)
    if isinstance(start, Sized) and len(items) * sum(len(one) for one in items) > MAX_COPIES:
        raise NotPlain("a sum of many sequences")
    if sum(one.denominator.bit_length() for one in items if isinstance(one, Fraction)) > MAX_DENOMINATORS:
        raise NotPlain("a sum of many fractions")
    return sum(items, start)


def join(text: str, items: Iterable[str], /) -> str:
    """As `str.join`; NotPlain if the result had more than `MAX_CHARACTERS`."""
    items = list(items)
    if len(text) * len(items) + sum(map(len, items)) > MAX_CHARACTERS:
        raise NotPlain("a text that is too long")
    return text.join(items)


def replace(text: str, old: str, new: str, count: int = -1, /) -> str:
    """As `str.replace`; NotPlain if the result might have more than `MAX_CHARACTERS`."""
    if len(text) + text.count(old) * len(new) > MAX_CHARACTERS:
        raise NotPlain("a text that is too long")
    return text.replace(old, new, count)


def shift(left: int, right: int) -> int:
    """As `<<`; NotPlain if it is by more than `MAX_BITS` bits."""
    if right > MAX_BITS:
        raise NotPlain("a shift that is too far")
    return left << right


def text(*arguments: Any) -> str:
    """As `str`, also of an integer that has more digits than Python writes; NotPlain beyond `MAX_TEXT_BITS`."""
    value = arguments[0] if len(arguments) == 1 else None
    if type(value) is not int or value.bit_length() <= PYTHON_WRITES_BITS:
        return str(*arguments)
    if value.bit_length() > MAX_TEXT_BITS:
        raise NotPlain("the text of a number that is too long")
    return format(Decimal(value), "f")
