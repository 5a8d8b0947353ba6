"""One program on a worker: sends it in, runs its tests, and reads what the kernel said about each.

| what happened | status |
|---|---|
| wrote more than it may, to stdout, stderr or as its value | OUTPUT_LIMIT |
| used up its CPU time, its wall time, its threads | CPU_LIMIT, WALL_LIMIT, THREAD_LIMIT |
| held more memory than it may, or ended with MemoryError | MEMORY_LIMIT |
| was ended by a signal, left by itself | SIGNALED, EXITED |
| was killed by the kernel, as its worker's control group is full | MEMORY_LIMIT |
| was killed by SIGKILL, which neither the sandbox sent nor the program can send | none: a `JudgeFault` |

Covered: from a feed to a `RunResult`.  Not covered: whether that is right (`job`).
"""

from __future__ import annotations

import math
import os
import signal
import time
from collections import deque
from dataclasses import dataclass, replace
from typing import Any

from code_rlvr.types import Limits, RunResult, RunStatus, Verdict
from code_rlvr.verifier.guard.messages import INLINE_BYTES
from code_rlvr.verifier.guard.values import encode
from code_rlvr.verifier.known_names import imports_for
from code_rlvr.verifier.program import Call, Dialogue, Feed, Program
from code_rlvr.verifier.watching import look
from code_rlvr.verifier.worker import START_S, Worker, closing_fd, memory_file

MIB = 1 << 20
LOOK_S = 0.05  # between two looks at what a program holds
MAX_THREADS = 512
GRACE_S = 10.0  # how much longer than a test's last wall second the guard may take to report
PATIENCE = 4  # times the wall limit, if other work on the machine kept the program waiting
_CRASHES = (signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT, signal.SIGILL, signal.SIGXCPU)
STATUS_VERDICTS = {
    RunStatus.CPU_LIMIT: Verdict.TIME_LIMIT_EXCEEDED,
    RunStatus.WALL_LIMIT: Verdict.TIME_LIMIT_EXCEEDED,
    RunStatus.MEMORY_LIMIT: Verdict.MEMORY_LIMIT_EXCEEDED,
    RunStatus.OUTPUT_LIMIT: Verdict.OUTPUT_LIMIT_EXCEEDED,
    RunStatus.SIGNALED: Verdict.RUNTIME_ERROR,
    RunStatus.THREAD_LIMIT: Verdict.RUNTIME_ERROR,
}
# What of the guard each role needs; imported once a program.
_ROLE_MODULES = {"run": (), "serve": ("guard.dialogue",), "check": ("guard.dialogue",)}
_STOPPED = {"cpu": RunStatus.CPU_LIMIT, "wall": RunStatus.WALL_LIMIT}


@dataclass(frozen=True, slots=True)
class _Begun:
    """A run that `finish` has to wait for: when it was asked for, and its limits."""

    at: float
    cpu_s: float
    wall_s: float
    last_s: float


class RunningProgram:
    """One program on a worker.

    Args:
        worker: An idle one, which has to be closed if anything here raises.
        program: What to compile.
        limits: What each of its tests may use.

    Attributes:
        compile_error: What the compiler said, or None if the program compiled.

    Raises:
        JudgeFault: If the worker broke.
    """

    def __init__(self, worker: Worker, program: Program, limits: Limits) -> None:
        self._worker = worker
        self._limits = limits
        self._output_bytes = int(limits.output_mib * MIB)
        self._begun: deque[_Begun] = deque()
        self._ended = 0.0  # when the last run was over
        self._stopped: RunStatus | None = None  # what the current run was ended for
        self._waited_s = 0.0  # how long it waited for a processor
        worker.programs += 1
        prelude, source = (text.encode("utf-8", "surrogatepass") for text in (program.prelude or "", program.source))
        about = {
            "prelude_size": len(prelude),
            "imports": [
                *imports_for(program.source, program.provide),
                *(("", module, "") for module in _ROLE_MODULES[program.role]),
            ],
            "compile_s": limits.compile_s,
            "memory_mib": limits.memory_mib,
            "output_bytes": self._output_bytes,
            "deadline_s": limits.deadline_s,
        }
        worker.bound_memory(limits.memory_mib)
        with closing_fd(memory_file(prelude + source)) as fd:
            worker.send(about, [fd])
        answer, _ = worker.receive(START_S + 4 * limits.compile_s)
        self.compile_error: str | None = answer.get("refused")
        if "died" in answer:
            self.compile_error = self._compiler_crash(answer["died"])

    def run(self, feed: Feed, deadline: float = math.inf) -> RunResult:
        """Run the program once, in a fresh process, and wait for its end.

        Args:
            feed: What standard input holds, the function to call, or a dialogue.
            deadline: When it has to be over at the latest, as `time.monotonic` tells it.

        Raises:
            JudgeFault: If the worker broke.
        """
        self.begin(feed, deadline)
        return self.finish()

    def begin(
        self, feed: Feed, deadline: float = math.inf, *, cpu_s: float | None = None, wall_s: float | None = None
    ) -> None:
        """Start a run; runs that were begun follow one another, and `finish` waits for the first.

        Args:
            feed, deadline: As for `run`.
            cpu_s, wall_s: Its limits, if they are not the program's.

        Raises:
            JudgeFault: If the worker broke.
        """
        cpu_s, wall_s = cpu_s or self._limits.cpu_s, wall_s or self._limits.wall_limit_s
        last_s = wall_s if isinstance(feed, Dialogue) else PATIENCE * wall_s
        request: dict[str, Any] = {"cpu_s": cpu_s, "last_s": last_s, "deadline": deadline}
        self._begun.append(_Begun(time.monotonic(), cpu_s, wall_s, last_s))
        content, fds = b"", []
        if isinstance(feed, Dialogue):
            request.update(test=feed.role, stubs=feed.stubs)
            fds.append(feed.socket.fileno())
        elif isinstance(feed, Call):
            request.update(test="call", function=feed.function)
            content = encode((feed.args, dict(feed.kwargs))).encode()
        else:
            request.update(test="run")
            content = feed.encode("utf-8", "surrogateescape")
        # The supervisor writes the input to a file itself, under the program's limit for files.
        request.update(input_is_file=len(content) > min(INLINE_BYTES, self._output_bytes), input=content)
        if not request["input_is_file"]:
            self._worker.send(request, fds)
            return
        request["input"] = b""
        with closing_fd(memory_file(content)) as fd:
            self._worker.send(request, [fd, *fds])

    def finish(self) -> RunResult:
        """Wait for the end of the run that was begun first.

        Raises:
            JudgeFault: If the worker broke, or something outside of the sandbox killed the program.
        """
        run = self._begun[0]
        while not self._worker.has_message(LOOK_S):
            if self._lasted_s() > run.last_s + GRACE_S:
                raise self._worker.fault(f"said nothing for {self._lasted_s():.0f} s")
            self.check_up()
        report, fds = self._worker.receive(GRACE_S)
        run = self._begun.popleft()
        stopped, self._stopped = self._stopped, None
        waited_s, self._waited_s = self._waited_s, 0.0
        self._ended = time.monotonic()
        try:
            if "died" in report:
                raise self._worker.fault(f"died while a test was running (status {report['died']})")
            for name, fd in zip(("stdout", "value"), fds, strict=False):
                report[name] = os.pread(fd, self._output_bytes + 1, 0)
        finally:
            for fd in fds:
                os.close(fd)
        return self._result(report, run.cpu_s, stopped, waited_s)

    def check_up(self) -> None:
        """Look at the run that was begun first; end it if it holds too much, or has lasted too long."""
        run, limits = self._begun[0], self._limits
        seen = look(self._worker.pid)
        self._waited_s = max(self._waited_s, seen.waited_s)
        stopped: RunStatus | None = None
        if seen.resident_bytes > limits.memory_mib * MIB:
            stopped = RunStatus.MEMORY_LIMIT
        elif seen.threads > MAX_THREADS:
            stopped = RunStatus.THREAD_LIMIT
        elif self._lasted_s() - seen.waited_s > run.wall_s:
            stopped = RunStatus.WALL_LIMIT
        if stopped and seen.pids:
            self._stopped = stopped
            seen.kill()

    def hurry(self, left_s: float) -> None:
        """Leave the run that was begun first no more than so many wall seconds from now."""
        run = self._begun[0]
        self._begun[0] = replace(run, wall_s=min(run.wall_s, self._lasted_s() + left_s))

    def _lasted_s(self) -> float:
        return time.monotonic() - max(self._begun[0].at, self._ended)

    def end(self) -> None:
        """Let go of the program; its worker is idle then, if every run that was begun has been finished.

        Raises:
            JudgeFault: If the worker broke.
        """
        self._worker.send({})

    def _compiler_crash(self, wait_status: int) -> str:
        number = os.WTERMSIG(wait_status) if os.WIFSIGNALED(wait_status) else 0
        if number in _CRASHES:
            return f"the compiler ended by {signal.Signals(number).name}"
        if number == signal.SIGKILL and self._worker.ran_out_of_memory():
            return "the compiler ran out of memory"
        raise self._worker.fault(f"died while compiling (status {wait_status})")

    def _result(
        self, report: dict[str, Any], cpu_limit_s: float, stopped: RunStatus | None, waited_s: float
    ) -> RunResult:
        limits, wait_status, cpu_s, stderr = self._limits, report["status"], report["cpu_s"], report["stderr"]
        memory_mib = report["memory_kib"] / 1024
        killed_by = os.WTERMSIG(wait_status) if os.WIFSIGNALED(wait_status) else None
        exit_code = os.WEXITSTATUS(wait_status) if os.WIFEXITED(wait_status) else None
        out_of_memory = (exit_code != 0 and _last_line(stderr).startswith(b"MemoryError")) or (
            killed_by == signal.SIGKILL and self._worker.ran_out_of_memory()
        )
        if report["largest"] > self._output_bytes:
            status = RunStatus.OUTPUT_LIMIT
        elif report["stopped"]:
            status = _STOPPED[report["stopped"]]
        elif killed_by == signal.SIGXCPU or cpu_s > cpu_limit_s:
            status = RunStatus.CPU_LIMIT
        elif out_of_memory or memory_mib > limits.memory_mib:
            status = RunStatus.MEMORY_LIMIT
        elif stopped and killed_by == signal.SIGKILL:
            status = stopped
        elif killed_by == signal.SIGKILL and "seccomp" in self._worker.layers:
            raise self._worker.fault("saw the program killed from outside, e.g. for want of memory on this machine")
        else:
            status = RunStatus.EXITED if killed_by is None else RunStatus.SIGNALED
        return RunResult(
            status=status,
            exit_code=exit_code,
            signal=killed_by,
            stdout=report["stdout"][: self._output_bytes],
            stderr=stderr,
            value=report["value"] or None if status is RunStatus.EXITED else None,
            cpu_s=cpu_s,
            wall_s=report["wall_s"],
            memory_mib=memory_mib,
            waited_s=waited_s,
        )


def _last_line(text: bytes) -> bytes:
    return text.rpartition(b"\n")[0].rpartition(b"\n")[2]
