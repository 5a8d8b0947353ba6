"""The judge's side of a worker's control group (version 2): where one may be made, and how much memory it may hold.

What the kernel's limits on one process do not see counts here: page tables, pipes and output files, all processes
of a worker together.  It is the last bound, above the program's own: whoever reaches it is over its limit already.

https://docs.kernel.org/admin-guide/cgroup-v2.html

Covered: finding a place, left-over groups, the bound, who was killed by it.
Not covered: a group's life (`guard.cgroup`).
"""

from __future__ import annotations

import contextlib
import os
import secrets
import time
from pathlib import Path

from code_rlvr.verifier.guard.limits import COMPILE_MIB

MIB = 1 << 20
SLACK_MIB = 512  # for the zygote, the supervisor, input and output; no program within its limit may come near
OLD_S = 300.0  # a group that has been empty for so long belongs to nobody any more
_NEEDED = {"memory", "pids"}
_PREFIX = "code-rlvr-"


def find_place(proc: Path = Path("/proc/self")) -> Path | None:
    """The nearest group at or above this process's own in which others with a memory bound may be made, if any.

    Args:
        proc: Where the kernel tells of this process.
    """
    own = _own_group(proc)
    if own is None:
        return None
    mount, folder = own
    for candidate in (folder, *folder.parents):
        if _passes_on(candidate) and os.access(candidate, os.W_OK) and os.access(candidate / "cgroup.procs", os.W_OK):
            return candidate
        if candidate == mount:
            break
    return None


def _own_group(proc: Path) -> tuple[Path, Path] | None:
    """Where version 2 is mounted, and the folder of this process's group there."""
    try:
        group = next(line[3:] for line in (proc / "cgroup").read_text().splitlines() if line.startswith("0::"))
        mounts = [line.split() for line in (proc / "mountinfo").read_text().splitlines()]
    except (OSError, StopIteration):
        return None
    for words in mounts:  # id parent device root mount-point options … - type source options
        if words[words.index("-") + 1] == "cgroup2":
            root, mount = words[3].rstrip("/"), Path(words[4])
            if f"{group}/".startswith(f"{root}/"):
                return mount, mount / group.removeprefix(root).lstrip("/")
    return None


def _passes_on(folder: Path) -> bool:
    """Whether groups in this one have controllers for memory and processes."""
    try:
        return set((folder / "cgroup.subtree_control").read_text().split()) >= _NEEDED
    except OSError:
        return False


def new_name(place: Path) -> str:
    """A path for a group that does not exist yet."""
    return str(place / f"{_PREFIX}{os.getpid()}-{secrets.token_hex(4)}")


def remove_left_overs(place: Path) -> None:
    """Remove what keepers that were killed left behind; a group with a process in it cannot be removed."""
    for folder in place.glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):
            if time.time() - folder.stat().st_mtime > OLD_S:
                folder.rmdir()


class MemoryBound:
    """How much memory a worker's group may hold.

    Args:
        path: The group's folder.

    Raises:
        OSError: If there is none.
    """

    def __init__(self, path: str) -> None:
        self._max_fd = os.open(f"{path}/memory.max", os.O_WRONLY | os.O_CLOEXEC)
        self._events_fd = os.open(f"{path}/memory.events", os.O_RDONLY | os.O_CLOEXEC)
        self._memory_mib = 0
        self._kills = 0

    def set_for(self, memory_mib: int) -> None:
        """Leave room for a program with this limit, for the compiler and for the worker itself.

        Raises:
            OSError: If the group is gone.
        """
        if memory_mib != self._memory_mib:
            self._memory_mib = memory_mib
            os.pwrite(self._max_fd, str((max(memory_mib, COMPILE_MIB) + SLACK_MIB) * MIB).encode(), 0)

    def has_killed(self) -> bool:
        """Whether the kernel has ended a process of the group for want of memory since this was asked last."""
        before, self._kills = self._kills, self._count()
        return self._kills > before

    def _count(self) -> int:
        lines = os.pread(self._events_fd, 4096, 0).decode().splitlines()
        return sum(int(line.split()[1]) for line in lines if line.startswith("oom_kill "))

    def close(self) -> None:
        """Let go of the files; the group goes with its keeper."""
        os.close(self._max_fd)
        os.close(self._events_fd)
