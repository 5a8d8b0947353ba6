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

An instance of a subclass crosses as its base, but for one of the tests' own classes (`stubs`).  An array does not
cross as a list: it is not equal to one.

Covered: writing.  Anything else is a `TypeError`; subclasses refer to it instead (`serving`, `stubs`), and of a whole
answer to a call `opaque` says what little can be said.
Not covered: reading (`decoding`).
"""

from __future__ import annotations

import math
import sys
from collections import Counter, OrderedDict, deque
from itertools import islice
from json.encoder import encode_basestring_ascii

from .array import numpy_parts

TYPE_CHECKING = False  # importing typing costs 8 ms
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

MAX_DEPTH = 200
MAX_ITEMS = 1_000_000  # of an iterator that is drained, and of a range that arrives
_SMALL = 1 << 62
_VIEWS = {type({}.keys()): "dict_keys", type({}.values()): "dict_values", type({}.items()): "dict_items"}
_SEQUENCES = {list: "", tuple: "tuple", set: "set", frozenset: "frozenset", deque: "deque"}
# Calling one of these, as a hostile value might be, makes nothing large.
_SAFETYPES = (bool, int, float, complex, str, list, tuple, dict, set, frozenset, object, type(None))
TYPES: dict[str, type] = {kind.__name__: kind for kind in _SAFETYPES}
CLASSES: tuple[tuple[str, str, Callable[[Any], list[Any]]], ...] = (
    ("decimal", "Decimal", lambda value: [str(value)]),
    ("fractions", "Fraction", lambda value: [value.numerator, value.denominator]),
    ("datetime", "datetime", lambda value: [*value.timetuple()[:6], value.microsecond]),
    ("datetime", "date", lambda value: [value.year, value.month, value.day]),
    ("datetime", "time", lambda value: [value.hour, value.minute, value.second, value.microsecond]),
    ("datetime", "timedelta", lambda value: [value.days, value.seconds, value.microseconds]),
)


def encode(value: Any) -> str:
    """A plain value as ASCII text.

    Raises:
        TypeError: If something in it is not plain data.
        ValueError: If it is nested too deeply, or an iterator has too many items.
    """
    return Encoder().text(value)


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
        for module, name, arguments in CLASSES:
            home = sys.modules.get(module)
            if home is not None and isinstance(value, getattr(home, name)) and not getattr(value, "tzinfo", None):
                return f'{{"{name}": {self._items(arguments(value), depth)}}}'
        return None

    def other(self, value: Any, depth: int) -> str:
        """A value that is neither number, text nor one of the usual containers; for subclasses."""
        kind: type = type(value)
        if kind in _VIEWS:
            return f'{{"{_VIEWS[kind]}": {self._items(value, depth)}}}'
        if kind is type and value in TYPES.values():
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
