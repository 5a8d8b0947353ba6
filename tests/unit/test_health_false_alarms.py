"""Healthy runs raise nothing: invented ones of many lengths and batches, with the noise that sampling has."""

from __future__ import annotations

import gzip
from collections import Counter
from pathlib import Path

from code_rlvr.health import HealthThresholds, Level, LiveHealth, diagnose
from code_rlvr.runs import StepMetrics
from tests.unit.health_runs import healthy_run

PUBLISHED = Path(__file__).parents[2] / "docs" / "results" / "qwen2.5-coder-0.5b-mbpp" / "metrics.jsonl.gz"
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


def test_the_published_run_raises_nothing_at_any_of_its_steps() -> None:
    steps = [StepMetrics.from_line(line) for line in gzip.decompress(PUBLISHED.read_bytes()).splitlines()]
    live = LiveHealth(HealthThresholds(), steps[-1].step)
    assert max(one.step for one in steps) == 36
    assert [one for metrics in steps for one in live.add(metrics)] == []
    assert [one for count in range(len(steps)) for one in diagnose(steps[: count + 1], HealthThresholds())] == []
