"""What the catalogue says about one metric, or about several whose names differ in a part only."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

PLACEHOLDERS = {
    "<source>": r".+?",  # a data source may have slashes in its name
    "<key>": r"[a-z_]+",
    "<n>": r"\d+",
}
"""What may stand in a pattern in place of text that is only known in a run."""


class Direction(str, Enum):
    """Which way a metric should move."""

    HIGHER = "higher is better"
    LOWER = "lower is better"
    NEITHER = "neither"


@dataclass(frozen=True)
class Metric:
    """One entry of the catalogue.

    Args:
        pattern: The name; ``{a,b}`` stands for either, a placeholder of `PLACEHOLDERS` for any fitting text.
        unit: Unit of the value; ``share`` is a number from 0 to 1.
        direction: Which way is better.
        meaning: One sentence: what is measured, over what.
    """

    pattern: str
    unit: str
    direction: Direction
    meaning: str

    @property
    def shown_unit(self) -> str:
        """The unit as a reader is shown it: of a plain number none."""
        return "" if self.unit == "1" else self.unit

    @cached_property
    def _regex(self) -> re.Pattern[str]:
        parts = re.split(r"(\{[^}]*\}|<[a-z]+>)", self.pattern)
        return re.compile("".join(_to_regex(part) for part in parts))

    def matches(self, name: str) -> bool:
        """Whether `name` is a metric that this entry describes."""
        return self._regex.fullmatch(name) is not None


@dataclass(frozen=True)
class MetricGroup:
    """Entries that belong together.

    Args:
        title: Heading.
        metrics: The entries.
        note: What holds for all of them, as sentences.
    """

    title: str
    metrics: tuple[Metric, ...]
    note: str = ""


def _to_regex(part: str) -> str:
    if part.startswith("{"):
        return "(?:" + "|".join(re.escape(choice) for choice in part[1:-1].split(",")) + ")"
    if part in PLACEHOLDERS:
        return PLACEHOLDERS[part]
    return re.escape(part)
