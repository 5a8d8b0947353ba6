"""Charts with a line for each of several metrics: tests passed by data source, advantages.

Covered: which lines, words and legends.  Not covered: drawing (`charts`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from code_rlvr.health import Phase
from code_rlvr.report.catalogue import describe
from code_rlvr.report.chart import Chart
from code_rlvr.report.charts import SERIES_TONES, SHARE_BOUNDS, draw_lines
from code_rlvr.report.curves import Curve, comfortable_bounds, pick_curve
from code_rlvr.report.numbers_as_text import format_number
from code_rlvr.report.visible import make_visible
from code_rlvr.runs import StepMetrics

_BY_SOURCE = re.compile(r"reward/by_source/(?P<source>.+)/pass_rate")


def logged_sources(steps: Sequence[StepMetrics]) -> set[str]:
    """Data sources of the training batches, as far as the metrics name them: of one source alone they do not."""
    return {match["source"] for one in steps for name in one.data if (match := _BY_SOURCE.fullmatch(name))}


def make_source_chart(steps: Sequence[StepMetrics], phases: Sequence[Phase]) -> Chart | None:
    """Draw the share of tests passed by data source; None for a run of one source, which logs no such thing."""
    names = {match["source"]: name for one in steps for name in one.data if (match := _BY_SOURCE.fullmatch(name))}
    curves = {source: pick_curve(steps, name) for source, name in sorted(names.items())}
    curves = {source: curve for source, curve in curves.items() if len(curve.points.steps)}
    if not curves:
        return None
    best_known = sorted(curves, key=lambda source: -len(curves[source].points.steps))[: len(SERIES_TONES)]
    shown = [(make_visible(source, 60), curves[source]) for source in sorted(best_known)]
    more = len(curves) - len(shown)
    return Chart(
        title="Tests passed by data source",
        about="share · higher is better",
        meaning="Means of the training batch, smoothed.",
        label="Share of tests passed by data source over training steps: " + _line_words(shown),
        plot=draw_lines(shown, _last_step(steps), SHARE_BOUNDS, phases=phases),
        legend=_legend(shown),
        note=f"{more} more data sources are not drawn." if more > 0 else "",
    )


def make_advantage_chart(steps: Sequence[StepMetrics], phases: Sequence[Phase]) -> Chart | None:
    """Draw the largest, mean and smallest advantage; None if the run did not log them."""
    curves = [(key, pick_curve(steps, f"critic/advantages/{key}")) for key in ("max", "mean", "min")]
    curves = [(key, curve) for key, curve in curves if len(curve.points.steps)]
    if not curves:
        return None
    about = describe("critic/advantages/mean")
    return Chart(
        title="Advantages",
        about="largest, mean and smallest of a token",
        meaning=about.meaning if about else "",
        label="Advantages over training steps: " + _line_words(curves),
        plot=draw_lines(
            curves,
            _last_step(steps),
            comfortable_bounds(np.concatenate([curve.points.values for _, curve in curves])),
            phases=phases,
        ),
        legend=_legend(curves),
    )


def _last_step(steps: Sequence[StepMetrics]) -> float:
    return float(max(one.step for one in steps))


def _legend(curves: Sequence[tuple[str, Curve]]) -> tuple[tuple[str, str], ...]:
    return tuple((tone, name) for tone, (name, _) in zip(SERIES_TONES, curves, strict=False))


def _line_words(curves: Sequence[tuple[str, Curve]]) -> str:
    return ", ".join(
        f"{name} {format_number(curve.smooth[0])} to {format_number(curve.smooth[-1])}" for name, curve in curves
    )
