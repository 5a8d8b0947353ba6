"""Healthy runs raise nothing: invented ones of many lengths and batches, with the noise that sampling has."""

from __future__ import annotations

from collections import Counter

from code_rlvr.health import HealthThresholds, Level, diagnose
from tests.unit.health_runs import healthy_run

LENGTHS = (1, 3, 5, 8, 12, 20, 35, 60, 100, 200, 400, 1000)
BATCHES = ((8, 1), (16, 1), (64, 1), (256, 1), (32, 4), (8, 8), (128, 8))
"""Prompts of a batch, samples of a prompt."""
RUNS = 200
MOST_WARNINGS = 0.02
"""Share of runs; `benchmarks/health.py` counts over more of them."""


def test_200_healthy_runs_raise_no_danger_and_hardly_a_warning() -> None:
    found: Counter[Level] = Counter()
    dangers = []
    for seed in range(RUNS):
        steps, batch = LENGTHS[seed % len(LENGTHS)], BATCHES[seed % len(BATCHES)]
        run = healthy_run(steps, *batch, seed=seed, critic=seed % 3 > 0, plain=seed % 5 == 0)
        for finding in diagnose(run.steps(), HealthThresholds()):
            found[finding.level] += 1
            dangers += [(seed, steps, batch, finding)] if finding.level is Level.DANGER else []
    assert dangers == []
    assert found[Level.WARNING] <= MOST_WARNINGS * RUNS
