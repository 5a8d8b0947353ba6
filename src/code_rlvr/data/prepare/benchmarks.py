"""Statements of the benchmarks that a set must not contain.

Covered: reading them, with a name for each.  Not covered: comparing (`data.contamination`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from code_rlvr.data.prepare.inputs import Input
from code_rlvr.data.sources.columns import name_of
from code_rlvr.data.sources.source import Drop, Row, Source
from code_rlvr.data.sources.statements import any_statement
from code_rlvr.errors import DataError, TestsFormatError


@dataclass(frozen=True, slots=True)
class Benchmarks:
    """Problems that must not be trained or tuned on.

    Args:
        statements: A name and the statement of each.
        unreadable: How many rows have no statement, so that nothing is kept out for them.
        hashes: What the files are known by.
    """

    statements: tuple[tuple[str, str], ...]
    unreadable: int
    hashes: tuple[str, ...]


def read_benchmarks(inputs: Sequence[Input]) -> Benchmarks:
    """Read the statements of benchmarks.

    Raises:
        DataError: A file or a row is not of its layout.
    """
    statements: list[tuple[str, str]] = []
    unreadable = 0
    for one in inputs:
        for _, batches in one.file.blocks(one.source):
            for place, row in (place_and_row for batch in batches for place_and_row in batch.rows):
                statement = _statement(place, row, one.source)
                if statement:
                    statements.append((name_of(row) or place, statement))
                else:
                    unreadable += 1
    return Benchmarks(tuple(statements), unreadable, tuple(one.file.content_hash() for one in inputs))


def _statement(place: str, row: Row, source: Source) -> str:
    """What a model would be asked, whether or not the row's tests are any good."""
    try:
        problem = source.read(row)
    except TestsFormatError:
        return any_statement(row)
    except DataError as error:
        raise DataError(f"{place}: {error}") from None
    return any_statement(row) if isinstance(problem, Drop) else problem.statement
