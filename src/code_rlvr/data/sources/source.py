"""What a source is: a named way to read one data set's rows as problems.

Covered: the types that sources and `prepare` share.
Not covered: each source's own layout (its module), files (`rows`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from code_rlvr.types import Problem

Row = Mapping[str, Any]


class Reason(str, Enum):
    """Why a row does not become a problem of the prepared set; the order is that of the checks."""

    NOT_CODE = "not_code"
    NO_TESTS = "no_tests"
    MALFORMED_TESTS = "malformed_tests"
    NEEDS_CHECKER = "needs_checker"
    NO_STATEMENT = "no_statement"
    TESTS_TOO_LARGE = "tests_too_large"
    OVERLONG = "overlong"
    DUPLICATE = "duplicate"
    NEAR_DUPLICATE = "near_duplicate"
    IN_VALIDATION = "in_validation"
    IN_BENCHMARK = "in_benchmark"
    NOT_SAMPLED = "not_sampled"


@dataclass(frozen=True, slots=True)
class Drop:
    """A row that becomes no problem.

    Args:
        reason: The kind of reason, to be counted.
        detail: What exactly, for whoever looks at this row.
    """

    reason: Reason
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Source:
    """A data set's layout.

    Args:
        name: What the command line calls it, as in `taco=FILE`.
        read: One row as a problem, or why it is none.  Its `problem_id` is the row's own id, "" if it has none;
            `TestsFormatError` for malformed tests, `DataError` for a row that is not of this layout.
        marks: Keys that every row has, and by which the layout is recognised.
        columns: What `read` looks at; of a parquet file nothing else is read.
        is_code: Whether a row is worth reading at all, by its `glance` columns alone; None for always.
        glance: The small columns that `is_code` looks at.
    """

    name: str
    read: Callable[[Row], Problem | Drop]
    marks: frozenset[str]
    columns: tuple[str, ...]
    is_code: Callable[[Row], bool] | None = None
    glance: tuple[str, ...] = ()
