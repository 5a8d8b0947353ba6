"""Whether a run is healthy: rules over its metrics, each with evidence, causes and remedies; and the run's phases.

| file | what it is |
|---|---|
| `finding` | what is found, as pages show it |
| `thresholds` | from where on a signal counts: settings |
| `signals`, `robust` | metrics by quantity; medians, and how far chance moves them |
| `rule` | what a rule is |
| `score_rules`, `jump_rules`, `held_out_rules`, `reward_rules` | rules about what is earned |
| `loss_rules`, `policy_rules`, `length_rules`, `critic_rules` | rules about how it is learned |
| `diagnosis` | all rules over one run |
| `live` | what is new in a run that goes on |
| `phases` | form, writing, diminishing returns |
| `page`, `words` | docs/health.md; steps and values in words |
"""

from __future__ import annotations

from code_rlvr.health.diagnosis import RULES, diagnose, unapplied
from code_rlvr.health.finding import Finding, Level
from code_rlvr.health.live import LiveHealth
from code_rlvr.health.loss_rules import FATAL_METRICS
from code_rlvr.health.phases import Phase, find_phases
from code_rlvr.health.thresholds import HealthThresholds

__all__ = [
    "FATAL_METRICS",
    "RULES",
    "Finding",
    "HealthThresholds",
    "Level",
    "LiveHealth",
    "Phase",
    "diagnose",
    "find_phases",
    "unapplied",
]
