"""What `verify` reads: problems with their tests, and solutions of them.

| problems | where the tests are |
|---|---|
| verl's parquet | `reward_model.ground_truth` or `extra_info.tests`; the id in `extra_info.problem_id` or `.index` |
| JSONL | as `data.sources` finds them; `problem_id`, `id`, `task_id` or `question_id` |

Solutions are JSONL: `problem_id`, either `response` (the program is extracted) or `code` (taken as it is), and, if
it is known, the `verdict` that they deserve.  Layouts of tests: see `ground_truth`.

Covered: one message for the first thing that is wrong, with file, line or row, field and remedy.
Not covered: whether the judge supports a form of assertion (`run` asks it); holding solutions in memory.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from code_rlvr.data.set_files import PARTS
from code_rlvr.data.sources import find_tests, where_tests_are_read
from code_rlvr.data.sources.columns import ID_KEYS
from code_rlvr.errors import DataError, TestsFormatError
from code_rlvr.ground_truth import Tests
from code_rlvr.types import Verdict

REJECTED = "REJECTED"  # a label for "anything but accepted"
SHOWN = 3  # so many of a kind are named, the rest is counted

_PARQUET_COLUMNS = ("reward_model", "extra_info")
_LABELS = {
    **{verdict.value: verdict.value for verdict in Verdict},
    REJECTED: REJECTED,
    "RUN_TIME_ERROR": Verdict.RUNTIME_ERROR.value,
    "COMPILER_ERROR": Verdict.COMPILE_ERROR.value,
    **{f"{of}_LIMIT": Verdict[f"{of}_LIMIT_EXCEEDED"].value for of in ("TIME", "MEMORY", "OUTPUT")},
}


@dataclass(frozen=True, slots=True)
class TestedProblem:
    """A problem as far as judging goes: its tests.

    Args:
        problem_id: Unique in the file.
        tests: What a right program has to pass.
        data_source: A name to group by; empty if the row has none.
        place: The file with its line or row, for messages.
        digest: A hash of the tests.
    """

    __test__ = False  # not a test class, whatever pytest thinks of its name

    problem_id: str
    tests: Tests
    data_source: str
    place: str
    digest: str


@dataclass(frozen=True, slots=True)
class Solution:
    """One program, or one response that holds one.

    Args:
        problem_id: The problem that it solves.
        index: Which of the problem's solutions this is, from 0, in the order of the file.
        text: The program or the response.
        is_response: Which of the two.
        label: The verdict that it is known to deserve: the value of a `Verdict`, REJECTED, or None.
        place: The file with its line, for messages.
    """

    problem_id: str
    index: int
    text: str
    is_response: bool
    label: str | None
    place: str

    @property
    def is_reference(self) -> bool:
        """Whether it is said to pass; where nothing is said, it is taken for one that does."""
        return self.label in (None, Verdict.ACCEPTED.value)


def read_problems(file: Path) -> dict[str, TestedProblem]:
    """All problems of a file, or of the splits in a folder that `prepare` wrote, by id.

    Args:
        file: Parquet or JSONL; told apart by content.

    Raises:
        DataError: The file cannot be read, a row lacks something, ids are not unique, or tests are malformed.
    """
    problems: dict[str, TestedProblem] = {}
    malformed: list[str] = []
    repeated: dict[str, None] = {}
    for place, row in _rows(file):
        problem_id = problem_id_of(row, place)
        if problem_id in problems:
            repeated[problem_id] = None
            continue
        try:
            tests = tests_of(row)
        except TestsFormatError as error:
            malformed.append(f"{place}: problem {problem_id}: {error}")
            continue
        digest = hashlib.sha256(tests.to_json().encode()).hexdigest()
        problems[problem_id] = TestedProblem(problem_id, tests, str(row.get("data_source") or ""), place, digest)
    require_none_malformed(malformed)
    if repeated:
        raise DataError(
            f"{file}: problem ids that stand there more than once: {_some(list(repeated))}; "
            "each problem needs its own problem_id (parquet: extra_info.problem_id)"
        )
    if not problems:
        raise DataError(f"{file} holds no problem; it needs at least one")
    return problems


def require_none_malformed(found: list[str]) -> None:
    """Refuse a file of problems some of whose tests cannot be used.

    Args:
        found: For each of them the place, the problem and what is wrong.

    Raises:
        DataError: There is one; the message shows a few.
    """
    if found:
        more = f"\n  … and {len(found) - SHOWN} more problems" if len(found) > SHOWN else ""
        raise DataError(
            "tests that cannot be judged by; correct them, or leave these problems and their solutions out:\n  "
            + "\n  ".join(found[:SHOWN])
            + more
        )


def read_solutions(file: Path) -> Iterator[Solution]:
    """Yield the solutions one by one; none is kept.

    Raises:
        DataError: The file cannot be read or is empty, or a line lacks something.
    """
    counts: Counter[str] = Counter()
    for place, row in json_lines(file):
        problem_id = identifier(row.get("problem_id"), "problem_id", place)
        given = [key for key in ("response", "code") if row.get(key) is not None]
        if len(given) != 1:
            what = "both response and code" if given else "neither response nor code"
            raise DataError(f"{place} has {what}; give a model's answer as response, or a bare program as code")
        text = row[given[0]]
        if not isinstance(text, str):
            raise DataError(f"{place}: {given[0]} has to be a text, not {type(text).__name__}")
        label = _label(row.get("verdict"), place)
        yield Solution(problem_id, counts[problem_id], text, given[0] == "response", label, place)
        counts[problem_id] += 1
    if not counts:
        raise DataError(f"{file} holds no solution; it needs at least one")


def require_known(unknown: Counter[str], solutions: Path, problems: Path) -> None:
    """Refuse solutions of problems that are not there.

    Args:
        unknown: How many solutions name each problem that is not in the file of problems.
        solutions, problems: The files, for the message.

    Raises:
        DataError: There is one.
    """
    if unknown:
        raise DataError(
            f"{solutions}: {unknown.total()} of the solutions name a problem that is not in {problems}: "
            f"{_some(list(unknown))}; problem_id has to be the same in both files"
        )


def _rows(file: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    parts = [file / name for name in PARTS if (file / name).exists()] if file.is_dir() else [file]
    if not parts:
        raise DataError(f"{file} holds neither {' nor '.join(PARTS)}; name a file, or a folder that `prepare` wrote")
    for part in parts:
        yield from _parquet_rows(part) if is_parquet(part) else json_lines(part)


def is_parquet(file: Path) -> bool:
    try:
        with file.open("rb") as stream:
            magic = stream.read(4)
    except OSError as error:
        raise DataError(f"cannot read {file}: {error.strerror}") from None
    if file.suffix in (".csv", ".tsv"):
        raise DataError(f"{file}: CSV is not read; write each row as one JSON object a line")
    if file.suffix == ".parquet" and magic != b"PAR1":
        raise DataError(f"{file} is not a parquet file, whatever its name says; write it again")
    return magic == b"PAR1"


def _parquet_rows(file: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    number = 0
    try:
        with pq.ParquetFile(file) as parquet:
            present = parquet.schema_arrow.names
            missing = [name for name in _PARQUET_COLUMNS if name not in present]
            if missing:
                raise DataError(
                    f"{file} has no column {' and no column '.join(missing)}, only {', '.join(present)}; "
                    "write it as verl reads it, or use JSONL"
                )
            wanted = [name for name in (*_PARQUET_COLUMNS, "data_source") if name in present]
            for batch in parquet.iter_batches(batch_size=256, columns=wanted):
                for row in batch.to_pylist():
                    number += 1
                    yield f"{file}: row {number}", row
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"cannot read {file} after row {number}: {error}; write it again") from None


def json_lines(file: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    try:
        with file.open("rb") as stream:
            for number, line in enumerate(stream, start=1):
                if line.strip():
                    yield f"{file}:{number}", json_object(line, f"{file}:{number}")
    except OSError as error:
        raise DataError(f"cannot read {file}: {error.strerror}") from None


def json_object(line: bytes, place: str) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{place} is not JSON: {error}; each line has to be one JSON object, not a list") from None
    if not isinstance(row, dict):
        raise DataError(f"{place} is a JSON {type(row).__name__}; each line has to be one JSON object")
    return row


def problem_id_of(row: Mapping[str, Any], place: str) -> str:
    info = _mapping(row.get("extra_info"))
    found = [(row.get(key), key) for key in ID_KEYS]
    found += [(info.get(key), f"extra_info.{key}") for key in ("problem_id", "index")]
    for value, name in found:
        if value is not None:
            return identifier(value, name, place)
    return identifier(None, "extra_info.problem_id" if "reward_model" in row else "problem_id", place)


def identifier(value: object, name: str, place: str) -> str:
    if (isinstance(value, int) and not isinstance(value, bool)) or (isinstance(value, str) and value):
        return str(value)
    what = "is missing" if value is None else f"is {value!r}"
    raise DataError(f"{place}: {name} {what}; it has to be a text that names one problem")


def tests_of(row: Mapping[str, Any]) -> Tests:
    """The tests of a row in any layout that `prepare` reads.

    Raises:
        TestsFormatError: There are none, they are malformed, or they need a checker.
    """
    try:
        tests = find_tests(row)
    except DataError as error:  # a column of the wrong type
        raise TestsFormatError(str(error)) from None
    if tests is None:
        raise TestsFormatError(f"holds no tests: {where_tests_are_read(row)}")
    return tests


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _label(value: object, place: str) -> str | None:
    if value is None:
        return None
    words = str(value).upper().replace("-", " ").replace("_", " ").split()
    known = _LABELS.get("_".join(words))
    if known is None:
        raise DataError(
            f"{place}: verdict {value!r} is no known label; known are {', '.join(sorted(_LABELS)).lower()}; "
            "leave it out if the verdict is not known"
        )
    return known


def _some(names: list[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more
