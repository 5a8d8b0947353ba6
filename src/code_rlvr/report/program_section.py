"""One program with everything that the report shows of it.

Covered: wording, and making every foreign string fit to be shown.  Not covered: which programs (`programs`).
"""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from code_rlvr.report.curves import VERDICTS
from code_rlvr.report.highlighting import highlight_response
from code_rlvr.report.programs import MAX_CHARS, Choice
from code_rlvr.report.visible import make_visible

MAX_TESTS_SHOWN = 60


@dataclass(frozen=True)
class ProgramCard:
    """A program with everything that is shown of it, fit to be shown."""

    reason: str
    verdict: str
    tone: str
    where: str
    numbers: str
    prompt: str
    response: Markup
    tests: tuple[tuple[str, str], ...]
    more_tests: int
    stderr: str


def make_card(choice: Choice, prompts: dict[str, str]) -> ProgramCard:
    """Prepare a program for display."""
    program = choice.program
    tests = [(_tone(verdict), readable(verdict)) for verdict in program.tests]
    passed = sum(verdict == "ACCEPTED" for verdict in program.tests)
    total = program.tests_total if program.tests_total is not None else len(tests)
    numbers = [f"{passed} of {total} tests passed"] if total else []
    numbers += [f"score {program.score:.2f}"] if program.score is not None else []
    where = [program.split, program.data_source, program.problem_id]
    return ProgramCard(
        reason=choice.reason,
        verdict=readable(program.verdict),
        tone=_tone(program.verdict),
        where=make_visible(" · ".join(filter(None, where)), 200),
        numbers=" · ".join(numbers),
        prompt=make_visible(prompts.get(program.problem_id, ""), MAX_CHARS),
        response=highlight_response(program.response, MAX_CHARS),
        tests=tuple(tests[:MAX_TESTS_SHOWN]),
        more_tests=max(0, len(tests) - MAX_TESTS_SHOWN),
        stderr="" if program.accepted else make_visible(program.stderr, MAX_CHARS).strip(),
    )


def readable(verdict: str) -> str:
    """``WRONG_ANSWER`` → ``wrong answer``, whatever the record holds."""
    return make_visible(verdict, 40).replace("_", " ").lower().replace(" exceeded", "")


def _tone(verdict: str) -> str:
    key = verdict.lower().removesuffix("_exceeded")
    return f"verdict-{key}" if key in VERDICTS else "muted"
