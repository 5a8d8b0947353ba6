"""What an evaluation asks and how it grades: questions, answers, grades.

Covered: the types that sampling (`generate`) shares with every kind of grading.  Not covered: grading programs
(`programs`) and numbers (`gsm8k`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from code_rlvr.types import Verdict

Chat = list[dict[str, str]]


class NumberVerdict(str, Enum):
    """What is said about an answer that is a number and that no `Verdict` has a word for."""

    NO_ANSWER = "NO_ANSWER"


AnyVerdict = Verdict | NumberVerdict


@dataclass(frozen=True, slots=True)
class Question:
    """One problem as the model sees it.

    Args:
        problem_id: Unique in its task.
        group: What its samples are reported under, e.g. a difficulty.
        chat: What the model is given.
        graded_by: Names everything that a grade depends on besides the response: tests, limits, grader.
    """

    problem_id: str
    group: str
    chat: Chat
    graded_by: str


class Grade(NamedTuple):
    """What a response is worth.

    Args:
        verdict: None if the grader failed, which says nothing about the response.
        test_pass_rate: Share of the problem's tests that it passed; None without a verdict.
        in_form: Whether it has the form that was asked for, e.g. a closed code block.
        fault: Why the grader failed.
    """

    verdict: AnyVerdict | None
    test_pass_rate: float | None
    in_form: bool
    fault: str | None = None


@dataclass(frozen=True, slots=True)
class Task:
    """Questions with what grades their answers.

    Args:
        questions: At least one, with distinct ids.
        grade: Takes some questions, each with a response; gives as many grades, in order.
    """

    questions: tuple[Question, ...]
    grade: Callable[[Sequence[tuple[Question, str]]], list[Grade]]


def digest_of(*parts: str) -> str:
    """Name some texts.

    Returns:
        16 hexadecimal digits; texts that are cut elsewhere give others.
    """
    digest = hashlib.sha256()
    for part in parts:
        digest.update(f"{len(part)}/".encode())
        digest.update(part.encode("utf-8", "surrogatepass"))
    return digest.hexdigest()[:16]
