"""Looks from outside at what a worker's program holds, for what the kernel's limits do not catch at once.

The confined processes see nothing of /proc, so that programs see nothing of it either; the judge does.  It looks at
tests that run longer than a moment, and ends those that hold too much or have waited too long.

Covered: memory, threads and waiting times of a program's processes.  Not covered: CPU time (`guard.supervisor`).
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from dataclasses import dataclass

PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True, slots=True)
class Seen:
    """What the processes of one test hold together.

    Args:
        pids: Their ids, as this process sees them; none if it is over, or /proc does not tell.
        threads: Of all of them.
        resident_bytes: Of all of them; shared pages count for each.
        waited_s: Seconds that the thread which waited most was ready to run, while others were running.
    """

    pids: tuple[int, ...]
    threads: int
    resident_bytes: int
    waited_s: float

    def kill(self) -> None:
        """End them; their supervisor reaps them and tells of it."""
        for pid in self.pids:
            try:
                os.kill(pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):  # over, and the id may be another's by now
                continue


def look(keeper: int) -> Seen:
    """What the program of a worker holds at this moment.

    Args:
        keeper: The process id of the worker's keeper.
    """
    pids, threads, resident, waited_ns = [], 0, 0, 0
    for zygote in _children(keeper):
        for supervisor in _children(zygote):
            for pid in _descendants(supervisor):
                words = _words(f"{pid}/stat")
                if len(words) <= 21 or words[0] == b"Z":
                    continue
                pids.append(pid)
                threads += int(words[17])
                resident += int(words[21]) * PAGE
                waited_ns = max(waited_ns, *_waits(pid))
    return Seen(tuple(pids), threads, resident, waited_ns / 1e9)


def _descendants(pid: int) -> Iterator[int]:
    for child in _children(pid):
        yield child
        yield from _descendants(child)


def _children(pid: int) -> list[int]:
    return [int(word) for word in _words(f"{pid}/task/{pid}/children")]


def _waits(pid: int) -> list[int]:
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        threads = []
    return [0, *(int(words[1]) for thread in threads if len(words := _words(f"{pid}/task/{thread}/schedstat")) > 1)]


def _words(path: str) -> list[bytes]:
    """The words of a file in /proc, after the name in brackets if there is one; none if it is gone."""
    try:
        with open(f"/proc/{path}", "rb") as file:
            return file.read().rpartition(b")")[2].split()
    except OSError:
        return []
