"""Whether data are fit to be trained on, files, columns, tests, and a critic to the model.

Covered: one message for the first thing that is wrong, with the remedy.  Not covered: whether a folder
is a model (`usable_model`), what prompts say (`prompts`), the machine (`machine`, `gpu`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from code_rlvr.errors import DataError, ModelError, TestsFormatError
from code_rlvr.ground_truth import Tests
from code_rlvr.usable_model import load_tokenizer

TESTS_COLUMNS = ["reward_model", "extra_info"]

PARSED_MIB = 16.0
"""Tests of a file that are parsed, which takes up to a second; of more, a sample spread over the file.

`code-rlvr prepare` has parsed every one already; this is for files that come from elsewhere."""


def check_critic(model: Path, critic: Path) -> int:
    """Check that a critic of its own reads the tokens that the model writes.

    Returns:
        How many tokens they share, all of them.

    Raises:
        ModelError: A token means something else to the critic, or nothing.
    """
    written, read = _vocabulary(model), _vocabulary(critic)
    strange = [token for token, number in written.items() if read.get(token) != number]
    if strange:
        raise ModelError(
            f"{len(strange):,} of {len(written):,} tokens of {model} mean something else in {critic}, {strange[0]!r} "
            "among them, and a critic is given the numbers of the model's tokens; set critic.model to a model of the "
            "same family, or to nothing (critic.model=) to start from the model itself"
        )
    return len(written)


def _vocabulary(folder: Path) -> dict[str, int]:
    return dict(load_tokenizer(folder).get_vocab())


def check_data(file: Path, minimum: int) -> str:
    """Check that `file` is verl's parquet with at least `minimum` rows.

    Returns:
        How many rows' tests were read, of how many.

    Raises:
        DataError: It is missing, unreadable, too short or lacks a column.
        TestsFormatError: The tests of a row are malformed.
    """
    if not file.is_file():
        raise DataError(f"{file} does not exist; make it with: code-rlvr prepare")
    try:
        parquet = pq.ParquetFile(file)
    except pa.ArrowInvalid:
        raise DataError(
            f"{file} is no parquet file; make one of it with: code-rlvr prepare {file} --out FOLDER"
        ) from None
    with parquet:
        _check_columns(file, parquet.schema_arrow)
        rows = parquet.metadata.num_rows
        if rows < minimum:
            raise DataError(f"{file} has {rows} rows, fewer than the {minimum} of one batch")
        parsed = _check_ground_truths(file, parquet)
    return f"{rows:,}" if parsed == rows else f"a sample of {parsed:,} of {rows:,}"


def _check_columns(file: Path, schema: pa.Schema) -> None:
    missing = {"prompt", "reward_model", "data_source", "extra_info"} - set(schema.names)
    if missing:
        raise DataError(f"{file} lacks the columns {sorted(missing)}; make it with: code-rlvr prepare")
    if not pa.types.is_list(schema.field("prompt").type):
        raise DataError(f"{file}: prompt must be a list of chat messages, not {schema.field('prompt').type}")


def _check_ground_truths(file: Path, parquet: pq.ParquetFile) -> int:
    """Parse the tests of rows: a row without usable tests would lose its samples in every step.  Returns how many."""
    parsed = 0
    for row, reward_model, extra_info in rows_to_parse(parquet):
        try:
            Tests.parse(reward_model["ground_truth"], extra_info)
        except TestsFormatError as error:
            raise TestsFormatError(error.message, error.field, row=f"{row} of {file}") from None
        parsed += 1
    return parsed


def rows_to_parse(parquet: pq.ParquetFile) -> Iterator[tuple[int, dict[str, Any], dict[str, Any]]]:
    """Rows, each with its number, `reward_model` and `extra_info`.

    All of them, or of every so-manieth row group its first rows, as many as make about `PARSED_MIB` together.
    """
    metadata = parquet.metadata
    every = max(1, math.ceil(tests_mib(parquet) / PARSED_MIB))
    groups = range(0, metadata.num_row_groups, every)
    of_each = metadata.num_rows if every == 1 else math.ceil(metadata.num_rows / every / len(groups))
    for group in groups:
        row = sum(metadata.row_group(before).num_rows for before in range(group))
        end = row + of_each
        for batch in parquet.iter_batches(batch_size=256, row_groups=[group], columns=TESTS_COLUMNS):
            for reward_model, extra_info in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                yield row, reward_model, extra_info
                row += 1
            if row >= end:
                break


def tests_mib(parquet: pq.ParquetFile) -> float:
    """Size of a file's tests, uncompressed, by its own bookkeeping."""
    metadata, total = parquet.metadata, 0
    for group in map(metadata.row_group, range(metadata.num_row_groups)):
        chunks = map(group.column, range(group.num_columns))
        total += sum(
            chunk.total_uncompressed_size for chunk in chunks if chunk.path_in_schema.split(".")[0] in TESTS_COLUMNS
        )
    return total / 2**20
