"""The rule about held-out problems: training goes up while they go down.

Covered: validation during training, each data source for itself.  Not covered: evaluations before and after
training, which have intervals of their own (`report.headline`).
"""

from __future__ import annotations

import numpy as np

from code_rlvr.health.finding import Level
from code_rlvr.health.robust import empirical_noise, least_change, rolling_medians, score_noise
from code_rlvr.health.rule import Rule, Sign
from code_rlvr.health.signals import SCORE, VALIDATION, Run, Signal
from code_rlvr.health.thresholds import HealthThresholds
from code_rlvr.health.words import moved, number

WIDTH = 3
"""Validations that a median is taken over."""


def _held_out_falls(run: Run, thresholds: HealthThresholds) -> list[Sign]:
    training = run.get(SCORE)
    if training is None:
        return []
    found = (_falls(run, training, source, one, thresholds) for source, one in run.held_out().items())
    return [sign for sign in found if sign is not None]


def _falls(run: Run, training: Signal, source: str, held_out: Signal, thresholds: HealthThresholds) -> Sign | None:
    if len(held_out) < max(WIDTH + 1, thresholds.held_out_points):
        return None
    low, high = run.score_range()
    medians = rolling_medians(held_out.values, WIDTH)[1:-1]
    best = int(medians.argmax()) + 1
    top, now = float(medians.max()), float(np.median(held_out.values[-WIDTH:]))
    noise = least_change(empirical_noise(held_out.values), len(held_out), WIDTH, thresholds)
    if top - now < max(thresholds.held_out_fall * (high - low), noise):
        return None
    first, last = int(held_out.steps[best]), int(held_out.steps[-1])
    since = len(training) - training.index_at(first)
    width = max(thresholds.window, since // 3)
    before, after = moved(training, first, int(training.steps[max(0, len(training) - width)]), width)
    if after - before < least_change(score_noise(run, training), len(training), width, thresholds):
        return None
    return Sign(
        Level.DANGER if now <= held_out.values[0] else Level.WARNING,
        f"Training rises while held-out problems ({source}) fall from {number(top)} to {number(now)}",
        first,
        last,
        held_out.name,
        f"{held_out.name} was best around step {first}, {number(top)}, and is {number(now)} at the end (medians of "
        f"{WIDTH} validations; {number(float(held_out.values[0]))} at first), while {training.name} went from "
        f"{number(before)} to {number(after)}.",
    )


RULES = (
    Rule(
        key="held_out_falls",
        title="Training up, held-out down",
        needs=(SCORE, VALIDATION),
        fires="With `held_out_points` validations or more, their last median is below the best one by "
        "`held_out_fall` and by more than chance explains (`noise_z`), while the training score rose since. A "
        "danger where the model is no better on them than at first.",
        thresholds=("held_out_points", "held_out_fall", "noise_z", "window"),
        causes=(
            "the training problems are learned by heart: too few of them, too many passes",
            "the training problems' tests are weaker, and what earns there does not solve problems",
            "the policy has moved far from the reference and has lost what it knew",
        ),
        tries=(
            "merge the checkpoint with the best validation (`code-rlvr merge runs/NAME --step best`) and stop earlier "
            "(trainer.steps, trainer.epochs)",
            "more problems (data.train_file)",
            "a higher algorithm.kl_coef, a lower actor.lr",
            "read accepted training samples of the last steps",
        ),
        look=_held_out_falls,
    ),
)
