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

    A process whose first thread has left by itself looks dead from outside, with no memory; its other threads live on,
    and tell of what they share.

    Args:
        keeper: The process id of the worker's keeper.
    """
    pids, threads, resident, waited_ns = [], 0, 0, 0
    for zygote in _children(keeper):
        for supervisor in _children(zygote):
            for pid in _descendants(supervisor):
                tasks = _tasks(pid)
                stats = (_words(f"{task}/stat") for task in tasks)
                living = next((words for words in stats if len(words) > 21 and words[0] not in b"ZX"), None)
                if living is None:
                    continue
                pids.append(pid)
                threads += int(living[17])
                resident += int(living[21]) * PAGE
                waited_ns = max(waited_ns, *map(_waited_ns, tasks))
    return Seen(tuple(pids), threads, resident, waited_ns / 1e9)


def _descendants(pid: int) -> Iterator[int]:
    for child in _children(pid):
        yield child
        yield from _descendants(child)


def _children(pid: int) -> list[int]:
    return [int(word) for word in _words(f"{pid}/task/{pid}/children")]


def _tasks(pid: int) -> list[str]:
    """The folders of a process's threads in /proc; none if it is gone."""
    try:
        return [f"{pid}/task/{thread}" for thread in os.listdir(f"/proc/{pid}/task")]
    except OSError:
        return []


def _waited_ns(task: str) -> int:
    words = _words(f"{task}/schedstat")
    return int(words[1]) if len(words) > 1 else 0


def _words(path: str) -> list[bytes]:
    """The words of a file in /proc, after the name in brackets if there is one; none if it is gone."""
    try:
        with open(f"/proc/{path}", "rb") as file:
            return file.read().rpartition(b")")[2].split()
    except OSError:
        return []
