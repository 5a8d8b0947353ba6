"""What goes into the sandbox: a program, and a call of one of its functions.

Covered: plain values.  Not covered: running them (`sandbox`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Provide = Literal["none", "typing", "leetcode"]


@dataclass(frozen=True, slots=True)
class Program:
    """What is to be run.

    Args:
        source: The program.
        prelude: Source that runs before it in the same namespace.
        provide: Which names the program may use without importing them.
    """

    source: str
    prelude: str | None = None
    provide: Provide = "none"


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a function that the program defines, with plain data as arguments."""

    function: str
    args: tuple[Any, ...] = ()
    kwargs: tuple[tuple[str, Any], ...] = ()
