"""The state of runs for a program: one JSON object, documented in docs/report.md.

Covered: every number that the page shows, at full precision.  Not covered: samples and programs.
A number that is not finite is null, because JSON has no other word for it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from importlib import metadata
from typing import Any

from code_rlvr.health import Finding
from code_rlvr.report.catalogue import describe
from code_rlvr.report.compare.differences import list_differences
from code_rlvr.report.curves import mean_stages
from code_rlvr.report.evaluation import Figure, Row
from code_rlvr.report.facts import make_facts
from code_rlvr.report.run_state import RunState

FORMAT = 1
"""Version of the layout; it changes when a field changes its meaning or goes."""


def to_json(states: Sequence[RunState]) -> str:
    """Write runs as one JSON object.

    Args:
        states: At least one.
    """
    names = [state.name for state in states]
    tree = {
        "format": FORMAT,
        "code_rlvr": metadata.version("code-rlvr"),
        "runs": [_run(state) for state in states],
        "differences": [
            {"kind": one.kind, "setting": one.setting, "values": dict(zip(names, one.values, strict=True))}
            for one in list_differences(states)
        ],
    }
    text = json.dumps(_with_nulls(tree), indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    return text.encode(errors="backslashreplace").decode()  # half a surrogate pair, which only JSON can write


def _with_nulls(value: Any) -> Any:
    """The same with None for every number that is not finite, wherever it comes from."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _with_nulls(one) for key, one in value.items()}
    return [_with_nulls(one) for one in value] if isinstance(value, (list, tuple)) else value


def _run(state: RunState) -> dict[str, Any]:
    return {
        "name": state.name,
        "path": str(state.source.path),
        "kind": "metrics" if state.source.is_file else "run",
        "headline": state.headline,
        "health": state.health.sentence,
        "facts": dict(make_facts(state.inputs)),
        "steps": state.inputs.trained_steps,
        "planned_steps": state.inputs.setting("trainer.steps"),
        "findings": [_finding(finding) for finding in state.health.findings],
        "rules_not_applied": [{"rule": rule, "missing_metric": name} for rule, name in state.health.unapplied],
        "phases": [
            {"name": phase.name, "first_step": phase.first_step, "last_step": phase.last_step, "why": phase.why}
            for phase in state.health.phases
        ],
        "metrics": {name: _metric(state, name) for name in sorted(state.logged)},
        "step_time": mean_stages(state.steps),
        "evaluations": [_evaluation(row) for row in state.rows],
        "losses": state.losses,
    }


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "rule": finding.rule,
        "level": finding.level.value,
        "title": finding.title,
        "first_step": finding.first_step,
        "last_step": finding.last_step,
        "metric": finding.metric,
        "evidence": finding.evidence,
        "causes": list(finding.causes),
        "tries": list(finding.tries),
        "read_samples": finding.show_samples,
    }


def _metric(state: RunState, name: str) -> dict[str, Any]:
    about = describe(name)
    values = [(one.step, one.data[name]) for one in state.steps if name in one.data]
    finite = [value for _, value in values if math.isfinite(value)]
    ends = state.curve(name).ends
    return {
        "unit": about.unit if about else None,
        "direction": about.direction.value if about else None,
        "points": len(values),
        "first_step": values[0][0],
        "last_step": values[-1][0],
        "first": values[0][1],
        "last": values[-1][1],
        "lowest": min(finite, default=None),
        "highest": max(finite, default=None),
        "mean_of_first_tenth": ends[0] if ends else None,
        "mean_of_last_tenth": ends[1] if ends else None,
    }


def _evaluation(row: Row) -> dict[str, Any]:
    change = row.difference
    return {
        "problems": row.label,
        "decoding": row.decoding,
        "count": row.problems,
        "is_group": row.is_group,
        "before": _figure(row.before),
        "after": _figure(row.after),
        "change": {"value": change.change, **change.interval.model_dump()} if change else None,
    }


def _figure(figure: Figure | None) -> dict[str, float] | None:
    return {"pass_at_1": figure.value, **figure.interval.model_dump()} if figure else None
