"""Parses Python from any thread.

In CPython 3.11 `ast.parse` counts its depth in one place for all threads, so that two at once may fail with a
SystemError for good source; other code in this process may parse meanwhile too.

Covered: one parse at a time, and another try; text that may be no Python.  Not covered: what a tree means.
"""

from __future__ import annotations

import ast
import re
import threading
import warnings
from typing import Literal, overload

TRIES = 5
MAX_CHARS = 200_000
"""Longer text of unknown kind is taken for no Python without parsing it."""
_UNKNOWN = "<unknown kind>"
_QUIET = ("ignore", None, Warning, re.compile(re.escape(_UNKNOWN)), 0)
_one_at_a_time = threading.RLock()


@overload
def parse(source: str, mode: Literal["exec"] = "exec", filename: str = "<unknown>") -> ast.Module: ...
@overload
def parse(source: str, mode: Literal["eval"], filename: str = "<unknown>") -> ast.Expression: ...
def parse(source: str, mode: str = "exec", filename: str = "<unknown>") -> ast.AST:
    """The syntax tree of a source.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: As `ast.parse`.
    """
    for _ in range(TRIES - 1):
        try:
            with _one_at_a_time:
                return ast.parse(source, filename, mode)
        except SystemError:
            continue
    with _one_at_a_time:
        return ast.parse(source, filename, mode)


def parsed(text: str) -> ast.Module | None:
    """The syntax tree of text of unknown kind, a model's say; None where it is no Python or too long.

    The parser's warnings about it, such as of "\\d", are not shown.
    """
    if _QUIET not in warnings.filters:  # catch_warnings is not thread-safe
        warnings.filters.insert(0, _QUIET)  # type: ignore[attr-defined]
        warnings._filters_mutated()  # type: ignore[attr-defined]
    try:
        return parse(text, filename=_UNKNOWN) if len(text) <= MAX_CHARS else None
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
