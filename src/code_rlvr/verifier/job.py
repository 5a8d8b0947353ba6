"""Judges one program: runs it against its tests, one after another, and says what it is.

A program is ACCEPTED if every test passed, else it has the verdict of the first test that did not.  A test:

| the process | verdict |
|---|---|
| was stopped for its CPU or its wall time | TIME_LIMIT_EXCEEDED |
| could not get memory, or held more than it may | MEMORY_LIMIT_EXCEEDED |
| wrote more than it may, to stdout, stderr or as a value | OUTPUT_LIMIT_EXCEEDED |
| returned a value of more parts than the judge builds | OUTPUT_LIMIT_EXCEEDED |
| was ended by a signal, or left with an exit code other than 0 (as an exception makes it) | RUNTIME_ERROR |
| left with 0, but a call returned nothing, or nothing of which the test could ask what it asks | RUNTIME_ERROR |
| left with 0, and what it printed or returned is, is not, what was expected | ACCEPTED, WRONG_ANSWER |

An exit code of 0 earns nothing by itself.  Expected outputs are compared here and never reach the sandbox.
Assertions that are more than a call and a condition are judged by a checker (`assertions.checking`), each as one test.

Covered: the order of things, deadlines, verdicts on outputs and values.
Not covered: processes (`sandbox`), comparing (`compare`, `assertions`), checkers.
"""

from __future__ import annotations

import contextlib
import random
import time
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from code_rlvr.errors import Unjudged
from code_rlvr.ground_truth import Tests
from code_rlvr.types import CaseJudgement, Judgement, Limits, RunResult, RunStatus, Verdict
from code_rlvr.verifier.assertions.cases import AssertCase, take_apart
from code_rlvr.verifier.assertions.checker import CheckedCase, CheckerUnit
from code_rlvr.verifier.assertions.checking import run_checker
from code_rlvr.verifier.compare import output_matches, value_matches
from code_rlvr.verifier.guard.decoding import TooLarge
from code_rlvr.verifier.guard.opaque import Opaque, OutOfReach, decode_answer
from code_rlvr.verifier.program import Call, Feed, Program, Provide, Role
from code_rlvr.verifier.running import LOOK_S, MAX_THREADS, STATUS_VERDICTS, RunningProgram
from code_rlvr.verifier.sandbox import Sandbox

START_CPU_S = 0.002  # what a process costs that does nothing, roughly
_PROVIDED: dict[str, Provide] = {"stdio": "none", "call": "leetcode", "assert": "typing"}


@dataclass(frozen=True, slots=True)
class _OutputCase:
    feed: str
    expected: str


@dataclass(frozen=True, slots=True)
class _ValueCase:
    feed: Call
    expected: Any


RunCase = _OutputCase | _ValueCase | AssertCase
Case = RunCase | CheckedCase


def cases_of(tests: Tests) -> Sequence[Case]:
    """The test cases that tests consist of.

    Raises:
        TestsFormatError: If an assertion has a form that cannot be run.
    """
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


def sampled(cases: Sequence[Case], max_tests: int | None, tests: Tests) -> Sequence[Case]:
    """At most so many of the cases, in order; which ones depends on the tests alone."""
    if max_tests is None or len(cases) <= max_tests:
        return cases
    seed = zlib.crc32(tests.to_json().encode())
    return [cases[i] for i in sorted(random.Random(seed).sample(range(len(cases)), max_tests))]


def _feed(case: RunCase) -> Feed:
    return case.call if isinstance(case, AssertCase) else case.feed


def _own_s(result: RunResult) -> float:
    """Seconds that a program took itself, computing or asleep; starting it, and waiting for a processor, is not its."""
    if result.wall_s < 2 * LOOK_S:
        return max(0.0, result.cpu_s - START_CPU_S)
    return max(result.cpu_s, result.wall_s - result.waited_s)


@dataclass(slots=True)
class _Clock:
    """When a sample has to be over, and how much of its time the program took itself.

    Attributes:
        deadline: As `time.monotonic` tells it; later by what `reading` waited.
        own_s: The program's seconds.
        read_s, waited_s: Of the last reading.
    """

    deadline: float
    own_s: float = 0.0
    read_s: float = 0.0
    waited_s: float = 0.0

    def is_over(self) -> bool:
        return time.monotonic() >= self.deadline

    def ended(self, result: RunResult, ahead: bool) -> bool:
        """Take in a run, which may have begun ahead of the last reading; whether the deadline is what ended it."""
        self.own_s += max(0.0, _own_s(result) - (self.read_s if ahead else 0.0))
        due = self.deadline - (self.waited_s if ahead else 0.0)  # as it was when the run began
        return result.status is RunStatus.WALL_LIMIT and time.monotonic() >= due

    @contextlib.contextmanager
    def reading(self) -> Iterator[None]:
        """Count what the judge computes on an output as the program's doing; waiting as nobody's."""
        began, computed = time.monotonic(), time.thread_time()
        yield
        self.read_s = time.thread_time() - computed
        self.waited_s = max(0.0, time.monotonic() - began - self.read_s)
        self.own_s += self.read_s
        self.deadline += self.waited_s


def _costly(judged: list[CaseJudgement]) -> int:
    """Count the tests that ended at a limit which takes a program seconds to reach."""
    return sum(case.verdict in (Verdict.TIME_LIMIT_EXCEEDED, Verdict.MEMORY_LIMIT_EXCEEDED) for case in judged)


@dataclass(frozen=True, slots=True)
class Job:
    """One program to be judged.

    Args:
        sandbox: Where it runs.
        code: The program; None is NO_CODE.
        tests, cases: The tests, and those of their cases that count.
        limits: What each of them may use.
        stop_at_first_failure: Whether to run nothing that cannot change the verdict.
    """

    sandbox: Sandbox
    code: str | None
    tests: Tests
    cases: Sequence[Case]
    limits: Limits
    stop_at_first_failure: bool

    def run(self) -> Judgement:
        """Judge it.

        Raises:
            JudgeFault: If a worker broke, or the machine was too busy to tell.
            TestsFormatError: If a checker turns out not to be one.
        """
        started = time.monotonic()
        if self.code is None:
            return Judgement(Verdict.NO_CODE, (), len(self.cases), time.monotonic() - started)
        checked = any(isinstance(case, CheckedCase) for case in self.cases)
        role: Role = "serve" if checked else "run"
        program = Program(self.code, self.tests.prelude, _PROVIDED[self.tests.kind], role)
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
        checked: dict[CheckerUnit, list[CaseJudgement]] = {}
        clock, ahead = _Clock(started + self.limits.deadline_s), False
        for case, following in zip(self.cases, [*self.cases[1:], None], strict=True):
            if clock.is_over() and not ahead:
                self._require_own_fault(judged, clock.own_s)
                break
            if isinstance(case, CheckedCase):
                if case.unit not in checked:
                    left_s = clock.deadline - time.monotonic()
                    checked[case.unit] = run_checker(self.sandbox, running, case.unit, self.tests, self.limits, left_s)
                judged.append(checked[case.unit][case.site])
                clock.own_s += judged[-1].wall_s
            else:
                if not ahead:
                    running.begin(_feed(case), clock.deadline)
                was_ahead, ahead = ahead, isinstance(following, RunCase) and self._may_go_on(judged)
                if isinstance(following, RunCase) and ahead:
                    running.begin(_feed(following), clock.deadline)  # it runs while this one's output is compared
                result = running.finish()
                if clock.ended(result, was_ahead):
                    self._require_own_fault(judged, clock.own_s)
                with clock.reading():
                    judged.append(self._judged(case, result))
            if self._given_up(judged):
                break
        return judged

    def _may_go_on(self, judged: list[CaseJudgement]) -> bool:
        """Whether the next test will be run whatever this one shows."""
        bound = self.limits.timeouts_before_stop
        return not self.stop_at_first_failure and (bound is None or _costly(judged) + 1 < bound)

    def _given_up(self, judged: list[CaseJudgement]) -> bool:
        bound = self.limits.timeouts_before_stop
        failed = judged[-1].verdict is not Verdict.ACCEPTED
        return (bound is not None and _costly(judged) >= bound) or (failed and self.stop_at_first_failure)

    def _judged(self, case: RunCase, result: RunResult) -> CaseJudgement:
        verdict, message = self._verdict(case, result)
        stderr = message or result.stderr.decode("utf-8", "replace")
        return CaseJudgement(verdict, result.cpu_s, result.wall_s, result.memory_mib, stderr)

    def _require_own_fault(self, judged: list[CaseJudgement], own_s: float) -> None:
        """At the deadline: a program that failed nothing and took less than half of the time itself was held up."""
        failed = any(case.verdict is not Verdict.ACCEPTED for case in judged)
        if not failed and own_s < self.limits.deadline_s / 2:
            raise Unjudged(
                f"{len(judged)} of {len(self.cases)} tests took {self.limits.deadline_s:.0f} s, but the program only "
                f"{own_s:.1f} s of that: there are too many tests, or the machine is too busy"
            )

    def _verdict(self, case: RunCase, result: RunResult) -> tuple[Verdict, str]:
        if result.status is RunStatus.THREAD_LIMIT:
            return STATUS_VERDICTS[result.status], f"the program had more than {MAX_THREADS} threads"
        if result.status is not RunStatus.EXITED:
            return STATUS_VERDICTS[result.status], ""
        if result.exit_code != 0:
            return Verdict.RUNTIME_ERROR, ""
        if isinstance(case, _OutputCase):
            right = output_matches(result.stdout, case.expected, self.tests)
        else:
            if result.value is None:
                return Verdict.RUNTIME_ERROR, "the program left before the call returned"
            try:
                value = decode_answer(result.value)
            except TooLarge as error:
                return Verdict.OUTPUT_LIMIT_EXCEEDED, f"what the call returned is too large: {error}"
            except ValueError as error:
                return Verdict.RUNTIME_ERROR, f"what the call returned cannot be read: {error}"
            try:
                right = self._is_right(case, value)
            except OutOfReach as error:
                return Verdict.RUNTIME_ERROR, str(error)
        return Verdict.ACCEPTED if right else Verdict.WRONG_ANSWER, ""

    def _is_right(self, case: _ValueCase | AssertCase, value: Any) -> bool:
        if isinstance(case, AssertCase):
            return case.holds(value)
        if isinstance(value, Opaque):
            raise value.out_of_reach()
        return value_matches(value, case.expected, self.tests)
