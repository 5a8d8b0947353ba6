"""Reading files that somebody else wrote, as far as they are files: a pipe in their place would never end.

Covered: what is no regular file; JSONL that was packed with gzip.  Not covered: what is in them.
"""

from __future__ import annotations

import errno
import os
import stat
import zlib
from pathlib import Path
from typing import BinaryIO

MAX_UNPACKED = 2**31
"""Bytes of a packed file that are unpacked at most."""

_GZIP = b"\x1f\x8b"
_GZIP_ONLY = 16 + zlib.MAX_WBITS


def open_regular(file: Path) -> BinaryIO:
    """Open a file to read bytes; nothing is waited for.

    Raises:
        OSError: It cannot be opened, or is a pipe, a device or something else that is no file.
    """
    descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        mode = os.fstat(descriptor).st_mode
        if not stat.S_ISREG(mode):
            code = errno.EISDIR if stat.S_ISDIR(mode) else errno.EINVAL
            raise OSError(code, os.strerror(code) if code == errno.EISDIR else "it is no regular file")
    except OSError:
        os.close(descriptor)
        raise
    return os.fdopen(descriptor, "rb")


def read_regular(file: Path) -> bytes:
    """Return the bytes of a file.

    Raises:
        OSError: As for `open_regular`.
    """
    with open_regular(file) as opened:
        return opened.read()


def read_unpacked(file: Path) -> tuple[bytes, bool]:
    """Return the bytes of a file, unpacked if it was packed with gzip, and whether its end is damaged or too far.

    Raises:
        OSError: As for `open_regular`.
    """
    packed = read_regular(file)
    if not packed.startswith(_GZIP):
        return packed, False
    parts, room = [], MAX_UNPACKED
    while packed.startswith(_GZIP) and room > 0:
        member = zlib.decompressobj(_GZIP_ONLY)
        try:
            parts.append(member.decompress(packed, room))
        except zlib.error:
            return b"".join(parts), True
        if not member.eof:
            return b"".join(parts), True
        room -= len(parts[-1])
        packed = member.unused_data
    return b"".join(parts), bool(packed.strip(b"\x00"))
