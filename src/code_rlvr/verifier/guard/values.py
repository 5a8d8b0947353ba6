"""Values as text: tagged JSON, in which nothing can be executed.  Runs in the judge and in the sandbox alike.

| value | encoded as |
|---|---|
| None, bool, str, int below 2⁶², finite float, list | itself in JSON |
| other int | `{"int": "<hex>"}`, so that no digit limit applies |
| nan, inf, -inf | `{"float": "<repr>"}` |
| complex, bytes, bytearray | `{"complex": [re, im]}`, `{"bytes": "<hex>"}`, `{"bytearray": "<hex>"}` |
| tuple, set, frozenset, deque, range | `{"<type>": [item, …]}` |
| dict, Counter, OrderedDict | `{"<type>": [[key, value], …]}`; a defaultdict is a dict |
| dict views | `{"dict_keys": [key, …]}`, `dict_values`, `dict_items` |
| iterators, generators | `{"iterator": [item, …]}`, drained up to a bound; they arrive as an iterator |
| Decimal, Fraction, naive datetime, date, time, timedelta | `{"<type>": [argument, …]}` |
| int, str, list … themselves | `{"type": "<name>"}` |
| numpy scalar | the Python number that it holds |
| numpy array | `{"array": [dtype, shape, [item, …]]}`; arrives as an `Array`, or as what `Decoder.array` makes |

An instance of a subclass crosses as its base.  An array does not cross as a list: it is not equal to one.

Covered: both directions; reading text that is hostile, with a `ValueError` for whatever was not made by `encode`.
Not covered: anything else, which is a `TypeError`; subclasses refer to it instead (`serving`, `stubs`).
"""

from __future__ import annotations

import json
import math
import sys
from collections import Counter, OrderedDict, deque
from itertools import islice
from json.encoder import encode_basestring_ascii

from .array import Array, numpy_parts

TYPE_CHECKING = False  # importing typing costs 8 ms
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

MAX_DEPTH = 200
_SMALL = 1 << 62
MAX_ITEMS = 1_000_000  # of an iterator that is drained, and of a range that arrives
MAX_EXPONENT = 10_000  # of a Decimal: int(Decimal("1e999999999")) would never end
_VIEWS = {type({}.keys()): "dict_keys", type({}.values()): "dict_values", type({}.items()): "dict_items"}
_SEQUENCES = {list: "", tuple: "tuple", set: "set", frozenset: "frozenset", deque: "deque"}
# Calling one of these, as a hostile value might be, makes nothing large.
_SAFE_TYPES = (bool, int, float, complex, str, list, tuple, dict, set, frozenset, object, type(None))
_TYPES: dict[str, type] = {kind.__name__: kind for kind in _SAFE_TYPES}
_CLASSES = (
    ("decimal", "Decimal", lambda value: [str(value)]),
    ("fractions", "Fraction", lambda value: [value.numerator, value.denominator]),
    ("datetime", "datetime", lambda value: [*value.timetuple()[:6], value.microsecond]),
    ("datetime", "date", lambda value: [value.year, value.month, value.day]),
    ("datetime", "time", lambda value: [value.hour, value.minute, value.second, value.microsecond]),
    ("datetime", "timedelta", lambda value: [value.days, value.seconds, value.microseconds]),
)  # type: tuple[tuple[str, str, Callable[[Any], list[Any]]], ...]


def encode(value: Any) -> str:
    """A plain value as ASCII text.

    Raises:
        TypeError: If something in it is not plain data.
        ValueError: If it is nested too deeply, or an iterator has too many items.
    """
    return Encoder().text(value)


def decode(encoded: bytes) -> Any:
    """The value that `encode` made a text of.

    Raises:
        ValueError: If it is anything else; only a program that forges its own answer writes such.
    """
    return Decoder().value(encoded)


class Encoder:
    """Makes text of values; a subclass may know more kinds of them."""

    def refer(self, value: Any) -> str | None:
        """A text that stands for a container or an unknown object, or None to go into it; for subclasses."""

    def made(self, value: Any) -> None:
        """Hear of every mutable container, after what is in it; for subclasses."""

    def text(self, value: Any, depth: int = 0) -> str:
        """A value as ASCII text; raises as `encode`."""
        if depth > MAX_DEPTH:
            raise ValueError("the value is nested too deeply to leave the sandbox")
        if value is None or value is True or value is False:
            return {None: "null", True: "true", False: "false"}[value]
        if isinstance(value, (str, int)):
            plain = encode_basestring_ascii(str.__str__(value)) if isinstance(value, str) else _integer(value)
            return plain if type(value) in (str, int) else self.refer(value) or plain
        if type(value) is float:
            return float.__repr__(value) if math.isfinite(value) else f'{{"float": "{float.__repr__(value)}"}}'
        reference = self.refer(value)
        if reference is not None:
            return reference
        text = self._container(value, depth)
        if isinstance(value, (list, dict, set, deque, bytearray)):
            self.made(value)
        return text

    def _container(self, value: Any, depth: int) -> str:
        if isinstance(value, (bytes, bytearray)):
            name = "bytearray" if isinstance(value, bytearray) else "bytes"
            return f'{{"{name}": "{value.hex()}"}}'
        if isinstance(value, dict):
            kind = (
                "OrderedDict" if isinstance(value, OrderedDict) else "Counter" if isinstance(value, Counter) else "dict"
            )
            pairs = ", ".join([f"[{self.text(k, depth + 1)}, {self.text(v, depth + 1)}]" for k, v in value.items()])
            return f'{{"{kind}": [{pairs}]}}'
        for base, name in _SEQUENCES.items():
            if isinstance(value, base):
                items = self._items(value, depth)
                return f'{{"{name}": {items}}}' if name else items
        return self._number(value, depth) or self.other(value, depth)

    def _number(self, value: Any, depth: int) -> str | None:
        if isinstance(value, float):
            return self.text(float(float.__repr__(value)), depth)
        if isinstance(value, complex):
            return f'{{"complex": [{self.text(value.real)}, {self.text(value.imag)}]}}'
        if isinstance(value, range):
            return f'{{"range": {self._items((value.start, value.stop, value.step), depth)}}}'
        for module, name, arguments in _CLASSES:
            home = sys.modules.get(module)
            if home is not None and isinstance(value, getattr(home, name)) and not getattr(value, "tzinfo", None):
                return f'{{"{name}": {self._items(arguments(value), depth)}}}'
        return None

    def other(self, value: Any, depth: int) -> str:
        """A value that is neither number, text nor one of the usual containers; for subclasses."""
        kind: type = type(value)
        if kind in _VIEWS:
            return f'{{"{_VIEWS[kind]}": {self._items(value, depth)}}}'
        if kind is type and value in _TYPES.values():
            return f'{{"type": "{value.__name__}"}}'
        if kind.__module__ == "numpy" and hasattr(value, "dtype") and hasattr(value, "tolist"):
            return self._numpy(value, depth)
        if hasattr(kind, "__next__") and hasattr(kind, "__iter__"):
            return f'{{"iterator": {self._items(_drained(value), depth)}}}'
        raise TypeError(f"a value of type {kind.__name__} cannot leave the sandbox: it is not plain data")

    def _items(self, values: Any, depth: int) -> str:
        values = [*values]
        kinds = {*map(type, values)}
        if kinds == {int} and max(-min(values), max(values)) < _SMALL:  # these two alike are the usual case
            return str(values)
        if kinds == {str}:
            return f"[{', '.join(map(encode_basestring_ascii, values))}]"
        return f"[{', '.join([self.text(item, depth + 1) for item in values])}]"

    def _numpy(self, value: Any, depth: int) -> str:
        dtype, shape, items = numpy_parts(value)
        if shape is None:
            return self.text(items, depth + 1)
        return f'{{"array": ["{dtype}", {self._items(shape, depth)}, {self._items(items, depth)}]}}'


def _integer(value: int) -> str:
    return int.__repr__(value) if -_SMALL < value < _SMALL else f'{{"int": "{int.__format__(value, "x")}"}}'


def _drained(iterator: Any) -> list[Any]:
    items = [*islice(iterator, MAX_ITEMS + 1)]
    if len(items) > MAX_ITEMS:
        raise ValueError(f"an iterator of more than {MAX_ITEMS} items cannot leave the sandbox")
    return items


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
            return self.build(_JSON.decode(encoded.decode("ascii")))
        except (KeyError, TypeError, AttributeError, IndexError, ArithmeticError, RecursionError, MemoryError) as error:
            raise ValueError(f"not an encoded value: {type(error).__name__}: {error}") from None

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


_JSON = json.JSONDecoder(parse_int=_short_int, parse_constant=_TYPES.__getitem__)  # none is in it


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
    "type": _TYPES.__getitem__,
}
_BUILDERS.update((name, _instance(module, name)) for module, name, _ in _CLASSES)
_COLLECTIONS: dict[str, Callable[[list[Any]], Any]] = {
    "tuple": tuple,
    "set": set,
    "frozenset": frozenset,
    "deque": deque,
    "iterator": iter,
    "dict_keys": lambda items: dict.fromkeys(items).keys(),
    "dict_values": lambda items: dict(enumerate(items)).values(),
    "dict_items": lambda items: dict(items).items(),
}
_PAIRED: dict[str, Callable[[list[Any]], Any]] = {
    "dict": dict,
    "OrderedDict": OrderedDict,
    "Counter": lambda pairs: Counter(dict(pairs)),
}
