"""The world outside of the sandbox, as far as a test owns it, and whether anything in it was touched.

A `Bystander` is what planted programs may aim at: a process, a folder, sockets, files, all made by the test.

Covered: making them, `traces` of what happened to them and to this test process.
Not covered: what a program itself saw (`test_attacks`).
"""

from __future__ import annotations

import contextlib
import os
import resource
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.sandbox.processes import descendants

ANYWHERE = ("/", "/tmp", "/dev/shm", "/var/tmp", "/run", "/root", "/mnt")
SLEEPER = """
import signal, sys, time
signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
print("ready", flush=True)
time.sleep(600)
"""


class Bystander:
    """Something to attack.

    Args:
        folder: Empty, and this test's own.
        home_file: A path in the home folder, where a file is made and removed.
    """

    def __init__(self, folder: Path, home_file: Path) -> None:
        self._stack = contextlib.ExitStack()
        self.token = f"planted-{secrets.token_hex(8)}"
        self.folder, self.home_file = folder, home_file
        (folder / "file").write_text(f"secret of {self.token}")
        (folder / "link").symlink_to(folder / "file")
        (folder / "loop").symlink_to(folder / "loop")
        home_file.write_text(f"secret of {self.token}")
        self._stack.callback(home_file.unlink)
        self.process = subprocess.Popen([sys.executable, "-c", SLEEPER], stdout=subprocess.PIPE)
        self._stack.enter_context(self.process)
        self._stack.callback(self.process.kill)
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == b"ready\n"
        self.listeners = [
            self._listener(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0)),
            self._listener(socket.AF_UNIX, socket.SOCK_STREAM, str(folder / "socket")),
            self._listener(socket.AF_UNIX, socket.SOCK_STREAM, f"\0{self.token}"),
            self._listener(socket.AF_UNIX, socket.SOCK_DGRAM, f"\0{self.token}-datagram"),
        ]

    def _listener(self, family: int, kind: int, address: Any) -> socket.socket:
        listener = self._stack.enter_context(socket.socket(family, kind))
        listener.bind(address)
        if kind == socket.SOCK_STREAM:
            listener.listen()
        listener.setblocking(False)
        return listener

    def address(self) -> dict[str, Any]:
        """What a program needs to know to find all this."""
        return {
            "token": self.token,
            "folder": str(self.folder),
            "file": str(self.folder / "file"),
            "home_file": str(self.home_file),
            "judge_source": str(Path(__file__).parents[2] / "src/code_rlvr/verifier/judge.py"),
            "test_source": __file__,
            "sentinel": self.process.pid,
            "tcp": self.listeners[0].getsockname()[1],
            "unix": str(self.folder / "socket"),
            "abstract": self.token,
            "datagram": f"{self.token}-datagram",
        }

    def traces(self) -> dict[str, Any]:
        """Everything here, and of this process, that a program could have changed."""
        return {
            "sentinel": _state_of(self.process.pid),
            "this process": _state_of(os.getpid()),
            "handlers": [signal.getsignal(number) for number in sorted(signal.valid_signals())],
            "folder": [_about(path) for path in sorted([self.folder, *self.folder.rglob("*")])],
            "home": _about(self.home_file),
            "made": [folder for folder in ANYWHERE if os.path.lexists(f"{folder}/{self.token}")],
            "visits": [_visited(listener) for listener in self.listeners],
        }

    def close(self) -> None:
        """End and remove all of it."""
        self._stack.close()


def _state_of(pid: int) -> dict[str, Any]:
    status = Path(f"/proc/{pid}/status").read_text().splitlines()
    names = ("TracerPid", "SigPnd", "ShdPnd", "SigBlk", "SigIgn", "Uid", "Seccomp", "Cpus_allowed", "CapEff")
    return {
        "status": [line for line in status if line.partition(":")[0] in names],
        "limits": Path(f"/proc/{pid}/limits").read_text(),
        "priority": os.getpriority(os.PRIO_PROCESS, pid),
        "policy": os.sched_getscheduler(pid),
        "alive": os.path.exists(f"/proc/{pid}/exe"),
        "memory": resource.prlimit(pid, resource.RLIMIT_AS),
    }


def _about(path: Path) -> tuple[Any, ...]:
    about = path.lstat()
    content = path.read_text() if path.is_file() else os.readlink(path) if path.is_symlink() else ""
    attributes = os.listxattr(path, follow_symlinks=False)
    return str(path), about.st_mode, about.st_uid, about.st_nlink, about.st_mtime_ns, content, attributes


def _visited(listener: socket.socket) -> bool:
    try:
        listener.recv(1) if listener.type == socket.SOCK_DGRAM else listener.accept()
    except BlockingIOError:
        return False
    return True


def settled_descendants(wanted: set[int]) -> set[int]:
    """The descendants of this process, once they are the wanted ones or ten seconds have passed."""
    deadline = time.monotonic() + 10
    while (found := set(descendants())) != wanted and time.monotonic() < deadline:
        time.sleep(0.002)
    return found


@contextlib.contextmanager
def untouched(bystander: Bystander) -> Iterator[None]:
    """Meanwhile nothing outside changes: no process, descriptor, file, signal, visit."""
    processes: set[int] = set()
    while processes != (processes := set(descendants())):  # until the last program's process has gone
        time.sleep(0.01)
    descriptors = len(os.listdir("/proc/self/fd"))
    before = bystander.traces()
    yield
    assert settled_descendants(processes) == processes
    assert len(os.listdir("/proc/self/fd")) == descriptors
    assert bystander.traces() == before
