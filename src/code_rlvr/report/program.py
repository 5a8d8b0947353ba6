"""One judged response with its text, as a verdict record tells it.

Covered: taking a record apart (see `code_rlvr.verdict_log`).  Not covered: reading files (`verdict_records`), which
programs are shown (`programs`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

ACCEPTED = "ACCEPTED"
UNJUDGED = "UNJUDGED"
MAX_CHARS = 6_000
"""Characters of a response that are kept."""
GLANCE_CHARS = 1_200
"""As long as a response can be read at a glance: up to here a longer one tells more."""


@dataclass(frozen=True)
class Program:
    """One judged response with its text; every string is what a model or a program wrote, or may be.

    Args:
        tests: Verdict of each test that was run, in order.
        tests_total: How many tests the problem has; None if the record does not say.
        stderr: End of what the first failing test, or the compiler, said.
    """

    step: int
    split: str
    problem_id: str
    data_source: str
    verdict: str
    score: float | None
    pass_rate: float | None
    tests: tuple[str, ...]
    tests_total: int | None
    stderr: str
    response: str
    response_sha256: str

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> Program | None:
        """Take a record that has a verdict and a text; None for any other."""
        if not isinstance(record.get("response"), str) or not is_judged(record):
            return None
        tests = record.get("tests")
        return cls(
            step=record["step"],
            split=str(record.get("split") or ""),
            problem_id=str(record.get("problem_id") or ""),
            data_source=str(record.get("data_source") or ""),
            verdict=str(record["verdict"]),
            score=_number(record.get("score")),
            pass_rate=_number(record.get("pass_rate")),
            tests=tuple(map(str, tests)) if isinstance(tests, list) else (),
            tests_total=record["tests_total"] if isinstance(record.get("tests_total"), int) else None,
            stderr=str(record.get("stderr") or ""),
            response=record["response"][: MAX_CHARS + 1],
            response_sha256=str(record.get("response_sha256") or ""),
        )

    @property
    def accepted(self) -> bool:
        """Whether it passed every test."""
        return self.verdict == ACCEPTED

    @property
    def is_partly_right(self) -> bool:
        """Whether it passed some of the tests and not all."""
        return self.pass_rate is not None and 0 < self.pass_rate < 1

    @property
    def telling(self) -> tuple[bool, int]:
        """Greater for a response that shows more: partly right before all wrong, then longer before shorter."""
        return self.is_partly_right, min(len(self.response), GLANCE_CHARS)


def is_record(value: Any) -> bool:
    """Whether something read from a file is a record of a sample, judged or not."""
    return isinstance(value, dict) and type(value.get("step")) is int and isinstance(value.get("verdict"), str)


def is_judged(record: Any) -> bool:
    """Whether something read from a file is a record of a sample that has a verdict."""
    return is_record(record) and record["verdict"] != UNJUDGED


def _number(value: Any) -> float | None:
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return None
    try:
        return float(value)
    except OverflowError:  # a whole number of hundreds of digits
        return None
