"""Every health rule fires on its fault, planted in an invented run with the noise that sampling has, at its steps."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

from code_rlvr.report.health import RULES, Finding, HealthThresholds, Level, diagnose, unapplied
from code_rlvr.runs import StepMetrics
from tests.unit.health_runs import InventedRun, healthy_run

THRESHOLDS = HealthThresholds()
BATCHES = ((64, 1), (128, 8))
SEEDS = range(4)


@dataclass(frozen=True)
class Fault:
    """A fault that is planted.

    Args:
        rule: The rule that has to find it.
        at: The step from which on it is there.
        plant: Changes the run's columns from an index on.
        level: How bad the rule has to find it.
        slack: Steps by which the finding's first step may be off.
        critic: Whether the run has a critic.
    """

    rule: str
    at: int
    plant: Callable[[InventedRun, int, np.random.Generator], None]
    level: Level = Level.DANGER
    slack: int = 6
    critic: bool = True


def _samples(run: InventedRun) -> int:
    return int(run.columns["reward/samples"][0])


def _score(run: InventedRun, means: np.ndarray, rng: np.random.Generator) -> None:
    run.set_score(means, rng, _samples(run))


def _steps(run: InventedRun) -> np.ndarray:
    return np.arange(len(run.columns["reward/score"]))


def _zero_from(run: InventedRun, at: int, rng: np.random.Generator) -> None:
    _score(run, np.where(_steps(run) < at, 0.3, 0.0), rng)


def _jump(run: InventedRun, at: int, rng: np.random.Generator) -> None:
    _score(run, 0.15 + 0.001 * _steps(run) + 0.6 * (_steps(run) >= at), rng)


def _jump_over_three_steps(run: InventedRun, at: int, rng: np.random.Generator) -> None:
    _score(run, 0.2 + 0.6 * np.clip((_steps(run) - at + 1) / 3, 0, 1), rng)


def _jump_with_form(run: InventedRun, at: int, rng: np.random.Generator) -> None:
    _jump(run, at, rng)
    run.columns["reward/format"] = np.where(_steps(run) < at, 0.3, 0.97)


def _collapse(run: InventedRun, at: int, rng: np.random.Generator) -> None:
    _score(run, np.where(_steps(run) < at, 0.6, np.maximum(0.6 - 0.04 * (_steps(run) - at), 0.1)), rng)


def _overfit(run: InventedRun, at: int, rng: np.random.Generator) -> None:
    _score(run, 0.3 + 0.6 * _steps(run) / len(_steps(run)), rng)
    every = range(0, len(_steps(run)) + 1, 5)
    falling = {step: 0.4 + 0.004 * min(step, at) - 0.01 * max(0, step - at) + rng.normal(0, 0.015) for step in every}
    run.validation = {"val-core/mbpp/reward/mean@1": falling}


def _no_form(run: InventedRun, at: int, rng: np.random.Generator) -> None:
    run.columns["reward/format"] = rng.binomial(_samples(run), 0.2, len(_steps(run))) / _samples(run)


def _form_lost(run: InventedRun, at: int, rng: np.random.Generator) -> None:
    run.columns["reward/format"] = np.where(_steps(run) < at, 0.95, 0.1)


def _same_groups(run: InventedRun, at: int, rng: np.random.Generator) -> None:
    _score(run, np.full(len(_steps(run)), 0.1), rng)
    share = np.where(_steps(run) < at, 0.5, 0.98)
    run.columns["reward/groups_without_signal"] = rng.binomial(64, share) / 64


def _lose_samples(run: InventedRun, at: int, rng: np.random.Generator) -> None:
    run.columns["reward/unjudged"][at : at + 8] = 0.15


def _lose_one(run: InventedRun, at: int, rng: np.random.Generator) -> None:
    run.columns["reward/unjudged"][at] = 1 / 64


def _times(name: str, factor: float, steps: int | None = None) -> Callable[..., None]:
    def plant(run: InventedRun, at: int, rng: np.random.Generator) -> None:
        run.columns[name][at : None if steps is None else at + steps] *= factor

    return plant


def _value(name: str, value: float, steps: int | None = None) -> Callable[..., None]:
    def plant(run: InventedRun, at: int, rng: np.random.Generator) -> None:
        run.columns[name][at : None if steps is None else at + steps] = value

    return plant


def _wild_losses(run: InventedRun, at: int, rng: np.random.Generator) -> None:
    run.columns["actor/pg_loss"][at:] = rng.normal(0, 30, len(_steps(run)) - at)


def _kl_grows(rate: float) -> Callable[..., None]:
    def plant(run: InventedRun, at: int, rng: np.random.Generator) -> None:
        since = np.maximum(0, _steps(run) - at)
        kl = 0.02 * np.exp(rate * since) + rng.normal(0, 0.002, len(since))
        run.columns["actor/reward_kl_penalty"] = np.minimum(kl, 8)

    return plant


def _kl_creeps(run: InventedRun, at: int, rng: np.random.Generator) -> None:
    run.columns["actor/reward_kl_penalty"] = 0.4 + 0.65 * _steps(run) / at + rng.normal(0, 0.01, len(_steps(run)))


def _no_entropy(run: InventedRun, at: int, rng: np.random.Generator) -> None:
    _score(run, np.full(len(_steps(run)), 0.35), rng)
    run.columns["actor/entropy"][at:] = 0.004


def _long_and_better(run: InventedRun, at: int, rng: np.random.Generator) -> None:
    _score(run, 0.2 + 0.5 * _steps(run) / len(_steps(run)), rng)
    run.columns["response_length/mean"] = 120 * (1 + np.maximum(0, _steps(run) - at) / 15) + rng.normal(
        0, 4, len(_steps(run))
    )


def _cut(share: float) -> Callable[..., None]:
    def plant(run: InventedRun, at: int, rng: np.random.Generator) -> None:
        run.columns["rollout/truncated"] = np.where(_steps(run) < at, 0.02, share)

    return plant


def _critic_at(level: float) -> Callable[..., None]:
    def plant(run: InventedRun, at: int, rng: np.random.Generator) -> None:
        _score(run, np.full(len(_steps(run)), 0.4), rng)
        run.columns["critic/vf_explained_var"] = level + rng.normal(0, 0.08, len(_steps(run)))

    return plant


WARNING = Level.WARNING
FAULTS = {
    "zero from the start": Fault("stuck_at_zero", 0, _zero_from, slack=0),
    "zero from then on": Fault("stuck_at_zero", 45, _zero_from, slack=2),
    "a jump": Fault("sudden_jump", 40, _jump, slack=1),
    "a jump over three steps": Fault("sudden_jump", 40, _jump_over_three_steps, slack=3),
    "a jump with the form": Fault("sudden_jump", 40, _jump_with_form, WARNING, slack=1),
    "a collapse": Fault("score_collapsed", 50, _collapse, slack=50),  # the best window is anywhere before
    "held-out problems fall": Fault("held_out_falls", 40, _overfit, slack=10),
    "no form": Fault("format_not_learned", 0, _no_form, slack=0),
    "form lost": Fault("format_not_learned", 50, _form_lost, slack=2),
    "groups without a signal": Fault("no_signal_groups", 40, _same_groups, slack=2, critic=False),
    "the same with a critic": Fault("no_signal_groups", 40, _same_groups, WARNING, slack=2),
    "samples lost": Fault("lost_samples", 30, _lose_samples, slack=0),
    "one sample lost": Fault("lost_samples", 30, _lose_one, WARNING, slack=0),
    "NaN": Fault("not_a_number", 60, _value("actor/grad_norm", math.nan), slack=0),
    "infinite": Fault("not_a_number", 60, _value("critic/vf_loss", math.inf, 1), slack=0),
    "actor's gradients explode": Fault("loss_explosion", 50, _times("actor/grad_norm", 300), slack=1),
    "actor's losses explode": Fault("loss_explosion", 50, _wild_losses, slack=4),
    "critic's losses explode": Fault("loss_explosion", 50, _times("critic/vf_loss", 500), slack=1),
    "critic's losses come back": Fault("loss_explosion", 50, _times("critic/vf_loss", 500, 6), WARNING, slack=1),
    "KL runs away": Fault("kl_runaway", 40, _kl_grows(0.25), slack=12),
    "KL creeps away": Fault("kl_runaway", 60, _kl_creeps, WARNING, slack=5),
    "entropy gone": Fault("entropy_collapse", 40, _no_entropy, slack=1),
    "another model samples": Fault("sampler_disagrees", 40, _value("training/rollout_probs_diff_mean", 0.3), slack=1),
    "a coarse sampler": Fault("sampler_disagrees", 0, _times("training/rollout_probs_diff_mean", 12), WARNING, slack=1),
    "longer and better": Fault("length_inflation", 30, _long_and_better, WARNING, slack=8),
    "all cut off": Fault("cut_off", 40, _cut(0.8), slack=1),
    "many cut off": Fault("cut_off", 40, _cut(0.45), WARNING, slack=1),
    "critic worse than a constant": Fault("critic_useless", 53, _critic_at(-2.0), slack=1),
    "critic explains nothing": Fault("critic_useless", 53, _critic_at(-0.1), WARNING, slack=1),
}


def _plant(fault: Fault, batch: tuple[int, int], seed: int, steps: int = 80) -> InventedRun:
    run = healthy_run(steps, *batch, seed=seed, critic=fault.critic)
    fault.plant(run, fault.at, np.random.default_rng(1000 + seed))
    return run


def _of(rule: str, findings: list[Finding]) -> list[Finding]:
    return [finding for finding in findings if finding.rule == rule]


@pytest.mark.parametrize("batch", BATCHES, ids=str)
@pytest.mark.parametrize("name", FAULTS)
def test_a_planted_fault_is_found_at_its_steps(name: str, batch: tuple[int, int]) -> None:
    fault = FAULTS[name]
    for seed in SEEDS:
        found = _of(fault.rule, diagnose(_plant(fault, batch, seed).steps(), THRESHOLDS))
        assert found, f"seed {seed}"
        assert found[0].level is fault.level, found[0]
        assert abs(found[0].first_step - (fault.at + 1)) <= fault.slack, found[0]
        assert found[0].first_step <= found[0].last_step <= 80


def test_every_rule_has_a_planted_fault() -> None:
    assert {fault.rule for fault in FAULTS.values()} == {rule.key for rule in RULES}


def test_a_finding_says_steps_values_causes_and_remedies() -> None:
    (found,) = _of("sudden_jump", diagnose(_plant(FAULTS["a jump"], (128, 8), 0).steps(), THRESHOLDS))
    assert found.title.startswith("The score jumped from 0.2")
    assert f"before step {found.first_step}" in found.evidence
    assert found.show_samples
    assert found.causes
    assert found.tries


def test_dangers_come_before_warnings_and_early_ones_before_late_ones() -> None:
    run = _plant(FAULTS["a coarse sampler"], (64, 1), 0)
    _lose_samples(run, 30, np.random.default_rng(0))
    run.columns["actor/grad_norm"][70] = math.nan
    found = diagnose(run.steps(), THRESHOLDS)
    assert [one.rule for one in found] == ["lost_samples", "not_a_number", "sampler_disagrees"]


def test_groups_without_a_signal_are_not_named_beside_a_run_that_is_stuck() -> None:
    run = _plant(FAULTS["zero from the start"], (64, 8), 0)
    run.columns["reward/groups_without_signal"] = np.ones(80)
    assert [one.rule for one in diagnose(run.steps(), THRESHOLDS)] == ["stuck_at_zero"]


def test_few_samples_without_success_are_a_warning_only() -> None:
    run = healthy_run(20, 8, 1, seed=0)
    run.set_score(np.zeros(20), np.random.default_rng(0), samples=8)
    (found,) = _of("stuck_at_zero", diagnose(run.steps(), THRESHOLDS))
    assert (found.level, found.first_step, found.last_step) == (Level.WARNING, 1, 20)


def test_a_start_at_zero_that_ended_is_no_finding() -> None:
    run = healthy_run(80, 64, 1, seed=1)
    run.set_score(np.clip((np.arange(80) - 20) / 80, 0, 1), np.random.default_rng(0))
    assert diagnose(run.steps(), THRESHOLDS) == []


def test_a_rise_across_missing_steps_is_not_sudden() -> None:
    run = _plant(FAULTS["a jump"], (128, 8), 0)
    steps = [StepMetrics(one.step + (200 if one.step > 40 else 0), one.data) for one in run.steps()]
    assert diagnose(steps, THRESHOLDS) == []


def test_few_steps_that_are_missing_hide_nothing() -> None:
    for name in ("a jump", "KL runs away", "entropy gone", "critic's losses explode"):
        steps = [one for one in _plant(FAULTS[name], (128, 8), 0).steps() if one.step % 7]
        assert [one.rule for one in diagnose(steps, THRESHOLDS)] == [FAULTS[name].rule]


def test_steps_of_a_resumed_run_may_stand_there_twice_and_out_of_order() -> None:
    steps = _plant(FAULTS["a jump"], (128, 8), 0).steps()
    old = [StepMetrics(one.step, {"reward/score": 0.9, "actor/grad_norm": math.nan}) for one in steps[10:20]]
    assert diagnose([*old, *reversed(steps)], THRESHOLDS) == diagnose(steps, THRESHOLDS)


def test_a_solved_run_without_entropy_signal_or_variance_is_healthy() -> None:
    run = healthy_run(80, 64, 8, seed=2)
    run.set_score(np.linspace(0.6, 0.98, 80).clip(max=0.97), np.random.default_rng(0), samples=512)
    run.columns["actor/entropy"] = np.linspace(0.4, 0.01, 80)
    run.columns["reward/groups_without_signal"] = np.linspace(0.4, 0.97, 80)
    run.columns["critic/vf_explained_var"] = np.where(np.arange(80) < 66, 0.2, -3.0)
    assert diagnose(run.steps(), THRESHOLDS) == []


def test_one_wild_step_is_not_an_explosion() -> None:
    run = healthy_run(80, 64, 1, seed=3)
    run.columns["critic/grad_norm"][40] *= 100
    run.columns["actor/pg_loss"][50] = -40
    assert diagnose(run.steps(), THRESHOLDS) == []


def test_one_wild_last_step_is_not_the_state_of_the_run() -> None:
    run = healthy_run(80, 64, 8, seed=3)
    spoiled = {
        "actor/reward_kl_penalty": 9.0,
        "actor/grad_norm": 500.0,
        "critic/vf_loss": 40.0,
        "rollout/truncated": 1.0,
    }
    spoiled |= {"reward/score": 0.0, "reward/format": 0.0, "actor/entropy": 0.0, "reward/groups_without_signal": 1.0}
    for name, value in spoiled.items():
        run.columns[name][-1] = value
    assert diagnose(run.steps(), THRESHOLDS) == []


def test_names_of_plain_verl_do_where_ours_were_not_logged() -> None:
    run = _plant(FAULTS["a jump"], (128, 8), 0)
    run.columns = {name: values for name, values in run.columns.items() if not name.startswith(("reward/", "rollout/"))}
    (found,) = diagnose(run.steps(), THRESHOLDS)
    assert (found.rule, found.metric) == ("sudden_jump", "critic/score/mean")
    run.set_score(np.zeros(80), np.random.default_rng(0))
    for name in ("reward/score", "reward/pass_rate"):
        del run.columns[name]
    run.columns["actor/kl_loss"] = run.columns.pop("actor/reward_kl_penalty") + np.linspace(0, 3, 80)
    found_by = {one.rule: one.metric for one in diagnose(run.steps(), THRESHOLDS)}
    assert found_by == {"stuck_at_zero": "critic/score/mean", "kl_runaway": "actor/kl_loss"}


def test_scores_below_zero_are_taken_for_the_range_that_they_have() -> None:
    run = healthy_run(80, 64, 1, seed=4, plain=True)
    score = run.columns["critic/score/mean"] * 2 - 1
    run.columns |= {"critic/score/mean": score, "critic/score/min": np.full(80, -1.0), "critic/score/max": np.ones(80)}
    assert diagnose(run.steps(), THRESHOLDS) == []


def test_no_steps_at_all_are_no_error() -> None:
    assert diagnose([], THRESHOLDS) == []
    assert diagnose([StepMetrics(0, {"val-core/mbpp/reward/mean@1": 0.2})], THRESHOLDS) == []


@pytest.mark.parametrize("steps", range(1, 6))
def test_a_run_of_a_few_steps_is_looked_at_without_error(steps: int) -> None:
    run = healthy_run(steps, 64, 1, seed=0)
    assert diagnose(run.steps(), THRESHOLDS) == []
    run.columns["reward/unjudged"][-1] = 0.5
    run.columns["critic/loss"] = np.full(steps, math.nan)
    assert {one.rule for one in diagnose(run.steps(), THRESHOLDS)} == {"lost_samples", "not_a_number"}


def test_any_metric_may_be_missing_or_nan_or_infinite() -> None:
    whole = healthy_run(40, 64, 8, seed=0)
    whole.columns["rollout_corr/k3_kl"] = np.full(40, 0.0003)
    for name in whole.columns:
        for spoiled in (None, math.nan, math.inf, -math.inf):
            run = InventedRun(dict(whole.columns), whole.validation)
            if spoiled is None:
                del run.columns[name]
            else:
                run.columns[name] = np.full(40, spoiled)
            assert {one.rule for one in diagnose(run.steps(), THRESHOLDS)} <= {"not_a_number"}, (name, spoiled)


def test_rules_without_their_metrics_are_named() -> None:
    assert unapplied(healthy_run(40, 64, 8, seed=0).steps()) == []
    missing = dict(unapplied(healthy_run(40, 64, 1, seed=0, critic=False, plain=True).steps()))
    assert missing == {
        "Form not learned": "reward/format",
        "Groups without a signal": "reward/groups_without_signal",
        "Samples that were never scored": "reward/unjudged",
        "Critic useless": "critic/vf_explained_var",
    }
    assert len(unapplied([])) == len(RULES)


def test_thresholds_decide() -> None:
    steps = _plant(FAULTS["a jump"], (128, 8), 0).steps()
    assert _of("sudden_jump", diagnose(steps, HealthThresholds(jump_rise=0.9))) == []
    steps = healthy_run(60, 128, 8, seed=5).steps()
    assert _of("kl_runaway", diagnose(steps, HealthThresholds(kl_far=0.001)))


def test_ten_thousand_steps_take_less_than_half_a_second() -> None:
    steps = healthy_run(10_000, 64, 8, seed=0).steps()
    started = time.process_time()
    assert diagnose(steps, THRESHOLDS) == []
    assert time.process_time() - started < 0.5
