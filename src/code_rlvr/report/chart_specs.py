"""Which quantities have a chart of their own, in which order, and what each chart is called.

Covered: names and titles; where a rule of health looks at the quantity, its names are the rule's.  Not covered: making
the charts (`chart_section`, `series_charts`), and a chart of whatever else a finding names.
"""

from __future__ import annotations

from dataclasses import dataclass

from code_rlvr.health.signals import CUT_OFF, ENTROPY, EXPLAINED, FORMAT, KL, LENGTH, NO_SIGNAL, SCORE, Names


@dataclass(frozen=True)
class ChartSpec:
    """A quantity that has a chart of its own.

    Args:
        names: Metrics that it can be drawn from, the best first, in the order in which the rules of health take them.
        title: What the reader calls it.
        validation_key: Key under which validation logs the same quantity.
        full_scale: Whether a share is drawn on an axis from 0 to 1, even if it uses little of it.
        robust: Whether single values far off the others are left out of the drawing, and counted.
    """

    names: Names
    title: str
    validation_key: str | None = None
    full_scale: bool = False
    robust: bool = False

    @property
    def name(self) -> str:
        """The best of its metrics."""
        return self.names[0]


REWARD = (
    ChartSpec(SCORE, "Score", "score", full_scale=True),
    ChartSpec(("reward/accepted",), "Accepted programs", "accepted", full_scale=True),
    ChartSpec(("reward/pass_rate",), "Tests passed", "pass_rate", full_scale=True),
    ChartSpec(FORMAT, "Proper format", "format", full_scale=True),
)
RESPONSES = (ChartSpec(LENGTH, "Response length"), ChartSpec(CUT_OFF, "Responses cut off"))
POLICY = (
    ChartSpec(KL, "KL to the reference"),
    ChartSpec(ENTROPY, "Entropy"),
    ChartSpec(("actor/pg_loss", "actor/loss"), "Actor loss", robust=True),
    ChartSpec(("actor/pg_clipfrac",), "Clip fraction"),
    ChartSpec(("actor/grad_norm",), "Gradient norm of the actor", robust=True),
)
CRITIC = (
    ChartSpec(("critic/vf_loss", "critic/loss"), "Critic loss", robust=True),
    ChartSpec(EXPLAINED, "Value explained variance", robust=True),
    ChartSpec(("critic/grad_norm",), "Gradient norm of the critic", robust=True),
)
SIGNAL = (ChartSpec(NO_SIGNAL, "Groups without signal", full_scale=True),)

CHART_GROUPS: tuple[tuple[str, tuple[ChartSpec, ...]], ...] = (
    ("Reward", REWARD),
    ("Responses", RESPONSES),
    ("Policy", POLICY),
    ("Value model", CRITIC),
    ("Groups and advantages", SIGNAL),
)
"""Headings and their charts, in the order of the page."""
