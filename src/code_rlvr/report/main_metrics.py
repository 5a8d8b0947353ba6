"""The metrics that are looked at first, for the terminal and for comparisons: those that have a chart of their own.

Covered: choosing among names for the same quantity, so that all runs of a comparison have it.  Not covered: which
these are (`chart_specs`), what they mean (`catalogue`).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from code_rlvr.report.chart_specs import CHART_GROUPS, ChartSpec

_STEP_TIME = ChartSpec(("timing_s/step",), "Time of a step", robust=True)
_SPECS = (*(spec for _, specs in CHART_GROUPS for spec in specs), _STEP_TIME)


def choose_metrics(logged: Sequence[Collection[str]]) -> list[ChartSpec]:
    """Choose the metrics to show.

    Args:
        logged: For each run, the names that it logged.

    Returns:
        Those that some run logged, each under the name that all runs with metrics have, if there is one.
    """
    runs = [names for names in logged if names]
    chosen = []
    for spec in _SPECS:
        some = [name for name in spec.names if any(name in names for names in runs)]
        common = [name for name in some if all(name in names for names in runs)]
        chosen += [replace(spec, names=(name,)) for name in (common or some)[:1]]
    return chosen
