"""The keeper's side of a worker's control group: makes it, puts the zygote into it, removes it at the end.

https://docs.kernel.org/admin-guide/cgroup-v2.html

Covered: the group's life.  Not covered: where groups may be made and how much memory one may hold (the judge).
"""

from __future__ import annotations

import contextlib
import os
import time

TASKS = 1024  # of a worker altogether, threads included; the judge ends programs at half of that
REMOVE_S = 2.0  # the kernel counts a process as in its group until a moment after its parent has reaped it


class ControlGroup:
    """A group of its own for the zygote and everything that it forks.

    Args:
        path: The folder to make.

    Raises:
        OSError: If it may not be made.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        os.mkdir(path, 0o700)
        try:
            self._write("pids.max", TASKS)
            with contextlib.suppress(FileNotFoundError):  # a kernel without swap
                self._write("memory.swap.max", 0)
            # Opened here: what it permits goes by who opened it, and the zygote has left its user namespace by then.
            self._members = os.open(f"{path}/cgroup.procs", os.O_WRONLY | os.O_CLOEXEC)
        except OSError:
            os.rmdir(path)
            raise

    def _write(self, name: str, value: int) -> None:
        with open(f"{self.path}/{name}", "w") as file:
            file.write(str(value))

    def join(self) -> None:
        """Put the calling process in.

        Raises:
            OSError: If it may not go there.
        """
        os.write(self._members, b"0")

    def remove(self) -> None:
        """Remove the group, once no process is in it any more."""
        end = time.monotonic() + REMOVE_S
        while time.monotonic() < end:
            try:
                os.rmdir(self.path)
            except OSError:
                time.sleep(0.01)
            else:
                return
