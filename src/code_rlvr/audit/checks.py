"""What the tests of a problem say about themselves: nothing is run here.

Covered: tests that expect nothing, one output for all, the same test twice, contradictions, too few tests.
Not covered: programs (`trivial`, `references`), the statement (`statements`).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from code_rlvr.audit.cases import UNKNOWN, Cases, PlainCase
from code_rlvr.audit.finding import Finding, defect, shown, suspect
from code_rlvr.ground_truth import Kind
from code_rlvr.verifier.guard.values import encode
from code_rlvr.words import counted

MIN_TESTS = 3
NEARLY = 0.9  # a share of tests that is nearly all of them …
NEARLY_OF = 10  # … if there are so many
_CANDIDATES = 3  # literals that are tried
_ANSWERS = 20  # different answers to one input that are tried on each other


@dataclass(frozen=True, slots=True)
class Literal:
    """An answer that does not depend on the input.

    Args:
        answer: What would be printed or returned.
        share: The share of all tests that it passes; tests that have to be run count as failed.
    """

    answer: Any
    share: float


def check_tests(cases: Cases, kind: Kind, literal: Literal | None, min_tests: int) -> Iterator[Finding]:
    """Yield what is wrong with the tests of one problem.

    Args:
        cases: The tests.
        kind: Their kind.
        literal: The best one, from `best_literal`.
        min_tests: Fewer are a finding.
    """
    empty = None if kind == "assert" else _empty_expectation(cases.plain, kind)
    if empty is not None:
        yield empty
    if literal is not None and not (empty is not None and empty.severity == "defect"):
        yield from _constant_output(cases, literal)
    yield from _repeated_inputs(cases)
    if cases.total < min_tests and not cases.checked:  # an assertion of a checker may stand in a loop
        yield suspect("few_tests", f"{counted(cases.total, 'test')}; fewer than {min_tests}")


def all_tests(total: int) -> str:
    """All of so many tests, in words."""
    return "the only test" if total == 1 else f"all {total:,} tests"


def best_literal(cases: Cases) -> Literal | None:
    """The constant answer that passes most tests; None if no test names its answer."""
    known = [case.answer for case in cases.plain if case.answer is not UNKNOWN]
    frequencies = Counter(map(_text_of, known))
    by_text = {_text_of(answer): answer for answer in reversed(known)}
    best: Literal | None = None
    for text, often in frequencies.most_common(_CANDIDATES):
        if best is not None and often == 1:
            break
        passed = _passed(by_text[text], cases.plain, give_up_early=often == 1)
        if best is None or passed / cases.total > best.share:
            best = Literal(by_text[text], passed / cases.total)
    return best


def _text_of(answer: Any) -> str | bytes:
    if isinstance(answer, bytes):
        return answer.strip()
    try:
        return repr(answer)
    except ValueError:  # Python writes no integer of more than 4,300 digits
        return encode(answer)


def _passed(answer: Any, cases: Sequence[PlainCase], *, give_up_early: bool) -> int:
    """How many tests an answer passes; at least one, where giving up early, for it was the answer to one."""
    outputs: dict[bytes, bool] = {}  # equal ones, which can be megabytes, are compared once
    passed = 0
    for case in cases:
        expected = case.answer if isinstance(case.answer, bytes) else None
        verdict = outputs.get(expected) if expected is not None else None
        if verdict is None:
            verdict = case.accepts(answer)
            if expected is not None:
                outputs[expected] = verdict
        passed += verdict
        if give_up_early and not verdict:
            return max(passed, 1)
    return passed


def _empty_expectation(cases: Sequence[PlainCase], kind: Kind) -> Finding | None:
    nothing = b"" if kind == "stdio" else None
    empty = sum(case.accepts(nothing) for case in cases)
    what = "no output" if kind == "stdio" else "None"
    if not empty:
        return None
    if empty == len(cases):
        return defect("empty_expectation", f"{all_tests(empty)} expect{'s' if empty == 1 else ''} {what}")
    return suspect(
        "empty_expectation", f"{empty:,} of {counted(len(cases), 'test')} expect {what} ({empty / len(cases):.0%})"
    )


def _constant_output(cases: Cases, literal: Literal) -> Iterator[Finding]:
    answer = literal.answer.decode("utf-8", "replace") if isinstance(literal.answer, bytes) else literal.answer
    if cases.total >= 2 and literal.share == 1:
        yield defect("constant_output", f"{shown(answer)} is right for {all_tests(cases.total)}")
    elif cases.total >= NEARLY_OF and literal.share >= NEARLY:
        yield suspect(
            "constant_output",
            f"{shown(answer)} is right for {literal.share:.0%} of {counted(cases.total, 'test')}: "
            "a pass rate rewards it",
        )


def _repeated_inputs(cases: Cases) -> Iterator[Finding]:
    groups: defaultdict[str, list[PlainCase]] = defaultdict(list)
    for case in cases.plain:
        groups[case.key].append(case)
    repeated = {key: group for key, group in groups.items() if len(group) > 1}
    against = {key: group for key, group in repeated.items() if _contradict(group)}
    if against:
        key, group = next(iter(against.items()))
        answers = ", ".join(shown(_readable(case.answer), 40) for case in group[:3])
        yield defect(
            "contradictory_tests",
            f"{counted(len(against), 'input')} with answers that exclude each other, e.g. {shown(key)}: {answers}",
        )
    extra = sum(len(group) - 1 for key, group in repeated.items() if key not in against)
    if extra and cases.plain[0].answer is not UNKNOWN:
        share = extra / cases.total
        yield suspect(
            "duplicate_tests", f"{extra:,} of {counted(cases.total, 'test')} repeat an earlier one ({share:.0%})"
        )


def _readable(answer: Any) -> Any:
    return answer.decode("utf-8", "replace") if isinstance(answer, bytes) else answer


def _contradict(group: Sequence[PlainCase]) -> bool:
    """Whether no answer passes all tests of one input, as far as the answers that they name tell."""
    answers = {_text_of(case.answer): case.answer for case in group if case.answer is not UNKNOWN}
    if any(case.answer is UNKNOWN for case in group) or not 2 <= len(answers) <= _ANSWERS:
        return False
    return not any(all(case.accepts(answer) for case in group) for answer in answers.values())
