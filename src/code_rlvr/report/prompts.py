"""The prompts of a few problems, from the parquet that the run was trained on.

Verdict records name a problem and do not repeat its text.  A run whose data has moved away has no prompts.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq


def find_prompts(files: Collection[Path], problem_ids: Collection[str]) -> dict[str, str]:
    """Look prompts up by problem.

    Args:
        files: verl's parquet; those that cannot be read are passed over.
        problem_ids: What to look for.

    Returns:
        Problem id to the text of its prompt, for those found.
    """
    found: dict[str, str] = {}
    for file in files:
        for row in _read_rows(file):
            problem_id = (row.get("extra_info") or {}).get("problem_id")
            if isinstance(problem_id, str) and problem_id in problem_ids and problem_id not in found:
                found[problem_id] = "\n\n".join(str(turn.get("content", "")) for turn in row["prompt"] or [])
    return found


def _read_rows(file: Path) -> list[dict[str, Any]]:
    try:
        table = pq.read_table(file, columns=["prompt", "extra_info"])
    except (OSError, pa.ArrowException):
        return []
    rows: list[dict[str, Any]] = table.to_pylist()
    return rows
