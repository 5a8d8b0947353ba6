"""A worker: a warm, confined interpreter that forks a process for each program, and the socket to it.

Started by exec, never by a fork of the calling process, so threads do not matter.  It ends when its socket is
closed, and also when the caller is killed: the guard's keeper watches the caller.

Covered: start, messages, the end.  Not covered: what is inside (`guard`), what messages mean (`running`).
"""

from __future__ import annotations

import contextlib
import os
import select
import socket
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from code_rlvr.errors import JudgeFault
from code_rlvr.verifier.cgroup import MemoryBound
from code_rlvr.verifier.guard.messages import MESSAGE_BYTES, pack_request, send_files, unpack_answer
from code_rlvr.verifier.interpreter import Interpreter

START_S = 60.0  # for an interpreter to start on a machine that is busy with other work
END_S = 5.0
LOG_TAIL_BYTES = 2000
_HOME = str(Path(__file__).parent)  # where `guard` lies
_BOOT = "import sys; sys.path[0] = {home!r}; from guard.{module} import main; main(*{arguments!r}, *sys.argv[1:])"
_EMPTY = ("/mnt", "/media", "/srv")  # folders that every Linux has, of which one is covered by an empty one
_ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "LC_ALL": "C.UTF-8",
    "LD_BIND_NOW": "1",  # symbols are looked up once here and not in every fork
    "PYTHONHASHSEED": "0",  # the order of a set must not decide a verdict one way today and another tomorrow
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
}


class Worker:
    """One worker process.

    Args:
        interpreter: What runs it.
        isolation: "full" or "process".
        group_path: A control group for it to make, or "" for none.

    Attributes:
        layers: The names of the layers that are active in it.
        version: Of its Python.

    Raises:
        JudgeFault: If it does not start.
    """

    def __init__(self, interpreter: Interpreter, isolation: str, group_path: str = "") -> None:
        self.programs = 0
        self._stack = contextlib.ExitStack()
        try:
            self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            self._stack.callback(self._control.close)
            self._control.settimeout(START_S)
            self._poll = select.poll()
            self._poll.register(self._control, select.POLLIN)
            with theirs:
                self._log_fd = os.memfd_create("log")
                self._stack.callback(os.close, self._log_fd)
                self._process = _spawn(interpreter, isolation, group_path, theirs, self._log_fd)
            settings = {
                "isolation": isolation,
                "packages": interpreter.packages,
                "offered": interpreter.offered,
                "readable": [*interpreter.readable, str(Path(_HOME, "guard"))],
                "listable": [*interpreter.listable],
            }
            with closing_fd(memory_file(pack_request(settings))) as fd:  # an interpreter may have many libraries
                self.send({}, [fd])
            ready, _ = self.receive(START_S)
            self._memory = MemoryBound(group_path) if "cgroup" in ready["layers"] else None
            if self._memory:
                self._stack.callback(self._memory.close)
        except OSError as error:
            self.close()
            raise JudgeFault(f"the sandbox cannot start a process: {error}") from error
        except JudgeFault:
            self.close()
            raise
        self.layers: list[str] = ready["layers"]
        self.version: list[int] = ready["version"]

    def send(self, request: dict[str, Any], fds: Sequence[int] = ()) -> None:
        """Send a message.

        Raises:
            JudgeFault: If the worker is gone or does not read.
        """
        try:
            if fds:
                send_files(self._control, pack_request(request), list(fds))
            else:
                self._control.send(pack_request(request))
        except OSError as error:  # TimeoutError is one
            raise self.fault(f"takes no messages ({error})") from error

    def bound_memory(self, program_mib: int) -> None:
        """Bound the memory of all of the worker's processes together, for a program with this limit.

        Raises:
            JudgeFault: If its control group is gone.
        """
        if self._memory:
            try:
                self._memory.set_for(program_mib)
            except OSError as error:
                raise self.fault(f"has lost its control group ({error})") from error

    def ran_out_of_memory(self) -> bool:
        """Whether that bound has ended a process since this was asked last."""
        return self._memory is not None and self._memory.has_killed()

    @property
    def pid(self) -> int:
        """The process id of its keeper."""
        return self._process.pid

    def has_message(self, timeout_s: float) -> bool:
        """Wait so long for a message, or the end of the worker; whether `receive` will return at once."""
        return bool(self._poll.poll(1000 * timeout_s))

    def receive(self, timeout_s: float) -> tuple[dict[str, Any], list[int]]:
        """The next message, and descriptors, which the caller closes.

        Raises:
            JudgeFault: If none comes in time, or the worker is gone.
        """
        if not self.has_message(timeout_s):
            raise self.fault(f"sent nothing for {timeout_s:.0f} s")
        try:
            message, fds, _, _ = socket.recv_fds(self._control, MESSAGE_BYTES, 2)
        except OSError as error:
            raise self.fault("ended") from error
        if not message:
            raise self.fault("ended")
        try:
            return unpack_answer(message), fds
        except ValueError as error:
            raise self.fault(f"sent what is no message ({error})") from error

    def fault(self, what: str) -> JudgeFault:
        """A fault that says what the worker did, and what it wrote to its log."""
        log = os.pread(self._log_fd, LOG_TAIL_BYTES, max(0, os.fstat(self._log_fd).st_size - LOG_TAIL_BYTES))
        text = log.decode("utf-8", "replace").strip()
        return JudgeFault(f"the guard process {what}" + (f": {text}" if text else ""))

    def interrupt(self) -> None:
        """Hang up, from any thread: whoever waits for this worker gets a `JudgeFault`, and its processes end."""
        with contextlib.suppress(OSError):  # already closed
            self._control.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """End the process and whatever runs in it, reap it, close every descriptor."""
        if hasattr(self, "_process"):
            self.interrupt()
            try:
                self._process.wait(END_S)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._stack.close()


@contextlib.contextmanager
def closing_fd(fd: int) -> Iterator[int]:
    """Close a descriptor at the end."""
    try:
        yield fd
    finally:
        os.close(fd)


def memory_file(content: bytes) -> int:
    """A file without a name on any disk, positioned at its start."""
    fd = os.memfd_create("content")
    view = memoryview(content)
    while view:
        view = view[os.write(fd, view) :]
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


def _spawn(
    interpreter: Interpreter, isolation: str, group_path: str, control: socket.socket, log_fd: int
) -> subprocess.Popen[bytes]:
    python = [interpreter.executable, "-s", "-S", "-X", "utf8", "-c"]
    zygote = [*python, _BOOT.format(home=_HOME, module="zygote", arguments=(control.fileno(),))]
    covered = [folder for folder in _EMPTY if not any(path.startswith(folder) for path in interpreter.readable)]
    arguments = (os.getpid(), control.fileno(), isolation, covered, group_path, zygote)
    return subprocess.Popen(
        [*python, _BOOT.format(home=_HOME, module="keeper", arguments=arguments)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=log_fd,
        pass_fds=[control.fileno()],
        cwd="/",
        env=_ENVIRONMENT,
        start_new_session=True,
    )
