"""The values that cross module borders: problems, limits, what a program did, what the judge says.

Covered: plain frozen data, no behaviour beyond what follows from the fields.
Not covered: the tests of a problem (`ground_truth`), how a program is run (`verifier`), scores (`reward`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum

from code_rlvr.errors import ConfigError
from code_rlvr.ground_truth import Tests


class Verdict(str, Enum):
    """What the judge says about a program, or about a program on one test."""

    ACCEPTED = "ACCEPTED"
    WRONG_ANSWER = "WRONG_ANSWER"
    TIME_LIMIT_EXCEEDED = "TIME_LIMIT_EXCEEDED"
    MEMORY_LIMIT_EXCEEDED = "MEMORY_LIMIT_EXCEEDED"
    OUTPUT_LIMIT_EXCEEDED = "OUTPUT_LIMIT_EXCEEDED"
    RUNTIME_ERROR = "RUNTIME_ERROR"
    COMPILE_ERROR = "COMPILE_ERROR"
    NO_CODE = "NO_CODE"


class RunStatus(str, Enum):
    """What the process of one run did; says nothing about whether its output was right."""

    EXITED = "EXITED"  # by itself, with an exit code
    SIGNALED = "SIGNALED"  # by a signal that the sandbox did not send
    CPU_LIMIT = "CPU_LIMIT"
    WALL_LIMIT = "WALL_LIMIT"
    MEMORY_LIMIT = "MEMORY_LIMIT"
    OUTPUT_LIMIT = "OUTPUT_LIMIT"
    THREAD_LIMIT = "THREAD_LIMIT"


_WHOLE = ("memory_mib", "timeouts_before_stop")


@dataclass(frozen=True, slots=True)
class Limits:
    """What one program may use; a problem's own `time_limit_s` and `memory_limit_mib` come before these.

    Args:
        cpu_s: CPU seconds per test, of all threads together.
        wall_s: Wall seconds per test; None means 4 × CPU + 6 s, so that a loaded machine fails nobody.
        memory_mib: Resident memory per test, interpreter included (about 10 MiB).
        output_mib: Bytes that a test may write to stdout, and as many again to stderr.
        compile_s: CPU seconds for compiling the program, once.
        deadline_s: Wall seconds for one sample, all its tests together; queueing does not count.
        timeouts_before_stop: After so many tests over time or over memory, which take seconds too, the rest count as
            failed without being run; None runs every test. A program that passes never meets this bound.

    Raises:
        ConfigError: If a limit is not a positive finite number.
    """

    cpu_s: float = 4.0
    wall_s: float | None = None
    memory_mib: int = 512
    output_mib: float = 16.0
    compile_s: float = 10.0
    deadline_s: float = 120.0
    timeouts_before_stop: int | None = None

    def __post_init__(self) -> None:
        for name in self.__slots__:
            value = getattr(self, name)
            if value is None and name in ("wall_s", "timeouts_before_stop"):
                continue
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                raise ConfigError(f"limits.{name} is {value!r}, not a number")
            if not (math.isfinite(value) and value > 0):
                raise ConfigError(f"limits.{name} is {value!r}; it has to be a finite number above 0")
            if name in _WHOLE and value != int(value):
                raise ConfigError(f"limits.{name} is {value!r}; it has to be a whole number")

    @property
    def wall_limit_s(self) -> float:
        """Wall seconds per test, the default worked out."""
        return self.wall_s if self.wall_s is not None else 4 * self.cpu_s + 6


@dataclass(frozen=True, slots=True)
class RunResult:
    """What one run did, as told by its supervisor; only the three byte strings come from the program.

    Args:
        status: How it ended.
        exit_code: For `EXITED`.
        signal: For `SIGNALED`.
        stdout: All of it, up to the output limit.
        stderr: The last 2,000 bytes.
        value: The encoded return value of a call that returned, unchecked; None otherwise.
        cpu_s: CPU seconds of the process and what it waited for.
        wall_s: Wall seconds.
        memory_mib: Peak resident memory.
        waited_s: Wall seconds of those that it was ready to run in and did not, for others were running; looked
            at every 50 ms, so 0 for what is over sooner.
    """

    status: RunStatus
    exit_code: int | None
    signal: int | None
    stdout: bytes
    stderr: bytes
    value: bytes | None
    cpu_s: float
    wall_s: float
    memory_mib: float
    waited_s: float = 0.0


@dataclass(frozen=True, slots=True)
class CaseJudgement:
    """The verdict on one test that was run."""

    verdict: Verdict
    cpu_s: float
    wall_s: float
    memory_mib: float
    stderr: str = ""


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict on one program.

    Args:
        verdict: ACCEPTED if every test passed, else the verdict of the first test that did not.
        cases: The tests that were run, in order; shorter than `tests_total` if judging stopped early.
        tests_total: How many tests there were to pass.
        judge_s: Wall seconds from start to end, without queueing.
        message: For COMPILE_ERROR, what the compiler said.
    """

    verdict: Verdict
    cases: tuple[CaseJudgement, ...]
    tests_total: int
    judge_s: float
    message: str = ""

    @property
    def accepted(self) -> bool:
        """Whether every test passed."""
        return self.verdict is Verdict.ACCEPTED

    @property
    def compiled(self) -> bool:
        """Whether there was a program and it compiled."""
        return self.verdict not in (Verdict.NO_CODE, Verdict.COMPILE_ERROR)

    @property
    def tests_passed(self) -> int:
        """How many tests passed."""
        return sum(case.verdict is Verdict.ACCEPTED for case in self.cases)

    @property
    def test_pass_rate(self) -> float:
        """The share of all tests that passed; a test that was not run did not pass."""
        return self.tests_passed / self.tests_total


@dataclass(frozen=True, slots=True)
class Problem:
    """One task with its tests.

    Args:
        problem_id: Unique within its data source.
        statement: What the model is asked, without any instruction about format.
        tests: What a right program has to pass.
        data_source: The name under which metrics of this problem are grouped.
        references: Programs that are said to pass, where known.
        family: Problems of one family differ in wording or parameters only; splits keep them apart.
    """

    problem_id: str
    statement: str
    tests: Tests
    data_source: str
    references: tuple[str, ...] = ()
    family: str | None = None
