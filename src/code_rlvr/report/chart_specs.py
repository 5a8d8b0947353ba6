"""Which metrics have a chart of their own, in which order, and what each chart is called.

Covered: names and titles.  Not covered: making the charts (`chart_section`, `series_charts`).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ChartSpec:
    """A metric that has a chart of its own.

    Args:
        name: The metric.
        title: What the reader calls it.
        validation_key: Key under which validation logs the same quantity.
        full_scale: Whether a share is drawn on an axis from 0 to 1, even if it uses little of it.
        robust: Whether single values far off the others are left out of the drawing, and counted.
        instead: Metrics of the same quantity, for runs that did not log the first.
    """

    name: str
    title: str
    validation_key: str | None = None
    full_scale: bool = False
    robust: bool = False
    instead: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The metrics that it can be drawn from, the best first."""
        return (self.name, *self.instead)


REWARD = (
    ChartSpec("reward/score", "Score", "score", full_scale=True, instead=("critic/score/mean",)),
    ChartSpec("reward/accepted", "Accepted programs", "accepted", full_scale=True),
    ChartSpec("reward/pass_rate", "Tests passed", "pass_rate", full_scale=True),
    ChartSpec("reward/format", "Proper format", "format", full_scale=True),
)
RESPONSES = (
    ChartSpec("response_length/mean", "Response length"),
    ChartSpec("rollout/truncated", "Responses cut off", instead=("response_length/clip_ratio",)),
)
POLICY = (
    ChartSpec("actor/reward_kl_penalty", "KL to the reference", instead=("actor/kl_loss",)),
    ChartSpec("actor/entropy", "Entropy", instead=("actor/entropy_loss",)),
    ChartSpec("actor/pg_loss", "Actor loss", robust=True, instead=("actor/loss",)),
    ChartSpec("actor/pg_clipfrac", "Clip fraction"),
    ChartSpec("actor/grad_norm", "Gradient norm of the actor", robust=True),
)
CRITIC = (
    ChartSpec("critic/vf_loss", "Critic loss", robust=True, instead=("critic/loss",)),
    ChartSpec("critic/vf_explained_var", "Value explained variance", robust=True),
    ChartSpec("critic/grad_norm", "Gradient norm of the critic", robust=True),
)
SIGNAL = (ChartSpec("reward/groups_without_signal", "Groups without signal", full_scale=True),)

CHART_GROUPS: tuple[tuple[str, tuple[ChartSpec, ...]], ...] = (
    ("Reward", REWARD),
    ("Responses", RESPONSES),
    ("Policy", POLICY),
    ("Value model", CRITIC),
    ("Groups and advantages", SIGNAL),
)
"""Headings and their charts, in the order of the page."""
