"""A few of the programs that the model wrote, chosen so that each shows something else.

Covered: reading verdict records (see `code_rlvr.verdict_log`), choosing.  Not covered: showing (`html`).
The choice is: a program accepted late, an early failure (on the same problem, if there is one), then the
latest failure of each kind, frequent kinds first.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ACCEPTED = "ACCEPTED"
MAX_FILES = 16
"""Steps whose records are read, evenly spread with the first and the last; a long run has gigabytes."""
MAX_LINES = 2_000
"""Records that are read of one step."""
MAX_CHARS = 6_000
"""Characters of a response that are kept."""


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
    def from_record(cls, record: Any) -> Program | None:
        """Take a record that has a verdict and a text; None for any other."""
        if not isinstance(record, dict) or not isinstance(record.get("response"), str):
            return None
        if not isinstance(record.get("step"), int) or record.get("verdict") in (None, "UNJUDGED"):
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


@dataclass(frozen=True)
class Choice:
    """A program and why it is shown."""

    reason: str
    program: Program


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def read_programs(folder: Path, losses: list[str]) -> list[Program]:
    """Read the responses of some steps, in the order of steps.

    Args:
        folder: ``verdicts`` of a run.
        losses: Gets a sentence for what is missing or damaged.
    """
    files = {int(match[1]): file for file in folder.glob("step_*.jsonl") if (match := _STEP.fullmatch(file.name))}
    programs: list[Program] = []
    bad: Counter[str] = Counter()
    for step in spread(sorted(files), MAX_FILES):
        for record in _read_lines(files[step], bad):
            program = Program.from_record(record)
            if program is not None:
                programs.append(program)
    if bad:
        names = ", ".join(list(bad)[:3]) + (" and others" if len(bad) > 3 else "")
        losses.append(f"verdicts: {bad.total()} line{'s' if bad.total() > 1 else ''} cannot be read ({names}).")
    if not files:
        losses.append("There are no verdict records: no programs are shown.")
    elif not programs:
        losses.append("The verdict records hold no texts of responses: no programs are shown.")
    return programs


_STEP = re.compile(r"step_(\d+)\.jsonl")


def spread(steps: Sequence[int], count: int) -> list[int]:
    """Choose at most `count` of the steps, evenly, the first and the last among them."""
    if len(steps) <= count:
        return list(steps)
    last = len(steps) - 1
    return [steps[round(i * last / (count - 1))] for i in range(count)]


def _read_lines(file: Path, bad: Counter[str]) -> Iterator[Any]:
    try:
        with file.open("rb") as lines:
            for _, line in zip(range(MAX_LINES), lines, strict=False):
                try:
                    yield json.loads(line)
                except (ValueError, RecursionError):
                    bad[file.name] += 1
    except OSError:
        bad[file.name] += 1


def choose_programs(programs: Sequence[Program], count: int = 5) -> list[Choice]:
    """Choose the most telling programs.

    Args:
        programs: In the order of steps.
        count: How many at most.

    Returns:
        Distinct responses; fewer than `count` if there are no more.
    """
    choices: list[Choice] = []

    def add(reason: str, candidates: Iterable[Program], prefer: Callable[[Program], Any]) -> Program | None:
        shown = {choice.program.response for choice in choices}
        best = max((one for one in candidates if one.response not in shown), key=prefer, default=None)
        if best is not None and len(choices) < count:
            choices.append(Choice(reason.format(step=best.step), best))
        return best

    failed = [one for one in programs if not one.accepted]
    first_step = min((one.step for one in programs), default=0)
    half = (first_step + max((one.step for one in programs), default=0)) / 2
    early = [one for one in failed if one.step <= half]
    failed_early = {one.problem_id for one in early}
    late = add(
        "Accepted, step {step}",
        (one for one in programs if one.accepted and one.step > first_step),
        lambda one: (one.step > half and one.problem_id in failed_early, one.step, _telling(one)),
    )
    same = [one for one in early if late is not None and one.problem_id == late.problem_id]
    add(
        "The same problem, earlier: step {step}" if same else "An early failure: step {step}",
        same or early,
        lambda one: (-one.step, _telling(one)),
    )
    shown_kinds = {choice.program.verdict for choice in choices}
    counts = Counter(one.verdict for one in failed if one.step > half)
    for verdict in sorted(counts, key=lambda kind: (kind in shown_kinds, -counts[kind])):
        kind = [one for one in failed if one.verdict == verdict]
        add("The latest of its kind: step {step}", kind, lambda one: (one.step, _telling(one)))
    while len(choices) < count and add("Step {step}", programs, lambda one: (_partly(one), one.step, _telling(one))):
        pass
    return choices


def _telling(program: Program) -> tuple[bool, int]:
    """Partly right before all wrong, longer before shorter, as long as it can be read at a glance."""
    return _partly(program), min(len(program.response), 1_200)


def _partly(program: Program) -> bool:
    return program.pass_rate is not None and 0 < program.pass_rate < 1
