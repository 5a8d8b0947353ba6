"""The samples of the page: each program with everything that is shown of it, and what they can be filtered by.

Covered: wording, making every foreign string fit to be shown, a bound on size.  Not covered: which programs come
first (`programs`, `samples`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from code_rlvr.report.curves import VERDICTS
from code_rlvr.report.highlighting import ShownResponse, highlight_response
from code_rlvr.report.program import MAX_CHARS, Program
from code_rlvr.report.programs import Choice
from code_rlvr.report.samples import THIRDS, third
from code_rlvr.report.visible import make_visible

MAX_TESTS_SHOWN = 60
MAX_BYTES = 1_300_000
"""Of all samples in the page."""
MAX_PROMPT_CHARS = 3_000


@dataclass(frozen=True)
class ProgramCard:
    """A program with everything that is shown of it, fit to be shown.

    Args:
        reason: Why it is shown; empty for one of many.
        verdict: As the reader reads it.
        tone: Colour of the verdict.
        step: Training step.
        third: Which third of the run that is in.
        where: Split, data source and problem.
        numbers: Tests passed and score.
        prompt: The problem, or empty.
        response: What the model wrote.
        tests: Colour and verdict of each test.
        more_tests: Tests that are not among these.
        stderr: End of what the first failing test, or the compiler, said.
    """

    reason: str
    verdict: str
    tone: str
    step: int
    third: str
    where: str
    numbers: str
    prompt: str
    response: ShownResponse
    tests: tuple[tuple[str, str], ...]
    more_tests: int
    stderr: str

    @property
    def size(self) -> int:
        """About how many characters it adds to the page."""
        texts = (self.prompt, self.response.text, self.response.program or "", self.stderr)
        return 1_500 + sum(map(len, texts)) + 90 * len(self.tests)


@dataclass(frozen=True)
class SampleBrowser:
    """All samples of the page, with the choices of its filters.

    Args:
        cards: Those with a reason first, then by step.
        verdicts: Each verdict with how many there are.
        thirds: Each third of the run with its first and last step among the samples.
        steps: Each step that samples are of.
    """

    cards: tuple[ProgramCard, ...]
    verdicts: tuple[tuple[str, int], ...]
    thirds: tuple[tuple[str, int, int], ...]
    steps: tuple[int, ...]


def make_browser(
    first: Sequence[Choice], more: Sequence[Program], prompts: Mapping[str, str], steps: Sequence[int]
) -> SampleBrowser | None:
    """Prepare the samples, as many as there is room for; None if there are none.

    Args:
        first: Those shown first, with their reasons.
        more: The others, the most important first.
        prompts: Problem to its text.
        steps: As for `samples.third`.
    """
    shown = {choice.program.response for choice in first}
    wanted = [*first, *(Choice("", one) for one in more if one.response not in shown)]
    if not wanted:
        return None
    cards: list[ProgramCard] = []
    room = MAX_BYTES
    for choice in wanted:
        card = make_card(choice, prompts, steps)
        room -= card.size
        if room < 0:
            break
        cards.append(card)
    cards.sort(key=lambda card: (not card.reason, card.step if not card.reason else 0))
    return SampleBrowser(
        cards=tuple(cards),
        verdicts=tuple(Counter(card.verdict for card in cards).most_common()),
        thirds=tuple(_thirds(cards)),
        steps=tuple(sorted({card.step for card in cards})),
    )


def _thirds(cards: Sequence[ProgramCard]) -> list[tuple[str, int, int]]:
    found = []
    for name in THIRDS:
        steps = [card.step for card in cards if card.third == name]
        if steps:
            found.append((name, min(steps), max(steps)))
    return found


def make_card(choice: Choice, prompts: Mapping[str, str], steps: Sequence[int]) -> ProgramCard:
    """Prepare a program for display.

    Args:
        choice: The program.
        prompts: Problem to its text.
        steps: As for `samples.third`.
    """
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
        step=program.step,
        third=third(program.step, steps),
        where=make_visible(" · ".join(filter(None, where)), 200),
        numbers=" · ".join(numbers),
        prompt=make_visible(prompts.get(program.problem_id, ""), MAX_PROMPT_CHARS),
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
