"""Tables of items that may be chosen to hurt: a condition is evaluated in the judge, where no deadline ends it.

Putting many different items that share a hash into a set or a dict takes quadratic time.

Covered: that.  Not covered: sizes of what is built (`arithmetic`), bounds on single values (`guard.decoding`), decimal
text of long integers, which Python itself bounds.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Mapping
from typing import Any

MAX_ALIKE = 200
"""Different items that share a hash; as many as `guard.decoding` lets into one set."""


class TooCostly(ValueError):  # noqa: N818  says what the evaluation is
    """Evaluating this could hold up the judge."""


def hashing(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that puts the items of its arguments into a table, unless they were made to collide."""

    def guarded(*arguments: Any, **keywords: Any) -> Any:
        return function(*map(_spread, arguments), **keywords)

    return guarded


def keyed(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that makes a table of pairs, unless their keys were made to collide."""

    def guarded(*arguments: Any, **keywords: Any) -> Any:
        made = [one if isinstance(one, Mapping) else [tuple(pair) for pair in one] for one in arguments]
        for one in made:
            if not isinstance(one, Mapping):
                _spread([pair[0] for pair in one])
        return function(*made, **keywords)

    return guarded


def _spread(items: Any) -> Any:
    """Items as they are, or as a list if they can be taken only once.

    Raises:
        TooCostly: Many different ones share a hash.
    """
    if isinstance(items, (str, bytes, bytearray, range, set, frozenset, Mapping)) or not isinstance(items, Iterable):
        return items  # of these, either no items collide or they were looked at before
    items = items if isinstance(items, (list, tuple, deque)) else list(items)
    if len(items) > MAX_ALIKE:
        alike: defaultdict[int, list[Any]] = defaultdict(list)
        for item in items:
            others = alike[hash(item)]
            if item not in others:
                others.append(item)
                if len(others) > MAX_ALIKE:
                    raise TooCostly("items made to collide")
    return items
