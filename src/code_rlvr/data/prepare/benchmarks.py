"""Statements of the benchmarks that a set must not contain.

Covered: reading them, with a name for each.  Not covered: comparing (`similarity`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from code_rlvr.data.prepare.inputs import Input
from code_rlvr.data.sources.source import Drop
from code_rlvr.errors import DataError, TestsFormatError


@dataclass(frozen=True, slots=True)
class Benchmarks:
    """Problems that must not be trained or tuned on.

    Args:
        statements: A name and the statement of each.
        unreadable: How many rows could not be read as problems, so that nothing is kept out for them.
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
                try:
                    problem = one.source.read(row)
                except TestsFormatError:
                    problem = None
                except DataError as error:
                    raise DataError(f"{place}: {error}") from None
                if problem is None or isinstance(problem, Drop):
                    unreadable += 1
                else:
                    statements.append((problem.problem_id or place, problem.statement))
    return Benchmarks(tuple(statements), unreadable, tuple(one.file.content_hash() for one in inputs))
