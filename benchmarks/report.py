"""Measures how large the report of a run is and how long it takes to build, on an invented run; and a comparison.

    python benchmarks/report.py [--steps 200] [--batch 64] [--group 4] [--problems 10000] [--repeats 5]
    python benchmarks/report.py --runs 8 [--steps 1000]

Each build is a process of its own, as `code-rlvr report` is: imports are part of its time.  Bars: 5 MB and 10 s on two
cores, for a run of 200 steps of 256 samples, with responses of 1,500 characters, and for a comparison.  Exits with 1 if
a median misses one.  A comparison shows no samples, so its runs have few: 4 a step.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.synthetic_run import make_run

MAX_BYTES = 5_000_000
MAX_S = 10.0
REPORT = [sys.executable, "-c", "from code_rlvr.cli import main; main()", "report"]


def main() -> None:
    """Print size and time; exit with 1 if a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--batch", type=int, default=64, help="problems of a step")
    parser.add_argument("--group", type=int, default=4, help="samples of a problem")
    parser.add_argument("--problems", type=int, default=10_000)
    parser.add_argument("--characters", type=int, default=1_500, help="of a response, about")
    parser.add_argument("--runs", type=int, default=1, help="more than one: the comparison of so many")
    parser.add_argument("--repeats", type=int, default=5)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        runs = make_runs(Path(folder), given)
        read = sum(file.stat().st_size for run in runs for file in run.rglob("*") if file.is_file())
        page = Path(folder) / "page.html"
        seconds = [build(runs, page) for _ in range(given.repeats)]
        size = page.stat().st_size
    took = statistics.median(seconds)
    samples = f" of {given.batch} × {given.group} samples" if given.runs == 1 else ""
    print(f"{given.runs} × {given.steps} steps{samples}, {read / 1e6:.0f} MB in the folders")
    print(f"page: {size / 1e6:.2f} MB; built in {took:.1f} s ({min(seconds):.1f} to {max(seconds):.1f})")
    raise SystemExit(0 if size <= MAX_BYTES and took <= MAX_S else 1)


def make_runs(folder: Path, given: argparse.Namespace) -> list[Path]:
    """Write one run with all its samples, or several of which each has few."""
    if given.runs > 1:
        return [
            make_run(folder / f"run-{seed}", steps=given.steps, seed=seed, batch=4).path for seed in range(given.runs)
        ]
    run = make_run(
        folder / "run",
        steps=given.steps,
        batch=given.batch,
        group=given.group,
        problems=given.problems,
        padding=given.characters,
    )
    return [run.path]


def build(runs: list[Path], page: Path) -> float:
    """Return the seconds that it takes to write the page, from the command to its end."""
    started = time.perf_counter()
    subprocess.run([*REPORT, *map(str, runs), "--out", str(page)], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
