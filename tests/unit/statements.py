"""Statements of problems that have nothing in common with one another."""

from __future__ import annotations

from random import Random

_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def statement(number: int, words: int = 60) -> str:
    """The statement of that number: random words, the same each time."""
    rng = Random(f"statement/{number}")
    return f"Problem {number}: " + " ".join("".join(rng.choices(_LETTERS, k=rng.randint(3, 8))) for _ in range(words))
