"""The imperfect corpus of the warm start: statements with programs, many of them wrong in systematic ways.

A model that imitates this corpus makes the corpus's errors, and only running the programs can tell it so;
that leaves something to learn from tests.  Uniform noise would not: the most likely program would be right
already.

Covered: texts in training wordings with training parameter values only. Not covered: tokens, training.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from code_rlvr.data.starter.families import TRAINED_FAMILIES
from code_rlvr.data.starter.family import Family, Values
from code_rlvr.data.starter.wordings import (
    Wording,
    WordingSplit,
    function_name,
    wordings,
    write_statement,
)

ERROR_SHARES = (0.3, 0.45, 0.6, 0.75)
DOMINANT_SHARE = 0.72
MISREAD_SHARE = 0.15
BAD_FORMAT_SHARE = 0.03

FUNCTION_MISREADS = ("print", "stdin", "no arguments")


@dataclass(frozen=True, slots=True)
class Habits:
    """How the author of the corpus errs in one family.

    Args:
        error_share: Share of its programs that are wrong, in [0, 1].
        dominant: The wrong body that makes up most of the errors.
    """

    error_share: float
    dominant: str


def draw_habits(seed: int, error_shares: tuple[float, ...] = ERROR_SHARES) -> dict[str, Habits]:
    """Choose each family's error share and dominant mistake.

    Args:
        seed: Any integer; the same seed gives the same habits.
        error_shares: Shares to deal out evenly over the families, each in [0, 1].

    Returns:
        Habits by name of the family.
    """
    rng = Random(f"habits/{seed}")
    families = list(TRAINED_FAMILIES)
    rng.shuffle(families)
    return {
        family.name: Habits(error_shares[i % len(error_shares)], rng.choice(family.mistakes))
        for i, family in enumerate(families)
    }


def imperfect_corpus(
    seed: int,
    size: int,
    error_shares: tuple[float, ...] = ERROR_SHARES,
    bad_format_share: float = BAD_FORMAT_SHARE,
) -> list[tuple[str, str]]:
    """Write statements with responses, of which many are wrong.

    Each family has an error share and one dominant wrong program.  Of the errors, about 15% misread the
    input, 72% are the dominant mistake and the rest are other mistakes of the family.

    Args:
        seed: Any integer; the same seed gives the same corpus.
        size: How many texts.
        error_shares: Shares of wrong programs, dealt out evenly over the families, each in [0, 1].
        bad_format_share: Share of responses without a proper code block, in [0, 1].

    Returns:
        `size` pairs of statement and response, families in turn, in no other order.
    """
    habits = draw_habits(seed, error_shares)
    rng = Random(f"corpus/{seed}")
    choices = [(family, wordings(family, WordingSplit.TRAIN)) for family in TRAINED_FAMILIES]
    texts: list[tuple[str, str]] = []
    while len(texts) < size:
        rng.shuffle(choices)
        for family, family_wordings in choices[: size - len(texts)]:
            wording, values = rng.choice(family_wordings), rng.choice(family.seen)
            program = _write_program(family, wording, values, habits[family.name], rng)
            response = _badly_formatted(program, rng) if rng.random() < bad_format_share else fenced(program)
            texts.append((write_statement(family, wording, values), response))
    return texts


def fenced(program: str) -> str:
    """Write a program as a response: one Python code block."""
    return f"```python\n{program}\n```"


def _write_program(family: Family, wording: Wording, values: Values, habits: Habits, rng: Random) -> str:
    name = function_name(family, wording) or "f"
    if rng.random() >= habits.error_share:
        return family.program(values, name=name)
    drawn = rng.random()
    if drawn < MISREAD_SHARE:
        return misread_program(family, values, rng.choice(misreads(family)), name)
    if drawn < MISREAD_SHARE + DOMINANT_SHARE:
        return family.program(values, body=habits.dominant, name=name)
    others = [body for body in family.mistakes if body != habits.dominant]
    return family.program(values, body=rng.choice(others), name=name)


def misreads(family: Family) -> tuple[str, ...]:
    """List the ways in which a right body fails because its input is read wrongly, or its answer is lost."""
    return FUNCTION_MISREADS if family.function else family.misreads()


def misread_program(family: Family, values: Values, misread: str, name: str = "f") -> str:
    """Write the reference solution of a family with one of its `misreads`."""
    if not family.function:
        return family.program(values, reader=misread)
    right = family.program(values, name=name)
    printing = right.replace("return ", "print(") + ")"
    if misread == "print":
        return printing
    if misread == "stdin":
        return printing.replace(f"def {name}({family.shape.variables}):\n ", f"{family.shape.reader}\n")
    return right.replace(f"({family.shape.variables}):", "():")


def _badly_formatted(program: str, rng: Random) -> str:
    kind = rng.randrange(3)
    if kind == 0:
        return program
    if kind == 1:
        return f"```python\n{program}"
    return "Read the input and print the answer."
