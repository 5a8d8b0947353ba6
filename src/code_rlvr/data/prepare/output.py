"""Writing a prepared set: problems, solutions, and what became of each row.

Covered: the files but for the manifest.  Not covered: where they finally lie (`run`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from code_rlvr.data.parquet import write_parquet
from code_rlvr.data.prepare.select import Choice
from code_rlvr.data.prepare.spool import SPLITS, Split, Spool
from code_rlvr.data.set_files import SOLUTIONS
from code_rlvr.data.sources.source import Drop
from code_rlvr.ground_truth import Tests
from code_rlvr.types import Problem

ROWS = "rows.jsonl"

Choices = Mapping[Split, Sequence[Choice]]


def write_set(folder: Path, spool: Spool, choices: Choices, instruction: str | None) -> dict[str, int]:
    """Write everything that was chosen.

    Args:
        folder: An empty one.
        spool: The candidates.
        choices: What becomes of them, in their order.
        instruction: See `build_prompt`.

    Returns:
        How many problems or lines each file has.
    """
    sizes = {}
    for split in SPLITS:
        file = folder / f"{split}.parquet"
        problems = (_problem(row) for row in _chosen(spool, choices, split))
        sizes[file.name] = write_parquet(file, problems, split=split, instruction=instruction)
    sizes[SOLUTIONS] = _write_lines(folder / SOLUTIONS, _solutions(spool, choices))
    sizes[ROWS] = _write_lines(folder / ROWS, _rows(spool, choices))
    return sizes


def _chosen(spool: Spool, choices: Choices, split: Split) -> Iterator[dict[str, Any]]:
    """The candidates of a split, whichever they were given for, in their order."""
    for given in SPLITS:
        for row, choice in zip(spool.candidates(given), choices[given], strict=True):
            if choice.outcome == split:
                yield row


def _problem(row: Mapping[str, Any]) -> Problem:
    return Problem(row["problem_id"], row["statement"], Tests.parse(row["tests"]), row["data_source"])


def _solutions(spool: Spool, choices: Choices) -> Iterator[dict[str, Any]]:
    for split in SPLITS:
        for row in _chosen(spool, choices, split):
            for code in row["references"]:
                yield {"problem_id": row["problem_id"], "code": code, "verdict": "accepted"}


def _rows(spool: Spool, choices: Choices) -> Iterator[dict[str, Any]]:
    columns = ["problem_id", "row_id", "place", "tokens", "tests_given", "tests_kept"]
    for split in SPLITS:
        for row, choice in zip(spool.candidates(split, columns), choices[split], strict=True):
            why = choice.outcome
            outcome = {"outcome": why.reason.value, "detail": why.detail} if isinstance(why, Drop) else {"outcome": why}
            yield {**row, **outcome}
        for part in spool.summaries(split):
            for gone in part.dropped:
                yield {
                    "row_id": gone.row_id,
                    "place": gone.place,
                    "outcome": gone.reason.value,
                    "detail": gone.detail,
                }


def _write_lines(file: Path, lines: Iterator[dict[str, Any]]) -> int:
    written = 0
    with file.open("w", encoding="utf-8") as stream:
        for line in lines:
            stream.write(json.dumps(line) + "\n")
            written += 1
    return written
