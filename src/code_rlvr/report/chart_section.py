"""The charts of the report, in their groups.

Covered: making the chart of a single metric, putting all charts in order.  Not covered: which metrics those are
(`chart_specs`), drawing (`charts`), layout (``template.html.jinja``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import chain

import numpy as np

from code_rlvr.health import Phase
from code_rlvr.report.catalogue import describe
from code_rlvr.report.chart import Chart, ChartGroup, unit_and_direction
from code_rlvr.report.chart_specs import CHART_GROUPS, ChartSpec
from code_rlvr.report.charts import MARKS, SHARE_BOUNDS, VALIDATION_TONES, draw_curve
from code_rlvr.report.curves import Curve, comfortable_bounds, pick_curve, pick_first, validation_pattern
from code_rlvr.report.numbers_as_text import format_ends, format_number
from code_rlvr.report.series_charts import make_advantage_chart, make_source_chart
from code_rlvr.report.solve_history import History
from code_rlvr.report.stack_charts import make_outcome_chart, make_time_chart, make_verdict_chart
from code_rlvr.report.visible import make_visible
from code_rlvr.runs import StepMetrics
from code_rlvr.smoothing import Floats


def make_chart_groups(
    steps: Sequence[StepMetrics],
    phases: Sequence[Phase] = (),
    histories: Sequence[History] = (),
    named: Collection[str] = (),
) -> tuple[list[ChartGroup], list[str]]:
    """Draw every chart that the run has the numbers for.

    Args:
        steps: The run's metrics, in order.
        phases: Stretches of the run that are marked in the curves.
        histories: The training problems, for the chart of groups.
        named: Metrics that findings name: each has a chart, whatever it is.

    Returns:
        The charts under their headings, and the metrics that would have had a chart but were not logged.
    """
    last_step = float(max((one.step for one in steps), default=0))
    sources = _sources(steps)
    curves = {
        title: {spec: _only(pick_first(steps, spec.names, spec.validation_key), sources) for spec in specs}
        for title, specs in CHART_GROUPS
    }
    known = {spec: curve for members in curves.values() for spec, curve in members.items()}
    curves = {"Named by findings": _pick_others(steps, named, known), **curves, "Time": {}}
    charts = {
        title: [
            _make_chart(spec, one, last_step, sources, phases) for spec, one in members.items() if not _is_empty(one)
        ]
        for title, members in curves.items()
    }
    extra = {
        "Reward": (make_source_chart(steps, phases), make_verdict_chart(steps)),
        "Groups and advantages": (make_advantage_chart(steps, phases), make_outcome_chart(histories, last_step)),
        "Time": (make_time_chart(steps),),
    }
    for title, more in extra.items():
        charts[title] += [chart for chart in more if chart]
    groups = [ChartGroup(title, tuple(members)) for title, members in charts.items() if members]
    return groups, [spec.name for spec, curve in known.items() if _is_empty(curve)]


def _only(curve: Curve, sources: Collection[str]) -> Curve:
    """The curve with the validation of these data sources alone."""
    return replace(curve, validation={name: one for name, one in curve.validation.items() if name in sources})


def _pick_others(
    steps: Sequence[StepMetrics], named: Collection[str], known: Mapping[ChartSpec, Curve]
) -> dict[ChartSpec, Curve]:
    """The metrics that are named and in no chart yet, each once."""
    others = [one for one in dict.fromkeys(named) if not any(_shows(spec, curve, one) for spec, curve in known.items())]
    return {ChartSpec((name,), make_visible(name, 60), robust=True): pick_curve(steps, name) for name in others}


def _shows(spec: ChartSpec, curve: Curve, name: str) -> bool:
    """Whether a metric is drawn in a chart, as its line or as its points of validation."""
    held_out = validation_pattern(spec.validation_key).fullmatch(name) if spec.validation_key else None
    return name == curve.name or (held_out is not None and held_out["source"] in curve.validation)


def _is_empty(curve: Curve) -> bool:
    return not len(_values(curve))


def _values(curve: Curve) -> Floats:
    return np.concatenate([curve.points.values, *(points.values for points in curve.validation.values())])


def _make_chart(spec: ChartSpec, curve: Curve, last_step: float, sources: list[str], phases: Sequence[Phase]) -> Chart:
    about = describe(curve.name)
    ends = format_ends(curve.shown_ends) if curve.shown_ends else None
    values = _values(curve)
    bounds = comfortable_bounds(values, robust=spec.robust)
    if spec.full_scale and values.min() >= 0 and values.max() <= 1:
        bounds = SHARE_BOUNDS
    outside = values[(values < bounds[0]) | (values > bounds[1])]
    far = outside[np.abs(outside).argmax()] if len(outside) else 0.0
    return Chart(
        title=spec.title,
        about=unit_and_direction(about),
        meaning=about.meaning if about else "",
        ends=ends,
        label=f"{spec.title} over training steps" + (f", from {ends[0]} to {ends[1]}" if ends else ""),
        plot=draw_curve(curve, last_step, bounds, sources=sources, phases=phases),
        note=" ".join(
            [f"Not drawn: {len(outside)} far off, up to {format_number(float(far))}."] * bool(len(outside))
            + [f"No number in {curve.missing} of {len(curve.raw)} steps."]
            * (len(curve.points.values) > 0 and curve.missing > 0)
        ),
    )


def validation_legend(steps: Sequence[StepMetrics]) -> list[tuple[str, str, str]]:
    """Colour name, mark and data source of each series of validation points."""
    return list(zip(VALIDATION_TONES, MARKS, _sources(steps), strict=False))


def folded_sources(steps: Sequence[StepMetrics]) -> list[str]:
    """Data sources whose validation is not drawn, because there are more than can be told apart."""
    return sorted(_all_sources(steps).keys() - _sources(steps))


def _sources(steps: Sequence[StepMetrics]) -> list[str]:
    """The data sources that charts show validation of; a source's place decides its looks in all of them."""
    known = _all_sources(steps)
    return sorted(sorted(known, key=lambda one: (-known[one], one))[: len(VALIDATION_TONES)])


def _all_sources(steps: Sequence[StepMetrics]) -> Counter[str]:
    """Every data source with how often it was validated."""
    found: Counter[str] = Counter()
    for spec in chain.from_iterable(specs for _, specs in CHART_GROUPS):
        if spec.validation_key:
            validation = pick_curve(steps, spec.name, spec.validation_key).validation
            found |= Counter({source: len(points.steps) for source, points in validation.items()})
    return found
