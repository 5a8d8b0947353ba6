"""Programs that solve nothing, and which problems they pass.

What such a program answers is a plain function of the input, so its answers are predicted and compared first; only
one that should pass everything is run.  Tests that need a checker say nothing before they run: those are run.

Covered: the programs, predictions, runs by the judge.  Not covered: constants from the tests (`checks`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from code_rlvr.audit.cases import Cases, PlainCase
from code_rlvr.audit.checks import NEARLY, NEARLY_OF, all_tests
from code_rlvr.audit.finding import Finding, defect, suspect
from code_rlvr.ground_truth import Tests
from code_rlvr.verifier.assertions.cases import solution_name
from code_rlvr.verifier.judge import Judge
from code_rlvr.words import counted

_READ = "import sys\ntext = sys.stdin.read()\n"


@dataclass(frozen=True, slots=True)
class TrivialProgram:
    """A program that solves nothing.

    Args:
        name: What it does.
        code: Its source.
        answer: What it answers to a test's arguments.
    """

    name: str
    code: str
    answer: Callable[[tuple[Any, ...]], Any]


@dataclass(frozen=True, slots=True)
class Trivial:
    """The trivial program that does best.

    Args:
        name: What it does.
        share: The share of tests that it passes.
        ran: Whether the judge says so; else it is predicted.
    """

    name: str
    share: float
    ran: bool


def _stdio_programs() -> tuple[TrivialProgram, ...]:
    def word(index: int) -> Callable[[tuple[bytes]], bytes]:
        return lambda args: words[index] if (words := args[0].split()) else b""

    return (
        TrivialProgram("the empty program", "", lambda args: b""),
        TrivialProgram("printing the input", _READ + "sys.stdout.write(text)\n", lambda args: args[0]),
        TrivialProgram(
            "printing the first line",
            "import sys\nprint(sys.stdin.readline())\n",
            lambda args: args[0].partition(b"\n")[0],
        ),
        TrivialProgram("printing the first word", _READ + "print(*text.split()[:1])\n", word(0)),
        TrivialProgram("printing the last word", _READ + "print(*text.split()[-1:])\n", word(-1)),
        TrivialProgram(
            "printing the number of lines",
            _READ + "print(len(text.splitlines()))\n",
            lambda args: str(len(args[0].splitlines())).encode(),
        ),
    )


_STDIO = _stdio_programs()
_CONSTANTS: tuple[Any, ...] = (None, 0, 1, True, False, "", [])


def programs_for(tests: Tests) -> Sequence[TrivialProgram]:
    """The trivial programs for tests of a kind.

    Raises:
        TestsFormatError: If an assertion has a form that cannot be run.
    """
    if tests.kind == "stdio":
        return _STDIO
    name = solution_name(tests)
    if name is None:  # assertions that call no one function
        return ()
    constants = [TrivialProgram(f"returning {one!r}", _define(name, repr(one)), _always(one)) for one in _CONSTANTS]
    return [
        *constants,
        TrivialProgram(
            "returning the first argument", _define(name, "args[0]"), lambda args: args[0] if args else None
        ),
        TrivialProgram(
            "returning the last argument", _define(name, "args[-1]"), lambda args: args[-1] if args else None
        ),
    ]


def _always(answer: Any) -> Callable[[tuple[Any, ...]], Any]:
    return lambda args: answer


def _define(name: str, value: str) -> str:
    *classes, function = name.split(".")
    if not classes:
        return f"def {function}(*args, **kwargs):\n    return {value}\n"
    heads = [f"{'    ' * depth}class {one}:\n" for depth, one in enumerate(classes)]
    indent = "    " * len(classes)
    return "".join(heads) + f"{indent}def {function}(self, *args, **kwargs):\n{indent}    return {value}\n"


def best_trivial(tests: Tests, cases: Cases, judge: Judge | None) -> Trivial | None:
    """The trivial program that passes most tests, if it passes nearly all of them.

    Args:
        tests, cases: The tests.
        judge: None to predict only.

    Raises:
        Unjudged: If the judge broke.
        TestsFormatError: If a checker turns out not to be one.
    """
    best: Trivial | None = None
    for program in programs_for(tests):
        predicted = _predicted(program, cases.plain)
        share, ran = predicted / cases.total, False
        if judge is not None and predicted == len(cases.plain):
            # A checker runs as a whole, so that its share is exact whether or not judging stops early.
            share = judge.judge(program.code, tests, stop_at_first_failure=not cases.checked).test_pass_rate
            ran = True
        elif cases.checked:
            continue
        if share >= NEARLY and (best is None or share > best.share):
            best = Trivial(program.name, share, ran)
        if share == 1:
            break
    return best


def _predicted(program: TrivialProgram, cases: Sequence[PlainCase]) -> int:
    """How many tests a program should pass; stops where it cannot be nearly all of them any more."""
    passed, failed = 0, 0
    for case in cases:
        if case.accepts(program.answer(case.args)):
            passed += 1
        else:
            failed += 1
            if failed > len(cases) * (1 - NEARLY):
                break
    return passed


def trivial_findings(trivial: Trivial | None, cases: Cases) -> Iterator[Finding]:
    """Yield what the best trivial program says about a problem."""
    if trivial is None:
        return
    how = "" if trivial.ran else ", as predicted"
    if trivial.share == 1:
        evidence = f"{trivial.name} passes {all_tests(cases.total)}{how}"
        yield defect("trivial_program_passes", evidence)
    elif cases.total >= NEARLY_OF:
        evidence = f"{trivial.name} passes {trivial.share:.0%} of {counted(cases.total, 'test')}{how}"
        yield suspect("trivial_program_passes", evidence)
