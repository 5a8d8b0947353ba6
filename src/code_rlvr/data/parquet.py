"""verl's native parquet: one row per problem, written and read in one place.

Columns: ``prompt`` (chat list), ``reward_model`` {style, ground_truth}, ``data_source``, ``ability`` and
``extra_info`` {index, split, problem_id}.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from code_rlvr.data.prompts import build_prompt
from code_rlvr.types import Problem
from code_rlvr.whole_file import whole_file

ROWS_AT_ONCE = 256  # in memory, and in a row group
SCHEMA = pa.schema(
    {
        "data_source": pa.string(),
        "prompt": pa.list_(pa.struct({"content": pa.string(), "role": pa.string()})),
        "ability": pa.string(),
        "reward_model": pa.struct({"ground_truth": pa.string(), "style": pa.string()}),
        "extra_info": pa.struct({"index": pa.int64(), "problem_id": pa.string(), "split": pa.string()}),
    }
)


def write_parquet(file: Path, problems: Iterable[Problem], *, split: str, instruction: str | None = None) -> int:
    """Write problems as verl reads them; the file appears whole or not at all.

    Args:
        file: Where to; its folder must exist.
        problems: In the order in which they are numbered; a few hundred of them are in memory at a time.
        split: ``"train"`` or ``"validation"``; the reward function learns from it what it judges.
        instruction: See `build_prompt`.

    Returns:
        How many there were.
    """
    rows = (
        {
            "data_source": problem.data_source,
            "prompt": build_prompt(problem.statement, problem.tests, instruction),
            "ability": "code",
            "reward_model": {"style": "rule", "ground_truth": problem.tests.to_json()},
            "extra_info": {"index": index, "split": split, "problem_id": problem.problem_id},
        }
        for index, problem in enumerate(problems)
    )
    written = 0
    with whole_file(file) as unfinished, pq.ParquetWriter(unfinished, SCHEMA) as writer:
        while some := list(itertools.islice(rows, ROWS_AT_ONCE)):
            writer.write_table(pa.Table.from_pylist(some, schema=SCHEMA))
            written += len(some)
    return written
