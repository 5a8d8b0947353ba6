"""Runs programs: one on a worker, a process for each test.

    Sandbox            one per judge: the workers that are idle
      └── RunningProgram   one program on a worker of its own for that time, compiled
            └── run()          one per test: a feed in, a `RunResult` out

A worker that breaks is thrown away with the program on it, which is a `JudgeFault`; the pool runs that job
again on another.

Covered: which layers have to be there, which worker runs what.
Not covered: one program's run (`running`), processes (`worker`), confinement (`guard`), verdicts (`job`).
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Literal, get_args

from code_rlvr.errors import ConfigError, PreflightError, Unjudged
from code_rlvr.types import Limits
from code_rlvr.verifier.cgroup import find_place, new_name, remove_left_overs
from code_rlvr.verifier.interpreter import find_interpreter
from code_rlvr.verifier.program import Program
from code_rlvr.verifier.running import RunningProgram
from code_rlvr.verifier.worker import Worker

Isolation = Literal["full", "process"]

PROGRAMS_PER_WORKER = 2000  # then a fresh one, so that nothing can add up


class Sandbox:
    """Keeps workers and lends them to programs; thread-safe.

    Args:
        python: The interpreter for solutions; this process's own if None.
        isolation: "full" needs system call filters; "process" only bounds what programs use, and is for programs
            that are trusted as far as their author is.

    Attributes:
        layers: Which layers are active.

    Raises:
        ConfigError: If the interpreter or the isolation is none.
        PreflightError: If the kernel or the container has no system call filters.
        JudgeFault: If no process can be started.
    """

    def __init__(self, python: str | os.PathLike[str] | None = None, isolation: Isolation = "full") -> None:
        if isolation not in get_args(Isolation):
            raise ConfigError(f"isolation is {isolation!r}; known are {', '.join(get_args(Isolation))}")
        self._interpreter = find_interpreter(python)
        self._isolation = isolation
        self._pid = os.getpid()
        self._lock = threading.Lock()
        self._closed = False
        self._place = find_place()
        if self._place:
            remove_left_overs(self._place)
        first = self._start_worker()
        self.layers, self.version = first.layers, first.version
        self._idle, self._busy = [first], set[Worker]()
        if isolation == "full" and "seccomp" not in self.layers:
            self.close()
            raise PreflightError(
                "this kernel or container permits no system call filters (seccomp), so programs could do anything; "
                'run where it does, or accept that with isolation="process"'
            )

    @contextmanager
    def start(self, program: Program, limits: Limits) -> Iterator[RunningProgram]:
        """Compile a program on a worker, which goes back to the idle ones if nothing broke.

        Raises:
            JudgeFault: If a worker cannot be started, or breaks.
        """
        worker = self._borrow()
        kept = False
        try:
            running = RunningProgram(worker, program, limits)
            yield running
            running.end()
            kept = worker.programs < PROGRAMS_PER_WORKER
        finally:
            with self._lock:
                self._busy.discard(worker)
                kept = kept and not self._closed
                if kept:
                    self._idle.append(worker)
            if not kept:
                worker.close()

    def _borrow(self) -> Worker:
        with self._lock:
            if self._closed:
                raise Unjudged("the judge was closed before this program was judged")
            worker = self._idle.pop() if self._idle else None
            if worker:
                self._busy.add(worker)
        if worker is None:
            worker = self._start_worker()
            with self._lock:
                self._busy.add(worker)
        return worker

    def _start_worker(self) -> Worker:
        return Worker(self._interpreter, self._isolation, new_name(self._place) if self._place else "")

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End all workers, what runs on them included, unless this process is a fork of the one that they belong to."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
            busy = list(self._busy)
        if os.getpid() == self._pid:
            for worker in idle:
                worker.close()
            for worker in busy:  # their borrowers close them when they see them end
                worker.interrupt()
