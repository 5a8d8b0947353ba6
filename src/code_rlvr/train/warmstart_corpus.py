"""What a warm start reads of a set that `prepare` wrote: prompts to train on, and programs said to solve them.

Covered: which programs those are, and the response that each becomes.  Not covered: problems for validation, which stay
unseen; judging the programs (`audit` does).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from code_rlvr.data import set_files
from code_rlvr.data.starter.corpus import fenced
from code_rlvr.errors import DataError
from code_rlvr.verify.inputs import problem_id_of, read_solutions


def read_corpus(folder: Path, solutions: Path | None = None) -> list[tuple[str, str]]:
    """Pair the prompts of a set's training problems with their solutions.

    Args:
        folder: With ``train.parquet``, and ``solutions.jsonl`` unless another file is named.
        solutions: JSONL as `verify` reads it; those with a verdict other than accepted are left out.

    Returns:
        Prompt and response, in the order of the solutions: a response as it stands, a program in a block of code.

    Raises:
        DataError: A file is missing or cannot be read, a prompt is more than one message of the user, or no training
            problem has a solution.
    """
    train, solutions = folder / set_files.TRAIN, solutions or folder / set_files.SOLUTIONS
    for file in (train, solutions):
        if not file.is_file():
            raise DataError(
                f"{file} does not exist; name a folder that `code-rlvr prepare` wrote from problems with solutions"
            )
    prompts = _read_prompts(train)
    corpus = [
        (prompts[one.problem_id], one.text if one.is_response else fenced(one.text.strip()))
        for one in read_solutions(solutions)
        if one.is_reference and one.problem_id in prompts
    ]
    if not corpus:
        raise DataError(f"no problem of {train} has a solution in {solutions} that is said to pass")
    return corpus


def _read_prompts(train: Path) -> dict[str, str]:
    prompts: dict[str, str] = {}
    try:
        rows = pq.read_table(train, columns=["prompt", "extra_info"]).to_pylist()
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"cannot read {train}: {error}; write it again with: code-rlvr prepare") from None
    for number, row in enumerate(rows, start=1):
        place = f"{train}: row {number}"
        prompts[problem_id_of(row, place)] = _question(row["prompt"], place)
    return prompts


def _question(chat: Any, place: str) -> str:
    """The text of a chat that is one message of the user; the model of a warm start knows no other."""
    match chat:
        case [{"role": "user", "content": str(text)}]:
            return text
    raise DataError(f"{place}: the prompt is not one message of the user; write the set with: code-rlvr prepare")
