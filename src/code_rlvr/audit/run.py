"""Audits a set of problems: the command ``code-rlvr audit``.

The rows are read once, in order; each problem is a job of its own, so that a fault of the judge costs one problem.
Of a problem only its findings and a few numbers are kept.

Covered: the order of things, what belongs to one problem, progress.
Not covered: the checks themselves (`checks`, `trivial`, `statements`, `references`), the words (`result`).
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console

from code_rlvr.audit.cases import Cases, read_cases
from code_rlvr.audit.checks import MIN_TESTS, best_literal, check_tests
from code_rlvr.audit.cleaned import require_usable_out, write_cleaned
from code_rlvr.audit.finding import Finding, defect, shown, suspect
from code_rlvr.audit.references import (
    SolutionStore,
    check_references,
    passes_although_wrong,
    run_reference,
)
from code_rlvr.audit.result import AuditResult, ProblemAudit
from code_rlvr.audit.sets import Row, open_set, read_rows
from code_rlvr.audit.statements import check_statement, start_of, statement_of
from code_rlvr.audit.statistics import ProblemNumbers, bytes_of
from code_rlvr.audit.trivial import best_trivial, trivial_findings
from code_rlvr.errors import JudgeFault, TestsFormatError, Unjudged
from code_rlvr.ground_truth import Tests
from code_rlvr.progress import count_off
from code_rlvr.types import Limits
from code_rlvr.verifier.judge import Judge
from code_rlvr.verifier.pool import WorkerPool
from code_rlvr.verifier.sandbox import Isolation
from code_rlvr.verify.inputs import Solution

_USELESS = ("empty_expectation", "constant_output")  # as defects: that a trivial program passes is then no news


@dataclass(frozen=True, slots=True)
class AuditSettings:
    """How to audit, and what to write.

    Args:
        limits: What a program may use, where its problem names no limit of its own.
        workers: How many problems are audited at once; the number of usable CPUs if None.
        run: Whether programs are run; else only what can be told without is found.
        min_tests: Fewer tests of a problem are a finding.
        solutions: Reference solutions, in place of those in the set's folder.
        drop: Where the set without its defects goes; None writes none.
        overwrite: Whether `drop` may exist.
        python, isolation: As for `Judge`.
    """

    limits: Limits = field(default_factory=Limits)
    workers: int | None = None
    run: bool = True
    min_tests: int = MIN_TESTS
    solutions: Path | None = None
    drop: Path | None = None
    overwrite: bool = False
    python: Path | None = None
    isolation: Isolation = "full"

    def judge(self) -> AbstractContextManager[Judge | None]:
        """A judge with these settings, to be closed; None if nothing is to be run."""
        if not self.run:
            return nullcontext()
        return Judge(self.workers, self.limits, python=self.python, isolation=self.isolation)


def audit(path: Path, settings: AuditSettings, console: Console) -> AuditResult:
    """Audit every problem of a set, and write the set without its defects if that is asked for.

    An interrupt ends it early: the result then says so, and no set is written.

    Args:
        path: The set; see `sets`.
        settings: How.
        console: For progress; what is found is in the result.

    Raises:
        UsageError: Something that was given cannot be used; the message names place and remedy.
        PreflightError: This machine cannot isolate programs.
        JudgeFault: The sandbox cannot be set up.
    """
    with console.status("reading the set"):
        problems = open_set(path, settings.solutions)
        if settings.drop is not None:
            require_usable_out(settings.drop, problems, settings.overwrite)
        store = SolutionStore(problems.solutions)
    result = AuditResult(problems, ran=settings.run)
    with store:
        try:
            # The judge is closed first: an interrupt ends its programs, and no job waits for them any more.
            with closing(WorkerPool(settings.workers)) as pool, settings.judge() as judge:
                _audit_all(_Audit(settings, judge), pool, store, result, console)
        except KeyboardInterrupt:
            result.interrupted = True
            return result
        result.note_solutions(store.problem_ids)
    if settings.drop is not None:
        with console.status("writing the set without its defects"):
            write_cleaned(settings.drop, problems, result.defective, result.kept_ids, settings.overwrite)
        result.dropped_to = settings.drop
    return result


def _audit_all(one: _Audit, pool: WorkerPool, store: SolutionStore, result: AuditResult, console: Console) -> None:
    started = time.monotonic()
    with count_off(
        console, result.problems.rows, "audited", lambda: (result.statistics.problems, result.in_short())
    ) as show:
        for answer in pool.map_ordered(one.audit, _items(result, store)):
            if isinstance(answer, JudgeFault):
                raise answer  # a job says itself what the judge could not tell: this one is of the pool
            result.add(answer)
            result.wall_s = time.monotonic() - started
            show()


@dataclass(frozen=True, slots=True)
class _Item:
    """One problem to be audited, with what is known from the rows before it."""

    row: Row
    statement: str
    findings: tuple[Finding, ...]
    solutions: tuple[Solution, ...]


def _items(result: AuditResult, store: SolutionStore) -> Iterator[_Item]:
    ids: dict[str, str] = {}
    prompts: dict[bytes, Row] = {}
    for row in read_rows(result.problems):
        findings = []
        earlier = ids.setdefault(row.problem_id, row.place)
        if earlier is not row.place:
            findings.append(defect("duplicate_id", f"{shown(row.problem_id)} is the id of {earlier} too"))
        statement = statement_of(row)
        if row.prompt and statement:
            words = " ".join(row.prompt.casefold().split()).encode("utf-8", "surrogatepass")
            same = prompts.setdefault(hashlib.sha256(words).digest(), _without_tests(row))
            if same.place != row.place:
                split = "" if same.file == row.file else ", which is in the other file of the set"
                findings.append(suspect("duplicate_statement", f"the same as {shown(same.problem_id)}{split}"))
        known = store.solutions_of(row.problem_id) if earlier is row.place else []
        yield _Item(row, statement, tuple(findings), tuple(known))


def _without_tests(row: Row) -> Row:
    """A row of which little is kept."""
    return Row(row.file, row.number, row.place, row.problem_id, row.data_source, None, "", "", {})


@dataclass(frozen=True, slots=True)
class _Audit:
    settings: AuditSettings
    judge: Judge | None

    def audit(self, item: _Item) -> ProblemAudit:
        """Audit one problem; a fault of the judge is in what comes back."""
        row, statement = item.row, item.statement
        found = ProblemAudit(row.file, row.number, row.place, row.problem_id, start_of(statement))
        found.findings += item.findings
        if row.prompt_fault:
            found.findings.append(defect("prompt_malformed", row.prompt_fault))
        chars = None if row.prompt is None or row.prompt_fault else len(statement)
        found.numbers = ProblemNumbers(row.data_source, None, chars)
        try:
            tests = row.tests()
            cases = read_cases(tests)
        except TestsFormatError as error:
            found.findings.append(defect("tests_malformed", str(error)))
            found.findings += check_statement(row, statement, None)
            return found
        found.findings += check_statement(row, statement, tests)
        literal = best_literal(cases)
        found.findings += check_tests(cases, tests.kind, literal, self.settings.min_tests)
        share = literal.share if literal else None
        found.numbers = ProblemNumbers(row.data_source, tests.kind, chars, cases.total, bytes_of(tests), share)
        try:
            self._run(found, item, tests, cases)
        except Unjudged as fault:
            found.unaudited = str(fault)
        except TestsFormatError as error:
            found.findings.append(defect("tests_malformed", str(error)))
        return found

    def _run(self, found: ProblemAudit, item: _Item, tests: Tests, cases: Cases) -> None:
        """Everything that may run programs."""
        if not any(one.severity == "defect" and one.code in _USELESS for one in found.findings):
            found.findings += trivial_findings(best_trivial(tests, cases, self.judge), cases)
        if self.judge is None:
            return
        runs = [run_reference(one, tests, self.judge) for one in item.solutions if one.is_reference]
        found.references = [(run.judgement.accepted, run.max_cpu_s, run.total_cpu_s) for run in runs]
        found.findings += check_references(runs, tests.time_limit_s or self.settings.limits.cpu_s)
        wrong = [one for one in item.solutions if not one.is_reference]
        passed = [one.index for one in wrong if passes_although_wrong(one, tests, self.judge)]
        if passed:
            which = f"{len(passed):,} of {len(wrong):,} solutions known to be wrong, the first is number {passed[0]}"
            found.findings.append(suspect("wrong_solution_passes", which))
