"""Frames, in which checker and solution talk, and what both of them tell the other.

Covered: reading and writing frames, finding functions by name, describing exceptions.
Not covered: what the frames say (`dialogue`).  Standard library only.
"""

from __future__ import annotations

import os

from .values import encode

TYPE_CHECKING = False  # importing typing costs 8 ms
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

MAX_FRAME_BYTES = 32 << 20
CALL, REPORT = b"C", b"R"


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
