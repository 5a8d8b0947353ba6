"""Measures `code-rlvr prepare` on a file of the size and shape of Eurus-2-RL-Data's training split.

    python benchmarks/prepare.py make FOLDER             # writes the file, 1.7 GB; minutes
    python benchmarks/prepare.py run FOLDER              # prepares it; time, peak memory, counts
    python benchmarks/prepare.py interrupt FOLDER        # the same, killed half-way and called again

482,019 rows, of which 26,758 are code with some 64 KB of tests each (compressed); the text is random words, so nothing
in it is a problem that anyone could train on.  Among the code rows some are planted to be dropped: without tests,
overlong, repeated, nearly repeated; `run` compares what was counted with what was planted.  `--group-rows` makes row
groups of another size: all rows in one is the worst case for memory.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

ROWS, CODE_ROWS, NULLS = 482_019, 26_758, 1_482
OVERLONG, REPEATED, NEARLY_REPEATED = 700, 500, 300
TEST_BYTES = 126_000  # of digits, which compress to half
SOURCES = ("taco", "codecontests", "apps", "codeforces")
SYSTEM = "When tackling complex reasoning tasks, you have access to the following actions. [ASSESS] [ADVANCE] [OUTPUT]"
ENDING = "\n\nWrite Python code to solve the problem. Present the code in \n```python\nYour code\n```\nat the end."
SCHEMA = pa.schema(
    {
        "data_source": pa.string(),
        "prompt": pa.list_(pa.struct({"content": pa.string(), "role": pa.string()})),
        "ability": pa.string(),
        "reward_model": pa.struct({"ground_truth": pa.string(), "style": pa.string()}),
        "extra_info": pa.struct({"index": pa.int64(), "split": pa.string()}),
    }
)


class Maker:
    """Makes rows one after another, the same each time."""

    def __init__(self) -> None:
        self.rng = Random(0)
        self.noise = np.random.default_rng(0)
        letters = "abcdefghijklmnopqrstuvwxyz"
        self.words = ["".join(self.rng.choices(letters, k=self.rng.randint(2, 9))) for _ in range(8000)]
        self.code = set(self.rng.sample(range(ROWS), CODE_ROWS))
        kinds = ["null"] * NULLS + ["overlong"] * OVERLONG + ["repeated"] * REPEATED + ["nearly"] * NEARLY_REPEATED
        kinds += ["plain"] * (CODE_ROWS - len(kinds))
        self.rng.shuffle(kinds)
        first = kinds.index("plain")
        kinds[0], kinds[first] = kinds[first], kinds[0]  # what is repeated has to be there already
        self.kinds = iter(kinds)
        self.plain: list[str] = []

    def row(self, number: int) -> dict[str, Any]:
        """The row of that number; to be called in order."""
        is_code = number in self.code
        kind = next(self.kinds) if is_code else "math"
        user = {"role": "user", "content": self.statement(kind) + (ENDING if is_code else "")}
        return {
            "data_source": self.rng.choice(SOURCES) if is_code else "numina_olympiads",
            "prompt": [{"role": "system", "content": SYSTEM}, user],
            "ability": "code" if is_code else "math",
            "reward_model": {"style": "rule", "ground_truth": self.tests(kind)},
            "extra_info": {"split": "dummy", "index": 0},
        }

    def statement(self, kind: str) -> str:
        """Random words; for what is repeated, those of an earlier row."""
        if kind == "repeated":
            return self.rng.choice(self.plain).upper()
        if kind == "nearly":
            return self.rng.choice(self.plain) + " Good luck."
        length = self.rng.randint(4000, 5000) if kind == "overlong" else self.rng.randint(80, 300)
        text = " ".join(self.rng.choices(self.words, k=length))
        if kind == "plain":
            self.plain.append(text)
        return text

    def tests(self, kind: str) -> str | None:
        """Tests as the data set has them: JSON in a text."""
        if kind == "math":
            return str(self.rng.randint(0, 999))
        if kind == "null":
            return None
        digits = (self.noise.integers(0, 10, TEST_BYTES, dtype=np.uint8) + ord("0")).tobytes().decode()
        size = self.rng.randint(20, 2000)
        inputs = [digits[at : at + size] for at in range(0, len(digits), size)]
        return json.dumps({"inputs": inputs, "outputs": [text[:8] + "\n" for text in inputs]})


def make(file: Path, group_rows: int) -> None:
    """Write the file."""
    maker, started = Maker(), time.monotonic()
    with pq.ParquetWriter(file, SCHEMA, compression="zstd") as writer:
        for first in range(0, ROWS, group_rows):
            batches = [
                pa.RecordBatch.from_pylist(
                    [maker.row(number) for number in range(at, min(at + 1000, first + group_rows, ROWS))], schema=SCHEMA
                )
                for at in range(first, min(first + group_rows, ROWS), 1000)
            ]
            writer.write_table(pa.Table.from_batches(batches), row_group_size=group_rows)
    print(f"{file.stat().st_size / 1e9:.2f} GB in {time.monotonic() - started:.0f} s")


def command(file: Path, out: Path, model: str | None) -> list[str]:
    """The command that is measured."""
    words = [sys.executable, "-c", "from code_rlvr.cli import main; main()", "prepare", str(file), "--out", str(out)]
    return [*words, "--train-size", "0", "--max-prompt-tokens", "2048", *(["--model", model] if model else [])]


def run(file: Path, out: Path, model: str | None) -> None:
    """Prepare the file; print time, peak memory and what was counted beside what was planted."""
    started = time.monotonic()
    subprocess.run(command(file, out, model), check=True)
    wall_s = time.monotonic() - started
    peak_gib = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 2**20
    outcomes = json.loads((out / "manifest.json").read_text())["outcomes"]["train"]
    print(f"{wall_s / 60:.1f} minutes, {peak_gib:.2f} GiB at most")
    planted = {"rows": ROWS, "not_code": ROWS - CODE_ROWS, "no_tests": NULLS, "overlong": OVERLONG}
    planted |= {"duplicate": REPEATED, "near_duplicate": NEARLY_REPEATED}
    for name, number in planted.items():
        print(f"{name}: {outcomes[name]:,} counted, {number:,} planted{'' if outcomes[name] == number else '  WRONG'}")


def interrupt(file: Path, out: Path, model: str | None, after_s: float) -> None:
    """Kill a call with signal 9, then repeat it; the outcome has to be that of one call."""
    with subprocess.Popen(command(file, out, model)) as process:
        time.sleep(after_s)
        process.send_signal(signal.SIGKILL)
    parts = len(list((out / ".unfinished" / "parts").glob("*.json")))
    print(f"killed after {after_s:.0f} s with {parts} parts done")
    run(file, out, model)


def main() -> None:
    """Read the arguments and do what they say."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["make", "run", "interrupt"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--group-rows", type=int, default=1000)
    parser.add_argument("--model", help="tokenizer to measure prompts with")
    parser.add_argument("--after", type=float, default=60.0, help="interrupt: seconds")
    given = parser.parse_args()
    file, out = given.folder / f"train-{given.group_rows}.parquet", given.folder / "prepared"
    given.folder.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(out, ignore_errors=True)
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    if given.what == "make":
        make(file, given.group_rows)
    elif given.what == "run":
        run(file, out, given.model)
    else:
        interrupt(file, out, given.model, given.after)


if __name__ == "__main__":
    main()
