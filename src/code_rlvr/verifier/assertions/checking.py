"""Runs a checker beside a solution: two sandboxed processes, and the relay between them.

The solution's process has the time of all the checker's assertions together, since their calls run in it.

| what ended the run | verdict on the assertions that were not reached |
|---|---|
| the solution used up a limit, or the checker did on what the solution returned | that limit's |
| the solution left, or crashed | RUNTIME_ERROR |
| the checker does what a checker cannot, or fails by itself | none: `TestsFormatError`, or a `JudgeFault` |

Covered: starting both, what cut a run.  Not covered: the conversation (`checker`), what it is about (`cases`).
"""

from __future__ import annotations

import socket
import time
from dataclasses import replace

from code_rlvr.errors import TestsFormatError
from code_rlvr.ground_truth import Tests
from code_rlvr.types import CaseJudgement, Limits, RunResult, RunStatus, Verdict
from code_rlvr.verifier.assertions.checker import CheckerUnit, Findings, relay
from code_rlvr.verifier.program import Dialogue, Program
from code_rlvr.verifier.running import STATUS_VERDICTS, RunningProgram
from code_rlvr.verifier.sandbox import Sandbox

END_S = 1.0  # for a process to notice that the other side hung up


def run_checker(
    sandbox: Sandbox, running: RunningProgram, unit: CheckerUnit, tests: Tests, limits: Limits, left_s: float
) -> list[CaseJudgement]:
    """Judge a program by a checker; one judgement for each assertion of it.

    Args:
        sandbox: Where the checker runs.
        running: The program.
        unit: The checker.
        tests: Those that it is of.
        limits: Per assertion.
        left_s: Wall seconds that are left for all of them.

    Raises:
        TestsFormatError: If the checker does what a checker cannot, or does not run at all.
        JudgeFault: If a worker broke.
    """
    sites = len(unit.statements)
    limits = replace(limits, cpu_s=sites * limits.cpu_s, wall_s=min(left_s, sites * limits.wall_limit_s))
    with sandbox.start(Program(unit.source, tests.prelude, role="check"), limits) as checker:
        if checker.compile_error is not None:
            raise TestsFormatError(f"a checker does not compile: {checker.compile_error}", field="asserts")
        findings, told, asked = _converse(checker, running, unit, limits)
    if findings.unsupported:
        raise TestsFormatError(findings.unsupported, field="asserts")
    if not findings.began and findings.calls == 0:
        error = told.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
        raise TestsFormatError(f"fails in the process of the tests: {error}", field="prelude")
    ended = _bad_end(asked)
    cut, message = (ended, asked.stderr.decode("utf-8", "replace")) if ended else _cut(findings, told)
    verdicts = findings.verdicts(unit, cut, message)
    if ended:  # also of the assertions that held: the process is the same
        verdicts = [(ended, message) if verdict is Verdict.ACCEPTED else (verdict, why) for verdict, why in verdicts]
    return [
        CaseJudgement(verdict, asked.cpu_s / sites, asked.wall_s / sites, asked.memory_mib, why)
        for verdict, why in verdicts
    ]


def _converse(
    checker: RunningProgram, running: RunningProgram, unit: CheckerUnit, limits: Limits
) -> tuple[Findings, RunResult, RunResult]:
    """Let both processes talk; what was found, and how the checker and the program ended."""
    ours, theirs = zip(*(socket.socketpair() for _ in range(2)), strict=True)
    wall_s = limits.wall_limit_s
    try:
        running.begin(Dialogue("serve", theirs[0]), cpu_s=limits.cpu_s, wall_s=wall_s)
        checker.begin(Dialogue("check", theirs[1], unit.stubs), wall_s=wall_s + END_S)
        for end in theirs:
            end.close()
        findings = relay(ours[1], ours[0], time.monotonic() + wall_s, running.check_up)
    finally:
        for end in (*ours, *theirs):
            end.close()
    checker.hurry(END_S)
    running.hurry(END_S)
    return findings, checker.finish(), running.finish()


def _bad_end(result: RunResult) -> Verdict | None:
    """The verdict on a process that did not end as it should."""
    if result.status is not RunStatus.EXITED:
        return STATUS_VERDICTS[result.status]
    return Verdict.RUNTIME_ERROR if result.exit_code != 0 else None


def _cut(findings: Findings, told: RunResult) -> tuple[Verdict | None, str]:
    """The verdict on what was not reached, if anything was not, and why; the program itself ended well."""
    if findings.finished:
        return None, ""
    if findings.timed_out:
        return Verdict.TIME_LIMIT_EXCEEDED, ""
    if findings.hung_up:
        return Verdict.RUNTIME_ERROR, f"the program {findings.hung_up}"
    if findings.calls:  # so it is by what the program answered that the checker did not come to its end
        return _bad_end(told), told.stderr.decode("utf-8", "replace")
    return None, ""
