"""Judges programs: the door to the verifier, for threads, event loops and Ray actors alike.

A fault of the judge is retried, and at last raised as `Unjudged`; it never becomes a verdict.

Covered: who may ask, and how many programs run at once.
Not covered: one program against its tests (`job`), processes (`sandbox`), threads (`pool`).
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from types import TracebackType

from code_rlvr.errors import Unjudged
from code_rlvr.ground_truth import Tests
from code_rlvr.types import Judgement, Limits
from code_rlvr.verifier.job import Job, cases_of, sampled
from code_rlvr.verifier.pool import WorkerPool
from code_rlvr.verifier.sandbox import Isolation, Sandbox


class Judge:
    """Judges programs in a sandbox, several at once; thread-safe, asyncio-safe, a context manager.

    Args:
        workers: How many programs run at the same time; the number of usable CPUs if None.
        limits: What a program may use, where its tests name no limit of their own.
        python: The interpreter for solutions, e.g. of an environment with numpy; this process's own if None.
        isolation: "full", or "process" where the kernel permits no system call filters and programs are trusted.

    Attributes:
        layers: Which layers of isolation are active.
        version: Of the Python that runs solutions.

    Raises:
        ConfigError: If the interpreter or the isolation is none.
        PreflightError: If this machine cannot isolate programs.
        JudgeFault: If the sandbox cannot be set up.
    """

    def __init__(
        self,
        workers: int | None = None,
        limits: Limits | None = None,
        *,
        python: str | os.PathLike[str] | None = None,
        isolation: Isolation = "full",
    ) -> None:
        self.limits = limits or Limits()
        self._sandbox = Sandbox(python, isolation)
        self._pool = WorkerPool(workers)
        self.layers = tuple(self._sandbox.layers)
        self.version = tuple(self._sandbox.version)

    def __enter__(self) -> Judge:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close(wait=error is None)

    def close(self, wait: bool = True) -> None:
        """Give everything back.

        Args:
            wait: For the programs that are being judged; else they are ended, and become `Unjudged`.
        """
        if not wait:
            self._sandbox.close()
        self._pool.close()
        self._sandbox.close()

    def judge(
        self,
        code: str | None,
        tests: Tests,
        *,
        limits: Limits | None = None,
        max_tests: int | None = None,
        stop_at_first_failure: bool = False,
    ) -> Judgement:
        """Judge one program and wait for the verdict.

        Args:
            code: The program; None is NO_CODE.
            tests: What it has to pass.
            limits: In place of the judge's own.
            max_tests: Of more tests, judge by a sample of this size, the same for every program.
            stop_at_first_failure: Run nothing that cannot change the verdict; makes `test_pass_rate` too low.

        Raises:
            Unjudged: If the judge broke three times, or the machine was too busy to tell.
            TestsFormatError: If an assertion has a form that is not supported.
        """
        job = self._job(code, tests, limits, max_tests, stop_at_first_failure)
        return self._pool.submit(job.run).result()

    async def judge_async(
        self,
        code: str | None,
        tests: Tests,
        *,
        limits: Limits | None = None,
        max_tests: int | None = None,
        stop_at_first_failure: bool = False,
    ) -> Judgement:
        """`judge` for an event loop, which stays free meanwhile."""
        job = self._job(code, tests, limits, max_tests, stop_at_first_failure)
        return await asyncio.wrap_future(self._pool.submit(job.run))

    def judge_many(
        self,
        items: Iterable[tuple[str | None, Tests]],
        *,
        limits: Limits | None = None,
        max_tests: int | None = None,
        stop_at_first_failure: bool = False,
    ) -> Iterator[Judgement | Unjudged]:
        """Judge many programs at once; results in order, a fault as a value, so that it ends nothing else.

        Args:
            items: Programs with their tests; read only as far ahead as the workers need.

        Raises:
            TestsFormatError: As `judge`, when that item's turn comes.
        """
        return self._pool.map_ordered(
            lambda item: self._job(*item, limits, max_tests, stop_at_first_failure).run(), items
        )

    def _job(
        self,
        code: str | None,
        tests: Tests,
        limits: Limits | None,
        max_tests: int | None,
        stop_at_first_failure: bool,
    ) -> Job:
        limits = limits or self.limits
        if tests.time_limit_s is not None:
            limits = replace(limits, cpu_s=tests.time_limit_s)
        if tests.memory_limit_mib is not None:
            limits = replace(limits, memory_mib=tests.memory_limit_mib)
        cases = sampled(cases_of(tests), max_tests, tests)
        return Job(self._sandbox, code, tests, cases, limits, stop_at_first_failure)
