"""Every health rule fires on its fault, planted in an invented run with the noise that sampling has, at its steps."""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from code_rlvr.health import RULES, Finding, HealthThresholds, Level, diagnose, find_phases, phases, unapplied
from code_rlvr.health.signals import Run
from code_rlvr.runs import StepMetrics
from tests.unit.health_faults import FAULTS, lose_samples, plant
from tests.unit.health_runs import InventedRun, healthy_run

THRESHOLDS = HealthThresholds()
BATCHES = ((64, 1), (128, 8))
SEEDS = range(4)


def _of(rule: str, findings: list[Finding]) -> list[Finding]:
    return [finding for finding in findings if finding.rule == rule]


@pytest.mark.parametrize("batch", BATCHES, ids=str)
@pytest.mark.parametrize("name", FAULTS)
def test_a_planted_fault_is_found_at_its_steps(name: str, batch: tuple[int, int]) -> None:
    fault = FAULTS[name]
    for seed in SEEDS:
        found = _of(fault.rule, diagnose(plant(fault, batch, seed).steps(), THRESHOLDS))
        assert found, f"seed {seed}"
        assert found[0].level is fault.level, found[0]
        assert abs(found[0].first_step - (fault.at + 1)) <= fault.slack, found[0]
        assert found[0].first_step <= found[0].last_step <= 80


def test_every_rule_has_a_planted_fault() -> None:
    assert {fault.rule for fault in FAULTS.values()} == {rule.key for rule in RULES}


def test_a_finding_says_steps_values_causes_and_remedies() -> None:
    (found,) = _of("sudden_jump", diagnose(plant(FAULTS["a jump"], (128, 8), 0).steps(), THRESHOLDS))
    assert found.title.startswith("The score jumped from 0.2")
    assert f"before step {found.first_step}" in found.evidence
    assert found.show_samples
    assert found.causes
    assert found.tries


def test_dangers_come_before_warnings_and_early_ones_before_late_ones() -> None:
    run = plant(FAULTS["a coarse sampler"], (64, 1), 0)
    lose_samples(run, 30, np.random.default_rng(0))
    run.columns["actor/grad_norm"][70] = math.nan
    found = diagnose(run.steps(), THRESHOLDS)
    assert [one.rule for one in found] == ["lost_samples", "not_a_number", "sampler_disagrees"]


def test_groups_without_a_signal_are_not_named_beside_a_run_that_is_stuck() -> None:
    run = plant(FAULTS["zero from the start"], (64, 8), 0)
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
    run = plant(FAULTS["a jump"], (128, 8), 0)
    steps = [StepMetrics(one.step + (200 if one.step > 40 else 0), one.data) for one in run.steps()]
    assert diagnose(steps, THRESHOLDS) == []


def test_few_steps_that_are_missing_hide_nothing() -> None:
    for name in ("a jump", "KL runs away", "entropy gone", "critic's losses explode"):
        steps = [one for one in plant(FAULTS[name], (128, 8), 0).steps() if one.step % 7]
        assert [one.rule for one in diagnose(steps, THRESHOLDS)] == [FAULTS[name].rule]


def test_steps_of_a_resumed_run_may_stand_there_twice_and_out_of_order() -> None:
    steps = plant(FAULTS["a jump"], (128, 8), 0).steps()
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
    run = plant(FAULTS["a jump"], (128, 8), 0)
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


def test_what_was_never_a_number_is_found() -> None:
    run = healthy_run(40, 64, 1, seed=0, critic=False)
    for name in ("actor/loss", "actor/pg_loss", "actor/grad_norm", "reward/score", "critic/score/mean"):
        run.columns[name] = np.full(40, math.nan)
    assert "not_a_number" in {one.rule for one in diagnose(run.steps(), THRESHOLDS)}


@pytest.mark.parametrize("name", ["actor/kl_loss", "actor/entropy_loss", "critic/rewards/mean"])
def test_a_number_of_verls_own_name_that_is_none_is_found(name: str) -> None:
    run = healthy_run(40, 64, 8, seed=0)
    run.columns[name] = np.where(np.arange(40) == 7, math.nan, 0.2)
    assert [(one.rule, one.first_step) for one in diagnose(run.steps(), THRESHOLDS)] == [("not_a_number", 8)]


@pytest.mark.parametrize(("window", "patience"), [(2, 2), (2, 3), (3, 2), (4, 4), (5, 2), (7, 40), (20, 15), (25, 2)])
def test_runs_shorter_than_any_wait_are_no_error(window: int, patience: int) -> None:
    thresholds = HealthThresholds(window=window, patience=patience)
    runs = [healthy_run(2 * window + 4, 64, 1, seed=0), *(plant(fault, (64, 1), 0) for fault in FAULTS.values())]
    for run in runs:
        run.columns["response_length/mean"][:window] = 0
        steps = run.steps()
        for count in range(2 * window + 5):
            diagnose(steps[:count], thresholds)
            find_phases(steps[:count], thresholds)


EXTREMES = st.sampled_from([0.0, -0.0, 1e-308, 1.7e308, -1.7e308, math.nan, math.inf, 1.0, -1.0, 0.5, 1e9])


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_no_values_are_an_error(data: st.DataObject) -> None:
    run = healthy_run(40, 64, 8, seed=0)
    for name in run.columns:
        if data.draw(st.booleans(), label=name):
            few = data.draw(st.lists(EXTREMES, min_size=1, max_size=3))
            run.columns[name] = np.resize(np.array(few), 40)
    steps = run.steps()
    with np.errstate(all="ignore"):
        for count in (3, 16, 41):
            diagnose(steps[:count], THRESHOLDS)
            find_phases(steps[:count], THRESHOLDS)


def test_an_explosion_is_not_looked_for_before_a_window_has_passed() -> None:
    run = healthy_run(60, 64, 8, seed=0)
    run.columns["actor/grad_norm"][22:] *= 300
    found = _of("loss_explosion", diagnose(run.steps(), HealthThresholds(window=40)))
    assert found == []  # what is usual is not known before step 40, and then it is what it is


def test_disagreement_is_told_with_the_kl_of_its_own_steps() -> None:
    run = healthy_run(80, 64, 8, seed=0)
    run.columns["training/rollout_probs_diff_mean"][30:50] = 0.3
    run.columns["rollout_corr/k3_kl"] = np.where((np.arange(80) >= 30) & (np.arange(80) < 50), 0.7, 0.001)
    (found,) = _of("sampler_disagrees", diagnose(run.steps(), THRESHOLDS))
    assert "the KL between them is 0.7" in found.evidence


def test_rules_and_phases_read_the_thresholds_that_they_name() -> None:
    read: set[str] = set()

    class Recording(HealthThresholds):
        def __getattribute__(self, name: str) -> Any:
            read.update({name} & set(HealthThresholds.model_fields))
            return super().__getattribute__(name)

    thresholds = Recording()
    planted = [plant(fault, (64, 1), seed) for fault in FAULTS.values() for seed in range(2)]
    near = plant(FAULTS["KL runs away"], (64, 1), 0)
    near.columns["actor/reward_kl_penalty"] = np.minimum(near.columns["actor/reward_kl_penalty"], 0.7)
    runs = [Run(one.steps()) for one in (*planted, near)]
    for rule in RULES:
        read.clear()
        for run in runs:
            rule.apply(run, thresholds)
        assert read == set(rule.thresholds), rule.key
    read.clear()
    for seed in range(20):
        find_phases(healthy_run(100, 128, 8, seed=seed).steps(), thresholds)
    assert read == set(phases.THRESHOLDS)


def test_rules_without_their_metrics_are_named() -> None:
    assert unapplied(healthy_run(40, 64, 8, seed=0).steps()) == []
    missing = dict(unapplied(healthy_run(40, 64, 1, seed=0, critic=False, plain=True).steps()))
    assert missing == {
        "Form not learned": "reward/format",
        "Form unlearned": "reward/format",
        "Groups without a signal": "reward/groups_without_signal",
        "Samples that were never scored": "reward/unjudged",
        "Critic useless": "critic/vf_explained_var",
    }
    assert len(unapplied([])) == len(RULES)


def test_thresholds_decide() -> None:
    steps = plant(FAULTS["a jump"], (128, 8), 0).steps()
    assert _of("sudden_jump", diagnose(steps, HealthThresholds(jump_rise=0.9))) == []
    steps = healthy_run(60, 128, 8, seed=5).steps()
    assert _of("kl_runaway", diagnose(steps, HealthThresholds(kl_far=0.001)))


def test_ten_thousand_steps_are_looked_at_in_linear_time() -> None:
    steps = healthy_run(10_000, 64, 8, seed=0).steps()
    started = time.process_time()
    assert diagnose(steps, THRESHOLDS) == []
    assert time.process_time() - started < 5  # about 0.1 s; what grows with the square takes minutes
