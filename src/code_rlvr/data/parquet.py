"""verl's native parquet: one row per problem, written and read in one place.

Columns: ``prompt`` (chat list), ``reward_model`` {style, ground_truth}, ``data_source``, ``ability`` and
``extra_info`` {index, split, problem_id}.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from code_rlvr.data.prompts import build_prompt
from code_rlvr.types import Problem


def write_parquet(file: Path, problems: Sequence[Problem], *, split: str, instruction: str | None = None) -> None:
    """Write problems as verl reads them; the file appears whole or not at all.

    Args:
        file: Where to; its folder must exist.
        problems: In the order in which they are numbered.
        split: ``"train"`` or ``"validation"``; the reward function learns from it what it judges.
        instruction: See `build_prompt`.
    """
    rows = [
        {
            "data_source": problem.data_source,
            "prompt": build_prompt(problem.statement, problem.tests, instruction),
            "ability": "code",
            "reward_model": {"style": "rule", "ground_truth": problem.tests.to_json()},
            "extra_info": {"index": index, "split": split, "problem_id": problem.problem_id},
        }
        for index, problem in enumerate(problems)
    ]
    unfinished = file.with_name(file.name + ".unfinished")
    pq.write_table(pa.Table.from_pylist(rows), unfinished)
    os.replace(unfinished, file)
