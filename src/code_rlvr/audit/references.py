"""Solutions of a set's problems, and what they say about its tests.

A *reference* is a solution that is said to pass: one with no label, or labelled accepted.  Solutions with another
label are said to be wrong; the tests should show it.

Covered: finding a problem's solutions without holding all in memory, judging them, comparing the verdicts.
Not covered: writing them (`data.prepare`).
"""

from __future__ import annotations

import json
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from code_rlvr.audit.finding import Finding, defect, suspect
from code_rlvr.ground_truth import Tests
from code_rlvr.types import Judgement, Verdict
from code_rlvr.verifier.assertions.cases import solution_name
from code_rlvr.verifier.extract import extract
from code_rlvr.verifier.judge import Judge
from code_rlvr.verify.inputs import Solution, read_solutions
from code_rlvr.words import counted

SLOW_SHARE = 0.5  # of the time limit
_SHOWN = 3  # references that one finding names


class SolutionStore:
    """The solutions of all problems, on disk, by problem; a context manager.

    Args:
        file: JSONL as `verify` reads it; None stores nothing.

    Attributes:
        problem_ids: Those that have a solution.

    Raises:
        DataError: The file cannot be read, or a line lacks something.
    """

    def __init__(self, file: Path | None) -> None:
        self._spool = tempfile.TemporaryFile()  # noqa: SIM115  closed on leaving the context
        self._places: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
        for solution in read_solutions(file) if file is not None else ():
            record = json.dumps([solution.index, solution.text, solution.is_response, solution.label]).encode("ascii")
            self._places[solution.problem_id].append((self._spool.tell(), len(record)))
            self._spool.write(record)
        self.problem_ids = frozenset(self._places)

    def __enter__(self) -> SolutionStore:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._spool.close()

    def solutions_of(self, problem_id: str) -> list[Solution]:
        """The solutions of one problem, in the order of the file; to be called from one thread."""
        found = []
        for start, size in self._places.get(problem_id, ()):
            self._spool.seek(start)
            index, text, is_response, label = json.loads(self._spool.read(size))
            found.append(Solution(problem_id, index, text, is_response, label, ""))
        return found


@dataclass(frozen=True, slots=True)
class ReferenceRun:
    """What came of one reference.

    Args:
        index: Which of the problem's solutions it is, from 0.
        judgement: Of its first run.
        second: Of its second run, of those that were accepted in the first.
    """

    index: int
    judgement: Judgement
    second: Judgement | None

    @property
    def max_cpu_s(self) -> float:
        """CPU seconds of the test that took longest."""
        return max((case.cpu_s for case in self.judgement.cases), default=0.0)

    @property
    def total_cpu_s(self) -> float:
        """CPU seconds of all tests."""
        return sum(case.cpu_s for case in self.judgement.cases)


def run_reference(solution: Solution, tests: Tests, judge: Judge) -> ReferenceRun:
    """Judge a reference, and if it is accepted judge it again.

    Raises:
        Unjudged: If the judge broke.
        TestsFormatError: If a checker turns out not to be one.
    """
    code = _code_of(solution, tests)
    first = judge.judge(code, tests)
    return ReferenceRun(solution.index, first, judge.judge(code, tests) if first.accepted else None)


def passes_although_wrong(solution: Solution, tests: Tests, judge: Judge) -> bool:
    """Whether the tests accept a solution that is known to be wrong.

    Raises:
        Unjudged: If the judge broke.
        TestsFormatError: If a checker turns out not to be one.
    """
    return judge.judge(_code_of(solution, tests), tests, stop_at_first_failure=True).accepted


def _code_of(solution: Solution, tests: Tests) -> str | None:
    return extract(solution.text, solution_name(tests)).code if solution.is_response else solution.text


def check_references(runs: Sequence[ReferenceRun], cpu_limit_s: float) -> Iterator[Finding]:
    """Yield what the references of one problem say about it.

    Args:
        runs: Those that were judged.
        cpu_limit_s: CPU seconds that a test may take.
    """
    failed = [run for run in runs if not run.judgement.accepted]
    if failed:
        make = defect if len(failed) == len(runs) else suspect
        which = f"{len(failed):,} of {counted(len(runs), 'reference')} fail" + ("s" if len(failed) == 1 else "")
        yield make("reference_fails", f"{which}: {'; '.join(map(_failure, failed[:_SHOWN]))}")
    yield from _several_answers(runs)
    for run in runs:
        if run.second is not None and not run.second.accepted:
            yield suspect("nondeterministic", f"passed, and run again: {_failure_of(run.index, run.second)}")
            break
    passed = [run for run in runs if run.judgement.accepted]
    slowest = max(passed, key=lambda run: run.max_cpu_s, default=None)
    if slowest is not None and slowest.max_cpu_s > SLOW_SHARE * cpu_limit_s:
        needs = f"reference {slowest.index} needs {slowest.max_cpu_s:.2f} s for one test, of {cpu_limit_s:g} s"
        yield suspect("slow_reference", f"{needs}; {slowest.total_cpu_s:.1f} s for all")


def _failure(run: ReferenceRun) -> str:
    return _failure_of(run.index, run.judgement)


def _failure_of(index: int, judgement: Judgement) -> str:
    words = judgement.verdict.value.replace("_", " ").lower()
    numbered = enumerate(judgement.cases, start=1)
    first = next(((number, case) for number, case in numbered if case.verdict is not Verdict.ACCEPTED), None)
    if first is None:
        last = judgement.message.strip().splitlines()[-1:]
        return f"reference {index}: {words}{''.join(f' ({line})' for line in last)}"
    number, case = first
    last = case.stderr.strip().splitlines()[-1:]
    why = f" ({last[0][:160]})" if last else ""
    return (
        f"reference {index}: {words} on test {number} of {judgement.tests_total}{why}, {judgement.tests_passed} passed"
    )


def _several_answers(runs: Sequence[ReferenceRun]) -> Iterator[Finding]:
    """A reference that only ever fails by its answer, and passes some tests: it may be right in its own way."""
    for run in runs:
        cases = run.judgement.cases
        wrong = [i for i, case in enumerate(cases) if case.verdict is Verdict.WRONG_ANSWER]
        others = all(case.verdict in (Verdict.ACCEPTED, Verdict.WRONG_ANSWER) for case in cases)
        if not wrong or not others or not run.judgement.tests_passed:
            continue
        rivals = [other.index for other in runs if _passes(other, wrong[0])]
        if rivals:
            yield suspect(
                "several_answers",
                f"reference {run.index} passes {run.judgement.tests_passed} of {counted(len(cases), 'test')} and "
                f"differs on test {wrong[0] + 1}, which reference {rivals[0]} passes",
            )
            return


def _passes(run: ReferenceRun, test: int) -> bool:
    cases = run.judgement.cases
    return test < len(cases) and cases[test].verdict is Verdict.ACCEPTED
