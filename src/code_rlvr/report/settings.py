"""What a report can be configured with, and how that goes together with what the run was configured with.

Covered: from where on a rule of health speaks, for each run.  Not covered: the rules (`health`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from code_rlvr.config import Section
from code_rlvr.health import HealthThresholds


class ReportConfig(Section):
    """Settings of a report; in a file they stand below ``[health]``."""

    health: HealthThresholds = HealthThresholds()
    """When the rules of health speak; what is not set is as the run was configured."""


def choose_thresholds(config: Mapping[str, Any], asked: HealthThresholds | None, losses: list[str]) -> HealthThresholds:
    """Return the thresholds for one run: what was asked for, then what the run was configured with, then defaults.

    Args:
        config: ``config.json`` of the run; older runs have no ``health`` in it, a plain file of metrics has nothing.
        asked: Only the fields that were set count.
        losses: Gets a sentence if the run's own cannot be used.
    """
    chosen = asked.model_dump(exclude_unset=True) if asked is not None else {}
    own = config.get("health", {})
    try:
        return HealthThresholds.model_validate({**HealthThresholds.model_validate(own).model_dump(), **chosen})
    except ValidationError as error:
        problem = error.errors()[0]
        name = ".".join(["health", *map(str, problem["loc"])])
        losses.append(f"config.json has thresholds that cannot be used ({name}: {problem['msg']}): the defaults hold.")
        return HealthThresholds.model_validate(chosen)
