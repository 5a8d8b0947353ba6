"""The number that a response ends up with, however it is written; and GSM8K graded by it."""

from __future__ import annotations

from fractions import Fraction

import pytest

from code_rlvr.errors import DataError
from code_rlvr.evaluate.gsm8k import NumberProblem, grade_number, number_task, read_number_problem
from code_rlvr.evaluate.numbers import final_number, has_mark
from code_rlvr.evaluate.task import NumberVerdict
from code_rlvr.types import Verdict

WRITTEN = [
    ("#### 18", "18"),
    ("5 + 13 = 18\n#### 18\n", "18"),
    ("#### $1,234.50", "1234.5"),
    ("It costs $1,234.50.", "1234.5"),
    ("#### 1,450,000 dollars", "1450000"),
    ("12,34,567 rupees", "1234567"),
    ("#### −3", "-3"),
    ("#### -$3", "-3"),
    ("so he owes $-3", "-3"),
    ("the change is -0.5", "-1/2"),
    ("#### 50%", "50"),
    ("#### 18 eggs, of 24", "18"),
    ("#### **18**", "18"),
    ("#### 18.", "18"),
    ("#### 18.00", "18"),
    ("#### .5", "1/2"),
    ("#### 5 + 13 = 18", "18"),
    ("#### The answer is: 18", "18"),
    ("#### x = 18", "18"),
    (r"\boxed{18}", "18"),
    (r"$\boxed{\$1{,}234.50}$", "1234.5"),
    (r"\boxed{x = 18 \text{ of } 24}", "18"),
    (r"so \boxed{\frac{3}{4}} of it", "3/4"),
    (r"\boxed{2\frac{1}{2}}", "5/2"),
    ("#### \\boxed{18}", "18"),
    ("#### 3/4", "3/4"),
    ("#### 2 1/2", "5/2"),
    ("#### 2½", "5/2"),
    ("#### ¾", "3/4"),
    ("The answer is 18 (9 eggs at $2 each).", "18"),
    ("Final answer: 18\nI used 3 steps.", "18"),
    ("A: 18", "18"),
    ("3 + 4 = <<3+4=7>>7", "7"),
    ("16 - 3 is 13", "13"),
    ("that is 16-3", "3"),
    ("#### 17\nNo, wait.\n#### 18", "18"),
    ("#### Step 2: add 5\nThe answer is 18.", "18"),
    ("#### 1. Eggs\n16 - 3\n#### 2. Money\nSo it is 18", "18"),
    ("####\n18", "18"),
    ("18\u202f000 steps", "18000"),
    ("1 2\u00a0345", "2345"),
]


@pytest.mark.parametrize(("text", "number"), WRITTEN)
def test_a_number_is_read_however_it_is_written(text: str, number: str) -> None:
    assert final_number(text) == Fraction(number)


@pytest.mark.parametrize("text", ["", "I do not know.", "x2 and H2O", "#### none", "9" * 5000])
def test_no_number_is_none(text: str) -> None:
    assert final_number(text) is None


@pytest.mark.parametrize(
    ("text", "marked"), [("#### 18", True), (r"\boxed{18}", True), ("A: 18", False), ("####", False)]
)
def test_the_form_is_a_mark_with_a_number(text: str, marked: bool) -> None:
    assert has_mark(text) is marked


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "text", ["1," * 100_000, "####" * 50_000, r"\boxed{" * 30_000, "<<" * 100_000, "answer " * 50_000]
)
def test_a_text_that_repeats_itself_takes_no_time(text: str) -> None:
    final_number(text)


def test_division_by_nothing_is_no_fraction() -> None:
    assert final_number("#### 3/0") == 3


@pytest.mark.parametrize(
    ("response", "verdict"),
    [
        ("#### 18.0", Verdict.ACCEPTED),
        ("#### 18.01", Verdict.WRONG_ANSWER),
        ("#### -18", Verdict.WRONG_ANSWER),
        ("eighteen", NumberVerdict.NO_ANSWER),
    ],
)
def test_a_response_is_right_if_its_number_is_exactly_that(response: str, verdict: Verdict) -> None:
    assert grade_number(response, Fraction(18)).verdict is verdict


@pytest.mark.parametrize(
    "row",
    [
        {"question": "How many?", "answer": "9 + 9 = <<9+9=18>>18\n#### 18"},
        {"question": "How many?", "answer": 18},
        {"prompt": "How many?", "tests": {"answer": "18"}},
    ],
)
def test_rows_of_every_layout_are_read(row: dict) -> None:
    assert read_number_problem(row, "a/0") == NumberProblem("a/0", "How many?", Fraction(18))


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"question": "How many?"}, "no answer that is a number; give GSM8K's test file"),
        ({"question": "How many?", "answer": "some"}, "no answer that is a number"),
        ({"answer": "#### 18"}, "there is no question"),
    ],
)
def test_rows_that_cannot_be_graded_by_are_refused(row: dict, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_number_problem(row, "a/0")


def test_the_question_says_how_to_answer_and_not_what() -> None:
    (question,) = number_task([NumberProblem("a/0", "How many?", Fraction(18))], "gsm8k").questions
    assert question.chat[0]["content"].startswith("How many?\n\nReason step by step.")
    assert "####" in question.chat[0]["content"]
    assert "18" not in question.chat[0]["content"]
