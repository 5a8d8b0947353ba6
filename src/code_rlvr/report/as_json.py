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
from code_rlvr.report.solve_history import count_fates, outcome_ends

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
        "thresholds": [
            {"name": one.name, "value": one.value, "default": one.default, "set_by": one.origin}
            for one in state.health.changed
        ],
        "phases": [
            {"name": phase.name, "first_step": phase.first_step, "last_step": phase.last_step, "why": phase.why}
            for phase in state.health.phases
        ],
        "metrics": {name: _metric(state, name) for name in sorted(state.logged)},
        "step_time": mean_stages(state.steps),
        "evaluations": [_evaluation(row) for row in state.rows],
        "problems": _problems(state),
        "groups": {
            outcome: {"share_in_first_tenth": first, "share_in_last_tenth": last}
            for outcome, (first, last) in outcome_ends(state.histories).items()
        },
        "losses": state.losses,
    }


def _problems(state: RunState) -> dict[str, int] | None:
    if not state.histories:
        return None
    counts = {fate.value: count for fate, count in count_fates(state.histories).items()}
    return {
        "count": len(state.histories),
        **counts,
        "sampled_once": sum(len(one.steps) == 1 for one in state.histories),
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
    curve = state.curve(name)
    means, medians = curve.ends or (None, None), curve.median_ends or (None, None)
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
        "steps_without_number": curve.missing,
        "mean_of_first_tenth": means[0],
        "mean_of_last_tenth": means[1],
        "median_of_first_tenth": medians[0],
        "median_of_last_tenth": medians[1],
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
