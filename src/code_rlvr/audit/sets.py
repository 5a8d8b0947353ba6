"""What `audit` reads: a set of problems, row by row, with nothing kept.

| set | files |
|---|---|
| a parquet file | as verl reads it: `prompt`, `reward_model`, `extra_info` |
| a JSONL file | as `verify` reads it; a statement in `prompt` (chat list or text) or `statement` |
| a folder | `train.parquet`, `validation.parquet` or both; `solutions.jsonl` if it is there |

Covered: which files a set has, their rows, what is a fault of the whole file.
Not covered: faults of one row's tests or prompt, which are findings; solutions (`references`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from code_rlvr.data.set_files import PARTS, SOLUTIONS
from code_rlvr.errors import DataError, TestsFormatError
from code_rlvr.ground_truth import Tests
from code_rlvr.verify import inputs

BATCH = 32  # rows decoded at once; the tests of one can be megabytes
_COLUMNS = ("prompt", "reward_model", "extra_info", "data_source")
_HASH_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class SetFile:
    """One file of problems.

    Args:
        path: Where it is.
        is_parquet: Whether it is parquet; else it is JSONL.
        rows: How many problems it holds.
        sha256: Of its bytes.
    """

    path: Path
    is_parquet: bool
    rows: int
    sha256: str


@dataclass(frozen=True, slots=True)
class ProblemSet:
    """A set of problems.

    Args:
        path: What was given: a file or a folder.
        files: At least one; training problems come first.
        solutions: The file of reference solutions; None if there is none.
    """

    path: Path
    files: tuple[SetFile, ...]
    solutions: Path | None

    @property
    def rows(self) -> int:
        """How many problems it holds."""
        return sum(file.rows for file in self.files)


@dataclass(frozen=True, slots=True)
class Row:
    """One problem as it stands in its file.

    Args:
        file: Which of the set's files it is in, from 0.
        number: Which of that file's problems it is, from 0.
        place: The file with its line or row, for messages.
        problem_id, data_source: As in the row; the source may be empty.
        prompt: Everything that the model is told; None if the row has no field for it.
        statement: The user's messages only.
        prompt_fault: What is wrong with the prompt; "" if nothing.
    """

    file: int
    number: int
    place: str
    problem_id: str
    data_source: str
    prompt: str | None
    statement: str
    prompt_fault: str
    _given: Mapping[str, Any] = field(repr=False)

    def tests(self) -> Tests:
        """Its tests.

        Raises:
            TestsFormatError: If they are malformed.
        """
        try:
            return inputs.tests_of(self._given)
        except RecursionError:
            raise TestsFormatError("is nested too deeply to be read", field="ground_truth") from None


def open_set(path: Path, solutions: Path | None = None) -> ProblemSet:
    """Look at a set, and read its files once for their hashes.

    Args:
        path: A file, or a folder that holds one of `PARTS`.
        solutions: A file of solutions in place of the folder's own.

    Raises:
        DataError: There is no such file, or it is none of the three; or it holds no problem.
    """
    if path.is_dir():
        parts = [path / name for name in PARTS if (path / name).exists()]
        if not parts:
            raise DataError(
                f"{path} holds neither {' nor '.join(PARTS)}; name a file, or a folder that `prepare` wrote"
            )
        if solutions is None and (path / SOLUTIONS).exists():
            solutions = path / SOLUTIONS
    else:
        parts = [path]
    files = tuple(file for file in map(_look_at, parts) if file.rows)
    if not files:
        raise DataError(f"{path} holds no problem; it needs at least one")
    return ProblemSet(path, files, solutions)


def _look_at(path: Path) -> SetFile:
    is_parquet = inputs.is_parquet(path)
    digest, lines, ended = hashlib.sha256(), 0, True
    try:
        if is_parquet:
            with pq.ParquetFile(path) as parquet:
                _require_columns(path, parquet.schema_arrow.names)
                lines = parquet.metadata.num_rows
        with path.open("rb") as stream:
            while block := stream.read(_HASH_BYTES):
                digest.update(block)
                if not is_parquet:
                    lines, ended = lines + block.count(b"\n"), block.endswith(b"\n")
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"cannot read {path}: {error}; write it again") from None
    return SetFile(path, is_parquet, lines + (not ended), digest.hexdigest())


def _require_columns(path: Path, present: list[str]) -> None:
    missing = [name for name in ("reward_model", "extra_info") if name not in present]
    if missing:
        raise DataError(
            f"{path} has no column {' and no column '.join(missing)}, only {', '.join(present)}; "
            "write it as verl reads it, or use JSONL"
        )


def read_rows(problems: ProblemSet) -> Iterator[Row]:
    """Yield the problems in order; of no file more than a few are in memory.

    Raises:
        DataError: A file cannot be read to its end, a line is no object, or a row has no id.
    """
    for index, file in enumerate(problems.files):
        numbered = _parquet_rows(file.path) if file.is_parquet else inputs.json_lines(file.path)
        for number, (place, given) in enumerate(numbered):
            problem_id = inputs.problem_id_of(given, place)
            source = str(given.get("data_source") or "")
            yield Row(index, number, place, problem_id, source, *_read_prompt(given, file.is_parquet), given)


def _parquet_rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    number = 0
    try:
        with pq.ParquetFile(path, pre_buffer=False, buffer_size=1 << 20) as parquet:  # not a whole column at once
            wanted = [name for name in _COLUMNS if name in parquet.schema_arrow.names]
            for batch in parquet.iter_batches(batch_size=BATCH, columns=wanted):
                for row in batch.to_pylist():
                    number += 1
                    yield f"{path}: row {number}", row
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"cannot read {path} after row {number}: {error}; write it again") from None


def _read_prompt(given: Mapping[str, Any], is_parquet: bool) -> tuple[str | None, str, str]:
    """The whole prompt, the user's part of it, and what is wrong with it."""
    keys = [key for key in ("prompt", "statement") if key in given]
    if not keys:
        return None, "", ""
    prompt = given[keys[0]]
    if isinstance(prompt, str) and not is_parquet:
        return prompt, prompt, ""
    if not isinstance(prompt, list) or not prompt:
        return "", "", f"{keys[0]} is {type(prompt).__name__ if prompt != [] else 'empty'}, not a list of messages"
    for i, turn in enumerate(prompt):
        if not isinstance(turn, dict) or not all(isinstance(turn.get(key), str) for key in ("role", "content")):
            return "", "", f"{keys[0]}[{i}] is not a message with a role and a content, both texts"
    asked = [turn["content"] for turn in prompt if turn["role"] == "user"]
    fault = "" if asked else f"{keys[0]} has no message of the user"
    return "\n\n".join(turn["content"] for turn in prompt), "\n\n".join(asked), fault
