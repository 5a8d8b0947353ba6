"""The charts of the report, with what the page says about each.

Covered: which metrics have a chart, their words and legends.  Not covered: drawing (`charts`), layout
(``template.html.jinja``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bokeh.plotting import figure

from code_rlvr.report.catalogue import Direction, Metric, describe
from code_rlvr.report.charts import VALIDATION_TONES, draw_curve, draw_stack
from code_rlvr.report.curves import STAGES, VERDICTS, Curve, Stack, pick_curve, time_split, verdict_shares
from code_rlvr.report.numbers_as_text import format_number
from code_rlvr.runs import StepMetrics


@dataclass(frozen=True)
class ChartSpec:
    """A metric that has a chart of its own.

    Args:
        name: The metric.
        title: What the reader calls it.
        validation_key: Key under which validation logs the same quantity.
        full_scale: Whether a share is drawn on an axis from 0 to 1, even if it uses little of it.
    """

    name: str
    title: str
    validation_key: str | None = None
    full_scale: bool = False


CHARTS = (
    ChartSpec("reward/score", "Score", "score", full_scale=True),
    ChartSpec("reward/accepted", "Accepted programs", "accepted", full_scale=True),
    ChartSpec("reward/pass_rate", "Tests passed", "pass_rate", full_scale=True),
    ChartSpec("reward/format", "Proper format", "format", full_scale=True),
    ChartSpec("actor/reward_kl_penalty", "KL to the reference"),
    ChartSpec("actor/entropy", "Entropy"),
    ChartSpec("response_length/mean", "Response length"),
    ChartSpec("rollout/truncated", "Responses cut off"),
)


@dataclass(frozen=True)
class Chart:
    """One chart with what the page says about it.

    Args:
        title: Heading.
        about: Unit and direction.
        meaning: One sentence.
        ends: From the first to the last tenth of the run, formatted.
        label: The chart in words, for readers who do not see it.
        plot: The drawing.
        legend: Colour name and text of each part, top part first.
        note: What the drawing leaves out.
    """

    title: str
    about: str
    meaning: str
    ends: tuple[str, str] | None
    label: str
    plot: figure
    legend: tuple[tuple[str, str], ...] = ()
    note: str = ""


def make_charts(steps: Sequence[StepMetrics]) -> tuple[list[Chart], list[str]]:
    """Draw the charts of single metrics; return them and the names of those that the run did not log."""
    last_step = float(max((one.step for one in steps), default=0))
    sources = _sources(steps)
    charts, absent = [], []
    for spec in CHARTS:
        curve = pick_curve(steps, spec.name, spec.validation_key)
        if len(curve.points.steps) or any(len(one.steps) for one in curve.validation.values()):
            charts.append(_make_chart(spec, curve, last_step, sources))
        else:
            absent.append(spec.name)
    return charts, absent


def _make_chart(spec: ChartSpec, curve: Curve, last_step: float, sources: list[str]) -> Chart:
    about = describe(spec.name)
    ends = (format_number(curve.ends[0]), format_number(curve.ends[1])) if curve.ends else None
    words = f"{spec.title} over training steps" + (f", from {ends[0]} to {ends[1]}" if ends else "")
    values = curve.points.values
    inside = not len(values) or (values.min() >= 0 and values.max() <= 1)
    return Chart(
        title=spec.title,
        about=_unit_and_direction(about),
        meaning=about.meaning if about else "",
        ends=ends,
        label=words,
        plot=draw_curve(curve, last_step, sources=sources, share=spec.full_scale and bool(inside)),
    )


def _unit_and_direction(about: Metric | None) -> str:
    if about is None:
        return ""
    direction = "" if about.direction is Direction.NEITHER else f" · {about.direction.value}"
    return about.unit + direction


def validation_legend(steps: Sequence[StepMetrics]) -> list[tuple[str, str]]:
    """Colour name and data source of each series of validation points."""
    return [(VALIDATION_TONES[i % len(VALIDATION_TONES)], name) for i, name in enumerate(_sources(steps))]


def _sources(steps: Sequence[StepMetrics]) -> list[str]:
    """Every data source that some chart shows validation of; its place decides its colour in all of them."""
    curves = [pick_curve(steps, spec.name, spec.validation_key) for spec in CHARTS]
    return sorted({source for curve in curves for source in curve.validation})


def make_verdict_chart(steps: Sequence[StepMetrics]) -> Chart | None:
    """Draw the shares of the verdicts; None if the run did not log them."""
    stack = verdict_shares(steps)
    if not stack.parts:
        return None
    return Chart(
        title="Verdicts",
        about="share of the step's samples",
        meaning="Each sample has one verdict: that of its first failed test, or accepted.",
        ends=None,
        label="Shares of verdicts over training steps: " + _stack_words(stack, VERDICTS),
        plot=draw_stack(stack, float(steps[-1].step), tones="verdict", labels=VERDICTS, top=1.0),
        legend=_legend(stack, "verdict", VERDICTS),
    )


def make_time_chart(steps: Sequence[StepMetrics]) -> Chart | None:
    """Draw where a step's time goes; None if the run did not log it."""
    stack = time_split(steps)
    if not stack.parts:
        return None
    top = stack.comfortable_top
    longer = int((stack.total > top).sum())
    meaning = "Verification is what it adds after the last generated token. Validation is not part of a step."
    if "verify" not in stack.parts:
        meaning = "Generation includes verification, which was not timed apart. Validation is not part of a step."
    return Chart(
        title="Time of a step",
        about="seconds",
        meaning=meaning,
        ends=None,
        label="Seconds of a step's stages over training steps: " + _stack_words(stack, STAGES),
        plot=draw_stack(stack, float(steps[-1].step), tones="stage", labels=STAGES, top=top),
        legend=_legend(stack, "stage", STAGES),
        note=f"{longer} longer than drawn, up to {stack.total.max():.1f} s." if longer else "",
    )


def _legend(stack: Stack, tones: str, labels: dict[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple((f"{tones}-{part}", labels[part]) for part in stack.parts)


def _stack_words(stack: Stack, labels: dict[str, str]) -> str:
    return ", ".join(
        f"{labels[part]} {format_number(values[0])} to {format_number(values[-1])}"
        for part, values in stack.parts.items()
    )
