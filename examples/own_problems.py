"""Writes problems of your own as lines of JSON, which `code-rlvr prepare` makes a set to train on.

    python examples/own_problems.py my-problems.jsonl
    code-rlvr prepare my-problems.jsonl --instruction "" --out my-data
    code-rlvr train --config examples/own-problems.toml

Replace `PROBLEMS`; a hundred or more are needed before training teaches anything.  The quickstart's small model knows
bare statements; for any other leave `--instruction` out, and name it with `--model`.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

PROBLEMS = [
    {
        "problem_id": f"sum-of-{count}",
        "data_source": "mine",
        "statement": f"Read {count} integers from one line. Print their sum.",
        "tests": {
            "inputs": [" ".join(["1"] * count), " ".join(str(i) for i in range(count)), " ".join(["-7"] * count)],
            "outputs": [str(count), str(sum(range(count))), str(-7 * count)],
        },
        "solutions": ["print(sum(map(int, input().split())))"],
    }
    for count in range(2, 98)
]


def main(file: Path) -> None:
    """Write the problems."""
    file.write_text("".join(json.dumps(problem) + "\n" for problem in PROBLEMS))
    print(f"{len(PROBLEMS)} problems in {file}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Writes problems of your own, to be read by `code-rlvr prepare`.")
    parser.add_argument("file", type=Path, nargs="?", default="my-problems.jsonl", help="%(default)s if none is named")
    main(parser.parse_args().file)
