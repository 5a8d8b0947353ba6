"""LiveCodeBench, as livecodebench/code_generation_lite has it.

The tests are `public_test_cases` followed by `private_test_cases`: lists of {input, output, testtype} in JSON, the
private ones also packed (`pickled_text`).  The function that functional ones call is `metadata.func_name`; its
starter code is shown behind the statement.

Covered: every release of the lite set.  Not covered: its own prompts; choosing problems by date.
"""

from __future__ import annotations

from typing import Any

from code_rlvr.data.sources.cases import read_tests
from code_rlvr.data.sources.columns import from_json, need, read_id, read_part, read_text
from code_rlvr.data.sources.pickled_text import read_pickled_text
from code_rlvr.data.sources.source import Drop, Reason, Row, Source
from code_rlvr.data.sources.statements import with_starter_code, without_endings
from code_rlvr.errors import TestsFormatError
from code_rlvr.layouts import from_json_if_any, layout_of_cases
from code_rlvr.types import Problem

_TESTS = ("public_test_cases", "private_test_cases")


def _read_livecodebench(row: Row) -> Problem | Drop:
    need(row, "question_content")
    statement = without_endings(read_text(row, "question_content"))
    problem_id, metadata = read_id(row, "question_id"), read_part(row, "metadata")
    cases = [case for key in _TESTS for case in _cases(row, key)]
    tests = read_tests(layout_of_cases(cases, metadata.get("func_name")))
    if tests is None:
        return Drop(Reason.NO_TESTS, "it has neither public nor private tests")
    if not statement.strip():
        return Drop(Reason.NO_STATEMENT, "its question_content is empty")
    if tests.kind == "call":
        statement = with_starter_code(statement, read_text(row, "starter_code"))
    return Problem(problem_id, statement, tests, "livecodebench")


def _cases(row: Row, key: str) -> list[Any]:
    given = need(row, key)
    if isinstance(given, str):
        found = from_json_if_any(given) if given.strip() else []
        if isinstance(found, str):  # it was no JSON, or a text in it
            found = from_json(read_pickled_text(found, key), key)
    else:
        found = [] if given is None else given
    if not isinstance(found, (list, tuple)):
        raise TestsFormatError(f"has to be a list of tests, not {type(found).__name__}", field=key)
    return list(found)


LIVECODEBENCH = Source(
    "livecodebench",
    _read_livecodebench,
    marks=frozenset({"question_content", "public_test_cases", "private_test_cases"}),
    columns=("question_content", "question_id", "starter_code", "metadata", *_TESTS),
)
