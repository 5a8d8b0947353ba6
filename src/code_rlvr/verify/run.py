"""Judges solutions from a file against the problems of another: the command ``code-rlvr verify``.

One JSON line for each solution goes to the file that ``--out`` names, as soon as its verdict is known:

| field | meaning |
|---|---|
| problem_id, index | the problem, and which of its solutions, from 0 in the order of the file |
| data_source | the problem's; empty if it has none |
| fingerprint | of everything that the verdict depends on: the text, the tests, the limits |
| verdict | the name of a `Verdict`; null, with `fault`, if the judge broke: says nothing about the program |
| test_pass_rate, tests_passed, tests_total | as in `Judgement` |
| format | for responses: 1 if the program stood in a closed fence, else 0; for bare code null |
| judge_s | wall seconds, without queueing |
| message | what the compiler said |
| cases | for each test that was run: verdict, cpu_s, wall_s, memory_mib, stderr |

Covered: the order of things, what a line holds, progress.
Not covered: reading the inputs (`inputs`), the file and how it is continued (`verdict_file`), adding up
(`summary`), judging (`verifier`).
"""

from __future__ import annotations

import hashlib
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from rich.console import Console

from code_rlvr.errors import JudgeFault, TestsFormatError, UsageError
from code_rlvr.ground_truth import Tests
from code_rlvr.progress import count_off
from code_rlvr.types import CaseJudgement, Judgement, Limits
from code_rlvr.verifier.assertions.cases import solution_name
from code_rlvr.verifier.extract import extract
from code_rlvr.verifier.judge import Judge
from code_rlvr.verifier.pool import usable_cpus
from code_rlvr.verifier.sandbox import Isolation
from code_rlvr.verify.inputs import (
    Solution,
    TestedProblem,
    read_problems,
    read_solutions,
    require_known,
    require_none_malformed,
)
from code_rlvr.verify.summary import Summary
from code_rlvr.verify.verdict_file import Line, VerdictFile


@dataclass(frozen=True, slots=True)
class VerifySettings:
    """How to judge, and where to.

    Args:
        limits: What a program may use, where its problem names no limit of its own.
        workers: How many programs are judged at once; the number of usable CPUs if None.
        max_tests: Of more tests, judge by a sample of this size, the same for every program.
        stop_at_first_failure: Run nothing that cannot change the verdict.
        out: Where the verdicts go, one a line; None keeps none.
        overwrite: Whether `out` starts anew.
        python, isolation: As for `Judge`.
    """

    limits: Limits
    workers: int | None = None
    max_tests: int | None = None
    stop_at_first_failure: bool = False
    out: Path | None = None
    overwrite: bool = False
    python: Path | None = None
    isolation: Isolation = "full"

    def judge(self) -> Judge:
        """A judge with these settings, to be closed."""
        return Judge(self.workers, self.limits, python=self.python, isolation=self.isolation)

    def fingerprint(self, problem: TestedProblem, solution: Solution) -> str:
        """A hash of everything that the verdict on a solution depends on."""
        rules = (
            self.limits,
            self.max_tests,
            self.stop_at_first_failure,
            self.python,
            problem.digest,
            solution.is_response,
        )
        text = solution.text.encode("utf-8", "surrogatepass")
        return hashlib.sha256(repr(rules).encode() + text).hexdigest()[:16]


def limits_of(**given: float | None) -> Limits:
    """Limits with the values that were given, and the defaults for all others."""
    return Limits(**{name: value for name, value in given.items() if value is not None})  # type: ignore[arg-type]


def verify(problems_file: Path, solutions_file: Path, settings: VerifySettings, console: Console) -> Summary:
    """Judge every solution; everything that is given is checked before the first is judged.

    Args:
        problems_file, solutions_file: See `inputs`.
        settings: How, and where to.
        console: For progress; what is found out is in the summary.

    Raises:
        UsageError: Something that was given cannot be used; the message names place and remedy.
        JudgeFault: The sandbox cannot be set up.
    """
    _require_usable_out(settings, (problems_file, solutions_file))
    with console.status("reading the problems"):
        problems = read_problems(problems_file)
    with VerdictFile(settings.out, settings.overwrite) as verdicts, settings.judge() as judge:
        with console.status("checking the tests and the solutions"):
            _require_supported(judge, problems)
            total = _check_solutions(solutions_file, problems_file, problems, settings, verdicts)
        verdicts.begin()
        summary = Summary(settings.workers or usable_cpus(), total, str(settings.out) if settings.out else None)
        run = _Run(problems, settings, verdicts, summary)
        with count_off(console, summary.total, "judged", lambda: (summary.all.programs, summary.in_short())) as show:
            run.judge_all(judge, islice(read_solutions(solutions_file), total), show)
    return summary


@dataclass(frozen=True, slots=True)
class _Run:
    problems: Mapping[str, TestedProblem]
    settings: VerifySettings
    verdicts: VerdictFile
    summary: Summary

    def judge_all(self, judge: Judge, solutions: Iterator[Solution], show: Callable[[], None]) -> None:
        started = time.monotonic()
        pending: deque[tuple[Solution, float | None]] = deque()  # handed to the judge, which answers in order
        answers = judge.judge_many(
            self._programs(solutions, pending, show),
            max_tests=self.settings.max_tests,
            stop_at_first_failure=self.settings.stop_at_first_failure,
        )
        try:
            for answer in answers:
                solution, fenced = pending.popleft()
                line = self._line(solution, fenced, answer)
                self.verdicts.write(line)
                self.summary.add(line, solution)
                self.summary.tests_run += len(line.get("cases", ()))
                self.summary.wall_s = time.monotonic() - started
                show()
        except TestsFormatError as error:
            raise TestsFormatError(error.message, error.field, pending[0][0].problem_id) from None

    def _programs(
        self, solutions: Iterator[Solution], pending: deque[tuple[Solution, float | None]], show: Callable[[], None]
    ) -> Iterator[tuple[str | None, Tests]]:
        for solution in solutions:
            kept = self.verdicts.kept.get((solution.problem_id, solution.index))
            if kept is not None:
                self.summary.add(kept, solution)
                self.summary.kept += 1
                show()
                continue
            tests = self.problems[solution.problem_id].tests
            if solution.is_response:
                extraction = extract(solution.text, solution_name(tests))
                pending.append((solution, float(extraction.fenced)))
                yield extraction.code, tests
            else:
                pending.append((solution, None))
                yield solution.text, tests

    def _line(self, solution: Solution, fenced: float | None, answer: Judgement | JudgeFault) -> Line:
        problem = self.problems[solution.problem_id]
        origin = {
            "problem_id": solution.problem_id,
            "index": solution.index,
            "data_source": problem.data_source,
            "fingerprint": self.settings.fingerprint(problem, solution),
        }
        if isinstance(answer, JudgeFault):
            return {**origin, "verdict": None, "fault": str(answer)}
        return {
            **origin,
            "verdict": answer.verdict.value,
            "test_pass_rate": answer.test_pass_rate,
            "tests_passed": answer.tests_passed,
            "tests_total": answer.tests_total,
            "format": fenced,
            "judge_s": round(answer.judge_s, 4),
            "message": answer.message,
            "cases": [_case(case) for case in answer.cases],
        }


def _case(case: CaseJudgement) -> Line:
    return {
        "verdict": case.verdict.value,
        "cpu_s": round(case.cpu_s, 4),
        "wall_s": round(case.wall_s, 4),
        "memory_mib": round(case.memory_mib, 1),
        "stderr": case.stderr,
    }


def _require_usable_out(settings: VerifySettings, inputs: tuple[Path, Path]) -> None:
    out = settings.out
    if out is None:
        if settings.overwrite:
            raise UsageError("--overwrite starts the file of verdicts anew, but --out names none; give both")
        return
    if not out.parent.is_dir():
        raise UsageError(f"--out {out}: there is no folder {out.parent}; make it first")
    if out.exists() and not out.is_file():
        raise UsageError(f"--out {out} is not a file; name one that exists or can be made")
    if any(out.exists() and file.exists() and out.samefile(file) for file in inputs):
        raise UsageError(f"--out {out} is one of the files to be read; name another")


def _require_supported(judge: Judge, problems: Mapping[str, TestedProblem]) -> None:
    """Let the judge read all tests now, not when their turn comes; no program, so nothing is run."""
    refused = []
    for problem in problems.values():
        try:
            judge.judge(None, problem.tests)
        except TestsFormatError as error:
            refused.append(f"{problem.place}: problem {problem.problem_id}: {error}")
    require_none_malformed(refused)


def _check_solutions(
    solutions_file: Path,
    problems_file: Path,
    problems: Mapping[str, TestedProblem],
    settings: VerifySettings,
    verdicts: VerdictFile,
) -> int:
    """Read all solutions once without keeping them; how many there are."""
    total = 0
    unknown: Counter[str] = Counter()
    for solution in read_solutions(solutions_file):
        total += 1
        problem = problems.get(solution.problem_id)
        if problem is None:
            unknown[solution.problem_id] += 1
        elif verdicts.kept:
            verdicts.recognise(solution.problem_id, solution.index, settings.fingerprint(problem, solution))
    require_known(unknown, solutions_file, problems_file)
    verdicts.require_all_recognised()
    return total
