"""Early warnings: what in the metrics of a run so far says that it goes wrong, said once, while it can still be ended.

| warning | when |
|---|---|
| no reward | no test was passed in `PATIENCE` steps |
| a jump | the score rose by `JUMP` within `SHORT` steps: look whether the samples solve anything |
| form is not learned | under half of the responses have a code block, for `SHORT` steps after `PATIENCE` |
| far from the reference | the KL is above `HIGH_KL`, and ten times its median so far |
| a large loss | a loss above `HIGH_LOSS` |
| longer and better | responses are half as long again as at first, and the score rose: length may be what is rewarded |
| no exploration | the entropy is below a tenth of what it was at first |
| no signal | in nine of ten prompts all samples earn the same, for `SHORT` steps |
| cut off | three in ten responses end at the longest length allowed, for `SHORT` steps |
| lost samples | a sample was generated and never scored |

A metric that is no number ends the run, unless its configuration says otherwise.

Covered: the rules.  Not covered: a finished run with its evidence and remedies (the report).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from statistics import fmean, median

from code_rlvr.runs import StepMetrics

PATIENCE, SHORT = 15, 5  # steps
JUMP = 0.3
HIGH_KL, HIGH_LOSS = 0.2, 10.0
LOSSES = ("actor/pg_loss", "actor/loss", "critic/vf_loss", "critic/loss")
FINITE = (*LOSSES, "actor/grad_norm", "critic/grad_norm", "reward/score")

History = Sequence[dict[str, float]]
"""The metrics of the training steps so far."""


class EarlyWarnings:
    """Looks at each step as it comes."""

    def __init__(self) -> None:
        self._history: list[dict[str, float]] = []
        self._said: set[str] = set()

    def look(self, metrics: StepMetrics) -> list[str]:
        """The warnings that this step gives rise to; none is given twice.

        Args:
            metrics: Of the next step; of validation steps nothing is made.
        """
        if "reward/score" not in metrics.data:
            return []
        self._history.append(metrics.data)
        found = {name: rule(self._history) for name, rule in RULES.items() if name not in self._said}
        self._said |= {name for name, text in found.items() if text}
        return [f"warning at step {metrics.step}: {text}" for text in found.values() if text]


def not_finite(metrics: StepMetrics) -> str | None:
    """Which metric of a step is no number, if any is."""
    bad = [name for name in FINITE if not math.isfinite(metrics.data.get(name, 0.0))]
    return f"{bad[0]} is {metrics.data[bad[0]]} at step {metrics.step}" if bad else None


def _last(history: History, name: str, steps: int = SHORT) -> list[float]:
    """The values of the last steps; none unless each of so many has one."""
    values = [one[name] for one in history[-steps:] if name in one]
    return values if len(values) == steps else []


def _first(history: History, name: str) -> float | None:
    values = [one[name] for one in history[:SHORT] if name in one]
    return fmean(values) if len(values) == SHORT and len(history) > 2 * SHORT else None


def _no_reward(history: History) -> str | None:
    rates = _last(history, "reward/pass_rate", PATIENCE)
    if not rates or max(rates) > 0:
        return None
    return f"no test was passed in {PATIENCE} steps; easier problems or a stronger model, and a look at the verdicts"


def _jump(history: History) -> str | None:
    scores = _last(history, "reward/score", 2 * SHORT)
    if not scores or scores[-1] - median(scores[:SHORT]) < JUMP:
        return None
    return (
        f"the score rose from {median(scores[:SHORT]):.2f} to {scores[-1]:.2f} within {SHORT} steps; read some samples "
        "of this step: do they solve the problems?"
    )


def _no_form(history: History) -> str | None:
    shares = _last(history, "reward/format")
    if len(history) < PATIENCE or not shares or max(shares) >= 0.5:
        return None
    return f"only {fmean(shares):.0%} of the responses have their program in a code block; does the prompt ask for one?"


def _far_away(history: History) -> str | None:
    kls = [one["actor/reward_kl_penalty"] for one in history if "actor/reward_kl_penalty" in one]
    if len(kls) <= SHORT or kls[-1] < max(HIGH_KL, 10 * median(kls[:-1])):
        return None
    return f"the KL to the reference is {kls[-1]:.2f}; a lower actor.lr or a higher algorithm.kl_coef keeps it nearer"


def _large_loss(history: History) -> str | None:
    large = [name for name in LOSSES if abs(history[-1].get(name, 0.0)) > HIGH_LOSS]
    return f"{large[0]} is {history[-1][large[0]]:.1f}; a lower learning rate is the usual remedy" if large else None


def _longer_and_better(history: History) -> str | None:
    name = "response_length/mean"
    first, last = _first(history, name), _last(history, name)
    before, now = _first(history, "reward/score"), _last(history, "reward/score")
    if first is None or before is None or not last or fmean(last) < 1.5 * first or fmean(now) <= before:
        return None
    return f"responses grew from {first:.0f} to {fmean(last):.0f} tokens as the score rose; is length what is rewarded?"


def _no_exploration(history: History) -> str | None:
    first, last = _first(history, "actor/entropy"), _last(history, "actor/entropy")
    if first is None or not last or fmean(last) > 0.1 * first:
        return None
    return f"the entropy fell from {first:.3f} to {fmean(last):.3f}; samples hardly differ any more"


def _no_signal(history: History) -> str | None:
    shares = _last(history, "reward/groups_without_signal")
    if not shares or min(shares) < 0.9:
        return None
    return f"in {fmean(shares):.0%} of the prompts all samples earn the same; problems are too hard or too easy"


def _cut_off(history: History) -> str | None:
    shares = _last(history, "rollout/truncated")
    if not shares or min(shares) < 0.3:
        return None
    return f"{fmean(shares):.0%} of the responses are cut off; a larger data.max_response_tokens lets them end"


def _lost(history: History) -> str | None:
    share = history[-1].get("reward/unjudged", 0.0)
    return f"{share:.1%} of the samples were never scored; logs/verl.log has the reasons" if share > 0 else None


RULES: dict[str, Callable[[History], str | None]] = {
    "no reward": _no_reward,
    "a jump": _jump,
    "form is not learned": _no_form,
    "far from the reference": _far_away,
    "a large loss": _large_loss,
    "longer and better": _longer_and_better,
    "no exploration": _no_exploration,
    "no signal": _no_signal,
    "cut off": _cut_off,
    "lost samples": _lost,
}
