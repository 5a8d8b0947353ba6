"""numpy's arrays: what crosses of one, and what stands for it where numpy shall not be imported, in the judge.

Covered: numbers, texts, bytes and plain objects in arrays of any shape; an `Array` is read, not computed with.
Not covered: dates and records.  Assertions that compute run in the sandbox, where an array is numpy's own.
A numpy scalar crosses as the Python number that it holds.
"""

from __future__ import annotations

import math

TYPE_CHECKING = False  # importing typing costs 8 ms
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_SIZES = ("1", "2", "4", "8", "16")  # of numbers, in bytes


class Array:
    """A numpy array where there is no numpy: a sequence that, as in numpy, is not simply equal to anything."""

    __hash__ = None  # type: ignore[assignment]  # as in numpy

    def __init__(self, shape: list[int], items: list[Any]) -> None:
        self.shape = tuple(shape)
        self._items = items

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __getitem__(self, index: Any) -> Any:
        parts = self._parts()[index]
        return Array([len(parts), *self.shape[1:]], self.tolist(parts)) if isinstance(index, slice) else parts

    def __iter__(self) -> Iterator[Any]:
        return iter(self._parts())

    def __eq__(self, other: object) -> bool:
        if len(self._items) != 1:
            raise ValueError("the truth value of an array with more than one element is ambiguous")
        other = other[0] if isinstance(other, (list, tuple)) and len(other) == 1 else other
        return bool(self._items[0] == other)

    def _parts(self) -> list[Any]:
        if not self.shape:
            raise TypeError("iteration over a 0-d array")
        if len(self.shape) == 1:
            return self._items
        step = math.prod(self.shape[1:])
        return [Array([*self.shape[1:]], self._items[i * step : (i + 1) * step]) for i in range(self.shape[0])]

    def tolist(self, parts: list[Any] | None = None) -> Any:
        """The items as nested lists; of `parts` only, flat, if they are given."""
        if parts is not None:
            return [item for part in parts for item in (part._items if isinstance(part, Array) else [part])]
        if not self.shape:
            return self._items[0]
        return [part.tolist() if isinstance(part, Array) else part for part in self._parts()]


def numpy_parts(value: Any) -> tuple[str, list[int] | None, Any]:
    """dtype, shape and the items one after another of an array; of a scalar, no shape, and the Python number.

    Raises:
        TypeError: If its items are not plain data.
    """
    dtype = value.dtype
    if dtype.kind not in "biufcUSO":
        raise TypeError(f"a numpy value of type {dtype} cannot leave the sandbox: it is not plain data")
    plain = value.astype({"f": "f8", "c": "c16"}[dtype.kind]) if dtype.kind in "fc" else value
    if type(value).__name__ != "ndarray":
        return dtype.str, None, plain.item()
    return dtype.str, [*value.shape], plain.ravel().tolist()


def numpy_array(dtype: str, shape: list[int], items: list[Any]) -> Any:
    """An array again; texts and bytes as long as they need to be, whatever the type says.

    Raises:
        ValueError: If it is of a type that `numpy_parts` lets nobody send.
    """
    import numpy  # noqa: PLC0415  only who has arrays pays for it

    order, kind, size = dtype[:1], dtype[1:2], dtype[2:]
    if not order or order not in "<>|=" or not kind or kind not in "biufcUSO":
        raise ValueError(f"not an array of plain data: {dtype[:20]!r}")
    if kind == "O":  # one by one, or lists in it would become a dimension
        array = numpy.empty(len(items), dtype=object)
        for i, item in enumerate(items):
            array[i] = item
        return array.reshape(shape)
    return numpy.array(items, dtype=dtype if kind in "biufc" and size in _SIZES else kind).reshape(shape)
