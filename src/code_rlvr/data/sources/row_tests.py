"""Where the tests of a row stand, whatever its data set, and which function they call: one table of key names.

| | keys, the first that holds tests |
|---|---|
| all tests | `COLUMNS`, in any form of `layouts`; a text or a list of texts is assertions |
| their parts | `PARTS`, in the row itself; `input` and `output` are one test or, as two lists, several |
| the function called | `fn_name`, `metadata.func_name`, `entry_point`, beside the tests or among them |

A ground truth that is a program and not tests gives way to the other columns.  A function's name makes calls of
inputs and outputs, unless the row's `kind` or their own test type says `stdio`.  Of an object of tests the keys of
its kind count, and others are notes: the kind is the row's `kind` (`stdio`, `call` or `assert`), or follows from the
keys.  Options (`time_limit_s`, `compare`, …) may stand in the row or among the tests, which come first.

Covered: the above.  Not covered: the forms (`layouts`), the values (`ground_truth`), checkers (`checkers`).
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from code_rlvr.data.sources.cases import read_tests
from code_rlvr.data.sources.checkers import CHECKER_KEYS, declared_comparison
from code_rlvr.data.sources.columns import read_part
from code_rlvr.data.sources.source import Row
from code_rlvr.errors import TestsFormatError
from code_rlvr.ground_truth import Tests
from code_rlvr.layouts import OPTIONS, from_json_if_any, holds_tests
from code_rlvr.parsing import parse

COLUMNS = (
    *("ground_truth", "reward_model", "tests", "test_cases", "test", "verification_info", "official_tests"),
    *("input_output", "extra_info"),
)
PARTS = ("asserts", "assert_case", "functional", "inputs", "outputs", "input", "output")
NAMES = ("fn_name", "metadata", "entry_point")
TEST_KEYS = (*COLUMNS, *PARTS, *NAMES, "prelude", "kind", *OPTIONS, *CHECKER_KEYS)

_NAMED = [key for key in COLUMNS if key not in ("ground_truth", "reward_model", "extra_info")]
_KINDS = {
    "stdio": ("inputs", "outputs"),
    "call": ("fn_name", "inputs", "outputs"),
    "assert": ("asserts", "assert_case", "functional", "entry_point", "prelude"),
}
_TELLING = ("asserts", "assert_case", "functional", "fn_name", "inputs", "outputs")  # the first tells the kind
_NO_LITERAL = (SyntaxError, ValueError, TypeError, RecursionError, MemoryError)


def has_test_keys(row: Row) -> bool:
    """Whether a row has a key under which tests may stand."""
    return any(key in row for key in (*COLUMNS, *PARTS))


def where_tests_are_read(row: Row) -> str:
    """Which keys tests are read from, and what a row has in their place, for a message."""
    columns = ", ".join(key for key in COLUMNS if key not in ("reward_model", "extra_info"))
    there = ", ".join(sorted(map(str, row))) or "no key"
    blank = ", ".join(key for key in (*COLUMNS, *PARTS) if key in row)
    return (
        f"{f'no tests in {blank}; ' if blank else ''}tests are read from {columns}, reward_model.ground_truth, "
        f"extra_info.tests, inputs and outputs, input and output, asserts or assert_case; this row has {there}"
    )


def tests_in(row: Row) -> Tests | None:
    """The tests of a row, with the comparison and the limits that it names; None if it has none.

    Raises:
        TestsFormatError: They are malformed.
        DataError: A column is of the wrong type.
    """
    declared = declared_comparison(row) or {}
    options = {**declared, **{key: row[key] for key in OPTIONS if row.get(key) is not None}}
    name = None if row.get("kind") == "stdio" else function_named(row)
    given = from_json_if_any(_given(row))
    if isinstance(given, Mapping):
        given = _keys_of_kind(_in_plural(given), row.get("kind"), name)
    return read_tests(given, read_part(row, "extra_info"), options, name)


def function_named(row: Mapping[str, Any]) -> Any:
    """The function that a row or an object of tests names, whatever is there; None if nothing is."""
    metadata = from_json_if_any(row.get("metadata"))
    told = metadata.get("func_name") if isinstance(metadata, Mapping) else None
    return row.get("fn_name") or told or row.get("entry_point") or None


def _given(row: Row) -> Any:
    """What holds the tests of a row, in whatever form; None if only `extra_info` may."""
    truth = row.get("ground_truth")
    if truth is None and "reward_model" in row:
        truth = read_part(row, "reward_model").get("ground_truth")
    named = next((found for key in _NAMED if (found := _column(row, key)) is not None), None)
    if named is not None and not _is_tests(from_json_if_any(truth)):
        return named  # the ground truth is a solution, if there is one
    if truth not in (None, "", [], {}):
        return truth
    return {key: row[key] for key in (*PARTS, "fn_name", "entry_point", "prelude") if row.get(key) is not None}


def _is_tests(truth: Any) -> bool:
    return bool(truth) and (isinstance(truth, list) or (isinstance(truth, Mapping) and holds_tests(truth)))


def _column(row: Row, key: str) -> Any:
    """What one column holds, texts as assertions; None if it holds nothing."""
    found = from_json_if_any(row.get(key))
    if key == "verification_info":
        found = _literal(found, key) if isinstance(found, str) and found.strip() else found
        found = found.get("test_cases") if isinstance(found, Mapping) else found
    if found is None or found in ("", [], {}) or (isinstance(found, str) and not found.strip()):
        return None
    if isinstance(found, (list, tuple)):
        read = [from_json_if_any(case) for case in found]
        found = read if all(isinstance(case, Mapping) for case in read) else list(found)
    if isinstance(found, Mapping):
        return found if holds_tests(found) else None
    if isinstance(found, list) and any(isinstance(case, Mapping) for case in found):
        return found
    told = {key: row[key] for key in ("entry_point", "prelude") if row.get(key) is not None}
    return {"asserts" if isinstance(found, str) else "assert_case": found, **told}


def _literal(text: str, field: str) -> Any:
    """What a text says that is written as Python writes its values, as SYNTHETIC-1's are."""
    try:
        return ast.literal_eval(parse(text.strip(), "eval"))
    except _NO_LITERAL as error:
        raise TestsFormatError(f"is neither JSON nor a value of Python: {error}", field=field) from None


def _in_plural(layout: Mapping[str, Any]) -> dict[str, Any]:
    """A layout without nulls, `input` and `output` as lists `inputs` and `outputs`."""
    layout = {str(key): value for key, value in layout.items() if value is not None}
    one = {key: layout.pop(key) for key in ("input", "output") if key in layout}
    if not one or "inputs" in layout or "outputs" in layout:
        return layout
    several = all(isinstance(value, (list, tuple)) for value in one.values())
    return {**layout, **{key + "s": value if several else [value] for key, value in one.items()}}


def _keys_of_kind(layout: dict[str, Any], kind: object, fn_name: object) -> Mapping[str, Any]:
    """Only what belongs to tests of that kind, which may be told by the keys themselves."""
    has = [key for key in _TELLING if key in layout]
    if not has:
        return layout  # for `read_tests` to say what is wrong with it
    name = function_named(layout) or fn_name
    if not isinstance(kind, str) or not any(key in _KINDS.get(kind, ()) for key in has):
        kind = "assert" if has[0] in _KINDS["assert"] else "call" if name else "stdio"
    chosen = {key: value for key, value in layout.items() if key in (*_KINDS[kind], *OPTIONS)}
    if kind == "call":
        if not name:
            raise TestsFormatError("is missing; tests of the kind call need it", field="fn_name")
        chosen["fn_name"] = name
    return chosen
