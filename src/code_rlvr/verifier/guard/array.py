"""A numpy array where numpy shall not be imported: in the judge.

Covered: reading it, item by item or as nested lists.
Not covered: computing with it; assertions that do so are run by a checker in the sandbox, where it is numpy's own.
"""

from __future__ import annotations

import math

TYPE_CHECKING = False  # importing typing costs 8 ms
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any


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
