"""Writes problems of your own as the parquet that `code-rlvr train` reads.

    python examples/own_problems.py my-data
    code-rlvr train --config examples/own-problems.toml

Replace `PROBLEMS`; a hundred or more are needed before training teaches anything.
"""

from __future__ import annotations

import sys
from pathlib import Path

from code_rlvr import Problem, Tests
from code_rlvr.data.parquet import write_parquet

PROBLEMS = [
    Problem(
        problem_id=f"sum-of-{count}",
        statement=f"Read {count} integers from one line. Print their sum.",
        tests=Tests.stdio(
            inputs=[" ".join(["1"] * count), " ".join(str(i) for i in range(count)), " ".join(["-7"] * count)],
            outputs=[str(count), str(sum(range(count))), str(-7 * count)],
        ),
        data_source="mine",
    )
    for count in range(2, 98)
]


def main(folder: Path) -> None:
    """Write ``train.parquet`` and ``validation.parquet``."""
    folder.mkdir(parents=True, exist_ok=True)
    write_parquet(folder / "train.parquet", PROBLEMS[:80], split="train", instruction="")
    write_parquet(folder / "validation.parquet", PROBLEMS[80:], split="validation", instruction="")
    print(f"{len(PROBLEMS)} problems in {folder}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "my-data"))
