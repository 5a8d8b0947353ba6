"""Rows of data files, block by block, so that any size of file fits in memory and a broken-off job can go on.

| file | told by | a block is |
|---|---|---|
| parquet | its first bytes | a row group, of which only the columns that the source needs are read |
| JSON lines | else; `.gz` is unpacked | 2,000 lines |
| JSON | a first character of `[`, a byte order mark aside | all of it; such a file is read into memory |

Covered: local files, and whatever else can be opened as a stream (`hub`).  Not covered: what a row means (`sources`).
"""

from __future__ import annotations

import codecs
import contextlib
import gzip
import hashlib
import itertools
import json
import zlib
from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass
from typing import IO, Any, Literal

import pyarrow as pa
import pyarrow.parquet as pq

from code_rlvr.data.sources import detect
from code_rlvr.data.sources.source import Row, Source
from code_rlvr.errors import DataError

LINES = 2000  # of JSON in a block
BATCH = 256  # rows of parquet decoded at once
_FIRST_BYTES = 64
_HASH_BYTES = 1 << 20

Kind = Literal["parquet", "array", "lines"]


@dataclass(frozen=True, slots=True)
class Batch:
    """Some rows of a block, in order.

    Args:
        rows: Each with its place, e.g. "train.parquet: row 17"; those that are not worth reading are left out.
        left_out: How many those are.
    """

    rows: list[tuple[str, Row]]
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class DataFile:
    """A file of rows.

    Args:
        name: For messages and the manifest.
        open: Opens it anew, to read bytes.
        revision: What its content is known by without reading it, e.g. a commit; "" if there is no such thing.
        label: For the places of rows, the same wherever the file lies; the name if "".
    """

    name: str
    open: Callable[[], IO[bytes]]
    revision: str = ""
    label: str = ""

    def content_hash(self) -> str:
        """What the content is known by: its revision, or the sha256 of its bytes."""
        if self.revision:
            return self.revision
        digest = hashlib.sha256()
        with self._reading(), self.open() as stream:
            while piece := stream.read(_HASH_BYTES):
                digest.update(piece)
        return f"sha256:{digest.hexdigest()}"

    def count(self) -> int | None:
        """How many rows it has, if that is known without reading it all."""
        if self._kind() != "parquet":
            return None
        with self._parquet() as parquet:
            return int(parquet.metadata.num_rows)

    def detect_source(self) -> Source:
        """The source whose layout its first row has.

        Raises:
            DataError: None has, there is no row, or the file cannot be read.
        """
        if self._kind() == "parquet":
            with self._parquet() as parquet:
                first = next(parquet.iter_batches(batch_size=1), None)
                rows = first.to_pylist() if first is not None else []
        else:
            rows = [row for _, row in itertools.islice(self._objects(), 1)]
        if not rows:
            raise DataError(f"{self.name} holds no row; it needs at least one")
        try:
            return detect(rows[0])
        except DataError as error:
            raise DataError(f"{self.name}: {error}") from None

    def blocks(self, source: Source, done: Container[int] = ()) -> Iterator[tuple[int, Iterator[Batch]]]:
        """Everything in it, in numbered parts that are the same each time.

        Args:
            source: The source whose columns are wanted.
            done: The numbers of parts that need not be read.

        Yields:
            A number, and the rows, which have to be read before the next number is asked for.

        Raises:
            DataError: The file cannot be read as what it is, or lacks a column; also while a part is read.
        """
        kind = self._kind()
        if kind == "parquet":
            yield from self._row_groups(source, done)
        elif kind == "array":
            if 0 not in done:
                yield 0, iter([Batch(list(self._objects()))])
        else:
            yield from self._line_blocks(done)

    @property
    def _label(self) -> str:
        return self.label or self.name

    def _kind(self) -> Kind:
        with self._reading(), self.open() as stream:
            magic = stream.read(_FIRST_BYTES)
        if magic.startswith(b"PAR1"):
            return "parquet"
        if self.name.endswith(".parquet"):
            raise DataError(f"{self.name} is not a parquet file, whatever its name says; write it again")
        if self.name.removesuffix(".gz").endswith((".csv", ".tsv")):
            raise DataError(f"{self.name}: CSV is not read; write each row as one JSON object a line, or as parquet")
        return "array" if magic.removeprefix(codecs.BOM_UTF8).lstrip()[:1] == b"[" else "lines"

    def _row_groups(self, source: Source, done: Container[int]) -> Iterator[tuple[int, Iterator[Batch]]]:
        with self._parquet() as parquet:
            names = parquet.schema_arrow.names
            self._require(source, names)
            first = 1
            for number in range(parquet.metadata.num_row_groups):
                if number not in done:
                    yield number, self._row_group(parquet, source, number, first)
                first += parquet.metadata.row_group(number).num_rows

    def _require(self, source: Source, names: list[str]) -> None:
        missing = [name for name in sorted(source.marks) if name not in names]
        if missing:
            raise DataError(
                f"{self.name} has no column {' and no column '.join(missing)}, only {', '.join(names)}; the layout "
                f"{source.name} needs {', '.join(sorted(source.marks))}; name another with LAYOUT=FILE"
            )

    def _row_group(self, parquet: Any, source: Source, number: int, first: int) -> Iterator[Batch]:
        with self._reading(f"row group {number}: "):
            wanted = _worth_reading(parquet, source, number)
            if not any(wanted):
                yield Batch([], len(wanted))
                return
            columns = [name for name in source.columns if name in parquet.schema_arrow.names]
            for batch in parquet.iter_batches(batch_size=BATCH, row_groups=[number], columns=columns):
                keep, wanted = wanted[: len(batch)], wanted[len(batch) :]
                numbers = [first + i for i, kept in enumerate(keep) if kept]
                rows = _kept(batch, keep)
                places = [f"{self._label}: row {row}" for row in numbers]
                yield Batch(list(zip(places, rows, strict=True)), len(batch) - len(rows))
                first += len(batch)

    @contextlib.contextmanager
    def _parquet(self) -> Iterator[Any]:
        """The open file; of a column it buffers a megabyte and not the whole row group."""
        with self._reading(), self.open() as stream:
            yield pq.ParquetFile(stream, pre_buffer=False, buffer_size=1 << 20)

    def _line_blocks(self, done: Container[int]) -> Iterator[tuple[int, Iterator[Batch]]]:
        lines = self._lines()
        for number in itertools.count():
            block = list(itertools.islice(lines, LINES))
            if not block:
                return
            if number not in done:
                yield number, iter([Batch([self._object(*line) for line in block if line[1].strip()])])

    def _lines(self) -> Iterator[tuple[int, bytes]]:
        with self._reading(), self.open() as raw:
            if self.name.endswith(".gz"):
                with gzip.open(raw) as stream:
                    yield from enumerate(stream, start=1)
            else:
                yield from enumerate(raw, start=1)

    def _objects(self) -> Iterator[tuple[str, Row]]:
        """Every row of a file that is no parquet."""
        if self._kind() == "lines":
            yield from (self._object(*line) for line in self._lines() if line[1].strip())
            return
        with self._reading(), self.open() as stream:
            try:
                rows = json.load(stream)
            except (ValueError, RecursionError) as error:
                raise DataError(f"{self.name} is not JSON: {error}; it has to be one list of objects") from None
        for number, row in enumerate(rows, start=1):
            yield f"{self._label}: row {number}", self._require_object(row, f"row {number}")

    def _object(self, number: int, line: bytes) -> tuple[str, Row]:
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise DataError(f"{self.name}:{number} is not JSON: {error}; each line has to be one object") from None
        return f"{self._label}:{number}", self._require_object(row, f"line {number}")

    def _require_object(self, row: object, place: str) -> Row:
        if not isinstance(row, dict):
            raise DataError(f"{self.name}: {place} is a JSON {type(row).__name__}; it has to be one object")
        return row

    @contextlib.contextmanager
    def _reading(self, part: str = "") -> Iterator[None]:
        try:
            yield
        except (pa.ArrowException, OSError, EOFError, zlib.error) as error:
            reason = getattr(error, "strerror", None) or error
            raise DataError(f"cannot read {self.name}: {part}{reason}; fetch or write it again") from None


def _worth_reading(parquet: Any, source: Source, number: int) -> list[bool]:
    """For each row of a row group whether it is, by its small columns."""
    glance = [name for name in source.glance if name in parquet.schema_arrow.names]
    if source.is_code is None or not glance:
        return [True] * int(parquet.metadata.row_group(number).num_rows)
    rows = parquet.read_row_group(number, columns=glance).to_pylist()
    return [source.is_code(row) for row in rows]


def _kept(batch: Any, keep: list[bool]) -> list[Row]:
    """The rows that are wanted, of any column types."""
    if all(keep):
        return list(batch.to_pylist())
    try:
        return list(batch.filter(pa.array(keep)).to_pylist())
    except pa.ArrowNotImplementedError:  # e.g. views of strings, which only some libraries write
        return [row for row, kept in zip(batch.to_pylist(), keep, strict=True) if kept]
