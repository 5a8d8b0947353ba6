"""Runs the starter problems' own programs inside this process: fast, and not a sandbox."""

from __future__ import annotations

import copy
import signal
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from code_rlvr.data.starter.family import Arguments, Family

Cases = Sequence[tuple[Arguments, object]]


class TooLongError(Exception):
    """The program ran for too long."""


FAILURES = (
    ArithmeticError,
    AttributeError,
    EOFError,
    LookupError,
    NameError,
    TooLongError,
    TypeError,
    ValueError,
)


@contextmanager
def time_limit(cpu_s: float) -> Iterator[None]:
    def give_up(*_: object) -> None:
        raise TooLongError

    before = signal.signal(signal.SIGVTALRM, give_up)
    signal.setitimer(signal.ITIMER_VIRTUAL, cpu_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def passes(program: str, family: Family, cases: Cases, name: str = "f") -> bool:
    """Tell whether a program is right on every case; it stops at the first that it fails."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compiled = compile(program, "program", "exec")
    except SyntaxError:
        return False
    with time_limit(cpu_s=0.5):
        try:
            return all(_is_right(compiled, family, arguments, answer, name) for arguments, answer in cases)
        except FAILURES:
            return False


def _is_right(compiled: Any, family: Family, arguments: Arguments, answer: object, name: str) -> bool:
    if not family.function:
        return _output(compiled, family.shape.render(*arguments)).split("\n") == f"{answer}\n".split("\n")
    names: dict[str, Any] = {"print": lambda *_, **__: None, "input": _no_input}
    exec(compiled, names)
    returned = names[name](*copy.deepcopy(arguments))
    return type(returned) is type(answer) and returned == answer


def _output(compiled: Any, text: str) -> str:
    lines = iter(text.splitlines())
    written: list[str] = []

    def read() -> str:
        line = next(lines, None)
        if line is None:
            raise EOFError
        return line

    def write(*values: object, sep: str = " ", end: str = "\n") -> None:
        written.append(sep.join(map(str, values)) + end)

    exec(compiled, {"input": read, "print": write})
    return "".join(written)


def _no_input() -> str:
    raise EOFError
