"""Measures what the README says of the quickstart: minutes, peak memory, and how much the model improved.

    python benchmarks/quickstart.py --seeds 0 1 2 --runs-dir runs

Runs `code-rlvr quickstart` once for each seed, one after another, and prints one row for each.  Memory is the
proportional set size (shared pages counted once) of the command and everything below it, sampled each second.
The overhead is the step time over the sum of what has to be done: generation, training and verification;
the median over the steps, the first one left out because it warms up.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from pathlib import Path

import psutil

from code_rlvr.evaluate.compare import compare_runs
from code_rlvr.evaluate.scores import read_scores
from code_rlvr.runs import RunFolder, StepMetrics, read_metrics

TRAINING_PHASES = (
    "old_log_prob",
    "ref",
    "values",
    "adv",
    "update_critic",
    "update_actor",
    "update_weights",
    "save_checkpoint",
)


def tree_memory_bytes(root: psutil.Process) -> int:
    """Return the proportional set size of a process and everything below it."""
    total = 0
    for process in [root, *root.children(recursive=True)]:
        try:
            total += process.memory_full_info().pss
        except psutil.Error:
            continue  # it has just ended
    return total


def run_once(name: str, seed: int, runs_dir: Path, words: list[str]) -> tuple[float, float]:
    """Run the quickstart; return minutes and peak memory in GiB."""
    command = [sys.executable, "-c", "from code_rlvr.cli import main; main()", "quickstart"]
    command += ["--name", name, "--seed", str(seed), "--runs-dir", str(runs_dir), *words]
    started = time.monotonic()
    process = subprocess.Popen(command)
    root, peak = psutil.Process(process.pid), 0
    while process.poll() is None:
        peak = max(peak, tree_memory_bytes(root))
        time.sleep(1)
    if process.returncode != 0:
        raise SystemExit(f"the quickstart ended with exit code {process.returncode}")
    return (time.monotonic() - started) / 60, peak / 2**30


def overhead(steps: list[StepMetrics]) -> tuple[float, float]:
    """Return the median step time in seconds and its median ratio to the work that it had to do."""
    times, ratios = [], []
    for step in steps:
        data = step.data
        if step.step < 2 or "timing_s/step" not in data:
            continue
        work = sum(data.get(f"timing_s/{phase}", 0.0) for phase in TRAINING_PHASES)
        work += data["rollout/generate_s/total"] + data["timing_s/verify"]
        times.append(data["timing_s/step"])
        ratios.append(data["timing_s/step"] / work)
    return statistics.median(times), statistics.median(ratios)


def main() -> None:
    """Run every seed and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--runs-dir", type=Path, default=Path("runs"))
    parser.add_argument("overrides", nargs="*", help="settings to change, e.g. train.trainer.steps=40")
    arguments = parser.parse_args()
    rows = []
    for seed in arguments.seeds:
        run = RunFolder(arguments.runs_dir / f"seed_{seed}")
        minutes, memory_gib = run_once(run.path.name, seed, arguments.runs_dir, arguments.overrides)
        row = [str(seed), f"{minutes:.1f}", f"{memory_gib:.2f}"]
        for part in ("heldout", "heldout_greedy", "unseen"):
            before, after = (read_scores(run.eval / when / f"{part}.json") for when in ("before", "after"))
            change = compare_runs(before, after).overall
            row.append(
                f"{change.before:.3f} → {change.after:.3f} ({change.change:+.3f}, "
                f"{change.interval.low:+.3f} to {change.interval.high:+.3f})"
            )
        step_s, ratio = overhead(read_metrics(run.metrics))
        rows.append([*row, f"{step_s:.2f}", f"{ratio:.2f}"])
    print("\n| seed | minutes | peak GiB | held-out, T = 1 | held-out, greedy | unseen kinds | step s | overhead |")
    print("|---|---|---|---|---|---|---|---|")
    for row in rows:
        print("| " + " | ".join(row) + " |")


if __name__ == "__main__":
    main()
