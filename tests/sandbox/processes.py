"""What tests see of the processes that the judge started; only ever this test process's own descendants."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

# Makes a program's process findable from outside of its namespaces.
NAMED = "import ctypes\nctypes.CDLL(None).prctl(15, b'{name}', 0, 0, 0)\n"


def descendants() -> dict[int, str]:
    """Process ids of all descendants of this process, zombies included, with their names."""
    parents: dict[int, int] = {}
    names: dict[int, str] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            head, _, tail = stat.read_text().rpartition(")")
            pid = int(stat.parent.name)
            parents[pid], names[pid] = int(tail.split()[1]), head.partition("(")[2]
    found: dict[int, str] = {}
    for pid in parents:
        ancestor = pid
        while ancestor in parents and ancestor != os.getpid():
            ancestor = parents[ancestor]
        if ancestor == os.getpid() and pid != ancestor:
            found[pid] = names[pid]
    return found


def is_alive(pid: int) -> bool:
    """Whether a process exists and is no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


@contextlib.contextmanager
def killing(name: str, times: int) -> Iterator[list[int]]:
    """Meanwhile kill every descendant of that name, up to so many; yields the ids of those that were."""
    killed: list[int] = []
    done = threading.Event()

    def watch() -> None:
        while not done.wait(0.02) and len(killed) < times:
            for pid in [pid for pid, its_name in descendants().items() if its_name == name][:1]:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                    killed.append(pid)

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield killed
    finally:
        done.set()
        thread.join()
