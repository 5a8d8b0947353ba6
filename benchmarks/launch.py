"""Measures what `code-rlvr train` takes before verl's process is started, phase by phase.

    python benchmarks/launch.py --problems 20000 --runs 5
    python benchmarks/launch.py --problems 20000 --longer 30      # statements and tests that much longer

The command itself is run, in a fresh process each time, and stopped where it would start the trainer; so the sum
is from the shell's Enter to there, the interpreter's own start included.  Medians over the runs.  `rest` is everything
between the checks: settings, the run's folder, hashes of the data, verl's command line.

Covered: a CPU run of a small model on the starter problems.  Not covered: verl's own start, which is about a minute;
the check of free memory, which is left out so that a busy machine can be measured too.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

STARTED = "CODE_RLVR_BENCHMARK_STARTED"


class TrainerStarted(BaseException):
    """Raised where the trainer's process would be started."""


def measure_here(words: list[str]) -> None:
    """Run `code-rlvr train` in this process, up to the trainer's start; print the seconds of each phase as JSON."""
    phases = {"interpreter": time.time() - float(os.environ[STARTED])}
    entered = time.perf_counter()
    from code_rlvr.cli import main  # noqa: PLC0415  to be measured
    from code_rlvr.train import launch, preflight  # noqa: PLC0415

    phases["imports"] = time.perf_counter() - entered

    def timed(name: str, check: Callable[[Any], str]) -> Callable[[Any], str]:
        def run(config: Any) -> str:
            started = time.perf_counter()
            found = check(config)
            phases[f"check {name}"] = time.perf_counter() - started
            return found

        return run

    def stop(*_: object) -> None:
        raise TrainerStarted

    preflight.CHECKS.update({name: timed(name, check) for name, check in preflight.CHECKS.items()})
    launch.SupervisedCommand = stop
    sys.argv = ["code-rlvr", "train", *words]
    try:
        main()
    except TrainerStarted:
        total = time.time() - float(os.environ[STARTED])
        phases["rest"] = total - sum(phases.values())
        print("\n" + json.dumps({**phases, "sum": total}))


def make_inputs(folder: Path, problems: int, longer: int) -> None:
    """Write a model and data."""
    from code_rlvr.data.parquet import write_parquet  # noqa: PLC0415  not in the measured process
    from code_rlvr.data.starter import build_starter, imperfect_corpus  # noqa: PLC0415
    from code_rlvr.train.warmstart import WarmStartSettings, warm_start  # noqa: PLC0415

    settings = WarmStartSettings(hidden_size=32, layers=1, heads=2, intermediate_size=64, steps=3, threads=1)
    warm_start(folder / "model", imperfect_corpus(0, 400), settings)
    starter = build_starter(0, problems, problems // 20, 1, 1)
    for split, made in (("train", starter.train), ("validation", starter.validation)):
        lengthened = [
            replace(
                one,
                statement="\n".join([one.statement] * longer),
                tests=replace(one.tests, inputs=one.tests.inputs * longer, outputs=one.tests.outputs * longer),
            )
            for one in made
        ]
        write_parquet(folder / f"{split}.parquet", lengthened, split=split, instruction="")


def measure_once(folder: Path, number: int) -> dict[str, float]:
    """Run the command in a process of its own; return the seconds of each phase."""
    words = [
        f"name=run{number}",
        f"runs_dir={folder / 'runs'}",
        f"model={folder / 'model'}",
        f"data.train_file={folder / 'train.parquet'}",
        f"data.validation_file={folder / 'validation.parquet'}",
        "data.max_prompt_tokens=100000",
        "--skip",
        "memory",
    ]
    done = subprocess.run(
        [sys.executable, __file__, "--measure", *words],
        env={**os.environ, STARTED: str(time.time())},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(done.stderr)
    phases: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return phases


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", type=int, default=20_000, help="to train on; a twentieth as many for validation")
    parser.add_argument("--longer", type=int, default=1, help="statements and tests so many times as long")
    parser.add_argument("--runs", type=int, default=5)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        make_inputs(Path(name), given.problems, given.longer)
        mib = (Path(name) / "train.parquet").stat().st_size / 2**20
        runs = [measure_once(Path(name), number) for number in range(given.runs)]
    print(f"{given.problems:,} problems of {mib:.0f} MiB, medians of {given.runs} runs; lowest and highest")
    print("| phase | s | |\n|---|---|---|")
    for phase in runs[0]:
        seconds = sorted(one[phase] for one in runs)
        print(f"| {phase} | {statistics.median(seconds):.2f} | {seconds[0]:.2f} - {seconds[-1]:.2f} |")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        measure_here(sys.argv[2:])
    else:
        main()
