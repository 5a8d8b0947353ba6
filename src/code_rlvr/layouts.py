"""Tests as data sets write them, made one of the layouts that `ground_truth.Tests` reads.

| form | made |
|---|---|
| `[{"input", "output", "testtype"? or "type"?}]` with `stdin`, or no test type and no function's name | stdio |
| the same with `functional`, or a function's name: `metadata.func_name`, `fn_name` | call, an argument in JSON a line |
| an object with such a list in `test_cases` | that list |
| `["assert …"]` | assert |
| `{"functional": source}`; source that is no JSON, with lines of `assert` or `def test_` (KodCode) | assert |
| an object with other keys | itself, without nulls |

Any of them may be a text of JSON, or a text of such a text, and parquet may have filled it up with nulls.  Integer
keys of a dict argument, which JSON can write as text only, stay text here: the judge turns a dict whose keys are all
integers back when it makes the call, by the convention of APPS and TACO, and compares what comes back by the keys
that JSON would write.

Covered: choosing the form.  Not covered: the values (`ground_truth`), where a row keeps them (`data.sources`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from code_rlvr.errors import TestsFormatError

OPTIONS = ("time_limit_s", "memory_limit_mib", "compare", "rel_tol", "abs_tol", "case_sensitive")

_ASSERTING = re.compile(r"^[ \t]*(?:assert\b|def test_)", re.MULTILINE)
_TELL_MORE = ("fn_name", "asserts", "assert_case", "functional")  # than that inputs have outputs
_TEST_TYPES = {
    None: "stdio",
    "": "stdio",
    "stdin": "stdio",
    "stdin_stdout": "stdio",
    "functional": "call",
    "function_call": "call",
}
_NOT_JSON = object()
_LAYERS = 3  # of JSON in JSON; files have been seen with two


def as_layout(given: Any, fn_name: object = None, *, beside_others: bool = False) -> Any:
    """What holds the tests of a problem as a mapping, if it is of any form above; otherwise as it is.

    Args:
        given: The ground truth.
        fn_name: The function that is called, if the ground truth does not say otherwise.
        beside_others: Whether tests stand elsewhere too: then what holds none is passed over, as a solution is.

    Raises:
        TestsFormatError: It is a list of cases that lack something or are not of one kind.
    """
    found = from_json_if_any(given)
    if isinstance(found, Mapping) and isinstance(found.get("test_cases"), (list, tuple)):
        found = found["test_cases"]
    if isinstance(found, (list, tuple)):
        if beside_others and not any(isinstance(case, Mapping) for case in found) and not _are_assertions(found):
            return {}
        found = {"assert_case": found} if _are_assertions(found) else layout_of_cases(found, fn_name)
    elif isinstance(found, Mapping) and found.get("inputs") and fn_name and not any(map(found.get, _TELL_MORE)):
        found = {**found, "fn_name": fn_name}
    if beside_others and not isinstance(found, Mapping):
        return {}
    if isinstance(found, str) and _ASSERTING.search(found):
        return {"asserts": found}
    if isinstance(found, Mapping):
        found = {str(key): value for key, value in found.items() if value is not None}
        if "functional" in found:
            found["asserts"] = found.pop("functional")
    return found


def layout_of_cases(cases: Any, fn_name: object = None) -> dict[str, Any]:
    """A list of cases as one layout that `Tests.parse` knows.

    Args:
        cases: Objects with `input` and `output`, all of the same test type.
        fn_name: The function that functional cases call, if they do not say it themselves; cases without a test type
            are functional if there is one.

    Returns:
        `inputs`, `outputs` and, for calls, `fn_name`; empty if there are no cases.

    Raises:
        TestsFormatError: A case lacks something, or they are not of one kind.
    """
    kinds: dict[str, None] = {}
    names: dict[str, None] = {}
    for i, case in enumerate(cases):
        if not isinstance(case, Mapping) or "input" not in case or "output" not in case:
            raise TestsFormatError("has to be an object with input and output", field=f"ground_truth[{i}]")
        kind = _kind(case, fn_name, i)
        kinds[kind] = None
        if kind == "call":
            names[_function_name(case, fn_name, i)] = None
    if len(kinds) > 1 or len(names) > 1:
        mixed = f"functions, {sorted(names)}" if len(names) > 1 else f"test types, {sorted(kinds)}"
        raise TestsFormatError(f"mixes {mixed}; the cases of one problem have to be alike", field="ground_truth")
    layout: dict[str, Any] = {key + "s": [case[key] for case in cases] for key in ("input", "output")}
    return {**layout, **({"fn_name": next(iter(names))} if names else {})} if kinds else {}


def _are_assertions(cases: Any) -> bool:
    return bool(cases) and all(isinstance(case, str) and _ASSERTING.search(case) for case in cases)


def _kind(case: Mapping[str, Any], fn_name: object, i: int) -> str:
    test_type = case.get("testtype", case.get("type"))
    if test_type in (None, "") and _named(case, fn_name):
        return "call"
    if not isinstance(test_type, str | None) or test_type not in _TEST_TYPES:
        raise TestsFormatError(f"is {test_type!r}; known are stdin and functional", field=f"ground_truth[{i}].testtype")
    return _TEST_TYPES[test_type]


def _function_name(case: Mapping[str, Any], fn_name: object, i: int) -> str:
    name = _named(case, fn_name)
    if not isinstance(name, str):
        raise TestsFormatError("a functional test needs metadata.func_name, a text", field=f"ground_truth[{i}]")
    return name


def _named(case: Mapping[str, Any], fn_name: object) -> object:
    metadata = from_json_if_any(case.get("metadata"))
    told = metadata.get("func_name") if isinstance(metadata, Mapping) else None
    return told or case.get("fn_name") or fn_name


def holds_tests(layout: Mapping[str, Any]) -> bool:
    """Whether there is more than emptiness; what is malformed counts as there, so that it is not passed over."""
    named = {key: value for key, value in layout.items() if key not in (*OPTIONS, "fn_name", "entry_point", "prelude")}
    return any(value not in (None, "", [], ()) for value in named.values())


def from_json_if_any(value: object) -> Any:
    """What a text of JSON holds, and if that is such a text again, what that one holds; anything else as it is."""
    for _ in range(_LAYERS):
        found = _decoded(value) if isinstance(value, str) else _NOT_JSON
        if found is _NOT_JSON:
            break
        value = found
    return value


def _decoded(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return _NOT_JSON
