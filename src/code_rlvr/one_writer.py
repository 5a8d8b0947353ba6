"""A file that grows by whole lines and has one writer at a time.

Covered: opening, appending.  Not covered: what the lines say, and how they are read back (`verify.verdict_file`,
`evaluate.sample_file`); files that appear whole (`whole_file`).
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from code_rlvr.errors import DataError


def open_alone(path: Path, remedy: str = "; name another file with --out") -> int:
    """Open a file to read and append to, made if it is not there, that no other process may open so meanwhile.

    Args:
        path: Its folder is there.
        remedy: The end of the message if it cannot be opened.

    Returns:
        Its descriptor, to be closed.

    Raises:
        DataError: It cannot be written, or another process writes it.
    """
    try:
        fd = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise DataError(f"cannot write {path}: {error.strerror}{remedy}") from None
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(fd)
        raise DataError(f"{path} is being written by another process; wait for it, or name another --out") from None
    return fd


def append(fd: int, content: bytes, path: Path) -> None:
    """Append all of it.

    Raises:
        DataError: The disk is full, or the like; what was there before stays, and maybe a part of this.
    """
    try:
        while content:
            content = content[os.write(fd, content) :]
    except OSError as error:
        raise DataError(
            f"cannot write {path}: {error.strerror}; make room, and the same command goes on from here"
        ) from None
