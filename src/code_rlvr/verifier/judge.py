"""Judges programs: runs one against its tests and says what it is.

A program is ACCEPTED if every test passed, else it has the verdict of the first test that did not.  A test:

| the process | verdict |
|---|---|
| was stopped for its CPU or its wall time | TIME_LIMIT_EXCEEDED |
| could not get memory, or held more than it may | MEMORY_LIMIT_EXCEEDED |
| wrote more than it may, to stdout or stderr | OUTPUT_LIMIT_EXCEEDED |
| was ended by a signal, or left with an exit code other than 0 (as an exception makes it) | RUNTIME_ERROR |
| left with 0, but a call returned nothing, or something that is not plain data | RUNTIME_ERROR |
| left with 0, and what it printed or returned is, is not, what was expected | ACCEPTED, WRONG_ANSWER |

An exit code of 0 earns nothing by itself.  Expected outputs are compared here and never reach the sandbox.
A fault of the judge is retried, and at last raised as `Unjudged`; it never becomes a verdict.

Covered: the order of things.
Not covered: processes (`sandbox`), threads (`pool`), comparing (`compare`, `asserts`).
"""

from __future__ import annotations

import asyncio
import os
import random
import time
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any

from code_rlvr.errors import Unjudged
from code_rlvr.ground_truth import Tests
from code_rlvr.types import CaseJudgement, Judgement, Limits, RunResult, RunStatus, Verdict
from code_rlvr.verifier.asserts import AssertCase, take_apart
from code_rlvr.verifier.compare import output_matches, value_matches
from code_rlvr.verifier.guard.values import decode
from code_rlvr.verifier.pool import WorkerPool
from code_rlvr.verifier.program import Call, Program, Provide
from code_rlvr.verifier.running import RunningProgram
from code_rlvr.verifier.sandbox import Isolation, Sandbox

_STATUS_VERDICTS = {
    RunStatus.CPU_LIMIT: Verdict.TIME_LIMIT_EXCEEDED,
    RunStatus.WALL_LIMIT: Verdict.TIME_LIMIT_EXCEEDED,
    RunStatus.MEMORY_LIMIT: Verdict.MEMORY_LIMIT_EXCEEDED,
    RunStatus.OUTPUT_LIMIT: Verdict.OUTPUT_LIMIT_EXCEEDED,
    RunStatus.SIGNALED: Verdict.RUNTIME_ERROR,
    RunStatus.THREAD_LIMIT: Verdict.RUNTIME_ERROR,
}
_PROVIDED: dict[str, Provide] = {"stdio": "none", "call": "leetcode", "assert": "typing"}


@dataclass(frozen=True, slots=True)
class _OutputCase:
    feed: str
    expected: str


@dataclass(frozen=True, slots=True)
class _ValueCase:
    feed: Call
    expected: Any


_Case = _OutputCase | _ValueCase | AssertCase


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
    ) -> _Job:
        limits = limits or self.limits
        if tests.time_limit_s is not None:
            limits = replace(limits, cpu_s=tests.time_limit_s)
        if tests.memory_limit_mib is not None:
            limits = replace(limits, memory_mib=tests.memory_limit_mib)
        cases = _sampled(_cases(tests), max_tests, tests)
        return _Job(self._sandbox, code, tests, cases, limits, stop_at_first_failure)


def _cases(tests: Tests) -> Sequence[_Case]:
    if tests.kind == "assert":
        return take_apart(tests)
    pairs = zip(tests.inputs, tests.outputs, strict=True)
    if tests.kind == "stdio":
        return [_OutputCase(feed, expected) for feed, expected in pairs]
    assert tests.fn_name is not None
    return [_ValueCase(Call(tests.fn_name, tuple(map(_as_python_has_it, args))), want) for args, want in pairs]


def _as_python_has_it(value: Any) -> Any:
    """An argument from JSON, in which integer keys of a dict became text; the convention of APPS and TACO."""
    if isinstance(value, list):
        return [_as_python_has_it(item) for item in value]
    if isinstance(value, dict):
        numbers = all(key.removeprefix("-").isdecimal() and key.isascii() for key in value)
        return {int(key) if numbers and value else key: _as_python_has_it(item) for key, item in value.items()}
    return value


def _sampled(cases: Sequence[_Case], max_tests: int | None, tests: Tests) -> Sequence[_Case]:
    if max_tests is None or len(cases) <= max_tests:
        return cases
    seed = zlib.crc32(tests.to_json().encode())
    return [cases[i] for i in sorted(random.Random(seed).sample(range(len(cases)), max_tests))]


@dataclass(frozen=True, slots=True)
class _Job:
    sandbox: Sandbox
    code: str | None
    tests: Tests
    cases: Sequence[_Case]
    limits: Limits
    stop_at_first_failure: bool

    def run(self) -> Judgement:
        started = time.monotonic()
        if self.code is None:
            return Judgement(Verdict.NO_CODE, (), len(self.cases), time.monotonic() - started)
        program = Program(self.code, self.tests.prelude, _PROVIDED[self.tests.kind])
        with self.sandbox.start(program, self.limits) as running:
            if running.compile_error is not None:
                took_s = time.monotonic() - started
                return Judgement(Verdict.COMPILE_ERROR, (), len(self.cases), took_s, running.compile_error)
            judged = self._run_cases(running, started)
        failures = [case.verdict for case in judged if case.verdict is not Verdict.ACCEPTED]
        verdict = failures[0] if failures else Verdict.ACCEPTED
        if not failures and len(judged) < len(self.cases):
            verdict = Verdict.TIME_LIMIT_EXCEEDED
        return Judgement(verdict, tuple(judged), len(self.cases), time.monotonic() - started)

    def _run_cases(self, running: RunningProgram, started: float) -> list[CaseJudgement]:
        judged: list[CaseJudgement] = []
        for case in self.cases:
            left_s = self.limits.deadline_s - (time.monotonic() - started)
            if left_s <= 0:
                self._require_own_fault(judged, None)
                break
            result = running.run(case.call if isinstance(case, AssertCase) else case.feed, left_s)
            if result.status is RunStatus.WALL_LIMIT and left_s < self.limits.wall_limit_s:
                self._require_own_fault(judged, result)
            verdict, message = self._verdict(case, result)
            stderr = message or result.stderr.decode("utf-8", "replace")
            judged.append(CaseJudgement(verdict, result.cpu_s, result.wall_s, result.memory_mib, stderr))
            timeouts = sum(case.verdict is Verdict.TIME_LIMIT_EXCEEDED for case in judged)
            failed = verdict is not Verdict.ACCEPTED
            given_up = self.limits.timeouts_before_stop is not None and timeouts >= self.limits.timeouts_before_stop
            if given_up or (failed and self.stop_at_first_failure):
                break
        return judged

    def _require_own_fault(self, judged: list[CaseJudgement], cut: RunResult | None) -> None:
        """At the deadline: a program that failed nothing, computed little and hung nowhere was held up by others."""
        half_s = self.limits.deadline_s / 2
        cpu_s = sum(case.cpu_s for case in judged) + (cut.cpu_s if cut else 0)
        failed = any(case.verdict is not Verdict.ACCEPTED for case in judged)
        if not failed and cpu_s < half_s and (cut is None or cut.wall_s < half_s):
            raise Unjudged(
                f"{len(judged)} of {len(self.cases)} tests took {self.limits.deadline_s:.0f} s, but only "
                f"{cpu_s:.1f} s of computing: there are too many tests, or the machine is too busy"
            )

    def _verdict(self, case: _Case, result: RunResult) -> tuple[Verdict, str]:
        if result.status is not RunStatus.EXITED:
            return _STATUS_VERDICTS[result.status], ""
        if result.exit_code != 0:
            return Verdict.RUNTIME_ERROR, ""
        if isinstance(case, _OutputCase):
            right = output_matches(result.stdout, case.expected, self.tests)
        else:
            if result.value is None:
                return Verdict.RUNTIME_ERROR, "the program left before the call returned"
            try:
                value = decode(result.value)
            except ValueError as error:
                return Verdict.RUNTIME_ERROR, f"what the call returned cannot be read: {error}"
            right = (
                case.holds(value) if isinstance(case, AssertCase) else value_matches(value, case.expected, self.tests)
            )
        return Verdict.ACCEPTED if right else Verdict.WRONG_ANSWER, ""
