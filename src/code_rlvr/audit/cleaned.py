"""Writes a set without the problems that have a defect: the same rows, in the same order, otherwise unchanged.

Parquet keeps its schema, metadata included, and its compression; lines of JSONL keep their bytes.  Of a folder the
parts and the solutions of the problems that are left are written; its manifest, if it has one, says so and has the
hashes of the new files.

Covered: a file or a folder that appears whole or not at all.  Not covered: which problems have a defect (`run`).
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from code_rlvr.audit.sets import BATCH, ProblemSet, SetFile
from code_rlvr.data.hashes import hash_of
from code_rlvr.data.set_files import MANIFEST, PARTS, SOLUTIONS
from code_rlvr.errors import DataError
from code_rlvr.verify.inputs import identifier, json_object

GROUP_BYTES = 64 << 20  # of decoded rows, for one row group


def require_usable_out(out: Path, problems: ProblemSet, overwrite: bool) -> None:
    """Refuse a place that the cleaned set cannot go to, before anything is audited.

    Raises:
        DataError: It is a part of the set, it exists and may not be replaced, or there is no folder for it.
    """
    is_folder = problems.path.is_dir()
    inputs = [problems.path, *(file.path for file in problems.files), *filter(None, [problems.solutions])]
    if any(out.exists() and one.exists() and out.samefile(one) for one in inputs):
        raise DataError(f"--drop {out} is what is audited; name another place")
    if not out.parent.is_dir():
        raise DataError(f"--drop {out}: there is no folder {out.parent}; make it first")
    if out.exists() and not overwrite:
        raise DataError(f"--drop {out} exists; name another place, or replace it with --overwrite")
    if out.exists() and out.is_dir() != is_folder:
        raise DataError(
            f"--drop {out} is {'a folder' if out.is_dir() else 'a file'}, unlike the set; name another place"
        )
    others = {one.name for one in out.iterdir()} - {*PARTS, SOLUTIONS, MANIFEST} if out.is_dir() else set()
    if others:
        raise DataError(f"--drop {out} holds more than a set, e.g. {sorted(others)[0]}; name another place")


def write_cleaned(
    out: Path, problems: ProblemSet, defective: Collection[tuple[int, int]], kept_ids: Collection[str], overwrite: bool
) -> None:
    """Write what is left of a set.

    Args:
        out: A file for a file, a folder for a folder.
        problems: The set.
        defective: Which problems are left out, by file and number.
        kept_ids: The ids of the others, for the solutions.
        overwrite: Whether `out` may exist.

    Raises:
        DataError: A file would be left without a problem, or cannot be read or written.
    """
    for index, file in enumerate(problems.files):
        if sum(one == index for one, _ in defective) >= file.rows:
            raise DataError(f"every problem of {file.path} has a defect: there is nothing to write to {out}")
    try:
        with _unfinished(out) as unfinished:
            if problems.path.is_dir():
                unfinished.mkdir()
                for index, file in enumerate(problems.files):
                    _write_part(unfinished / file.path.name, file, _numbers(defective, index))
                if problems.solutions is not None:
                    _write_solutions(unfinished / SOLUTIONS, problems.solutions, kept_ids)
                _write_manifest(unfinished, problems.path / MANIFEST, len(defective))
            else:
                _write_part(unfinished, problems.files[0], _numbers(defective, 0))
            require_usable_out(out, problems, overwrite)  # an audit takes long: something may have come there
            if out.is_dir():
                shutil.rmtree(out)
            os.replace(unfinished, out)
    except (OSError, pa.ArrowException) as error:
        raise DataError(f"cannot write {out}: {error}") from None


def _numbers(defective: Collection[tuple[int, int]], index: int) -> set[int]:
    return {number for file, number in defective if file == index}


@contextmanager
def _unfinished(out: Path) -> Iterator[Path]:
    """A name beside the real one; whatever is left there at the end is removed."""
    unfinished = out.with_name(out.name + ".unfinished")
    _remove(unfinished)
    try:
        yield unfinished
    finally:
        _remove(unfinished)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _write_part(out: Path, file: SetFile, left_out: Collection[int]) -> None:
    if file.is_parquet:
        _write_parquet(out, file.path, left_out)
        return
    with file.path.open("rb") as source, out.open("wb") as target:
        lines = (line for line in source if line.strip())  # the audit numbers these
        target.writelines(line for number, line in enumerate(lines) if number not in left_out)


def _write_parquet(out: Path, path: Path, left_out: Collection[int]) -> None:
    with pq.ParquetFile(path, pre_buffer=False, buffer_size=1 << 20) as parquet:
        schema = parquet.schema_arrow
        with pq.ParquetWriter(out, schema, compression=_compression(parquet)) as writer:
            batches: list[Any] = []
            first = 0
            for batch in parquet.iter_batches(batch_size=BATCH):
                kept = pa.array([number not in left_out for number in range(first, first + len(batch))])
                first += len(batch)
                batches.append(batch.filter(kept))
                if sum(one.nbytes for one in batches) >= GROUP_BYTES:
                    writer.write_table(pa.Table.from_batches(batches, schema))
                    batches = []
            writer.write_table(pa.Table.from_batches(batches, schema))


def _compression(parquet: Any) -> str:
    """The codec of the first column, as the writer calls it."""
    if not parquet.metadata.num_row_groups:
        return "snappy"
    codec = str(parquet.metadata.row_group(0).column(0).compression).lower()
    return {"uncompressed": "none"}.get(codec, codec)


def _write_solutions(out: Path, path: Path, kept_ids: Collection[str]) -> None:
    with path.open("rb") as source, out.open("wb") as target:
        for number, line in enumerate(source, start=1):
            if line.strip():
                place = f"{path}:{number}"
                if identifier(json_object(line, place).get("problem_id"), "problem_id", place) in kept_ids:
                    target.write(line)


def _write_manifest(folder: Path, original: Path, left_out: int) -> None:
    if not original.exists():
        return
    manifest = json.loads(original.read_bytes())
    manifest["cleaned"] = {"left_out": left_out, "of": hash_of(original)}
    sizes = {part: pq.read_metadata(folder / part).num_rows for part in PARTS if (folder / part).exists()}
    if (folder / SOLUTIONS).exists():
        sizes[SOLUTIONS] = len((folder / SOLUTIONS).read_bytes().splitlines())
    manifest["files"] = {name: {"items": size, "sha256": hash_of(folder / name)} for name, size in sizes.items()}
    (folder / MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")
