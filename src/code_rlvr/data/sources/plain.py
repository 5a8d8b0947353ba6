"""Plain rows: what somebody writes who has problems, and no data set's layout to follow.

| | keys, the first that is there and not null |
|---|---|
| statement | `statement`, `prompt`, `question`, `problem`, `problem_statement`: a text, or a chat list |
| tests | see `row_tests` |
| id | `problem_id`, `id`, `task_id`, `question_id`; none is needed |
| data source | `data_source`; what stands before the `/` of the id; a `source` of one word; "plain" |
| references | see `references` |
| starter code | `starter_code`; the `function_declaration` of each `test_info` (KodCode) |

Starter code is shown behind the statement, except to programs that read standard input.  Rows of DeepCoder, KodCode
and AceCode are plain.

Covered: the above.  Not covered: rows that are no code otherwise than by `kind` "math" or by their `ability`.
"""

from __future__ import annotations

from collections.abc import Mapping

from code_rlvr.data.sources.checkers import missing_checker
from code_rlvr.data.sources.columns import ANOTHER_LAYOUT, ID_KEYS, read_id, read_text
from code_rlvr.data.sources.references import REFERENCE_KEYS, read_references
from code_rlvr.data.sources.row_tests import TEST_KEYS, has_test_keys, tests_in, where_tests_are_read
from code_rlvr.data.sources.source import Drop, Reason, Row, Source
from code_rlvr.data.sources.statements import statement_of_either, with_starter_code
from code_rlvr.data.sources.verl_rows import is_coding
from code_rlvr.errors import DataError
from code_rlvr.layouts import from_json_if_any
from code_rlvr.types import Problem

STATEMENTS = ("statement", "prompt", "question", "problem", "problem_statement")


def may_be_plain(row: Row) -> bool:
    """Whether a row has a key of statements and one of tests."""
    return any(key in row for key in STATEMENTS) and has_test_keys(row)


def _is_code(row: Row) -> bool:
    return row.get("kind") != "math" and is_coding(row.get("ability"))


def read_plain(row: Row) -> Problem | Drop:
    """A row as a problem, by the keys of the table above.

    Raises:
        TestsFormatError: Its tests are malformed.
        DataError: It has no statement, or a column is of the wrong type.
    """
    if not _is_code(row):
        return Drop(Reason.NOT_CODE, f"its kind is {row.get('kind')!r}, its ability {row.get('ability')!r}")
    statement, problem_id, references = _statement(row), read_id(row, *ID_KEYS), read_references(row)
    tests = tests_in(row)
    if tests is None:
        return Drop(Reason.NO_TESTS, where_tests_are_read(row))
    if checker := missing_checker(row):
        return Drop(Reason.NEEDS_CHECKER, checker)
    if not statement.strip():
        return Drop(Reason.NO_STATEMENT, "its statement is null or blank")
    if tests.kind != "stdio":
        statement = with_starter_code(statement, _starter_code(row, statement))
    return Problem(problem_id, statement, tests, _data_source(row, problem_id), references)


def _starter_code(row: Row, statement: str) -> str:
    """What a program has to define; "" if the statement shows it already."""
    given = from_json_if_any(row.get("test_info"))
    infos = given if isinstance(given, (list, tuple)) else [given]
    declared = [info.get("function_declaration") for info in infos if isinstance(info, Mapping)]
    code = read_text(row, "starter_code") or "\n".join(line.strip() for line in declared if isinstance(line, str))
    return "" if code.strip() in statement else code


def _statement(row: Row) -> str:
    there = [key for key in STATEMENTS if key in row]
    if not there:
        keys = ", ".join(sorted(map(str, row)))
        raise DataError(
            f"there is no statement: none of the columns {', '.join(STATEMENTS)}, only {keys}; {ANOTHER_LAYOUT}"
        )
    for key in there:
        if row[key] is not None:
            return statement_of_either(row, key)
    return ""


def _data_source(row: Row, problem_id: str) -> str:
    if name := read_text(row, "data_source").strip():
        return name
    group, slash, _ = problem_id.partition("/")
    if slash and group:
        return group
    source = row.get("source")
    return source if isinstance(source, str) and len(source.split()) == 1 and len(source) <= 40 else "plain"


PLAIN = Source(
    "plain",
    read_plain,
    marks=frozenset(),
    columns=(
        *(*STATEMENTS, *TEST_KEYS, *ID_KEYS, *REFERENCE_KEYS),
        *("data_source", "source", "ability", "starter_code", "test_info"),
    ),
    is_code=_is_code,
    glance=("kind", "ability"),
)
