"""All rules over one run, the worst first.

Covered: applying them; leaving out what is a mere consequence of something else; which could not be applied.
Not covered: the rules (`*_rules`), their page of documentation (`page`).
"""

from __future__ import annotations

from collections.abc import Sequence

from code_rlvr.health import (
    critic_rules,
    held_out_rules,
    jump_rules,
    length_rules,
    loss_rules,
    policy_rules,
    reward_rules,
    score_rules,
)
from code_rlvr.health.finding import Finding, Level
from code_rlvr.health.rule import Rule
from code_rlvr.health.signals import Run
from code_rlvr.health.thresholds import HealthThresholds
from code_rlvr.runs import StepMetrics

RULES: tuple[Rule, ...] = (
    *score_rules.RULES,
    *jump_rules.RULES,
    *held_out_rules.RULES,
    *reward_rules.RULES,
    *loss_rules.RULES,
    *policy_rules.RULES,
    *length_rules.RULES,
    *critic_rules.RULES,
)
"""All rules, in the order of the page of documentation."""


def diagnose(steps: Sequence[StepMetrics], thresholds: HealthThresholds) -> list[Finding]:
    """Look for signs that a run is not healthy.

    Args:
        steps: Metrics of the run, as far as it has come; metrics and steps may be missing.
        thresholds: From where on a signal counts.

    Returns:
        Findings, dangers before warnings, and among them those that began earlier first.
    """
    run = Run(steps)
    found = [finding for rule in RULES for finding in rule.apply(run, thresholds)]
    quiet = {rule.key: rule.silent_beside for rule in RULES}
    kept = [one for one in found if not any(other.rule in quiet[one.rule] and _overlap(one, other) for other in found)]
    return sorted(kept, key=lambda one: (one.level is not Level.DANGER, one.first_step))


def unapplied(steps: Sequence[StepMetrics]) -> list[tuple[str, str]]:
    """Return the rules that could not be applied: title, and a metric that the run did not log.

    Where a quantity has several names, it is the first.
    """
    run = Run(steps)
    return [(rule.title, name) for rule in RULES for name in rule.missing(run)[:1]]


def _overlap(one: Finding, other: Finding) -> bool:
    return one.first_step <= other.last_step and other.first_step <= one.last_step
