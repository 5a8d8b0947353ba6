"""A run's metrics as the rules look at them: one signal at a time, with the steps that have it.

Covered: picking a metric under the first of its names that was logged, verl's own among them; what is no number;
duplicate and unordered steps.  Not covered: smoothing and noise (`robust`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from code_rlvr.runs import StepMetrics
from code_rlvr.smoothing import Floats

Ints = npt.NDArray[np.int64]
Names = tuple[str, ...]
"""Names of one quantity, the best first; verl's own names stand after ours."""

SCORE: Names = ("reward/score", "critic/score/mean", "critic/rewards/mean")
PASSED: Names = ("reward/pass_rate", *SCORE)
FORMAT: Names = ("reward/format",)
NO_SIGNAL: Names = ("reward/groups_without_signal",)
UNJUDGED: Names = ("reward/unjudged",)
KL: Names = ("actor/reward_kl_penalty", "actor/kl_loss")
ENTROPY: Names = ("actor/entropy", "actor/entropy_loss")
LENGTH: Names = ("response_length/mean", "response_length_non_aborted/mean")
CUT_OFF: Names = ("rollout/truncated", "response_length/clip_ratio")
EXPLAINED: Names = ("critic/vf_explained_var",)
DISAGREEMENT: Names = ("training/rollout_probs_diff_mean",)
VALIDATION: Names = ("val-core/<source>/reward/mean@<n>",)
"""Stands for all names of a validation score; see `HELD_OUT_KEYS`."""
ACTOR_SIZES: Names = ("actor/loss", "actor/pg_loss", "actor/grad_norm")
CRITIC_SIZES: Names = ("critic/loss", "critic/vf_loss", "critic/grad_norm")

HELD_OUT_KEYS = ("accepted", "acc", "score", "reward")
"""Keys under which validation logs how good the model is, the best first."""


HUGE = 1e100
"""A value beyond it is as good as infinite: sums and squares of others are sure to be numbers."""


@dataclass(frozen=True)
class Signal:
    """One metric, at the training steps where it is a number.

    Args:
        name: Of the metric.
        steps: Shape [points], rising.
        values: Shape [points], finite.
    """

    name: str
    steps: Ints
    values: Floats

    def __len__(self) -> int:
        return len(self.values)

    def between(self, first: int, last: int) -> Floats:
        """The values of the steps from one to another, both included."""
        return self.values[(self.steps >= first) & (self.steps <= last)]

    def index_at(self, step: float) -> int:
        """Index of the last point at or before a step; 0 if there is none."""
        return max(0, int(np.searchsorted(self.steps, step, side="right")) - 1)


class Run:
    """All metrics of a run, read once.

    Args:
        steps: In any order; of a step that stands there twice the later values count.
    """

    def __init__(self, steps: Sequence[StepMetrics]) -> None:
        merged: dict[int, dict[str, float]] = {}
        for one in steps:
            merged[one.step] = {**merged[one.step], **one.data} if one.step in merged else one.data
        self._steps = np.array(sorted(merged), np.int64)
        self._rows = [merged[step] for step in sorted(merged)]
        self._columns: dict[str, Floats] = {}
        self._known: dict[str, Signal] = {}
        self._held_out: dict[str, Signal] | None = None

    def get(self, names: Names) -> Signal | None:
        """Return a quantity under the first name that has numbers, or None if no name has."""
        return next((signal for signal in map(self.one, names) if len(signal)), None)

    def one(self, name: str) -> Signal:
        """Return one metric of the training steps; it may be empty."""
        if name not in self._known:
            self._known[name] = self._pick(name, first_step=1)
        return self._known[name]

    def logs(self, names: Names, *, numbers_only: bool = True) -> bool:
        """Whether a quantity has a number at any step, or, if not `numbers_only`, any value."""
        if names == VALIDATION:
            return bool(self.held_out())
        return self.get(names) is not None or (not numbers_only and any(map(self.not_finite, names)))

    def not_finite(self, name: str) -> list[int]:
        """Return the training steps at which a metric is NaN or infinite."""
        odd = np.flatnonzero(~np.isfinite(self._column(name)) & (self._steps > 0))
        return [int(self._steps[index]) for index in odd if name in self._rows[index]]

    def samples(self, steps: Ints) -> Floats | None:
        """Return how many samples the means of these steps are over, shape [steps]; None where that is not known."""
        signal = self.one("reward/samples")
        if not len(signal):
            return None
        return np.interp(steps, signal.steps, signal.values)

    def score_range(self) -> tuple[float, float]:
        """Return the least and the greatest score that a sample can earn: 0 and 1, or what was seen beyond them."""
        least, greatest = self.one("critic/score/min").values, self.one("critic/score/max").values
        return min([0.0, *least.tolist()]), max([1.0, *greatest.tolist()])

    def held_out(self) -> dict[str, Signal]:
        """Return the validation score of each data source, step 0 (before training) included."""
        if self._held_out is None:
            self._held_out = self._pick_held_out()
        return self._held_out

    def _pick_held_out(self) -> dict[str, Signal]:
        logged: set[str] = set().union(*self._rows)
        names = {name for name in logged if name.startswith(("val-core/", "val-aux/"))}
        found: dict[str, Signal] = {}
        for key in HELD_OUT_KEYS:
            pattern = re.compile(rf"val-(?:core|aux)/(?P<source>.+)/{key}/mean@\d+")
            for match in filter(None, map(pattern.fullmatch, sorted(names))):
                found.setdefault(match["source"], self._pick(match[0], first_step=0))
        return {source: signal for source, signal in sorted(found.items()) if len(signal)}

    def _pick(self, name: str, first_step: int) -> Signal:
        column = self._column(name)
        sound = np.isfinite(column) & (self._steps >= first_step)
        return Signal(name, self._steps[sound], column[sound])

    def _column(self, name: str) -> Floats:
        """The values of all steps; NaN where there is none."""
        if name not in self._columns:
            column = np.array([row.get(name, math.nan) for row in self._rows], float)
            column[np.abs(column) > HUGE] = np.inf
            self._columns[name] = column
        return self._columns[name]
