"""What a report can be configured with, and how that goes together with what the run was configured with.

Covered: from where on a rule of health speaks, for each run.  Not covered: the rules (`health`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from code_rlvr.config import Section
from code_rlvr.health import HealthThresholds

RUN = "the run's configuration"
COMMAND = "the command"
"""Who sets a threshold."""
MAX_VALUE_CHARS = 40
"""Of a value that cannot be used, as far as it is repeated."""


class ReportConfig(Section):
    """Settings of a report; in a file they stand below ``[health]``."""

    health: HealthThresholds = HealthThresholds()
    """When the rules of health speak; what is not set is as the run was configured."""


@dataclass(frozen=True)
class ChangedThreshold:
    """A threshold that is not the default.

    Args:
        name: As it is set, without ``health.``.
        value: What holds.
        default: What would hold otherwise.
        origin: Who set it.
    """

    name: str
    value: float
    default: float
    origin: str


def choose_thresholds(config: Mapping[str, Any], asked: HealthThresholds | None, losses: list[str]) -> HealthThresholds:
    """Return the thresholds for one run: what was asked for, then what the run was configured with, then defaults.

    Args:
        config: ``config.json`` of the run; older runs have no ``health`` in it, a plain file of metrics has nothing.
        asked: Only the fields that were set count.
        losses: Gets a sentence if some of the run's own cannot be used; the others of them hold.
    """
    chosen = asked.model_dump(exclude_unset=True) if asked is not None else {}
    own = config.get("health", {})
    if not isinstance(own, dict):
        losses.append("config.json: health is no table of thresholds; the defaults hold.")
        own = {}
    try:
        HealthThresholds.model_validate(own)
    except ValidationError as error:
        problems = {str(one["loc"][0]): one for one in error.errors()}
        words = "; ".join(_in_words(name, problem) for name, problem in problems.items())
        losses.append(f"config.json: thresholds that cannot be used, for which the defaults hold: {words}.")
        own = {name: value for name, value in own.items() if name not in problems}
    return HealthThresholds.model_validate({**own, **chosen})


def list_changed(thresholds: HealthThresholds, asked: HealthThresholds | None) -> tuple[ChangedThreshold, ...]:
    """Return the thresholds that are not the defaults.

    Args:
        thresholds: Those that hold.
        asked: What the command asked for, as for `choose_thresholds`.
    """
    by_command = asked.model_fields_set if asked is not None else set()
    defaults, values = HealthThresholds().model_dump(), thresholds.model_dump()
    return tuple(
        ChangedThreshold(name, values[name], default, COMMAND if name in by_command else RUN)
        for name, default in defaults.items()
        if values[name] != default
    )


def _in_words(name: str, problem: ErrorDetails) -> str:
    """One bad threshold, with what it may be."""
    kind, bounds = problem["type"], problem.get("ctx", {})
    if kind == "extra_forbidden":
        return f"health.{name} (there is no such threshold)"
    needed = {
        "greater_than_equal": f"it has to be at least {bounds.get('ge')}",
        "greater_than": f"it has to be more than {bounds.get('gt')}",
        "less_than_equal": f"it has to be at most {bounds.get('le')}",
        "less_than": f"it has to be less than {bounds.get('lt')}",
        "finite_number": "it has to be finite",
    }
    whole = "it has to be a whole number" if kind.startswith("int") else "it has to be a number"
    value = json.dumps(problem["input"], default=str)[:MAX_VALUE_CHARS]
    return f"health.{name} = {value} ({needed.get(kind, whole)})"
