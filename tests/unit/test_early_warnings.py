"""Early warnings: each speaks up when it should, once, and a healthy run hears none."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from code_rlvr.runs import StepMetrics
from code_rlvr.train.early_warnings import RULES, EarlyWarnings, not_finite

HEALTHY = {
    "reward/score": 0.4,
    "reward/pass_rate": 0.4,
    "reward/format": 0.9,
    "reward/unjudged": 0.0,
    "reward/groups_without_signal": 0.4,
    "rollout/truncated": 0.02,
    "response_length/mean": 100.0,
    "actor/entropy": 0.4,
    "actor/reward_kl_penalty": 0.01,
    "actor/pg_loss": 0.1,
    "critic/vf_loss": 0.5,
}
Change = Callable[[int], dict[str, float]]


def heard(change: Change, steps: int = 40) -> list[str]:
    """The warnings of a run whose steps differ from healthy ones."""
    warnings = EarlyWarnings()
    return [
        text for step in range(1, steps + 1) for text in warnings.look(StepMetrics(step, {**HEALTHY, **change(step)}))
    ]


def test_a_healthy_run_that_learns_slowly_hears_nothing() -> None:
    assert heard(lambda step: {"reward/score": 0.4 + 0.01 * step, "actor/entropy": 0.4 - 0.005 * step}) == []


SICK: dict[str, Change] = {
    "no reward": lambda step: {"reward/pass_rate": 0.0},
    "a jump": lambda step: {"reward/score": 0.4 if step < 20 else 0.95},
    "form is not learned": lambda step: {"reward/format": 0.2},
    "far from the reference": lambda step: {"actor/reward_kl_penalty": 0.01 if step < 20 else 0.5},
    "a large loss": lambda step: {"critic/vf_loss": 0.5 if step < 20 else 30.0},
    "longer and better": lambda step: {
        "response_length/mean": 100.0 + 5 * step,
        "reward/score": 0.4 + 0.005 * step,
    },
    "no exploration": lambda step: {"actor/entropy": 0.4 if step < 20 else 0.01},
    "no signal": lambda step: {"reward/groups_without_signal": 0.95},
    "cut off": lambda step: {"rollout/truncated": 0.5},
    "lost samples": lambda step: {"reward/unjudged": 0.01 if step == 20 else 0.0},
}


def test_there_is_a_sick_run_for_every_rule() -> None:
    assert SICK.keys() == RULES.keys()


@pytest.mark.parametrize("name", SICK)
def test_a_sick_run_hears_its_own_warning_once(name: str) -> None:
    (text,) = heard(SICK[name])
    own = RULES[name]([{**HEALTHY, **SICK[name](step)} for step in range(1, 1 + int(text.split()[3][:-1]))])
    assert own is not None
    assert text.endswith(own)


def test_validation_steps_are_left_alone() -> None:
    assert EarlyWarnings().look(StepMetrics(0, {"val-core/toy/reward/mean@1": 0.0})) == []


@pytest.mark.parametrize("name", ["actor/pg_loss", "critic/grad_norm", "reward/score"])
@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_what_is_no_number_is_named(name: str, value: float) -> None:
    assert not_finite(StepMetrics(3, {**HEALTHY, name: value})) == f"{name} is {value} at step 3"
    assert not_finite(StepMetrics(3, HEALTHY)) is None
