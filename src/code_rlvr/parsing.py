"""Parses Python from any thread.

In CPython 3.11 `ast.parse` counts its depth in one place for all threads, so that two at once may fail with a
SystemError for good source; other code in this process may parse meanwhile too.

Covered: one parse at a time, and another try.  Not covered: what a tree means.
"""

from __future__ import annotations

import ast
import threading
from typing import Literal, overload

TRIES = 5
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
