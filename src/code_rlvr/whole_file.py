"""`whole_file`: a file appears whole or not at all.

Covered: one file, in place of an older one; pipes and devices.  Not covered: folders, and files that grow line by line
and are continued (`verify.verdict_file`, `evaluate.sample_file`).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def whole_file(file: Path) -> Iterator[Path]:
    """Give a path to write to, which takes the file's place when the block ends, and is removed if it fails.

    A link stays a link: what it leads to is replaced.  Nothing can take the place of a pipe, a terminal or another
    device, and so these are written to as they are.

    Args:
        file: Its folder is there.

    Raises:
        OSError: It cannot be written.
    """
    if file.exists() and not file.is_file():
        yield file
        return
    target = Path(os.path.realpath(file))
    unfinished = target.with_name(f".{target.name}.{os.getpid()}.unfinished")  # another process may write the same
    try:
        yield unfinished
        os.replace(unfinished, target)
    finally:
        unfinished.unlink(missing_ok=True)
