"""Metrics of a training batch, by hand."""

from __future__ import annotations

import pytest

from code_rlvr.reward import METRIC_KEYS
from code_rlvr.train.batch_metrics import reward_metrics


def reward(score: float, judge_s: float = 0.1, **more: float) -> dict[str, float]:
    return {**dict.fromkeys(METRIC_KEYS, 0.0), "score": score, "pass_rate": score, "judge_s": judge_s, **more}


def test_every_key_has_its_mean_and_times_have_quantiles() -> None:
    found = reward_metrics([reward(0.0, 0.1), reward(1.0, 0.3, accepted=1)], ["a", "a"], [1, 2])
    assert found["reward/score"] == 0.5
    assert found["reward/accepted"] == 0.5
    assert found["reward/samples"] == 2
    assert found["reward/judge_s/total"] == pytest.approx(0.4)
    assert found["reward/judge_s/p50"] == pytest.approx(0.2)
    assert found["reward/judge_s/p95"] == pytest.approx(0.29)
    assert not [name for name in found if "by_source" in name or "groups" in name]


def test_several_sources_are_told_apart() -> None:
    found = reward_metrics([reward(0.0), reward(1.0, accepted=1), reward(0.5)], ["a", "b", "b"], [1, 2, 3])
    assert found["reward/by_source/a/score"] == 0
    assert found["reward/by_source/b/score"] == 0.75
    assert found["reward/by_source/b/accepted"] == 0.5


def test_prompts_whose_samples_all_earn_the_same_have_no_signal() -> None:
    scores, prompts = [0, 0, 1, 1, 0, 1, 0.5], ["p", "p", "q", "q", "r", "r", "single"]
    found = reward_metrics([reward(score) for score in scores], ["a"] * 7, prompts)
    assert found["reward/groups_without_signal"] == pytest.approx(2 / 3)
