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

Covered: frames, and how exceptions are described.
Not covered: the solution's side (`serving`), the checker's (`stubs`, `recorder`), relaying
(`code_rlvr.verifier.checker`).  Standard library only.
"""  # noqa: E501  a table's row

from __future__ import annotations

import os

from .values import encode

TYPE_CHECKING = False  # importing typing costs 8 ms
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

MAX_FRAME_BYTES = 32 << 20
CALL, REPORT = b"C", b"R"


def checker_names(fd: int, stubs: Mapping[str, Any]) -> dict[str, Any]:
    """What the source of a `CheckerUnit` finds in its namespace.

    Args:
        fd: The checker's end of the socket.
        stubs: `CheckerUnit.stubs`.
    """
    from .stubs import Caller  # noqa: PLC0415  a solution's process does not need it

    return Caller(fd, stubs).names()


def serve(fd: int, namespace: dict[str, Any]) -> None:
    """Answer a checker's calls until it hangs up.

    Args:
        fd: The solution's end of the socket.
        namespace: The globals that the solution's source left.
    """
    from .serving import Server  # noqa: PLC0415  a checker's process does not need it

    server = Server(fd, namespace)
    while True:
        frame = receive(fd)
        if frame is None:
            return
        send(fd, server.answer(frame))


def send(fd: int, frame: bytes) -> None:
    """Write one frame; ValueError if it is too long."""
    if len(frame) > MAX_FRAME_BYTES:
        raise ValueError(f"a value of {len(frame)} bytes is too long to cross")
    view = memoryview(len(frame).to_bytes(4, "big") + frame)
    while view:
        view = view[os.write(fd, view) :]


def receive(fd: int) -> bytes | None:
    """Read one frame; None at the end of file, also in the middle of one."""
    header = _read(fd, 4)
    if header is None:
        return None
    size = int.from_bytes(header, "big")
    return _read(fd, size) if size <= MAX_FRAME_BYTES else None


def _read(fd: int, size: int) -> bytes | None:
    parts = []
    while size:
        try:
            part = os.read(fd, min(size, 1 << 20))
        except OSError:
            return None
        if not part:
            return None
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def find_function(names: Mapping[str, Any], path: str) -> Any:
    """The function that a test calls: a global, a method `Class.name`, or a method of `class Solution`."""
    head, _, method = path.partition(".")
    if not method and head not in names and "Solution" in names:
        head, method = "Solution", head
    if head not in names:
        raise NameError(f"the program defines no {path!r}")
    return getattr(names[head](), method) if method else names[head]


def describe_exception(error: BaseException) -> list[Any]:
    """[names of its classes, arguments, message, attributes], of the latter two what is plain data."""
    names = [kind.__name__ for kind in type(error).__mro__ if issubclass(kind, BaseException)]
    try:
        message = str(error)[:10_000]
    except Exception:  # noqa: BLE001  a solution's own __str__
        message = ""
    try:
        attributes = {str(key): value for key, value in vars(error).items() if _is_plain(value)}
    except Exception:  # noqa: BLE001  a solution's own attributes
        attributes = {}
    return [names, tuple(error.args) if _is_plain(error.args) else (message,), message, attributes]


def _is_plain(value: Any) -> bool:
    try:
        return len(encode(value)) < MAX_FRAME_BYTES // 4
    except (TypeError, ValueError):
        return False
