"""Faults to plant in invented runs: for tests of the health rules, of a finished run and of one that goes on.

Covered: each rule's fault, from a step on, with what a rule has to say of it.  Not covered: runs without one
(`health_runs`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from code_rlvr.health import Level
from tests.unit.health_runs import InventedRun, healthy_run


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


def _nothing(run: InventedRun, at: int, rng: np.random.Generator) -> None:
    _score(run, np.zeros(len(_steps(run))), rng)
    run.columns["reward/format"][:] = 0.0


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


def lose_samples(run: InventedRun, at: int, rng: np.random.Generator) -> None:
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
FAULTS: dict[str, Fault] = {
    "nothing at all": Fault("stuck_at_zero", 0, _nothing, slack=0),
    "zero from the start": Fault("stuck_at_zero", 0, _zero_from, slack=0),
    "zero from then on": Fault("stuck_at_zero", 45, _zero_from, slack=2),
    "a jump": Fault("sudden_jump", 40, _jump, slack=1),
    "a jump over three steps": Fault("sudden_jump", 40, _jump_over_three_steps, slack=3),
    "a jump with the form": Fault("sudden_jump", 40, _jump_with_form, WARNING, slack=1),
    "a collapse": Fault("score_collapsed", 50, _collapse, slack=50),  # the best window is anywhere before
    "held-out problems fall": Fault("held_out_falls", 40, _overfit, slack=10),
    "no form": Fault("format_not_learned", 0, _no_form, slack=0),
    "form lost": Fault("format_unlearned", 50, _form_lost, slack=2),
    "groups without a signal": Fault("no_signal_groups", 40, _same_groups, slack=2, critic=False),
    "the same with a critic": Fault("no_signal_groups", 40, _same_groups, WARNING, slack=2),
    "samples lost": Fault("lost_samples", 30, lose_samples, slack=0),
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


def plant(fault: Fault, batch: tuple[int, int], seed: int, steps: int = 80) -> InventedRun:
    run = healthy_run(steps, *batch, seed=seed, critic=fault.critic)
    fault.plant(run, fault.at, np.random.default_rng(1000 + seed))
    return run
