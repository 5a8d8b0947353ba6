"""The rule about the critic: whether its values explain anything.

Covered: explained variance where there is variance to explain.  Not covered: its loss (`loss_rules`).
"""

from __future__ import annotations

import numpy as np

from code_rlvr.health.finding import Level
from code_rlvr.health.rule import Rule, Sign
from code_rlvr.health.signals import EXPLAINED, SCORE, Run, Signal
from code_rlvr.health.thresholds import HealthThresholds
from code_rlvr.health.words import number, span

IMPROVING = 0.1
"""A critic whose distance to `critic_low` shrank by this share from one third of the run to the next still learns."""


def _critic_useless(run: Run, thresholds: HealthThresholds) -> list[Sign]:
    signal = _where_scores_vary(run, thresholds)
    if signal is None or len(signal) < thresholds.critic_patience:
        return []
    third = len(signal) // 3
    middle, late = (float(np.median(part)) for part in (signal.values[-2 * third : -third], signal.values[-third:]))
    if late >= thresholds.critic_low:
        return []
    missing, was_missing = thresholds.critic_low - late, thresholds.critic_low - middle
    if missing < (1 - IMPROVING) * was_missing and len(signal) < 2 * thresholds.critic_patience:
        return []
    first, last = int(signal.steps[-third]), int(signal.steps[-1])
    return [
        Sign(
            Level.DANGER if late < thresholds.critic_danger else Level.WARNING,
            ("The critic explains nothing" if late > -thresholds.critic_low else "The critic is worse than a constant")
            + f": explained variance {number(late)}",
            first,
            last,
            signal.name,
            f"{signal.name} has a median of {number(late)} in the last third of the run, {span(first, last)}, "
            f"and of {number(middle)} in the third before; 0 is as good as a constant.",
        )
    ]


def _where_scores_vary(run: Run, thresholds: HealthThresholds) -> Signal | None:
    """The explained variance at steps whose scores differ; where nearly all are equal there is nothing to explain."""
    signal, score = run.get(EXPLAINED), run.get(SCORE)
    if signal is None or score is None:
        return signal
    low, high = run.score_range()
    place = (np.interp(signal.steps, score.steps, score.values) - low) / (high - low)
    varied = (place > 1 - thresholds.solved_score) & (place < thresholds.solved_score)
    return Signal(signal.name, signal.steps[varied], signal.values[varied])


RULES = (
    Rule(
        key="critic_useless",
        title="Critic useless",
        needs=(EXPLAINED,),
        fires="After `critic_patience` steps the explained variance, a median over the last third of the run, is "
        "below `critic_low`, and in a run of less than twice as many steps does not come nearer. Steps count "
        "whose score lies between 1 - `solved_score` and `solved_score` of its range: elsewhere there is "
        "little to explain. A danger below `critic_danger`.",
        thresholds=("critic_patience", "critic_low", "critic_danger", "solved_score"),
        causes=(
            "its learning rate is too low, or so high that it does not settle",
            "it is given too few steps before the policy moves on",
            "the reward can hardly be foreseen from the prompt: few samples, random verdicts",
        ),
        tries=(
            "a higher critic.lr (or a lower one where critic/vf_loss jumps about)",
            "a head start, after `--`: trainer.critic_warmup=10",
            "larger batches (trainer.batch)",
            "algorithm.estimator=grpo with rollout.samples_per_prompt=8, which needs no critic",
        ),
        look=_critic_useless,
        silent_beside=("stuck_at_zero", "not_a_number"),
    ),
)
