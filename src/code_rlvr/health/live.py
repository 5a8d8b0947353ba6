"""What is new about the health of a run that goes on: the rules of a finished run, and patience with what may come.

The whole history is looked at, not the last steps alone, so that the rules say the same here as in a report.  That
costs more as a run grows, and so it is done less often: after n steps every n / `LOOKS` steps.

Covered: when to look, what is said once, what is given more time.  Not covered: the rules (`*_rules`), showing what is
found (`train.early_warnings`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from code_rlvr.health.diagnosis import RULES, diagnose
from code_rlvr.health.finding import Finding, Level
from code_rlvr.health.thresholds import HealthThresholds
from code_rlvr.runs import StepMetrics

LOOKS = 100
"""Looks at a run while it grows to e (2.7) times its length, once it has so many steps; before, each step has one."""
SURE = {Level.WARNING: 2, Level.DANGER: 5}
"""Looks in a row that have to find the same before it is said: what chance made is gone soon."""
GRACE = 4
"""What may still come has to be missing for so many times `patience` steps."""
LATE = 2 / 3
"""Share of the planned steps from where on what may still come can be a danger; it is a warning until then."""

_MAY_STILL_COME = {rule.key for rule in RULES if rule.may_still_come}
_FACTS = {rule.key for rule in RULES if rule.is_fact}


class LiveHealth:
    """Looks at each step as it comes.

    Args:
        thresholds: From where on a signal counts.
        planned_steps: Training steps that the run is to have.
        earlier: Steps before a resume; what they show was said then.
    """

    def __init__(self, thresholds: HealthThresholds, planned_steps: int, earlier: Sequence[StepMetrics] = ()) -> None:
        self._thresholds = thresholds
        self._planned_steps = planned_steps
        self._history = list(earlier)
        self._next_look = 0
        self._in_a_row: Counter[tuple[str, Level]] = Counter()  # looks, up to the last one
        self._said: dict[str, Level] = {}
        if self._history:
            self._said = _worst(self._look(max(one.step for one in self._history)))

    def add(self, metrics: StepMetrics) -> list[Finding]:
        """Return what is new with the next step, dangers first: each rule once as a warning and once as a danger.

        Unless it is a fact, it has to be there at `SURE` looks in a row.

        Args:
            metrics: Of a training step, a validation, or both.
        """
        self._history.append(metrics)
        if len(self._history) < self._next_look and metrics.step < self._planned_steps:
            return []
        self._next_look = len(self._history) + max(1, len(self._history) // LOOKS)
        found = self._look(metrics.step)
        self._count(found)
        sure = [again for one in found if (again := self._confirm(one)) is not None]
        new = [one for one in sure if self._said.get(one.rule) not in (one.level, Level.DANGER)]
        self._said |= _worst(new)
        return sorted(new, key=lambda one: one.level is not Level.DANGER)

    def _look(self, step: int) -> list[Finding]:
        judged = (self._judge(one, step) for one in diagnose(self._history, self._thresholds))
        return [one for one in judged if one is not None]

    def _judge(self, finding: Finding, step: int) -> Finding | None:
        """The finding as it counts while the run goes on; None if it is too early to say it."""
        if finding.rule not in _MAY_STILL_COME:
            return finding
        missing = finding.last_step - finding.first_step + 1
        if finding.level is Level.WARNING or missing < GRACE * self._thresholds.patience:
            return None  # it comes already, or may soon
        return finding if step >= LATE * self._planned_steps else _as_warning(finding)

    def _count(self, findings: Sequence[Finding]) -> None:
        levels = [(one.rule, level) for one in findings for level in {one.level, Level.WARNING}]
        self._in_a_row = Counter({key: self._in_a_row[key] + 1 for key in levels})

    def _confirm(self, finding: Finding) -> Finding | None:
        """A finding with the worst level that is sure; None if it may be chance."""
        if finding.rule in _FACTS or self._in_a_row[finding.rule, finding.level] >= SURE[finding.level]:
            return finding
        return _as_warning(finding) if self._in_a_row[finding.rule, Level.WARNING] >= SURE[Level.WARNING] else None


def _as_warning(finding: Finding) -> Finding:
    return replace(finding, level=Level.WARNING)


def _worst(findings: Sequence[Finding]) -> dict[str, Level]:
    """The worst level of each rule."""
    dangers = {one.rule: Level.DANGER for one in findings if one.level is Level.DANGER}
    return {one.rule: one.level for one in findings} | dangers
