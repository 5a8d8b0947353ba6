"""Early warnings: what the health rules find in a run that goes on, each once and soon; no danger in healthy runs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from verl.utils.tracking import FileLogger

from code_rlvr.health import RULES, HealthThresholds, Level, diagnose
from code_rlvr.health import live as live_health
from code_rlvr.health.live import LOOKS, LiveHealth
from code_rlvr.runs import StepMetrics, read_metrics
from code_rlvr.train.early_warnings import EarlyWarnings, not_finite
from tests.unit.health_faults import FAULTS, plant
from tests.unit.health_runs import InventedRun, healthy_run

THRESHOLDS = HealthThresholds()
BATCHES = ((16, 1), (64, 1), (256, 1), (32, 4), (8, 8), (128, 8))
"""Prompts of a batch, samples of a prompt."""
LATEST = {
    "nothing at all": 5,
    "zero from the start": 15,
    "zero from then on": 15,
    "a jump": 5,
    "a jump over three steps": 6,
    "a jump with the form": 5,
    "a collapse": 13,
    "held-out problems fall": 26,
    "no form": 60,
    "form lost": 5,
    "groups without a signal": 10,
    "the same with a critic": 10,
    "samples lost": 0,
    "one sample lost": 0,
    "NaN": 0,
    "infinite": 0,
    "actor's gradients explode": 3,
    "actor's losses explode": 4,
    "critic's losses explode": 3,
    "critic's losses come back": 3,
    "KL runs away": 13,
    "KL creeps away": 2,
    "entropy gone": 5,
    "another model samples": 5,
    "a coarse sampler": 5,
    "longer and better": 15,
    "all cut off": 10,
    "many cut off": 10,
    "critic worse than a constant": 30,
    "critic explains nothing": 50,
}
"""Fault to the steps after its first within which it has to be said."""


def said(run: InventedRun, planned_steps: int | None = None) -> Iterator[tuple[int, str, Level]]:
    """Step, rule and level of all that is said while a run goes on."""
    steps = run.steps()
    live = LiveHealth(THRESHOLDS, planned_steps or steps[-1].step)
    for metrics in steps:
        yield from ((metrics.step, one.rule, one.level) for one in live.add(metrics))


def test_every_fault_has_a_latest_step() -> None:
    assert LATEST.keys() == FAULTS.keys()


@pytest.mark.parametrize("batch", [(64, 1), (128, 8)], ids=str)
@pytest.mark.parametrize("name", FAULTS)
def test_a_planted_fault_is_said_soon_and_once(name: str, batch: tuple[int, int]) -> None:
    fault = FAULTS[name]
    begins = 1 if fault.rule == "critic_useless" else fault.at + 1  # the critic is looked at in the last third alone
    for seed in range(4):
        heard = [(step, level) for step, rule, level in said(plant(fault, batch, seed)) if rule == fault.rule]
        assert begins <= heard[0][0] <= begins + LATEST[name], heard
        assert [level for _, level in heard] in ([Level.WARNING], [Level.DANGER], [Level.WARNING, Level.DANGER]), heard


def test_24_healthy_runs_hear_no_danger_and_nothing_of_the_form_in_their_first_half() -> None:
    heard = []
    for seed in range(24):
        steps = (100, 100, 100, 250)[seed % 4]
        run = healthy_run(steps, *BATCHES[seed % 6], seed=seed, critic=seed % 3 > 0, plain=seed % 5 == 0)
        heard += [(seed, *one) for one in said(run)]
    assert [one for one in heard if one[3] is Level.DANGER] == []
    assert [one for one in heard if one[2] == "format_not_learned" and one[1] <= 50] == []
    assert len({seed for seed, *_ in heard}) <= 4  # mostly groups without a signal, at first


def test_two_jumps_are_said_each_at_its_steps() -> None:
    run = healthy_run(340, 128, 8, seed=0)
    means = np.select([np.arange(340) < 80, np.arange(340) < 200, np.arange(340) < 300], [0.1, 0.7, 0.1], 0.7)
    run.set_score(means, np.random.default_rng(0), samples=1024)
    heard = [step for step, rule, _ in said(run) if rule == "sudden_jump"]
    assert len([step for step in heard if step < 200]) >= 1
    assert len([step for step in heard if step > 300]) >= 1


def test_the_critics_explosion_is_said_after_the_actors() -> None:
    run = healthy_run(120, 64, 8, seed=0)
    run.columns["actor/grad_norm"][40:50] *= 300
    run.columns["critic/vf_loss"][90:] *= 500
    steps = run.steps()
    live = LiveHealth(THRESHOLDS, 120)
    heard = {one.metric for metrics in steps for one in live.add(metrics) if one.rule == "loss_explosion"}
    assert heard == {"actor/grad_norm", "critic/vf_loss"}


def test_a_line_names_level_step_and_what_to_try_first() -> None:
    warnings = EarlyWarnings(THRESHOLDS, 80)
    lines = [line for metrics in plant(FAULTS["all cut off"], (64, 1), 0).steps() for line in warnings.look(metrics)]
    assert lines == [
        "warning at step 51: 80% of the responses are cut off. Try: a larger data.max_response_tokens",
        "danger at step 59: 80% of the responses are cut off. Try: a larger data.max_response_tokens",
    ]


def test_thresholds_of_the_run_decide() -> None:
    steps = plant(FAULTS["all cut off"], (64, 1), 0).steps()
    lax = EarlyWarnings(HealthThresholds(cut_off_high=0.9), 80)
    assert [line for metrics in steps for line in lax.look(metrics)] == []


@pytest.mark.parametrize("name", ["entropy gone", "actor's gradients explode", "a jump", "all cut off"])
def test_a_resume_changes_nothing_of_what_is_said(name: str) -> None:
    steps = plant(FAULTS[name], (64, 1), 0).steps()
    whole = LiveHealth(THRESHOLDS, 80)
    expected = [(metrics.step, one.rule, one.level) for metrics in steps for one in whole.add(metrics)]
    for stop in range(38, 62):
        resumed = LiveHealth(THRESHOLDS, 80, steps[:stop])
        heard = [(metrics.step, one.rule, one.level) for metrics in steps[stop:] for one in resumed.add(metrics)]
        assert heard == [one for one in expected if one[0] >= steps[stop].step]


@pytest.mark.parametrize("planned", [34, 45, 60])
def test_form_that_never_comes_is_said_in_a_short_run_too(planned: int) -> None:
    run = plant(FAULTS["no form"], (64, 1), 0, steps=planned)
    heard = [(step, level) for step, rule, level in said(run) if rule == "format_not_learned"]
    assert [level for _, level in heard] == [Level.WARNING, Level.DANGER]
    assert heard[0][0] <= planned / 2 + 2


def test_what_verl_writes_for_no_number_ends_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VERL_FILE_LOGGER_PATH", str(tmp_path / "metrics.jsonl"))
    logger = FileLogger("project", "run")
    for step, loss in ((1, 0.1), (2, math.nan), (3, -math.inf)):
        logger.log({"reward/score": 0.4, "actor/pg_loss": loss}, step)
    logger.finish()
    steps = read_metrics(tmp_path / "metrics.jsonl")
    assert [not_finite(metrics) for metrics in steps] == [
        None, "actor/pg_loss is nan at step 2", "actor/pg_loss is nan at step 3"
    ]  # fmt: skip
    assert [one.rule for one in diagnose(steps, THRESHOLDS)] == ["not_a_number"]


def test_what_was_bad_before_a_resume_is_not_said_again_and_what_becomes_bad_is() -> None:
    run = plant(FAULTS["all cut off"], (64, 1), 0)
    run.columns["reward/unjudged"][70] = 0.01
    steps = run.steps()
    warnings = EarlyWarnings(THRESHOLDS, 80, steps[:61])
    lines = [line for metrics in steps[61:] for line in warnings.look(metrics)]
    assert [line.partition(":")[0] for line in lines] == ["warning at step 71"]
    assert "never scored" in lines[0]


def test_a_finding_of_one_look_is_not_said_unless_it_is_a_fact() -> None:
    run = healthy_run(40, 64, 8, seed=0)
    run.columns["training/rollout_probs_diff_mean"][20:24] = (0.015, 0.05, 0.05, 0.05)  # a median at one look
    run.columns["training/rollout_probs_diff_mean"][24:] = 0.003
    looks = [bool(diagnose(run.steps()[:count], THRESHOLDS)) for count in range(1, 42)]
    assert sum(looks) <= 1
    assert list(said(run)) == []


def test_the_form_is_given_time_and_is_a_danger_late_in_the_run() -> None:
    run = plant(FAULTS["no form"], (64, 1), 0, steps=150)
    heard = [(step, level) for step, rule, level in said(run) if rule == "format_not_learned"]
    assert heard == [(61, Level.WARNING), (104, Level.DANGER)]
    run.columns["reward/format"][:] = np.linspace(0.1, 0.9, 150)  # it comes: slowly, and steadily
    assert [rule for _, rule, _ in said(run)] == []


def test_what_may_still_come_is_said_of_no_rule_that_is_a_fact() -> None:
    assert not any(rule.is_fact and rule.may_still_come for rule in RULES)
    assert {rule.key for rule in RULES if rule.may_still_come} == {"format_not_learned"}
    assert {rule.key for rule in RULES if rule.is_fact} == {"lost_samples", "not_a_number"}


def test_a_validation_alone_is_no_step_and_is_not_forgotten() -> None:
    assert EarlyWarnings(THRESHOLDS, 60).look(StepMetrics(0, {"val-core/toy/reward/mean@1": 0.0})) == []
    heard = [rule for _, rule, _ in said(plant(FAULTS["held-out problems fall"], (128, 8), 0))]
    assert "held_out_falls" in heard


def test_the_last_step_is_looked_at_whatever_the_length() -> None:
    run = healthy_run(3 * LOOKS + 1, 64, 8, seed=1)
    run.columns["reward/unjudged"][-1] = 0.01
    assert list(said(run)) == [(3 * LOOKS + 1, "lost_samples", Level.WARNING)]


def test_a_long_run_is_looked_at_ever_less_often(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = []
    monkeypatch.setattr(live_health, "diagnose", lambda history, _: looks.append(len(history)) or [])
    live = LiveHealth(THRESHOLDS, 10_000)
    for step in range(1, 10_001):
        live.add(StepMetrics(step, {"reward/score": 0.5}))
    assert looks[: 2 * LOOKS] == list(range(1, 2 * LOOKS + 1))
    assert len(looks) < 2 * LOOKS * math.log(10_000 / LOOKS)
    assert looks[-1] == 10_000


@pytest.mark.parametrize("name", ["actor/pg_loss", "critic/grad_norm", "reward/score"])
@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_loss_gradient_or_score_that_is_no_number_is_named(name: str, value: float) -> None:
    assert not_finite(StepMetrics(3, {"reward/score": 0.4, name: value})) == f"{name} is {value} at step 3"
    assert not_finite(StepMetrics(3, {"reward/score": 0.4})) is None
