"""What an audit finds by running programs: trivial ones, references, solutions that are known to be wrong."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from code_rlvr.audit.result import AuditResult
from code_rlvr.audit.run import AuditSettings, audit
from code_rlvr.errors import Unjudged
from code_rlvr.ground_truth import Tests
from code_rlvr.types import Judgement, Limits
from code_rlvr.verifier.judge import Judge

QUIET = Console(file=io.StringIO())
LIMITS = Limits(cpu_s=1.0, wall_s=10.0, memory_mib=256)
SOUND = {"inputs": ["1\n", "2\n", "5\n"], "outputs": ["2\n", "4\n", "10\n"]}
RIGHT = "print(2 * int(input()))"
SQUARE = "n = int(input())\nprint(n * n)"
LOOP = "for i in range({}):\n    assert double(i) == {}"

Audit = Callable[..., AuditResult]


@pytest.fixture
def look(tmp_path: Path) -> Audit:
    """Audit problems by id, with pairs of problem id and program, or triples with a label."""

    def look_at(problems: dict[str, Any], *solutions: tuple[str, ...], **settings: Any) -> AuditResult:
        rows = [{"problem_id": name, "prompt": f"Write double. {name}", **tests} for name, tests in problems.items()]
        known = [dict(zip(("problem_id", "code", "verdict"), one, strict=False)) for one in solutions]
        for name, lines in (("set.jsonl", rows), ("solutions.jsonl", known)):
            (tmp_path / name).write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        beside = tmp_path / "solutions.jsonl" if known else None
        given = AuditSettings(**{"limits": LIMITS, "workers": 2, "solutions": beside, **settings})
        return audit(tmp_path / "set.jsonl", given, QUIET)

    return look_at


def kinds(result: AuditResult) -> set[tuple[str, str, str]]:
    return {(one.problem_id, one.finding.severity, one.finding.code) for one in result.found}


def test_a_trivial_program_is_a_finding_once_the_judge_agrees(look: Audit) -> None:
    echo = {"inputs": ["1", "2", "3"], "outputs": ["1", "2", "3"]}
    result = look({"sound": SOUND, "echo": echo})
    assert kinds(result) == {("echo", "defect", "trivial_program_passes")}
    assert result.found[0].finding.evidence == "printing the input passes all 3 tests"


def test_trivial_programs_are_run_against_checkers(look: Audit) -> None:
    result = look({"good": {"asserts": LOOP.format(9, "2 * i")}, "none": {"asserts": LOOP.format(9, "0 * i")}})
    assert kinds(result) == {("none", "defect", "trivial_program_passes")}
    assert "returning 0 passes" in result.found[0].finding.evidence


def test_a_checker_that_turns_out_to_be_none_costs_its_own_problem_only(look: Audit) -> None:
    unsupported = {"asserts": "import os\nfor i in range(3):\n    os.fork()\n    assert double(i) == 2 * i"}
    result = look({"odd": unsupported, "sound": SOUND})
    assert result.statistics.problems == 2
    assert "sound" not in {one.problem_id for one in result.found}


def test_a_problem_none_of_whose_references_passes_has_a_defect(look: Audit) -> None:
    result = look({"a": SOUND, "b": SOUND, "c": SOUND}, ("a", RIGHT), ("b", SQUARE), ("b", RIGHT), ("c", SQUARE))
    assert kinds(result) == {
        ("b", "suspect", "reference_fails"),
        ("b", "suspect", "several_answers"),
        ("c", "defect", "reference_fails"),
    }
    evidence = [one.finding.evidence for one in result.found]
    assert "1 of 2 references fails: reference 0: wrong answer on test 1 of 3, 1 passed" in evidence
    numbers = result.statistics
    assert (numbers.references, numbers.references_accepted) == (4, 2)
    assert (numbers.with_references, numbers.with_accepted) == (3, 2)


def test_a_wrong_solution_that_passes_shows_weak_tests(look: Audit) -> None:
    weak = {"inputs": ["2\n", "0\n", "2 \n"], "outputs": ["4\n", "0\n", "4\n"]}
    result = look({"a": SOUND, "b": weak}, ("a", SQUARE, "wrong answer"), ("b", SQUARE, "wrong answer"))
    assert kinds(result) == {("b", "suspect", "wrong_solution_passes")}
    assert result.statistics.references == 0


def test_a_slow_reference_is_told(look: Audit) -> None:
    slow = "import time\nt = time.process_time()\nwhile time.process_time() < t + 0.7: pass\n" + RIGHT
    result = look({"a": {"inputs": ["1\n"], "outputs": ["2\n"]}}, ("a", slow), min_tests=1)
    assert kinds(result) == {("a", "suspect", "slow_reference")}


def test_a_reference_that_passes_only_once_is_told(look: Audit, monkeypatch: pytest.MonkeyPatch) -> None:
    judge, seen = Judge.judge, []

    def change(self: Judge, code: str | None, tests: Tests, **options: Any) -> Judgement:
        seen.append(code)
        return judge(self, SQUARE if seen.count(RIGHT) == 2 else code, tests, **options)

    monkeypatch.setattr(Judge, "judge", change)
    assert kinds(look({"a": SOUND}, ("a", RIGHT))) == {("a", "suspect", "nondeterministic")}


def test_a_fault_of_the_judge_is_no_finding(look: Audit, monkeypatch: pytest.MonkeyPatch) -> None:
    judge = Judge.judge

    def break_down(self: Judge, code: str | None, tests: Tests, **options: Any) -> Judgement:
        if code == RIGHT:
            raise Unjudged("the guard died")
        return judge(self, code, tests, **options)

    monkeypatch.setattr(Judge, "judge", break_down)
    result = look({"a": SOUND, "b": SOUND}, ("a", RIGHT), ("b", "print(2 * int(input()))  # b"))
    assert (kinds(result), result.unaudited) == (set(), [("a", "the guard died")])
    assert result.exit_code == 1
    assert "about 1 the judge could not tell everything" in result.conclusion()


def test_an_interrupt_keeps_what_was_found_and_writes_nothing(
    look: Audit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add, out = AuditResult.add, tmp_path / "out.jsonl"

    def interrupt(self: AuditResult, one: Any) -> None:
        if one.problem_id == "b":
            raise KeyboardInterrupt
        add(self, one)

    monkeypatch.setattr(AuditResult, "add", interrupt)
    result = look({"a": {"inputs": [], "outputs": []}, "b": SOUND}, drop=out)
    assert (result.interrupted, kinds(result)) == (True, {("a", "defect", "tests_malformed")})
    assert "interrupted after 1 of 2" in result.conclusion()
    assert not list(tmp_path.glob("out*"))


def test_problems_keep_their_own_time_limit(look: Audit) -> None:
    slow = "import time\nt = time.process_time()\nwhile time.process_time() < t + 0.7: pass\n" + RIGHT
    result = look({"a": {**SOUND, "time_limit_s": 5}}, ("a", slow))
    assert kinds(result) == set()
