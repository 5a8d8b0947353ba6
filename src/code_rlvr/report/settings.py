"""What the command `report` can be configured with."""

from __future__ import annotations

from code_rlvr.config import Section
from code_rlvr.report.health import HealthThresholds


class ReportConfig(Section):
    """Settings of a report; in a file they stand below ``[health]``."""

    health: HealthThresholds = HealthThresholds()
    """When the rules of health speak; docs/report.md says how to set them."""
