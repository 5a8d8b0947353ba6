"""What came of evaluating on one benchmark, before against after.

Covered: the type that the command gives to its tables and to JSON.  Not covered: files (`run`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from code_rlvr.evaluate.compare import Comparison
from code_rlvr.evaluate.scores import Scores


@dataclass(frozen=True, slots=True)
class Result:
    """What came of one benchmark.

    Args:
        name: The files' name.
        after: The model's scores.
        before: The baseline's; None without one.
        comparison: None without a baseline.
    """

    name: str
    after: Scores
    before: Scores | None = None
    comparison: Comparison | None = None

    def to_json(self) -> dict[str, Any]:
        """Everything but the counts of each problem, which are in the files."""
        parts = {"before": self.before, "after": self.after, "comparison": self.comparison}
        there = {key: one for key, one in parts.items() if one is not None}
        return {
            "name": self.name,
            **{key: one.model_dump(mode="json", exclude={"problems"}) for key, one in there.items()},
        }
