"""What a rule has found in a run: the evidence, what may be behind it, and what to try.

Covered: the types that rules give and that pages show.  Not covered: finding (`diagnosis`), drawing (the report).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Level(str, Enum):
    """How bad it is."""

    DANGER = "danger"
    """The run, or its result, is probably lost unless something changes."""
    WARNING = "warning"
    """Worth a look; training may go on."""


@dataclass(frozen=True)
class Finding:
    """One sign that a run is not healthy.

    Args:
        rule: Key of the rule, which does not change, e.g. ``stuck_at_zero``.
        level: How bad it is.
        title: One short sentence, to be read first.
        first_step: First training step of the evidence.
        last_step: Last training step of it, at least `first_step`.
        metric: The metric that shows it, by its name in ``metrics.jsonl``.
        evidence: Steps and values, in words.
        causes: What it usually comes from, the likeliest first.
        tries: What to do about it, with the settings' names.
        show_samples: Whether accepted samples of these steps should be read: numbers alone do not decide it.
    """

    rule: str
    level: Level
    title: str
    first_step: int
    last_step: int
    metric: str
    evidence: str
    causes: tuple[str, ...]
    tries: tuple[str, ...]
    show_samples: bool = False
