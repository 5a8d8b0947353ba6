"""Reads values from text (`values`) that may be hostile: in the judge it is a program's, in a checker a solution's.

Whatever `encode` did not make is a `ValueError`, and nothing costs more time than a small multiple of its length:
a program must not be able to hold up its judge.  That multiple is large for containers, so whoever reads what a program
may have forged asks `require_buildable` first.

Covered: every tag of `values`; bounds on what would take long to build.
Not covered: references, which subclasses resolve (`serving`, `stubs`).
"""

from __future__ import annotations

import json
import math
from collections import Counter, OrderedDict, deque

from .array import Array
from .values import CLASSES, MAX_DEPTH, MAX_ITEMS, TYPES

TYPE_CHECKING = False  # importing typing costs 8 ms
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

MAX_EQUAL_HASHES = 200  # of the keys of one set or dict
MAX_FRACTION_BITS = 16_384  # greatest common divisors and comparisons take quadratic time
MAX_EXPONENT = 10_000  # of a Decimal: int(Decimal("1e999999999")) would never end
# Of one answer; a container is a list or a tagged object.  15 MiB of `{"deque":[]},` would take 5 s and 1.1 GiB to
# build, within these bounds nothing takes more than 1.3 s and 250 MiB.  Large honest answers have fewer: 200,000 pairs
# are 200,001 containers, or 400,002 as a set of tuples; a million numbers are one, and 999,999 commas.
MAX_CONTAINERS = 500_000
MAX_COMMAS = 2_000_000
_NO_MARKS = bytes({*range(256)}.difference(b'[{,"'))


class TooLarge(ValueError):  # noqa: N818  says what the value is
    """A value of more parts than may be built."""


def require_buildable(encoded: bytes) -> None:
    """Refuse what would take long to build, or much memory; it need not be an encoded value.

    Raises:
        TooLarge: If it has more than `MAX_CONTAINERS` or `MAX_COMMAS` outside of texts.
    """
    if _within_bounds(encoded):  # with those in texts
        return
    marks = encoded.replace(rb"\\", b"").replace(rb"\"", b"").translate(None, _NO_MARKS).replace(b'""', b"")
    texts = marks.count(b'"') // 2  # those left have marks in them; each is in a container, or follows a comma
    if texts > MAX_CONTAINERS + MAX_COMMAS or not _within_bounds(b"".join(marks.split(b'"')[::2])):
        raise TooLarge(f"more than {MAX_CONTAINERS:,} containers or {MAX_COMMAS:,} commas between items")


def _within_bounds(marks: bytes) -> bool:
    return marks.count(b"[") + marks.count(b"{") <= MAX_CONTAINERS and marks.count(b",") <= MAX_COMMAS


def decode(encoded: bytes) -> Any:
    """The value that `encode` made a text of.

    Raises:
        ValueError: If it is anything else; only a program that forges its own answer writes such.
    """
    return Decoder().value(encoded)


class Decoder:
    """Reads what an `Encoder` wrote; a subclass may know more tags."""

    def made(self, value: Any) -> None:
        """Hear of every mutable container, after what is in it; for subclasses."""

    def resolve(self, tag: str, body: Any) -> Any:
        """What an unknown tag stands for; for subclasses."""
        raise ValueError(f"not an encoded value: the tag {tag[:20]!r}")

    def array(self, dtype: str, shape: list[int], items: list[Any]) -> Any:
        """A numpy array; for subclasses that want it as itself."""
        return Array(shape, items)

    def value(self, encoded: bytes) -> Any:
        """The value; raises as `decode`."""
        try:
            return self.whole(_JSON.decode(encoded.decode("ascii")))
        except (KeyError, TypeError, AttributeError, IndexError, ArithmeticError, RecursionError, MemoryError) as error:
            raise ValueError(f"not an encoded value: {type(error).__name__}: {error}") from None

    def whole(self, node: Any) -> Any:
        """The value of a whole text; for subclasses that read one part of it in another way."""
        return self.build(node)

    def build(self, node: Any, depth: int = 0) -> Any:
        """The value of a parsed node."""
        if depth > MAX_DEPTH + 2:
            raise ValueError("not an encoded value: nested too deeply")
        if isinstance(node, list):
            value: Any = self._items(node, depth)
        elif isinstance(node, dict):
            ((tag, body),) = node.items()
            if tag in _BUILDERS:
                value = _BUILDERS[tag](body)
            elif tag in _COLLECTIONS:
                value = _COLLECTIONS[tag](self._items(body, depth))
            elif tag in _PAIRED:
                value = _PAIRED[tag]([(self.build(k, depth + 1), self.build(v, depth + 1)) for k, v in body])
            elif tag == "array":
                value = self._array(body, depth)
            else:
                return self.resolve(tag, body)
        else:
            return node
        if isinstance(value, (list, dict, set, deque, bytearray)):
            self.made(value)
        return value

    def _items(self, body: Any, depth: int) -> list[Any]:
        if not isinstance(body, list):
            raise ValueError("not an encoded value: items that are no list")
        if {list, dict}.isdisjoint(map(type, body)):
            return body
        return [self.build(item, depth + 1) for item in body]

    def _array(self, body: Any, depth: int) -> Any:
        dtype, shape, items = body
        items = self._items(items, depth)
        sized = len(shape) <= 32 and all(type(size) is int and size >= 0 for size in shape)
        if not isinstance(dtype, str) or not sized or math.prod(shape) != len(items):
            raise ValueError("not an encoded value: an array of another shape")
        return self.array(dtype, shape, items)


def _short_int(digits: str) -> int:
    if len(digits) > 20:  # longer ones are written in hexadecimal; reading these takes quadratic time
        raise ValueError("not an encoded value: a long integer")
    return int(digits)


def _tagged(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(pairs) != 1:  # of equal tags the last would win, and the others be built for nothing
        raise ValueError("not an encoded value: an object that has not one tag")
    return dict(pairs)


_NO_CONSTANTS = TYPES.__getitem__
_JSON = json.JSONDecoder(object_pairs_hook=_tagged, parse_int=_short_int, parse_constant=_NO_CONSTANTS)


def _plain(node: Any) -> Any:
    """An argument of a number or a date: an integer or a text."""
    if isinstance(node, dict):
        return int(node["int"], 16)
    if type(node) not in (int, str):
        raise ValueError("not an encoded value: a number made of something else")
    return node


def _complex(body: Any) -> complex:
    real, imaginary = [float(part["float"] if isinstance(part, dict) else part) for part in body]
    return complex(real, imaginary)


def _range(body: Any) -> range:
    items = range(*map(_plain, body))
    if len(items) > MAX_ITEMS:
        raise ValueError("not an encoded value: a range that is too long")
    return items


def _keys(keys: list[Any]) -> list[Any]:
    """Keys as they are, unless many share a hash: putting such into a set takes quadratic time."""
    if len(keys) > MAX_EQUAL_HASHES and max(Counter(map(hash, keys)).values()) > MAX_EQUAL_HASHES:
        raise ValueError("not an encoded value: keys made to collide")
    return keys


def _all_of(items: list[Any], made: Any) -> Any:
    """What was made of items, if all are in it: of equal keys all but one would have been built for nothing."""
    if len(made) != len(items):
        raise ValueError("not an encoded value: keys that are equal")
    return made


def _dict(pairs: list[Any]) -> Any:
    _keys([key for key, _ in pairs])
    return _all_of(pairs, dict(pairs))


def _fraction(body: Any) -> Any:
    parts = [*map(_plain, body)]
    if any(type(part) is not int or part.bit_length() > MAX_FRACTION_BITS for part in parts):
        raise ValueError("not an encoded value: a fraction of something else, or too long")
    return __import__("fractions").Fraction(*parts)


def _instance(module: str, name: str) -> Callable[[Any], Any]:
    def build(body: Any) -> Any:
        value = getattr(__import__(module), name)(*map(_plain, body))
        if name == "Decimal" and value.is_finite() and abs(value.adjusted()) > MAX_EXPONENT:
            raise ValueError("not an encoded value: an exponent that is too large")
        return value

    return build


_BUILDERS: dict[str, Callable[[Any], Any]] = {
    "int": lambda body: int(body, 16),
    "float": float,
    "complex": _complex,
    "bytes": bytes.fromhex,
    "bytearray": bytearray.fromhex,
    "range": _range,
    "type": TYPES.__getitem__,
}
_BUILDERS.update((name, _instance(module, name)) for module, name, _ in CLASSES)
_BUILDERS["Fraction"] = _fraction
_COLLECTIONS: dict[str, Callable[[list[Any]], Any]] = {
    "tuple": tuple,
    "set": lambda items: _all_of(items, set(_keys(items))),
    "frozenset": lambda items: _all_of(items, frozenset(_keys(items))),
    "deque": deque,
    "iterator": iter,
    "dict_keys": lambda items: _all_of(items, dict.fromkeys(_keys(items)).keys()),
    "dict_values": lambda items: dict(enumerate(items)).values(),
    "dict_items": lambda items: _dict(items).items(),
}
_PAIRED: dict[str, Callable[[list[Any]], Any]] = {
    "dict": _dict,
    "OrderedDict": lambda pairs: OrderedDict(_dict(pairs)),
    "Counter": lambda pairs: Counter(_dict(pairs)),
}
