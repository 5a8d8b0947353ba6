"""Problems that programs solve, as a task: asked as in training, graded by the same judge.

Covered: prompt, extraction, judging each distinct program once.  Not covered: sampling (`generate`); which tests
can be judged by, which whoever reads the problems finds out (`benchmarks`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from code_rlvr.data.prompts import build_prompt
from code_rlvr.errors import Unjudged
from code_rlvr.evaluate.task import Grade, Question, Task, digest_of
from code_rlvr.types import Judgement, Problem
from code_rlvr.verifier.assertions.cases import solution_name
from code_rlvr.verifier.extract import extract
from code_rlvr.verifier.judge import Judge


def programming_task(
    problems: Sequence[Problem],
    judge: Judge,
    instruction: str | None = None,
    groups: Mapping[str, str] | None = None,
) -> Task:
    """Ask for programs and judge them.

    Args:
        problems: At least one, with distinct ids.
        judge: Its limits and its Python are part of what a grade is known by.
        instruction: See `build_prompt`.
        groups: Group of a problem by its id; its data source where left out.
    """
    groups = groups or {}
    tests = {problem.problem_id: problem.tests for problem in problems}
    questions = tuple(
        Question(
            problem.problem_id,
            groups.get(problem.problem_id, problem.data_source),
            build_prompt(problem.statement, problem.tests, instruction),
            digest_of(problem.tests.to_json(), repr(judge.limits), repr(judge.version)),
        )
        for problem in problems
    )

    def grade(answers: Sequence[tuple[Question, str]]) -> list[Grade]:
        # The names that the tests call tell a solution from a usage demo, in training as here.
        found = [extract(text, solution_name(tests[question.problem_id])) for question, text in answers]
        # A model often writes the same program twice for one problem; it is judged once.
        keys = [(one.code, question.problem_id) for one, (question, _) in zip(found, answers, strict=True)]
        programs = {key: (key[0], tests[key[1]]) for key in keys}
        judged = dict(zip(programs, judge.judge_many(programs.values()), strict=True))
        return [_grade(judged[key], one.fenced) for one, key in zip(found, keys, strict=True)]

    return Task(questions, grade)


def _grade(judged: Judgement | Unjudged, fenced: bool) -> Grade:
    if isinstance(judged, Unjudged):
        return Grade(None, None, fenced, str(judged))
    return Grade(judged.verdict, judged.test_pass_rate, fenced)
