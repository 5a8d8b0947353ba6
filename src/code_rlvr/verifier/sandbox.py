"""Starts programs: the only file that knows how a program becomes a process.

    Sandbox            one per judge: the folder of working directories, the compiled guard
      └── RunningProgram   one per program: a guard process (`guard`), its socket, a working directory
            └── run()        one per test: descriptors in, a `RunResult` out

The judge and the guard talk over a SOCK_SEQPACKET pair: small requests with descriptors attached, and small
reports back.  All that is large (source, input, output) is a memory file that the judge makes and reads.

Covered: starting, limits, output collection, the end of the whole process tree, clean-up.
Not covered: what the program may ask of the kernel; verdicts (`judge`).  What breaks here is a `JudgeFault`.
Linux only: memory files, pidfds, subreapers.
"""

from __future__ import annotations

import contextlib
import fcntl
import marshal
import os
import py_compile
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Any

from code_rlvr.errors import JudgeFault
from code_rlvr.types import Limits, RunResult, RunStatus
from code_rlvr.verifier import guard as guard_module
from code_rlvr.verifier.known_names import imports_for
from code_rlvr.verifier.program import Call, Program
from code_rlvr.verifier.scratch import empty_folder, remove_folder

MIB = 1 << 20
STDERR_TAIL_BYTES = 2000
GRACE_S = 10.0  # how much longer than a test's wall limit the guard may take to report
START_S = 60.0  # for an interpreter to start on a machine that is busy with other work
_CRASHES = (signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT, signal.SIGILL, signal.SIGXCPU)
_ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "LC_ALL": "C.UTF-8",
    "PYTHONHASHSEED": "0",  # the order of a set must not decide a verdict one way today and another tomorrow
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
}


class Sandbox:
    """Makes the processes that programs run in; thread-safe.

    Raises:
        JudgeFault: If the machine has no room for the sandbox's files.
    """

    def __init__(self) -> None:
        self._pid = os.getpid()
        try:
            self._folder = Path(tempfile.mkdtemp(prefix="code-rlvr-"))
            # A script is compiled at each start, which costs 4 ms; a .pyc is not.
            self._guard = py_compile.compile(guard_module.__file__, cfile=str(self._folder / "guard.pyc"), doraise=True)
        except OSError as error:
            raise JudgeFault(f"the sandbox cannot be set up: {error}") from error
        self._packages = sorted({sysconfig.get_path("purelib"), sysconfig.get_path("platlib")})

    def start(self, program: Program, limits: Limits) -> RunningProgram:
        """Start the process of one program and compile it there; use as a context manager.

        Raises:
            JudgeFault: If the process cannot be started.
        """
        request = {
            "source": program.source.encode("utf-8", "surrogatepass"),
            "prelude": program.prelude and program.prelude.encode("utf-8", "surrogatepass"),
            "paths": self._packages,
            "imports": imports_for(program.source, program.provide),
        }
        command = [sys.executable, "-s", "-S", "-B", "-X", "utf8", str(self._guard)]
        return RunningProgram(command, self._folder, marshal.dumps(request), limits)

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Remove the sandbox's files, unless this process is a fork of the one that they belong to."""
        if os.getpid() == self._pid:
            shutil.rmtree(self._folder, ignore_errors=True)


class RunningProgram:
    """One program in a process of its own; a context manager.

    Attributes:
        compile_error: What the compiler said, or None if the program compiled.
    """

    compile_error: str | None

    def __init__(self, command: list[str], folder: Path, request: bytes, limits: Limits) -> None:
        self._folder = folder
        self._limits = limits
        self._stack = contextlib.ExitStack()
        try:
            self._cwd = self._new_cwd()
            self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            self._stack.callback(self._control.close)
            with theirs:
                self._log_fd = _memory_file(self._stack, "log")
                self._process = _spawn(command, self._cwd, theirs, self._log_fd)
            self._stack.callback(_end, self._process)
            self.compile_error = self._compile(request)
        except OSError as error:
            self.close()
            raise JudgeFault(f"the sandbox cannot start a process: {error}") from error
        except JudgeFault:
            self.close()
            raise

    def __enter__(self) -> RunningProgram:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def run(self, feed: str | Call, wall_s: float | None = None) -> RunResult:
        """Run the program once, in a fresh child process and an empty working directory.

        Args:
            feed: What standard input holds, or the function to call.
            wall_s: Wall seconds, if fewer than the limit.

        Raises:
            JudgeFault: If the guard died, did not report in time, or the machine ran out of something.
        """
        limits = self._limits
        output_bytes = int(limits.output_mib * MIB)
        wall_s = min(wall_s or limits.wall_limit_s, limits.wall_limit_s)
        request = {
            "cwd": self._cwd,
            "call": isinstance(feed, Call),
            "cpu_s": limits.cpu_s,
            "wall_s": wall_s,
            "memory_mib": limits.memory_mib,
            "output_bytes": output_bytes,
        }
        try:
            with contextlib.ExitStack() as stack:
                fds = [_memory_file(stack, "stdin", b"" if isinstance(feed, Call) else _as_bytes(feed))]
                fds += [_output_file(stack, name) for name in ("stdout", "stderr")]
                if isinstance(feed, Call):
                    call = {"function": feed.function, "args": feed.args, "kwargs": dict(feed.kwargs)}
                    fds += [_memory_file(stack, "result"), _memory_file(stack, "call", marshal.dumps(call))]
                self._send(request, fds)
                report = self._receive(wall_s + GRACE_S)
                if report is None:
                    raise self._fault("died while a test was running")
                result = _result(marshal.loads(report), fds[1:4], limits, output_bytes)
            self._clear_cwd()
        except OSError as error:
            raise JudgeFault(f"the sandbox broke: {error}") from error
        return result

    def close(self) -> None:
        """Kill and reap the process, close every descriptor, remove the working directory."""
        self._stack.close()

    def _compile(self, request: bytes) -> str | None:
        if self._receive(START_S) != b"ready":
            raise self._fault("did not start")
        with contextlib.ExitStack() as stack:
            self._send({"compile_s": self._limits.compile_s}, [_memory_file(stack, "program", request)])
            answer = self._receive(START_S + 4 * self._limits.compile_s)
        if answer == b"compiled":
            return None
        if answer is not None:
            return answer.decode("utf-8", "replace").removeprefix("refused ")
        returncode = self._process.wait(GRACE_S)
        if -returncode in _CRASHES:
            return f"the compiler ended by {signal.Signals(-returncode).name}"
        raise self._fault("died while compiling")

    def _send(self, request: dict[str, Any], fds: list[int]) -> None:
        socket.send_fds(self._control, [marshal.dumps(request)], fds)

    def _receive(self, timeout_s: float) -> bytes | None:
        """The guard's next message; None if it hung up."""
        self._control.settimeout(timeout_s)
        try:
            return self._control.recv(1 << 16) or None
        except TimeoutError:
            raise self._fault(f"sent nothing for {timeout_s:.0f} s") from None
        except ConnectionResetError:
            return None

    def _clear_cwd(self) -> None:
        """Empty the working directory; leave it aside if the program made that impossible."""
        try:
            empty_folder(self._cwd)
        except OSError:
            self._cwd = self._new_cwd()

    def _new_cwd(self) -> str:
        cwd = tempfile.mkdtemp(dir=self._folder)
        self._stack.callback(remove_folder, cwd)
        return cwd

    def _fault(self, what: str) -> JudgeFault:
        log = os.pread(self._log_fd, STDERR_TAIL_BYTES, 0).decode("utf-8", "replace").strip()
        return JudgeFault(f"the guard process {what}" + (f": {log}" if log else ""))


def _spawn(command: list[str], cwd: str, control: socket.socket, log_fd: int) -> subprocess.Popen[bytes]:
    """Start the guard with its socket and nothing else; by vfork and exec, so threads do not matter."""
    return subprocess.Popen(
        [*command, str(control.fileno())],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=log_fd,
        pass_fds=[control.fileno()],
        cwd=cwd,
        env=_ENVIRONMENT,
        start_new_session=True,
    )


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()


def _memory_file(stack: contextlib.ExitStack, name: str, content: bytes = b"") -> int:
    """A file without a name on any disk, open until the stack closes, positioned at its start."""
    fd = os.memfd_create(name)
    stack.callback(os.close, fd)
    view = memoryview(content)
    while view:
        view = view[os.write(fd, view) :]
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


def _output_file(stack: contextlib.ExitStack, name: str) -> int:
    """A memory file that is appended to: for these the kernel does not guard the common position of several writers."""
    fd = _memory_file(stack, name)
    fcntl.fcntl(fd, fcntl.F_SETFL, fcntl.fcntl(fd, fcntl.F_GETFL) | os.O_APPEND)
    return fd


def _as_bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape" if not text.isascii() else "strict")


def _result(report: tuple[str, int, float, float, int], fds: list[int], limits: Limits, output_bytes: int) -> RunResult:
    stopped_for, wait_status, cpu_s, wall_s, memory_kib = report
    sizes = [os.fstat(fd).st_size for fd in fds]
    stderr = os.pread(fds[1], STDERR_TAIL_BYTES, max(0, sizes[1] - STDERR_TAIL_BYTES))
    killed_by = os.WTERMSIG(wait_status) if os.WIFSIGNALED(wait_status) else None
    exit_code = os.WEXITSTATUS(wait_status) if os.WIFEXITED(wait_status) else None
    out_of_memory = exit_code != 0 and stderr.rpartition(b"\n")[0].rpartition(b"\n")[2].startswith(b"MemoryError")
    if max(sizes) > output_bytes:
        status = RunStatus.OUTPUT_LIMIT
    elif stopped_for == "cpu" or killed_by == signal.SIGXCPU or cpu_s > limits.cpu_s:
        status = RunStatus.CPU_LIMIT
    elif stopped_for == "wall":
        status = RunStatus.WALL_LIMIT
    elif out_of_memory or memory_kib > limits.memory_mib * 1024:
        status = RunStatus.MEMORY_LIMIT
    else:
        status = RunStatus.EXITED if killed_by is None else RunStatus.SIGNALED
    value = os.pread(fds[2], sizes[2], 0) if len(fds) > 2 and sizes[2] and status is RunStatus.EXITED else None
    return RunResult(
        status=status,
        exit_code=exit_code,
        signal=killed_by,
        stdout=os.pread(fds[0], min(sizes[0], output_bytes), 0),
        stderr=stderr,
        value=value,
        cpu_s=cpu_s,
        wall_s=wall_s,
        memory_mib=memory_kib / 1024,
    )
