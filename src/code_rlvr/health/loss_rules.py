"""Rules about losses and gradients: they explode, or are no numbers.

Covered: actor and critic alike.  Not covered: whether the critic is of any use (`critic_rules`).
"""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from code_rlvr.health.finding import Level
from code_rlvr.health.robust import rolling_medians, stretches
from code_rlvr.health.rule import Rule, Sign
from code_rlvr.health.signals import ACTOR_SIZES, CRITIC_SIZES, ENTROPY, KL, SCORE, Run, Signal
from code_rlvr.health.thresholds import HealthThresholds
from code_rlvr.health.words import number, span
from code_rlvr.smoothing import Floats
from code_rlvr.words import counted

SHORT = 5
"""Points of the median that has to be large: two wild steps among them are not enough."""
USUAL = 20
"""Points of the medians that the usual size is the smallest of."""
FATAL_METRICS = (*ACTOR_SIZES, *CRITIC_SIZES, SCORE[0])
"""Where one of these is no number, what is learned from there on is none either."""
FINITE = (*FATAL_METRICS, *SCORE[1:], *ENTROPY, *KL)


def _not_a_number(run: Run, thresholds: HealthThresholds) -> list[Sign]:
    found = {name: steps for name in FINITE if (steps := run.not_finite(name))}
    if not found:
        return []
    name = min(found, key=lambda one: found[one][0])
    steps = found[name]
    others = [one for one in found if one != name]
    return [
        Sign(
            Level.DANGER,
            f"{name} is no number at step {steps[0]}",
            steps[0],
            max(max(one) for one in found.values()),
            name,
            f"{name} is NaN or infinite in {counted(len(steps), 'step')} {span(steps[0], steps[-1])}"
            + (f"; so are {', '.join(others)}." if others else "."),
        )
    ]


def _loss_explosion(run: Run, thresholds: HealthThresholds) -> list[Sign]:
    signs = []
    for names in (ACTOR_SIZES, CRITIC_SIZES):
        seen = [sign for name in names if (sign := _explosion(run.one(name), thresholds)) is not None]
        if seen:  # a loss and its gradient explode together: one finding for the model
            signs.append(min(seen, key=lambda sign: (sign.level is not Level.DANGER, sign.first_step)))
    return signs


def _explosion(signal: Signal, thresholds: HealthThresholds) -> Sign | None:
    if len(signal) < thresholds.window + SHORT:
        return None
    sizes = np.abs(signal.values)
    usual = _smallest_usual(sizes, thresholds.window)
    floor = thresholds.grad_norm_floor if signal.name.endswith("grad_norm") else thresholds.loss_floor
    large = np.maximum(floor, thresholds.explosion_factor * usual)
    found = stretches(rolling_medians(sizes, SHORT) >= large)
    if not found:
        return None
    first, last = int(signal.steps[found[0].start]), int(signal.steps[found[-1].stop - 1])
    top = float(sizes[found[0].start : found[-1].stop].max())
    lasts = found[-1].at_end
    times = f" ({len(found)} times)" if len(found) > 1 else ""
    return Sign(
        Level.DANGER if lasts else Level.WARNING,
        f"{signal.name} exploded to {number(top)} at step {first}",
        first,
        last,
        signal.name,
        f"{signal.name} is usually {number(float(usual[found[0].start]))} and was at least "
        f"{thresholds.explosion_factor:g} times as large {span(first, last)}{times}, {number(top)} at most; "
        + ("it did not come back." if lasts else "it came back."),
    )


def _smallest_usual(sizes: Floats, least: int) -> Floats:
    """For each point, the smallest median of up to `USUAL` points before it; infinite where fewer than `least` are."""
    usual = np.full(len(sizes), np.inf)
    for index in range(least, min(USUAL, len(sizes))):
        usual[index] = np.median(sizes[:index])
    if len(sizes) > (first := max(least, USUAL)):
        usual[first:] = np.median(sliding_window_view(sizes, USUAL), axis=1)[first - USUAL : -1]
    return np.minimum.accumulate(usual)


RULES = (
    Rule(
        key="not_a_number",
        title="A metric that is no number",
        needs=(ACTOR_SIZES, CRITIC_SIZES, SCORE),
        any_need=True,
        takes_any_value=True,
        fires="A loss, a gradient norm, the score, the entropy or the KL is NaN or infinite at any step. A danger.",
        thresholds=(),
        causes=(
            "the learning rate is too high: weights have overflowed",
            "numbers too small or too large for the precision: a ratio of probabilities, a variance of 0",
            "a broken sample or a damaged checkpoint, if it began with a resumed run",
        ),
        tries=(
            "merge a checkpoint before that step (`code-rlvr merge runs/NAME --step N`) and train on from it (model)",
            "trainer.stop_on_nan=true, which ends the next run at such a step: nothing is learned from there on",
            "a lower actor.lr or critic.lr, a longer actor.lr_warmup_steps",
            "stronger clipping of gradients, after `--`: actor_rollout_ref.actor.grad_clip=0.5, critic.grad_clip=0.5",
        ),
        look=_not_a_number,
        is_fact=True,
    ),
    Rule(
        key="loss_explosion",
        title="Loss explosion",
        needs=(ACTOR_SIZES, CRITIC_SIZES),
        any_need=True,
        fires="The size of a loss or gradient norm of actor or critic, a median of 5 steps, is `explosion_factor` "
        "times its smallest usual size so far, and above `loss_floor` or `grad_norm_floor`, for more than a "
        "step. A warning where it came back, a danger where it did not.",
        thresholds=("explosion_factor", "loss_floor", "grad_norm_floor", "window"),
        causes=(
            "the learning rate is too high, or its warm-up too short",
            "the policy has moved far in one batch: ratios of probabilities are clipped on one side only",
            "for the critic: returns have changed suddenly, or their scale does not fit its values",
        ),
        tries=(
            "a lower actor.lr, or critic.lr where it is the critic; a longer actor.lr_warmup_steps",
            "a smaller actor.clip_ratio; fewer updates for each batch (a larger actor.mini_batch)",
            "stronger clipping of gradients, after `--`: actor_rollout_ref.actor.grad_clip=0.5, critic.grad_clip=0.5",
            "merge a checkpoint before that step (`code-rlvr merge runs/NAME --step N`) and train on from it (model)",
        ),
        look=_loss_explosion,
        silent_beside=("not_a_number",),
    ),
)
