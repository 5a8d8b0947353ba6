"""The one line that a person reads for each step."""

from __future__ import annotations

from code_rlvr.runs import StepMetrics
from code_rlvr.train.console import step_lines

TRAINED = {
    "reward/score": 0.412,
    "reward/pass_rate": 0.408,
    "reward/format": 0.98,
    "reward/samples": 64.0,
    "reward/unjudged": 0.0,
    "actor/reward_kl_penalty": 0.0031,
    "timing_s/step": 2.13,
    "timing_s/verify": 0.09,
}


def test_a_training_step_is_one_line() -> None:
    assert step_lines(StepMetrics(12, TRAINED), 40) == [
        "[step 12/40] train | score 0.41 | pass_rate 0.41 | format 0.98 | kl 0.003 | 64 samples | 2.1 s (verify 0.1)"
    ]


def test_lost_samples_are_shown() -> None:
    (line,) = step_lines(StepMetrics(1, {**TRAINED, "reward/unjudged": 1 / 64}), 40)
    assert "unjudged 1.6%" in line


def test_a_step_with_validation_has_a_second_line() -> None:
    lines = step_lines(StepMetrics(20, {**TRAINED, "val-aux/starter/accepted/mean@1": 0.52}), 40)
    assert lines[1:] == ["[step 20/40] validation | pass@1 0.52 (starter)"]


def test_metrics_without_rewards_show_nothing() -> None:
    assert step_lines(StepMetrics(3, {"actor/lr": 1e-6}), 40) == []
