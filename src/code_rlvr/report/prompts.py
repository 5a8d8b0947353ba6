"""The prompts of a few problems, from the parquet that the run was trained on.

Verdict records name a problem and do not repeat its text.  A run whose data has moved away has no prompts.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Set
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

_SURROGATE = re.compile("[\ud800-\udfff]")


def find_prompts(files: Collection[Path], problem_ids: Set[str]) -> dict[str, str]:
    """Look prompts up by problem.

    Args:
        files: verl's parquet; those that cannot be read are passed over.
        problem_ids: What to look for.

    Returns:
        Problem id to the text of its prompt, for those found.
    """
    found: dict[str, str] = {}
    for file in files:
        for row in _read_rows(file, problem_ids - found.keys()):
            problem_id = row["extra_info"]["problem_id"]
            if problem_id not in found:
                turns = [turn for turn in row["prompt"] or [] if isinstance(turn, dict)]
                found[problem_id] = "\n\n".join(str(turn.get("content", "")) for turn in turns)
    return found


def _read_rows(file: Path, problem_ids: Set[str]) -> list[dict[str, Any]]:
    if not problem_ids:
        return []
    known = sorted(one for one in problem_ids if not _SURROGATE.search(one))  # which no parquet can hold
    try:
        table = pq.read_table(file, columns=["prompt", "extra_info"])
        wanted = pc.is_in(pc.struct_field(table["extra_info"], "problem_id"), pa.array(known, pa.string()))
        rows: list[dict[str, Any]] = table.filter(wanted).to_pylist()
    except (OSError, KeyError, pa.ArrowException):
        return []
    return rows
