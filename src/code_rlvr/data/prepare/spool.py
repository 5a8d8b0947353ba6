"""Candidates on disk between reading rows and choosing among them, so that memory stays small and work is kept.

A folder with a part for each block of each input file: `NUMBER.parquet` with the candidates, and `NUMBER.json` with
the rows that became none, which appears last and says that the part is whole.

Covered: writing and reading parts; starting anew if anything that they depend on has changed.
Not covered: what makes a row a candidate (`scan`), which of them stay (`select`).
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

import pyarrow as pa
import pyarrow.parquet as pq

from code_rlvr.data.sources.source import Reason
from code_rlvr.whole_file import whole_file

Split = Literal["train", "validation"]
SPLITS: tuple[Split, ...] = ("train", "validation")

_SCHEMA = pa.schema(
    [
        *((name, pa.string()) for name in ("problem_id", "row_id", "place", "data_source", "statement", "tests")),
        ("references", pa.list_(pa.string())),
        *((name, pa.int64()) for name in ("tokens", "tests_given", "tests_kept")),
    ]
)
_READ_AT_ONCE = 64


@dataclass(frozen=True, slots=True)
class Candidate:
    """A row that can be trained on.

    Args:
        problem_id: From its content, so that it is the same wherever the row stands.
        row_id: What the source calls it; "" if it has no name there.
        place: File and row, for messages.
        data_source: The name under which metrics of this problem are grouped.
        statement: The bare text of the problem.
        tests: The canonical text of those that stay.
        references: Programs that are said to pass.
        tokens: Of the whole prompt.
        tests_given, tests_kept: How many there were, and how many stay.
    """

    problem_id: str
    row_id: str
    place: str
    data_source: str
    statement: str
    tests: str
    references: tuple[str, ...]
    tokens: int
    tests_given: int
    tests_kept: int


@dataclass(frozen=True, slots=True)
class DroppedRow:
    """A row that cannot be trained on, and why."""

    place: str
    row_id: str
    reason: Reason
    detail: str


@dataclass(frozen=True, slots=True)
class PartSummary:
    """What became of the rows of one block.

    Args:
        rows: How many it has.
        not_code: How many of them are of other abilities; only counted.
        dropped: Those of the rest that are no candidates.
        candidates: How many are.
    """

    rows: int
    not_code: int
    dropped: tuple[DroppedRow, ...]
    candidates: int


class PartWriter:
    """Takes the outcome of a block's rows."""

    def __init__(self, writer: Any) -> None:
        self._writer = writer
        self.rows = self.not_code = self.candidates = 0
        self.dropped: list[DroppedRow] = []

    def add(self, candidates: Sequence[Candidate]) -> None:
        """Write some candidates, in order."""
        if candidates:
            self.candidates += len(candidates)
            self._writer.write_table(pa.Table.from_pylist([asdict(one) for one in candidates], schema=_SCHEMA))


class Spool:
    """The folder of parts; a context manager that removes it when all went well.

    Args:
        folder: Made if it does not exist.
        made_for: Everything that parts depend on; parts made for anything else are removed.
    """

    def __init__(self, folder: Path, made_for: Mapping[str, Any]) -> None:
        self._folder = folder
        note, text = folder / "made_for.json", json.dumps(made_for, sort_keys=True, indent=1)
        if folder.exists() and (not note.exists() or note.read_text("utf-8") != text):
            shutil.rmtree(folder)
        folder.mkdir(parents=True, exist_ok=True)
        note.write_text(text, "utf-8")

    def __enter__(self) -> Spool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            shutil.rmtree(self._folder)

    def finished(self, split: Split, file: int) -> dict[int, PartSummary]:
        """The parts of one input file that are whole, by block."""
        found = {}
        for path in self._folder.glob(f"{split}-{file:04d}-*.json"):
            found[int(path.stem.rpartition("-")[2])] = _read_summary(path)
        return dict(sorted(found.items()))

    @contextmanager
    def part(self, split: Split, file: int, block: int) -> Iterator[PartWriter]:
        """Write one part; it counts only if the block ends without an exception."""
        path = self._path(split, file, block)
        with pq.ParquetWriter(path, _SCHEMA) as writer:
            part = PartWriter(writer)
            yield part
        summary = PartSummary(part.rows, part.not_code, tuple(part.dropped), part.candidates)
        with whole_file(path.with_suffix(".json")) as unfinished:
            unfinished.write_text(json.dumps(asdict(summary)), "utf-8")

    def summaries(self, split: Split) -> Iterator[PartSummary]:
        """What became of all rows, in the order of files and blocks."""
        for path in sorted(self._folder.glob(f"{split}-*.json")):
            yield _read_summary(path)

    def candidates(self, split: Split, columns: Sequence[str] | None = None) -> Iterator[dict[str, Any]]:
        """All candidates, in the order of files and rows.

        Args:
            split: Of which split.
            columns: Which fields of `Candidate`; all if None.
        """
        for path in sorted(self._folder.glob(f"{split}-*.json")):
            with pq.ParquetFile(path.with_suffix(".parquet")) as parquet:
                for batch in parquet.iter_batches(batch_size=_READ_AT_ONCE, columns=columns):
                    yield from batch.to_pylist()

    def _path(self, split: Split, file: int, block: int) -> Path:
        return self._folder / f"{split}-{file:04d}-{block:06d}.parquet"


def _read_summary(path: Path) -> PartSummary:
    fields = json.loads(path.read_text("utf-8"))
    dropped = tuple(DroppedRow(**{**row, "reason": Reason(row["reason"])}) for row in fields.pop("dropped"))
    return PartSummary(**fields, dropped=dropped)
