"""Measures how large the report of a run is and how long it takes to build, on an invented run.

    python benchmarks/report.py [--steps 200] [--batch 64] [--group 4] [--problems 10000] [--repeats 5]

Each build is a process of its own, as `code-rlvr report` is: imports are part of its time.  Bars: 5 MB and 10 s on two
cores for 200 steps of 256 samples, with responses of 1,500 characters.  Exits with 1 if a median misses one.
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
BUILD = (
    "import pathlib, sys\n"
    "from code_rlvr.report.html import build_report\n"
    "from code_rlvr.runs import RunFolder\n"
    "build_report(RunFolder(pathlib.Path(sys.argv[1])))\n"
)


def main() -> None:
    """Print size and time; exit with 1 if a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--batch", type=int, default=64, help="problems of a step")
    parser.add_argument("--group", type=int, default=4, help="samples of a problem")
    parser.add_argument("--problems", type=int, default=10_000)
    parser.add_argument("--characters", type=int, default=1_500, help="of a response, about")
    parser.add_argument("--repeats", type=int, default=5)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        run = make_run(
            Path(folder) / "run",
            steps=given.steps,
            batch=given.batch,
            group=given.group,
            problems=given.problems,
            padding=given.characters,
        )
        read = sum(file.stat().st_size for file in run.path.rglob("*") if file.is_file())
        seconds = []
        for _ in range(given.repeats):
            started = time.perf_counter()
            subprocess.run([sys.executable, "-c", BUILD, str(run.path)], check=True)
            seconds.append(time.perf_counter() - started)
        size = run.report.stat().st_size
    took = statistics.median(seconds)
    print(f"{given.steps} steps of {given.batch} × {given.group} samples, {read / 1e6:.0f} MB in the run's folder")
    print(f"page: {size / 1e6:.2f} MB; built in {took:.1f} s ({min(seconds):.1f} to {max(seconds):.1f})")
    raise SystemExit(0 if size <= MAX_BYTES and took <= MAX_S else 1)


if __name__ == "__main__":
    main()
