"""Plain rows: what somebody writes who has problems, and no data set's layout to follow.

| | keys, the first that is there and not null |
|---|---|
| statement | `statement`, `prompt`, `question`, `problem`: a text, or a chat list |
| tests | `ground_truth`, `reward_model.ground_truth`, `tests`, `extra_info.tests`, or their keys in the row itself |
| id | `problem_id`, `id`, `task_id`; none is needed |
| data source | `data_source`; what stands before the `/` of the id; a `source` of one word; "plain" |
| references | see `references` |

Tests are in any form of `cases`; `tests` may also be assertions, or a list of them.  Of an object of tests the keys
of its kind count, and others are notes: the kind is the row's `kind` (`stdio`, `call` or `assert`), or follows from
the keys.  Options (`time_limit_s`, `compare`, …) may stand in the row or among the tests, which come first.

`checker` says that a plain comparison does not do: a float tolerance becomes `compare`, `rel_tol` and `abs_tol`;
any other is code that is not here.  A row that has `checker`, be it null, and `case_sensitive` is of Kattis's
format, whose comparison is by token and, without a tolerance, as text.

Covered: the above.  Not covered: rows that are no code otherwise than by `kind` "math" or by their `ability`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from code_rlvr.data.sources.cases import OPTIONS, read_tests
from code_rlvr.data.sources.columns import ANOTHER_LAYOUT, from_json_if_any, read_id, read_part, read_text
from code_rlvr.data.sources.references import REFERENCE_KEYS, read_references
from code_rlvr.data.sources.source import Drop, Reason, Row, Source
from code_rlvr.data.sources.statements import statement_of_either
from code_rlvr.data.sources.verl_rows import is_coding
from code_rlvr.errors import DataError, TestsFormatError
from code_rlvr.ground_truth import Tests
from code_rlvr.types import Problem

STATEMENTS = ("statement", "prompt", "question", "problem")
TESTS = ("ground_truth", "reward_model", "tests", "extra_info")

_IDS = ("problem_id", "id", "task_id")
_KEYS = {
    "stdio": ("inputs", "outputs"),
    "call": ("fn_name", "inputs", "outputs"),
    "assert": ("asserts", "assert_case", "functional", "entry_point", "prelude"),
}
_TELLING = ("asserts", "assert_case", "functional", "fn_name", "inputs", "outputs")  # the first tells the kind
_INLINE = (*_TELLING, "entry_point", "prelude")

_FLOAT = r"(\d+(?:\.\d+)?(?:e[+-]?\d+)?)"
_TOLERANCES = re.compile(
    rf"float tolerance: absolute (?:{_FLOAT}|none), relative (?:{_FLOAT}|none)"
    r"(?: \(either suffices\))?(?:; other tokens compared as text)?",
    re.IGNORECASE,
)
_FLAG = re.compile(rf"(float_tolerance|float_relative_tolerance|float_absolute_tolerance)\s+{_FLOAT}|(case_sensitive)")
_FLAGS = re.compile(rf"\s*(?:(?:{_FLAG.pattern})(?:\s+|\Z))+")


def may_be_plain(row: Row) -> bool:
    """Whether a row has a key of statements and one of tests."""
    return any(key in row for key in STATEMENTS) and any(key in row for key in (*TESTS, *_INLINE))


def _is_code(row: Row) -> bool:
    return row.get("kind") != "math" and is_coding(row.get("ability"))


def _read_plain(row: Row) -> Problem | Drop:
    if not _is_code(row):
        return Drop(Reason.NOT_CODE, f"its kind is {row.get('kind')!r}, its ability {row.get('ability')!r}")
    statement, problem_id, references = _statement(row), read_id(row, *_IDS), read_references(row)
    tests = tests_in(row)
    if tests is None:
        return Drop(Reason.NO_TESTS, "it holds no tests")
    if _comparison(row) is None:
        return Drop(Reason.NEEDS_CHECKER, f"checker: {row['checker']}")
    if not statement.strip():
        return Drop(Reason.NO_STATEMENT, "its statement is null or blank")
    return Problem(problem_id, statement, tests, _data_source(row, problem_id), references)


def tests_in(row: Row) -> Tests | None:
    """The tests of a row, with the comparison and the limits that it names; None if it has none.

    Raises:
        TestsFormatError: They are malformed.
        DataError: A column is of the wrong type.
    """
    declared = _comparison(row) or {}
    return _tests(row, {**declared, **{key: row[key] for key in OPTIONS if row.get(key) is not None}})


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


def _tests(row: Row, options: Mapping[str, Any]) -> Tests | None:
    info = read_part(row, "extra_info")
    given: Any = row.get("ground_truth")
    if given is None and "reward_model" in row:
        given = read_part(row, "reward_model").get("ground_truth")
    beside = from_json_if_any(row.get("tests"))
    if given is None and _is_object_or_cases(beside):
        given = beside
    elif given is None and beside not in (None, "", []):
        given = {"asserts" if isinstance(beside, str) else "assert_case": beside}
        given.update({key: row[key] for key in ("entry_point", "prelude") if row.get(key) is not None})
    elif beside not in (None, "", []):  # they count if the ground truth is a solution
        info = {"tests": beside, "entry_point": row.get("entry_point")}
    elif given is None:
        given = {key: row[key] for key in _INLINE if row.get(key) is not None}
    found = from_json_if_any(given)
    if isinstance(found, Mapping):
        given = _keys_of_kind(found, row.get("kind"))
    return read_tests(given, info, options)


def _is_object_or_cases(value: Any) -> bool:
    return isinstance(value, Mapping) or (
        isinstance(value, (list, tuple)) and bool(value) and all(isinstance(case, Mapping) for case in value)
    )


def _keys_of_kind(layout: Mapping[str, Any], kind: object) -> Mapping[str, Any]:
    """Only what belongs to tests of that kind, which may be told by the keys themselves."""
    layout = {key: value for key, value in layout.items() if value is not None}
    has = [key for key in _TELLING if key in layout]
    if not has:
        return layout  # for `Tests.parse` to say what is wrong with it
    if not isinstance(kind, str) or not any(key in _KEYS.get(kind, ()) for key in has):
        kind = "assert" if has[0] in _KEYS["assert"] else "call" if has[0] == "fn_name" else "stdio"
    chosen = {key: value for key, value in layout.items() if key in (*_KEYS[kind], *OPTIONS)}
    if kind == "call" and "fn_name" not in chosen:
        raise TestsFormatError("is missing; tests of the kind call need it", field="fn_name")
    return chosen


def _comparison(row: Row) -> dict[str, Any] | None:
    """The options that a row's `checker` stands for; None if it is code that is not here."""
    checker = row.get("checker")
    if checker is None or checker == "":
        kattis = "checker" in row and isinstance(row.get("case_sensitive"), bool)
        return {"compare": "tokens"} if kattis else {}
    if not isinstance(checker, str):
        return None
    if found := _TOLERANCES.fullmatch(checker.strip()):
        absolute, relative = (float(number or 0) for number in found.groups())
        return {"compare": "float", "abs_tol": absolute, "rel_tol": relative}
    if not _FLAGS.fullmatch(checker):
        return None
    options: dict[str, Any] = {"compare": "tokens", "case_sensitive": False}
    for flag, number, sensitive in _FLAG.findall(checker):
        if sensitive:
            options["case_sensitive"] = True
            continue
        options["compare"] = "float"
        for name, tolerance in (("rel_tol", "float_relative_tolerance"), ("abs_tol", "float_absolute_tolerance")):
            if flag in (tolerance, "float_tolerance"):
                options[name] = float(number)
    return options


PLAIN = Source(
    "plain",
    _read_plain,
    marks=frozenset(),
    columns=(
        *(*STATEMENTS, *TESTS, *_INLINE, *_IDS, "data_source", "source", "kind", "ability", "checker"),
        *(*OPTIONS, *REFERENCE_KEYS),
    ),
    is_code=_is_code,
    glance=("kind", "ability"),
)
