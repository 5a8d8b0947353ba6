"""Reads values from text (`values`) that may be hostile: in the judge it is a program's, in a checker a solution's.

Whatever `encode` did not make is a `ValueError`, and nothing costs more time than a small multiple of its length:
a program must not be able to hold up its judge.

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


_JSON = json.JSONDecoder(parse_int=_short_int, parse_constant=TYPES.__getitem__)  # none is in it


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


def _pairs(pairs: list[Any]) -> list[Any]:
    _keys([key for key, _ in pairs])
    return pairs


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
    "set": lambda items: set(_keys(items)),
    "frozenset": lambda items: frozenset(_keys(items)),
    "deque": deque,
    "iterator": iter,
    "dict_keys": lambda items: dict.fromkeys(_keys(items)).keys(),
    "dict_values": lambda items: dict(enumerate(items)).values(),
    "dict_items": lambda items: dict(_pairs(items)).items(),
}
_PAIRED: dict[str, Callable[[list[Any]], Any]] = {
    "dict": lambda pairs: dict(_pairs(pairs)),
    "OrderedDict": lambda pairs: OrderedDict(_pairs(pairs)),
    "Counter": lambda pairs: Counter(dict(_pairs(pairs))),
}
