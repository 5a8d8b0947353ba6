"""Early warnings: what says that a run goes wrong, in a line each, while it can still be ended.

The rules are those of the report (`code_rlvr.health`).

Covered: their findings as lines for a terminal; what ends a run at once.  Not covered: which findings are new
(`health.live`), their evidence and causes (the report).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from code_rlvr.health import FATAL_METRICS, HealthThresholds, LiveHealth
from code_rlvr.runs import StepMetrics


class EarlyWarnings:
    """Looks at each step as it comes.

    Args:
        thresholds: From where on a signal counts.
        planned_steps: Training steps that the run is to have.
        earlier: Steps before a resume; what they show is not said again.
    """

    def __init__(self, thresholds: HealthThresholds, planned_steps: int, earlier: Sequence[StepMetrics] = ()) -> None:
        self._health = LiveHealth(thresholds, planned_steps, earlier)

    def look(self, metrics: StepMetrics) -> list[str]:
        """Return the warnings that are new with this step: what was found, and what to try first.

        Args:
            metrics: Of the next step, training or validation.
        """
        return [
            f"{one.level.value} at step {metrics.step}: {one.title}. Try: {one.tries[0]}"
            for one in self._health.add(metrics)
        ]


def not_finite(metrics: StepMetrics) -> str | None:
    """Return which loss, gradient or score of a step is no number, if any is."""
    bad = [name for name in FATAL_METRICS if not math.isfinite(metrics.data.get(name, 0.0))]
    return f"{bad[0]} is {metrics.data[bad[0]]} at step {metrics.step}" if bad else None
