"""Measures how often the health rules raise a false alarm, in invented healthy runs that are over and that go on.

    python benchmarks/health.py [--finished 3000] [--live 600] [--first-seed 1000]

A healthy run is invented with the noise of sampling, in many lengths and sizes of batches (`tests.unit.health_runs`).
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import chain
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.unit.health_runs import healthy_run

from code_rlvr.health import Finding, HealthThresholds, Level, diagnose
from code_rlvr.health.live import LiveHealth
from code_rlvr.runs import StepMetrics

LENGTHS = (1, 3, 5, 8, 12, 20, 35, 60, 100, 200, 400, 1000)
LIVE_LENGTHS = (100, 100, 100, 250)
BATCHES = ((8, 1), (16, 1), (64, 1), (256, 1), (32, 4), (8, 8), (128, 8))
"""Prompts of a batch, samples of a prompt."""


def main() -> None:
    """Print how many runs raised what."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--finished", type=int, default=3000, help="runs looked at when they are over")
    parser.add_argument("--live", type=int, default=600, help="runs looked at after every step")
    parser.add_argument("--first-seed", type=int, default=1000, help="tests use the seeds below 1000")
    given = parser.parse_args()
    with ProcessPoolExecutor() as pool:
        for title, look, count in (("finished", _finished, given.finished), ("live", _live, given.live)):
            seeds = range(given.first_seed, given.first_seed + count)
            _show(title, count, pool.map(look, seeds, chunksize=10))


def _finished(seed: int) -> list[tuple[str, Level]]:
    return _rules(diagnose(_steps(seed, LENGTHS), HealthThresholds()))


def _live(seed: int) -> list[tuple[str, Level]]:
    steps = _steps(seed, LIVE_LENGTHS)
    live = LiveHealth(HealthThresholds(), steps[-1].step)
    return _rules(chain.from_iterable(live.add(metrics) for metrics in steps))


def _steps(seed: int, lengths: tuple[int, ...]) -> list[StepMetrics]:
    batch = BATCHES[seed % len(BATCHES)]
    return healthy_run(
        lengths[seed % len(lengths)], *batch, seed=seed, critic=seed % 3 > 0, plain=seed % 5 == 0
    ).steps()


def _rules(findings: Iterable[Finding]) -> list[tuple[str, Level]]:
    return [(one.rule, one.level) for one in findings]


def _show(title: str, count: int, runs: Iterator[list[tuple[str, Level]]]) -> None:
    found: Counter[tuple[str, Level]] = Counter()
    alarmed: Counter[Level] = Counter()
    for run in runs:
        found.update(set(run))
        alarmed.update({level for _, level in run})
    print(f"{count} {title} runs: {alarmed[Level.DANGER]} with a danger, {alarmed[Level.WARNING]} with a warning")
    for (rule, level), runs_with_it in found.most_common():
        print(f"  {runs_with_it:4} {level.value} {rule}")


if __name__ == "__main__":
    main()
