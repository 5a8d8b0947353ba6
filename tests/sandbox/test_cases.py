"""Every program under tests/cases gets the verdict that its file name says.

A case is `tests/cases/<problem>/<verdict>[_<what it does>].py` beside the problem's `tests.json`, in any layout that
`Tests.parse` reads: a new one needs no Python here.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from code_rlvr import Judge, Tests, Verdict

CASES = Path(__file__).parents[1] / "cases"
PROGRAMS = sorted(CASES.glob("*/*.py"))


def verdict_named_by(program: Path) -> Verdict:
    (verdict,) = [verdict for verdict in Verdict if program.stem.startswith(verdict.value.lower())]
    return verdict


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_program_gets_the_verdict_that_its_name_says(program: Path, judge: Judge) -> None:
    tests = Tests.parse((program.parent / "tests.json").read_text())
    judgement = judge.judge(program.read_bytes().decode(), tests, stop_at_first_failure=True)
    notes = [(case.verdict.value, case.stderr[-300:]) for case in judgement.cases]
    assert judgement.verdict is verdict_named_by(program), (notes, judgement.message)


def test_every_verdict_has_a_case() -> None:
    named = {verdict_named_by(program) for program in PROGRAMS}
    assert named == set(Verdict) - {Verdict.NO_CODE}
