"""GSM8K as a control: does training on programs cost what a model could do before?  No program is run.

| layout | question | answer |
|---|---|---|
| openai/gsm8k | `question` | `answer`, behind `####` |
| plain | `prompt` or `question` | `answer`, or `tests.answer`: a number |

Covered: reading, the prompt, grading by the final number.  Not covered: whether the reasoning is right.

Source: Cobbe et al. 2021, arXiv:2110.14168.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from code_rlvr.data.sources.source import Drop, Reason, Row, Source
from code_rlvr.errors import DataError
from code_rlvr.evaluate.numbers import final_number, has_mark
from code_rlvr.evaluate.task import Grade, NumberVerdict, Question, Task, digest_of
from code_rlvr.types import Verdict

INSTRUCTION = (
    "Reason step by step. Then give the final answer, a number without a unit, on a line of its own after ####."
)
GRADER = "final number, 1"
"""Names the way of grading in the samples; a new one grades old samples again."""

LAYOUT = Source(
    "gsm8k",
    lambda row: Drop(Reason.NOT_CODE, "it asks for a number"),
    marks=frozenset(),
    columns=("question", "prompt", "answer", "tests", "id", "problem_id"),
)


@dataclass(frozen=True, slots=True)
class NumberProblem:
    """A question whose answer is a number.

    Args:
        problem_id: Unique in its set.
        question: What is asked.
        answer: What is right.
    """

    problem_id: str
    question: str
    answer: Fraction


def read_number_problem(row: Row, problem_id: str) -> NumberProblem:
    """Read a row.

    Args:
        row: In one of the layouts above.
        problem_id: Its id where the row names none.

    Raises:
        DataError: There is no question, or no answer that is a number.
    """
    question = next((row[key] for key in ("question", "prompt") if isinstance(row.get(key), str)), "")
    if not question.strip():
        raise DataError(f"there is no question, only {', '.join(sorted(map(str, row)))}; give it as `question`")
    given = _given_answer(row)
    answer = final_number(str(given)) if isinstance(given, (str, int, float)) else None
    if answer is None:
        raise DataError(
            "there is no answer that is a number; give GSM8K's test file, whose `answer` ends in `#### 18`, or a "
            "number as `answer`"
        )
    named = next((row[key] for key in ("problem_id", "id") if isinstance(row.get(key), (str, int))), problem_id)
    return NumberProblem(str(named), question.strip(), answer)


def _given_answer(row: Row) -> Any:
    tests = row.get("tests")
    given = row.get("answer")
    return tests.get("answer") if given is None and isinstance(tests, Mapping) else given


def number_task(problems: Sequence[NumberProblem], group: str) -> Task:
    """Ask for numbers and compare them exactly.

    Args:
        problems: At least one, with distinct ids.
        group: What all of them are reported under.
    """
    answers = {problem.problem_id: problem.answer for problem in problems}
    questions = tuple(
        Question(
            problem.problem_id,
            group,
            [{"role": "user", "content": f"{problem.question}\n\n{INSTRUCTION}"}],
            digest_of(GRADER, str(problem.answer)),
        )
        for problem in problems
    )

    def grade(responses: Sequence[tuple[Question, str]]) -> list[Grade]:
        return [grade_number(text, answers[question.problem_id]) for question, text in responses]

    return Task(questions, grade)


def grade_number(response: str, answer: Fraction) -> Grade:
    """Compare the number that a response ends up with.

    Returns:
        ACCEPTED, WRONG_ANSWER, or NO_ANSWER if there is no number in it.
    """
    number = final_number(response)
    if number is None:
        return Grade(NumberVerdict.NO_ANSWER, 0.0, False)
    right = number == answer
    return Grade(Verdict.ACCEPTED if right else Verdict.WRONG_ANSWER, float(right), has_mark(response))
