"""The files of one test: memory files that have no name on any disk and vanish with their last descriptor.

| descriptor of the program | holds |
|---|---|
| 0 | standard input; of a call: its arguments, read before the program starts |
| 1, 2 | standard output and error, appended to by however many writers |
| 3 | of a call: the value returned; of a dialogue: a socket to the judge |

Covered: making and reading them.  Not covered: how large they may get (RLIMIT_FSIZE).
"""

from __future__ import annotations

import fcntl
import os


def read_all(fd: int) -> bytes:
    """All of a file, closing it."""
    with open(fd, "rb", buffering=0) as file:
        return file.readall()


def input_file(content: bytes) -> int:
    """A memory file, positioned at its start."""
    fd = os.memfd_create("stdin")
    if content:
        view = memoryview(content)
        while view:
            view = view[os.write(fd, view) :]
        os.lseek(fd, 0, os.SEEK_SET)
    return fd


def output_file() -> int:
    """A memory file that is appended to: of these the kernel does not guard the position that writers share."""
    fd = os.memfd_create("output")
    fcntl.fcntl(fd, fcntl.F_SETFL, os.O_RDWR | os.O_APPEND)
    return fd
