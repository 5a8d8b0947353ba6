"""What a rule is: what it looks at, when it fires, what is behind it, and what to do.

Covered: the type, and how a sign becomes a finding.  Not covered: the rules themselves (`*_rules`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from code_rlvr.health.finding import Finding, Level
from code_rlvr.health.signals import Names, Run
from code_rlvr.health.thresholds import HealthThresholds


@dataclass(frozen=True)
class Sign:
    """What a rule has seen: a finding without what is the same every time.

    Args:
        level: How bad it is.
        title: One short sentence.
        first_step: First step of the evidence.
        last_step: Last step of it.
        metric: Where it was seen.
        evidence: Steps and values, in words.
    """

    level: Level
    title: str
    first_step: int
    last_step: int
    metric: str
    evidence: str


@dataclass(frozen=True)
class Rule:
    """One rule.

    Args:
        key: Stable name.
        title: What it is about, as the heading of its row.
        needs: Quantities without which it cannot be applied; of each, one name has to be logged.
        fires: When it fires, in words that name the thresholds.
        thresholds: The names of those.
        causes: What it usually comes from, the likeliest first.
        tries: What to do about it.
        look: Finds the signs; none is the usual case.
        any_need: One of `needs` is enough.
        takes_any_value: A quantity that was never a number is there for it too.
        may_still_come: What it misses may still be learned: a run that goes on is given more time, see `live`.
        is_fact: Chance cannot bring it about: in a run that goes on one look is enough.
        silent_beside: Keys of rules of which this one would be a mere consequence, over the same steps.
        show_samples: Whether samples have to be read to decide.
    """

    key: str
    title: str
    needs: tuple[Names, ...]
    fires: str
    thresholds: tuple[str, ...]
    causes: tuple[str, ...]
    tries: tuple[str, ...]
    look: Callable[[Run, HealthThresholds], list[Sign]]
    any_need: bool = False
    takes_any_value: bool = False
    may_still_come: bool = False
    is_fact: bool = False
    silent_beside: tuple[str, ...] = ()
    show_samples: bool = False

    def missing(self, run: Run) -> list[str]:
        """Return the best name of each quantity whose absence keeps the rule from being applied."""
        missing = [names[0] for names in self.needs if not run.logs(names, numbers_only=not self.takes_any_value)]
        return [] if self.any_need and len(missing) < len(self.needs) else missing

    def apply(self, run: Run, thresholds: HealthThresholds) -> list[Finding]:
        """Return what the rule finds."""
        if self.missing(run):
            return []
        return [
            Finding(
                self.key,
                sign.level,
                sign.title,
                sign.first_step,
                sign.last_step,
                sign.metric,
                sign.evidence,
                self.causes,
                self.tries,
                self.show_samples,
            )
            for sign in self.look(run, thresholds)
        ]
