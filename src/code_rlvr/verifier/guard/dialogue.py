"""How a checker calls the solution: two processes that talk through the judge, in frames.

    checker (has the tests, not the solution) ── fd 3 ── judge ── fd 3 ── solution (has no test)

A frame is four bytes of length, big-endian, and as many of text (`values`).  They alternate: each that a checker
sends with `CALL` in front is answered by exactly one of the solution's.  All that begins with `REPORT` the judge
keeps for itself; only a checker has a way to send one, so a solution can fake its own answers and nothing else.

| from | frame |
|---|---|
| checker | `[kind, name, args, kwargs, stdin, capture]`: call what `find_function` finds (kind "name"), a known object ("object"), or one of `OPERATORS` on it ("operator") |
| solution | `[outcome, body, changed, printed, unread]`: "value", "raised", or "callback" with `[number, args, kwargs]` |
| checker | `["returned", value]`, `["threw", description]`: the answer to a callback |

What is not plain data stays where it is, and the other side gets a reference to it: objects, classes, functions and
unfinished iterators of the solution; functions of the tests.  Arguments that a call has changed in place come back:
every list, dict, set, deque and bytearray in the arguments has a number, the same on both sides.

Covered: the two ways in.
Not covered: frames (`frames`), the solution's side (`serving`), the checker's (`stubs`, `remote`, `recorder`),
relaying (`code_rlvr.verifier.assertions.checker`).  Standard library only.
"""  # noqa: E501  a table's row

from __future__ import annotations

import sys

from . import pytest_stand_in
from .frames import receive, send
from .recorder import Recorder
from .remote import SolutionModule
from .serving import Server
from .stubs import Caller

TYPE_CHECKING = False  # importing typing costs 8 ms
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


def checker_names(fd: int, stubs: Mapping[str, Any]) -> dict[str, Any]:
    """What the source of a `CheckerUnit` finds in its namespace; also makes the modules that it may import.

    Args:
        fd: The checker's end of the socket.
        stubs: `CheckerUnit.stubs`.
    """
    caller = Caller(fd, stubs["exceptions"].values())
    names: dict[str, Any] = {name: caller.stub(path) for name, path in stubs["functions"].items()}
    names.update((name, caller.exceptions[path]) for name, path in stubs["exceptions"].items())
    solution = SolutionModule("solution")
    solution.__dict__.update(caller.exceptions, caller_=caller, __all__=[*names])
    sys.modules.update(dict.fromkeys(stubs["modules"], solution), pytest=pytest_stand_in.module)
    names["pytest"] = pytest_stand_in.module
    return {**names, **Recorder(caller, names).names()}


def serve(fd: int, namespace: dict[str, Any]) -> None:
    """Answer a checker's calls until it hangs up.

    Args:
        fd: The solution's end of the socket.
        namespace: The globals that the solution's source left.
    """
    server = Server(fd, namespace)
    while True:
        frame = receive(fd)
        if frame is None:
            return
        send(fd, server.answer(frame))
