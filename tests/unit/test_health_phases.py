"""The phases of a run are found where they were planted; a run may lack any of them."""

from __future__ import annotations

import numpy as np
import pytest

from code_rlvr.health import HealthThresholds, Phase, find_phases
from code_rlvr.runs import StepMetrics
from tests.unit.health_runs import InventedRun

THRESHOLDS = HealthThresholds()


def _run(form: np.ndarray, score: np.ndarray, seed: int, samples: int = 256) -> list[StepMetrics]:
    rng = np.random.default_rng(seed)
    columns = {
        "reward/format": rng.binomial(samples, form) / samples,
        "reward/samples": np.full(len(form), float(samples)),
    }
    run = InventedRun(columns, {})
    run.set_score(score, rng, samples)
    return run.steps()


def _ramp(steps: int, since: int, until: int, low: float, high: float) -> np.ndarray:
    return low + (high - low) * np.clip((np.arange(1, steps + 1) - since) / (until - since), 0, 1)


def _names(phases: list[Phase]) -> list[str]:
    return [phase.name for phase in phases]


@pytest.mark.parametrize("seed", range(5))
def test_form_then_programs_then_little_more(seed: int) -> None:
    form, score = _ramp(200, 0, 30, 0.2, 0.98), _ramp(200, 30, 110, 0.1, 0.6)
    format_, writing, flat = find_phases(_run(form, score, seed), THRESHOLDS)
    assert _names([format_, writing, flat]) == ["format", "writing", "diminishing returns"]
    assert (format_.first_step, flat.last_step) == (1, 200)
    assert abs(format_.last_step - 27) <= 6  # nine tenths of the rise
    assert abs(writing.first_step - 38) <= 8
    assert abs(writing.last_step - 102) <= 10
    assert flat.first_step == writing.last_step + 1
    assert "from 2" in format_.why or "from 1" in format_.why or "from 3" in format_.why


@pytest.mark.parametrize("seed", range(5))
def test_a_form_that_was_there_from_the_start_is_no_phase(seed: int) -> None:
    steps = _run(np.full(100, 0.96), _ramp(100, 0, 100, 0.3, 0.7), seed)
    assert _names(find_phases(steps, THRESHOLDS)) == ["writing"]


@pytest.mark.parametrize("seed", range(5))
def test_a_score_that_rises_with_the_form_only_is_not_writing(seed: int) -> None:
    steps = _run(_ramp(120, 0, 40, 0.2, 0.98), _ramp(120, 0, 40, 0.1, 0.4), seed)
    assert _names(find_phases(steps, THRESHOLDS)) == ["format", "diminishing returns"]


@pytest.mark.parametrize("level", [0.0, 0.3, 0.97])
def test_a_flat_run_has_no_phases(level: float) -> None:
    for seed in range(20):
        steps = _run(np.full(80, 0.96), np.full(80, level), seed, samples=64)
        assert find_phases(steps, THRESHOLDS) == [], seed


def test_a_score_that_falls_again_has_no_diminishing_returns() -> None:
    score = np.concatenate([_ramp(80, 0, 80, 0.2, 0.7), _ramp(80, 0, 80, 0.7, 0.2)])
    assert _names(find_phases(_run(np.full(160, 0.97), score, 0), THRESHOLDS)) == ["writing"]


@pytest.mark.parametrize("steps", range(6))
def test_a_run_of_a_few_steps_has_no_phases(steps: int) -> None:
    rows = _run(_ramp(100, 0, 3, 0.2, 0.98), _ramp(100, 0, 3, 0.1, 0.6), 0)[:steps]
    assert find_phases(rows, THRESHOLDS) == []


def test_phases_of_plain_verl_come_from_its_score() -> None:
    steps = [
        StepMetrics(one.step, {"critic/score/mean": one.data["critic/score/mean"]})
        for one in _run(np.full(200, 0.9), _ramp(200, 0, 100, 0.1, 0.6), 0)
    ]
    assert _names(find_phases(steps, THRESHOLDS)) == ["writing", "diminishing returns"]


def test_phases_do_not_overlap_and_lie_within_the_run() -> None:
    for seed in range(30):
        rng = np.random.default_rng(seed)
        ends = np.sort(rng.integers(5, 300, 4))
        form = _ramp(300, ends[0] - 1, ends[2] + 1, 0.3, 0.95)
        steps = _run(form, _ramp(300, ends[1] - 1, ends[3] + 1, 0.1, 0.8), seed, samples=32)
        phases = find_phases(steps, THRESHOLDS)
        bounds = [bound for phase in phases for bound in (phase.first_step, phase.last_step)]
        assert bounds == sorted(bounds)
        assert all(1 <= bound <= 300 for bound in bounds)
