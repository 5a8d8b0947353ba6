"""Programming contests: APPS, TACO, CodeContests and open-r1/codeforces, as their authors publish them.

| | tests | references | left out |
|---|---|---|---|
| `apps` (codeparrot/apps) | `input_output`, JSON | `solutions`, JSON | – |
| `taco` (BAAI/TACO) | `input_output`, JSON | `solutions`, JSON | statements with pictures: `picture_num` above 0 |
| `codecontests` (deepmind/code_contests) | public, private and generated, in this order | correct ones in Python 3 | \
problems that read or write files |
| `codeforces` (open-r1/codeforces) | `official_tests` | – | the same, interactive ones, and those with a \
`generated_checker` |

Starter code is shown behind the statement of a problem whose tests call a function; to a program that reads
standard input it would say the wrong thing.  APPS numbers its parts, train and test, from 0 each: prepare one at a
time.  TACO has no ids.

Time limits of contests are for compiled languages: they count `TIME_FACTOR` times.  Memory limits count from
`LEAST_MEMORY_MIB` up.

Covered: one row.  Not covered: problems with several right answers, which these sets do not mark; pictures that are
only mentioned in the text.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from code_rlvr.data.sources.cases import read_tests
from code_rlvr.data.sources.checkers import missing_checker
from code_rlvr.data.sources.columns import need, read_id, read_part, read_text, read_texts, unfit
from code_rlvr.data.sources.source import Drop, Reason, Row, Source
from code_rlvr.data.sources.statements import with_starter_code, without_endings
from code_rlvr.errors import TestsFormatError
from code_rlvr.layouts import from_json_if_any, layout_of_cases
from code_rlvr.types import Problem

TIME_FACTOR = 3  # right programs in CPython are not to fail by a limit that was made for C++
LEAST_MEMORY_MIB = 256  # less is no room for Python with its libraries

_PYTHON_3 = (3, "PYTHON3")  # as the enumeration and its name
_BYTES_PER_MIB = 1 << 20
_NUMBER = re.compile(r"\s*(\d{1,12}(?:\.\d{1,12})?)")


def _read_apps(row: Row) -> Problem | Drop:
    return _read_question(row, read_id(row, "problem_id"), "apps", {})


def _read_taco(row: Row) -> Problem | Drop:
    options = _limits(_leading_number(row.get("time_limit")), _leading_number(row.get("memory_limit")))
    problem = _read_question(row, "", "taco", options)
    pictures = _leading_number(row.get("picture_num"))
    if isinstance(problem, Problem) and pictures:
        return Drop(Reason.NO_STATEMENT, f"the statement needs {pictures:.0f} pictures, which the row does not have")
    return problem


def _read_question(row: Row, problem_id: str, name: str, options: Mapping[str, Any]) -> Problem | Drop:
    need(row, "question")
    statement = without_endings(read_text(row, "question"))
    references = read_texts(row, "solutions")
    tests = read_tests(need(row, "input_output"), options=options)
    if tests is None:
        return Drop(Reason.NO_TESTS, "its input_output is empty")
    if not statement.strip():
        return Drop(Reason.NO_STATEMENT, "its question is empty")
    if tests.kind == "call":
        statement = with_starter_code(statement, read_text(row, "starter_code"))
    return Problem(problem_id, statement, tests, name, references)


def _read_codecontests(row: Row) -> Problem | Drop:
    need(row, "description")
    statement = without_endings(read_text(row, "description"))
    problem_id, references = read_id(row, "name"), _python_solutions(row)
    need(row, "public_tests")
    cases = [_cases(row, key) for key in ("public_tests", "private_tests", "generated_tests")]
    tests = read_tests({key: [*cases[0][key], *cases[1][key], *cases[2][key]] for key in ("inputs", "outputs")},
                       options=_declared_limits(row))  # fmt: skip
    if tests is None:
        return Drop(Reason.NO_TESTS, "it has no public, private or generated tests")
    for key in ("input_file", "output_file"):
        if file := read_text(row, key).strip():
            return Drop(Reason.NEEDS_CHECKER, f"its programs use the {key.replace('_', ' ')} {file!r}")
    if not statement.strip():
        return Drop(Reason.NO_STATEMENT, "its description is empty")
    return Problem(problem_id, statement, tests, "codecontests", references)


def _read_codeforces(row: Row) -> Problem | Drop:
    need(row, "description")
    need(row, "official_tests")
    options = _limits(_number(row.get("time_limit")), _number(row.get("memory_limit")))
    tests = read_tests(row["official_tests"], options=options)
    if tests is None:
        return Drop(Reason.NO_TESTS, "its official_tests are empty")
    if read_text(row, "interaction_format").strip():
        return Drop(Reason.NEEDS_CHECKER, "it is interactive")
    if (mode := read_text(row, "input_mode")) not in ("", "stdio"):
        return Drop(Reason.NEEDS_CHECKER, f"its input_mode is {mode!r}")
    if checker := missing_checker(row):
        return Drop(Reason.NEEDS_CHECKER, checker)
    if not read_text(row, "description").strip():
        return Drop(Reason.NO_STATEMENT, "its description is empty")
    return Problem(read_id(row, "id"), _whole_statement(row), tests, "codeforces")


def _whole_statement(row: Row) -> str:
    """The parts of a problem of Codeforces in the order of its pages."""
    said, takes, gives, note = (
        read_text(row, key).strip() for key in ("description", "input_format", "output_format", "note")
    )
    titled = [("Input", takes), ("Output", gives)]
    examples = layout_of_cases(from_json_if_any(row.get("examples")) or [])
    for shown, expected in zip(examples.get("inputs", ()), examples.get("outputs", ()), strict=True):
        texts = (str(text).rstrip() for text in (shown, expected))
        titled.append(("Example", "\n".join(f"```\n{text}\n```" for text in texts)))
    return "\n\n".join([said, *(f"## {title}\n{text}" for title, text in [*titled, ("Note", note)] if text)])


def _cases(row: Row, key: str) -> dict[str, list[Any]]:
    """The tests of one column, as two lists or as a list of pairs."""
    found = from_json_if_any(row.get(key))
    if isinstance(found, (list, tuple)):
        found = layout_of_cases(found)
        if "fn_name" in found:
            raise TestsFormatError("has functional tests; those of contests are stdin", field=key)
        found = {"input": found.get("inputs"), "output": found.get("outputs")}
    if found is not None and not isinstance(found, Mapping):
        raise unfit(key, found, "an object with the lists input and output")
    lists: dict[str, list[Any]] = {}
    for name in ("input", "output"):
        values = (found or {}).get(name)
        if not isinstance(values, list | None):
            raise TestsFormatError("has to be a list", field=f"{key}.{name}")
        lists[name + "s"] = values or []
    if len(lists["inputs"]) != len(lists["outputs"]):  # joined with others they would answer each other's inputs
        counts = f"{len(lists['outputs'])} outputs for {len(lists['inputs'])} inputs"
        raise TestsFormatError(f"there are {counts}", field=key)
    return lists


def _python_solutions(row: Row) -> tuple[str, ...]:
    solutions = read_part(row, "solutions")
    languages, programs = solutions.get("language"), solutions.get("solution")
    if not isinstance(languages, list | None) or not isinstance(programs, list | None):
        raise unfit("solutions", solutions, "an object with the lists language and solution")
    pairs = zip(languages or [], programs or [], strict=False)
    return tuple(program for language, program in pairs if language in _PYTHON_3 and isinstance(program, str))


def _declared_limits(row: Row) -> dict[str, Any]:
    duration = read_part(row, "time_limit")
    seconds, nanos = (_number(duration.get(key)) for key in ("seconds", "nanos"))
    return _limits(seconds + nanos / 1e9, _number(row.get("memory_limit_bytes")) / _BYTES_PER_MIB)


def _limits(seconds: float, memory_mib: float) -> dict[str, Any]:
    """A contest's limits as ours; 0 is none."""
    limits: dict[str, Any] = {}
    if seconds > 0:
        limits["time_limit_s"] = TIME_FACTOR * seconds
    if memory_mib > 0:
        limits["memory_limit_mib"] = max(LEAST_MEMORY_MIB, math.ceil(memory_mib))
    return limits


def _number(value: object) -> float:
    """A number of reasonable size; 0 for anything else, as these columns are mere hints."""
    known = isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value < 1e12
    return float(value) if known and isinstance(value, (int, float)) else 0.0


def _leading_number(value: object) -> float:
    """The number that a text like "2.0 seconds" starts with, or a number itself; 0 if there is none."""
    found = _NUMBER.match(value) if isinstance(value, str) else None
    return float(found[1]) if found else _number(value)


APPS = Source(
    "apps",
    _read_apps,
    marks=frozenset({"problem_id", "question", "input_output"}),
    columns=("problem_id", "question", "solutions", "input_output", "starter_code"),
)
TACO = Source(
    "taco",
    _read_taco,
    marks=frozenset({"question", "input_output", "picture_num"}),
    columns=(
        *("question", "solutions", "input_output", "starter_code"),
        *("time_limit", "memory_limit", "picture_num"),
    ),
)
CODECONTESTS = Source(
    "codecontests",
    _read_codecontests,
    marks=frozenset({"description", "public_tests", "private_tests"}),
    columns=(
        *("name", "description", "public_tests", "private_tests", "generated_tests", "solutions"),
        *("time_limit", "memory_limit_bytes", "input_file", "output_file"),
    ),
)
CODEFORCES = Source(
    "codeforces",
    _read_codeforces,
    marks=frozenset({"description", "official_tests"}),
    columns=(
        *("id", "description", "input_format", "output_format", "note", "examples", "official_tests"),
        *("time_limit", "memory_limit", "input_mode", "interaction_format", "generated_checker"),
    ),
)
