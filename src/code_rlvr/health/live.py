"""What is new about the health of a run that goes on: the rules of a finished run, and patience with what may come.

The whole history is looked at, not the last steps alone, so that the rules say the same here as in a report.  That
costs more as a run grows, and so it is done less often: after n steps every n / `LOOKS` steps.

Covered: when to look, what is said once, what is given more time.  Not covered: the rules (`*_rules`), showing what is
found (`train.early_warnings`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from code_rlvr.health.diagnosis import RULES, diagnose
from code_rlvr.health.finding import Finding, Level
from code_rlvr.health.thresholds import HealthThresholds
from code_rlvr.runs import StepMetrics

LOOKS = 100
"""Looks at a run while it grows to e (2.7) times its length, once it has so many steps; before, each step has one."""
SURE = {Level.WARNING: 2, Level.DANGER: 5}
"""Looks in a row that have to find the same before it is said: what chance made is gone soon."""
GRACE = 4
"""What may still come has to be missing for so many times `patience` steps, or for half of the planned steps."""
LATE = 2 / 3
"""Share of the planned steps from where on what may still come can be a danger; it is a warning until then."""

_MAY_STILL_COME = {rule.key for rule in RULES if rule.may_still_come}
_FACTS = {rule.key for rule in RULES if rule.is_fact}


@dataclass
class _Episode:
    """What one rule finds in one metric, look after look, while the steps of its evidence stay near.

    Args:
        finding: As at the last look that found it.
        in_a_row: Looks up to the last one that found it, with at least such a level.
        said: The worst level that was said.
    """

    finding: Finding
    in_a_row: dict[Level, int] = field(default_factory=lambda: dict.fromkeys(Level, 0))
    said: Level | None = None

    def is_of(self, other: Finding, apart: int) -> bool:
        """Whether a finding belongs to it: the same again, or so few steps from it."""
        mine = self.finding
        return (mine.rule, mine.metric) == (other.rule, other.metric) and (
            other.first_step <= mine.last_step + apart and mine.first_step <= other.last_step + apart
        )

    def count(self, found: Finding | None) -> None:
        """Count a look that found it, or did not."""
        levels = {found.level, Level.WARNING} if found else set()
        self.in_a_row = {level: self.in_a_row[level] + 1 if level in levels else 0 for level in Level}
        self.finding = found or self.finding

    def sure_level(self) -> Level | None:
        """The worst level that is no chance; None if none is."""
        if self.finding.rule in _FACTS:
            return self.finding.level if self.in_a_row[Level.WARNING] else None
        return next((level for level in (Level.DANGER, Level.WARNING) if self.in_a_row[level] >= SURE[level]), None)


class LiveHealth:
    """Looks at each step as it comes.

    Args:
        thresholds: From where on a signal counts.
        planned_steps: Training steps that the run is to have.
        earlier: Steps before a resume; what was said of them is not said again.
    """

    def __init__(self, thresholds: HealthThresholds, planned_steps: int, earlier: Sequence[StepMetrics] = ()) -> None:
        self._thresholds = thresholds
        self._planned_steps = planned_steps
        self._history: list[StepMetrics] = []
        self._next_look = 0
        self._episodes: list[_Episode] = []
        for metrics in earlier:
            self.add(metrics)

    def add(self, metrics: StepMetrics) -> list[Finding]:
        """Return what is new with the next step, dangers first: each once as a warning and once as a danger.

        Unless it is a fact, it has to be there at `SURE` looks in a row.

        Args:
            metrics: Of a training step, a validation, or both.
        """
        self._history.append(metrics)
        if len(self._history) < self._next_look and metrics.step < self._planned_steps:
            return []
        self._next_look = len(self._history) + max(1, len(self._history) // LOOKS)
        self._follow(self._look(metrics.step))
        new = []
        for episode in self._episodes:
            level = episode.sure_level()
            if level is not None and episode.said not in (level, Level.DANGER):
                episode.said = level
                new.append(replace(episode.finding, level=level))
        return sorted(new, key=lambda one: one.level is not Level.DANGER)

    def _follow(self, findings: Sequence[Finding]) -> None:
        """Go on with the episodes, each with its worst finding, and begin those that are new."""
        left = list(findings)  # dangers first
        for episode in self._episodes:
            mine = [one for one in left if episode.is_of(one, self._thresholds.patience)]
            episode.count(mine[0] if mine else None)
            left = [one for one in left if one not in mine]
        for one in left:
            self._episodes.append(_Episode(one))
            self._episodes[-1].count(one)

    def _look(self, step: int) -> list[Finding]:
        judged = (self._judge(one, step) for one in diagnose(self._history, self._thresholds))
        return [one for one in judged if one is not None]

    def _judge(self, finding: Finding, step: int) -> Finding | None:
        """The finding as it counts while the run goes on; None if it is too early to say it."""
        if finding.rule not in _MAY_STILL_COME:
            return finding
        missing = finding.last_step - finding.first_step + 1
        if finding.level is Level.WARNING or missing < min(GRACE * self._thresholds.patience, self._planned_steps / 2):
            return None  # it comes already, or may soon
        return finding if step >= LATE * self._planned_steps else replace(finding, level=Level.WARNING)
