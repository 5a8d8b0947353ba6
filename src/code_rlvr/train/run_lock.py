"""One process at a time trains a run.

Covered: a lock that ends with its process, however that ends.  Not covered: other machines on the same disk, where
locks may not reach.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager

from code_rlvr.errors import UsageError
from code_rlvr.runs import RunFolder


@contextmanager
def lock_run(run: RunFolder) -> Iterator[None]:
    """Keep others from training the run for the time of a `with` block; its folder is made if need be.

    Raises:
        UsageError: Another process is training it.
    """
    run.path.mkdir(parents=True, exist_ok=True)
    lock = os.open(run.path / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise UsageError(
                f"{run.path} is being trained by another process; wait for it, or choose another name="
            ) from None
        yield
    finally:
        os.close(lock)
