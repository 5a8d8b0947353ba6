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

from code_rlvr.report.regular_file import open_regular

_SURROGATE = re.compile("[\ud800-\udfff]")


def find_prompts(files: Collection[Path], problem_ids: Set[str], damaged: list[Path]) -> dict[str, str]:
    """Look prompts up by problem.

    Args:
        files: verl's parquet; those that are not there are passed over.
        problem_ids: What to look for.
        damaged: Gets those that are there and cannot be read.

    Returns:
        Problem id to the text of its prompt, for those found.
    """
    found: dict[str, str] = {}
    for file in files:
        for row in _read_rows(file, problem_ids - found.keys(), damaged):
            problem_id = row["extra_info"]["problem_id"]
            if problem_id not in found:
                prompt = row["prompt"] if isinstance(row["prompt"], list) else []
                turns = [turn for turn in prompt if isinstance(turn, dict)]
                found[problem_id] = "\n\n".join(str(turn.get("content", "")) for turn in turns)
    return found


def _read_rows(file: Path, problem_ids: Set[str], damaged: list[Path]) -> list[dict[str, Any]]:
    if not problem_ids or not file.exists():
        return []
    known = sorted(one for one in problem_ids if not _SURROGATE.search(one))  # which no parquet can hold
    try:
        with open_regular(file) as opened:
            table = pq.read_table(opened, columns=["prompt", "extra_info"])
        wanted = pc.is_in(pc.struct_field(table["extra_info"], "problem_id"), pa.array(known, pa.string()))
        rows: list[dict[str, Any]] = table.filter(wanted).to_pylist()
    except (OSError, KeyError, ValueError, pa.ArrowException):  # ValueError: text that is no UTF-8
        damaged.append(file)
        return []
    return rows
