"""What goes into the sandbox: a program, and what one run of it is fed with.

Covered: plain values.  Not covered: running them (`sandbox`).
"""

from __future__ import annotations

import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Provide = Literal["none", "typing", "leetcode"]
Role = Literal["run", "serve", "check"]


@dataclass(frozen=True, slots=True)
class Program:
    """What is to be run.

    Args:
        source: The program.
        prelude: Source that runs before it in the same namespace.
        provide: Which names the program may use without importing them.
        role: What it will be used for: runs and calls, to answer a checker, to be one.
    """

    source: str
    prelude: str | None = None
    provide: Provide = "none"
    role: Role = "run"


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a function that the program defines, with plain data as arguments."""

    function: str
    args: tuple[Any, ...] = ()
    kwargs: tuple[tuple[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Dialogue:
    """A run that talks to the judge meanwhile.

    Args:
        role: "serve" answers calls of the program's functions; "check" runs a checker, which makes such calls.
        socket: The program's end of a stream; the judge closes it once the run has begun.
        stubs: For a checker: the names that stand for the program's.
    """

    role: Literal["serve", "check"]
    socket: socket.socket
    stubs: Mapping[str, Any] = field(default_factory=dict)


Feed = str | Call | Dialogue  # text is what standard input holds
