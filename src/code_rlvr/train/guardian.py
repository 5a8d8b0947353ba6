"""Runs one command and sees to it that nothing of it survives.

Started by `supervise` as a process of its own (``python -I -S guardian.py LOG SCRATCH COMMAND…``), with
standard input connected to its parent.  It becomes the reaper of every orphan below it, so a process that the
command detaches (Ray does that) still comes back to it.  When the command ends, or its parent closes the pipe or
dies, even by SIGKILL, the guardian ends every descendant, removes the scratch folder and leaves with the
command's exit code.

Standard library only, so that it starts in a few milliseconds.
"""

import contextlib
import ctypes
import os
import select
import shutil
import signal
import subprocess
import sys
import time

PR_SET_CHILD_SUBREAPER = 36  # linux/prctl.h
GRACE_S = 2.0
"""Time between SIGTERM and SIGKILL."""
KILL_S = 5.0
"""Longest time spent on killing; longer means processes stuck in the kernel."""
STOPPED = 130
"""Exit code when the parent asked for the end, as a shell reports an interrupt."""


def descendants(root: int) -> list[int]:
    """Return the process ids below `root`, by the parents that /proc reports."""
    children: dict[int, list[int]] = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            with contextlib.suppress(OSError), open(f"/proc/{entry}/stat", "rb") as file:
                fields = file.read().rsplit(b")", 1)[1].split()
                if fields[0] != b"Z":
                    children.setdefault(int(fields[1]), []).append(int(entry))
    found, queue = [], [root]
    while queue:
        below = children.get(queue.pop(), [])
        found += below
        queue += below
    return found


def _signal_all(pids: list[int], number: int) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


def _reap() -> None:
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def end_descendants() -> None:
    """End every process below this one: politely, then by force."""
    started = time.monotonic()
    _signal_all(descendants(os.getpid()), signal.SIGTERM)
    while (alive := descendants(os.getpid())) and time.monotonic() - started < GRACE_S + KILL_S:
        if time.monotonic() - started > GRACE_S:
            _signal_all(alive, signal.SIGKILL)
        time.sleep(0.05)
        _reap()
    _reap()


def main(log_path: str, scratch: str, command: list[str]) -> int:
    """Run `command` with its output in `log_path`; return its exit code, or `STOPPED`.

    Args:
        log_path: Appended to.
        scratch: An existing folder for temporary files; removed at the end.
        command: Program and arguments.
    """
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    # A terminal's interrupt is the parent's to handle: it closes the pipe.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with open(log_path, "ab", buffering=0) as log:
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    code = None
    while code is None:
        readable, _, _ = select.select([sys.stdin], [], [], 0.1)
        if readable and not os.read(sys.stdin.fileno(), 1):
            break
        code = child.poll()
    end_descendants()
    shutil.rmtree(scratch, ignore_errors=True)
    return STOPPED if code is None else code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
