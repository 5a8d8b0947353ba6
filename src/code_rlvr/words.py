"""Numbers with their nouns, for lines that a person reads."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """A number with its noun, which takes an s unless there is one of it."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
