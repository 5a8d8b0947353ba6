"""Metrics of invented runs that learn, with the noise that sampling has: for tests of the health rules.

Scores are drawn: problems of different difficulty, samples of each, so a step's mean is as noisy as its batch is
small.  Faults are planted by changing columns afterwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from code_rlvr.runs import StepMetrics

Floats = npt.NDArray[np.float64]


@dataclass
class InventedRun:
    """A run, by columns.

    Args:
        columns: Metric to values, each of shape [steps]; step 1 comes first.
        validation: Metric to its values by step.
    """

    columns: dict[str, Floats]
    validation: dict[str, dict[int, float]]

    def steps(self) -> list[StepMetrics]:
        count = max((len(values) for values in self.columns.values()), default=0)
        found: dict[int, dict[str, float]] = {step: {} for step in range(count + 1)}
        for name, values in self.columns.items():
            for index, value in enumerate(values):
                found[index + 1][name] = float(value)
        for name, points in self.validation.items():
            for step, value in points.items():
                found[step][name] = value
        return [StepMetrics(step, values) for step, values in found.items() if values]

    def set_score(self, means: Sequence[float] | Floats, rng: np.random.Generator, samples: int = 256) -> None:
        """Replace the score by draws around other means."""
        drawn = rng.binomial(samples, np.clip(means, 0, 1)) / samples
        self.columns |= {"reward/score": drawn, "reward/pass_rate": drawn, "critic/score/mean": drawn}


def healthy_run(
    steps: int, prompts: int, samples: int, seed: int, *, critic: bool = True, plain: bool = False
) -> InventedRun:
    """Invent a run that learns.

    Args:
        steps: Training steps.
        prompts: Prompts of a batch.
        samples: Samples of a prompt.
        seed: Same seed, same run; it also decides how well and how fast the run learns.
        critic: PPO with a critic, else GRPO.
        plain: Only what verl logs by itself.
    """
    rng = np.random.default_rng(seed)
    done = np.arange(steps) / max(1, steps - 1)
    skill = _rise(steps, rng.uniform(0.03, 0.55), rng.uniform(0.35, 0.97), rng)
    form = _rise(steps, rng.choice([0.3, 0.7, 0.95]), 0.99, rng)
    drift = _wander(steps, 0.01, rng)  # batches of a while are harder or easier
    score, same = _draw_scores(skill * np.minimum(1, form / 0.9) + drift, prompts, samples, rng)
    columns = {"reward/score": score, "reward/pass_rate": score, "critic/score/mean": score}
    columns |= _policy(steps, done, rng) | _lengths(steps, done, prompts * samples, rng)
    columns |= _shares(steps, form, prompts * samples, rng)
    if samples > 1:
        columns["reward/groups_without_signal"] = same
    if critic:
        columns |= _critic(steps, rng)
    if plain:
        columns = {name: values for name, values in columns.items() if not name.startswith(("reward/", "rollout/"))}
    return InventedRun(columns, _validate(skill, steps, rng))


def _rise(steps: int, start: float, end: float, rng: np.random.Generator) -> Floats:
    """From one level up to another: slower and slower, or as an S; nine tenths of it in 18 steps at the fastest."""
    since, rise = np.arange(steps), max(0.0, end - start)
    pace = max(8.0, steps * rng.uniform(0.05, 0.5))
    if rng.random() < 0.5:
        return start + rise * (1 - np.exp(-since / pace))
    return start + rise / (1 + np.exp(-(since - steps * rng.uniform(0.2, 0.6)) / (pace / 2)))


def _wander(steps: int, size: float, rng: np.random.Generator) -> Floats:
    """Noise that neighbours have in common: autoregressive, with a memory of three steps or so."""
    noise = np.zeros(steps)
    for step, push in enumerate(rng.normal(0, size, steps)):
        noise[step] = push + (0.7 * noise[step - 1] if step else 0)
    return noise


def _draw_scores(means: Floats, prompts: int, samples: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Each step's mean score, and its share of prompts all of whose samples earned the same.

    Problems' solve rates are beta-distributed, with most of them easy or hard.
    """
    clipped = np.clip(means, 0.01, 0.985)[:, None]
    solve_rates = rng.beta(1.5 * clipped, 1.5 * (1 - clipped), size=(len(means), prompts))
    passed = rng.binomial(samples, solve_rates)
    return passed.mean(axis=1) / samples, ((passed == 0) | (passed == samples)).mean(axis=1)


def _policy(steps: int, done: Floats, rng: np.random.Generator) -> dict[str, Floats]:
    highest = rng.uniform(0.02, 0.4)
    kl = highest * (1 - np.exp(-np.arange(steps) * rng.uniform(0.0005, 0.006) / highest))
    entropy = rng.uniform(0.2, 0.8) * (1 - rng.uniform(0.1, 0.8) * (1 - np.exp(-3 * done)))
    spikes = np.where(rng.random(steps) < 0.01, 20, 1)  # a wild batch now and then
    return {
        "actor/reward_kl_penalty": kl * (1 + _wander(steps, 0.05, rng)) + rng.normal(0, 0.002, steps),
        "actor/entropy": np.maximum(entropy + _wander(steps, 0.015, rng), 0.001),
        "actor/pg_loss": rng.normal(0, 0.04, steps),
        "actor/loss": rng.normal(0, 0.04, steps),
        "actor/grad_norm": rng.uniform(0.3, 3) * rng.lognormal(0, 0.3, steps) * (1 + done) * spikes,
        "training/rollout_probs_diff_mean": 0.003 * rng.lognormal(0, 0.1, steps),
        "training/rollout_probs_diff_valid": np.ones(steps),
    }


def _critic(steps: int, rng: np.random.Generator) -> dict[str, Floats]:
    since = np.arange(steps)
    wrong = rng.uniform(1, 80) * np.exp(-since / rng.uniform(2, 5))
    learned = rng.uniform(0.15, 0.6) * (1 - np.exp(-since / rng.uniform(5, 15)))
    return {
        "critic/vf_explained_var": learned - wrong * rng.lognormal(0, 0.3, steps) + rng.normal(0, 0.07, steps),
        "critic/vf_loss": 0.1 * rng.lognormal(0, 0.25, steps) + wrong * 0.09,
        "critic/grad_norm": 20 * rng.lognormal(0, 0.5, steps) * (1 + 8 * np.exp(-since / 3)),
    }


def _lengths(steps: int, done: Floats, count: int, rng: np.random.Generator) -> dict[str, Floats]:
    mean = rng.uniform(20, 600) * (1 + rng.uniform(-0.4, 0.3) * done)
    cut = rng.uniform(0, 0.12) * np.exp(-2 * done)
    return {
        "response_length/mean": mean * (1 + rng.normal(0, 0.7, steps) / np.sqrt(count)),
        "rollout/truncated": rng.binomial(count, cut) / count,
        "response_length/clip_ratio": np.maximum(rng.binomial(count, cut), 1) / count,
    }


def _shares(steps: int, form: Floats, count: int, rng: np.random.Generator) -> dict[str, Floats]:
    return {
        "reward/format": rng.binomial(count, form) / count,
        "reward/samples": np.full(steps, float(count)),
        "reward/unjudged": np.zeros(steps),
    }


def _validate(skill: Floats, steps: int, rng: np.random.Generator) -> dict[str, dict[int, float]]:
    """Greedy validation on the same problems each time, so that their difficulty cancels; a tenth of them flips."""
    problems, every = int(rng.integers(100, 500)), max(1, steps // int(rng.integers(5, 12)))
    offset = rng.normal(0, 0.03)
    points = {
        step: float(np.clip(0.85 * skill[max(0, step - 1)] + offset + rng.normal(0, np.sqrt(0.1 / problems)), 0, 1))
        for step in {*range(0, steps + 1, every), steps}
    }
    return {"val-core/mbpp/reward/mean@1": points}
