"""The files of one test: memory files that have no name on any disk and vanish with their last descriptor.

| descriptor of the program | holds |
|---|---|
| 0 | standard input |
| 1, 2 | standard output and error, appended to by however many writers |
| 3 | for a call: the value returned; for a dialogue: a socket to the judge |

Covered: making them, and what they held at the end.  Not covered: how large they may get (RLIMIT_FSIZE).
"""

from __future__ import annotations

import fcntl
import os
import socket

from .messages import INLINE_BYTES, pack

TYPE_CHECKING = False  # importing typing costs 8 ms
if TYPE_CHECKING:
    from typing import Any

STDERR_TAIL_BYTES = 2000


def read_all(fd: int) -> bytes:
    """All of a file, closing it."""
    with open(fd, "rb", buffering=0) as file:
        return file.readall()


def new_file(name: str, content: bytes = b"") -> int:
    """A memory file, positioned at its start."""
    fd = os.memfd_create(name)
    view = memoryview(content)
    while view:
        view = view[os.write(fd, view) :]
    if content:
        os.lseek(fd, 0, os.SEEK_SET)
    return fd


def output_file(name: str) -> int:
    """A memory file that is appended to: of these the kernel does not guard the position that writers share."""
    fd = new_file(name)
    fcntl.fcntl(fd, fcntl.F_SETFL, os.O_RDWR | os.O_APPEND)
    return fd


class TestFiles:
    """What one test reads and writes.

    Args:
        request: The judge's; its first content is the input, if that is not among the descriptors.
        fds: The descriptors that came with it: the input, if it is large; the socket of a dialogue.
    """

    def __init__(self, request: dict[str, Any], fds: list[int]) -> None:
        self.input = fds.pop(0) if request["input_is_file"] else new_file("stdin", request["contents"][0])
        self.stdout, self.stderr = output_file("stdout"), output_file("stderr")
        self.value = output_file("value") if request["test"] == "call" else None
        self.of_child = [self.input, self.stdout, self.stderr]
        if self.value is not None:
            self.of_child.append(self.value)
        self.of_child += fds
        self.sockets = fds

    def close_input(self) -> None:
        """Close what only the child uses."""
        for fd in (self.input, *self.sockets):
            os.close(fd)

    def report(self, control: socket.socket, report: dict[str, Any], output_bytes: int) -> None:
        """Send what the kernel said about the child, with what the child wrote; close everything."""
        fds = [self.stdout] if self.value is None else [self.stdout, self.value]
        sizes = [os.fstat(fd).st_size for fd in (*fds, self.stderr)]
        report["largest"] = max(sizes)
        tail = os.pread(self.stderr, STDERR_TAIL_BYTES, max(0, sizes[-1] - STDERR_TAIL_BYTES))
        if sum(sizes[:-1]) <= INLINE_BYTES:
            control.send(pack(report, tail, *[os.pread(fd, INLINE_BYTES, 0) for fd in fds]))
        else:
            socket.send_fds(control, [pack(report, tail)], fds)
        for fd in (*fds, self.stderr):
            os.close(fd)
