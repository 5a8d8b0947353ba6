"""One chart with what the page says about it.

Covered: the type, and words about a metric's unit.  Not covered: making charts (`chart_section`, `series_charts`,
`stack_charts`), drawing (`charts`).
"""

from __future__ import annotations

from dataclasses import dataclass

from bokeh.plotting import figure

from code_rlvr.report.catalogue import Direction, Metric


@dataclass(frozen=True)
class Chart:
    """One chart with what the page says about it.

    Args:
        title: Heading.
        about: Unit and direction.
        meaning: One sentence.
        label: The chart in words, for readers who do not see it.
        plot: The drawing.
        ends: From the first to the last tenth of the run, formatted.
        legend: Colour name and text of each part, top part first.
        note: What the drawing leaves out.
        wide: Whether it takes the whole width of the page.
    """

    title: str
    about: str
    meaning: str
    label: str
    plot: figure
    ends: tuple[str, str] | None = None
    legend: tuple[tuple[str, str], ...] = ()
    note: str = ""
    wide: bool = False


@dataclass(frozen=True)
class ChartGroup:
    """Charts under one heading.

    Args:
        title: Heading.
        charts: At least one.
    """

    title: str
    charts: tuple[Chart, ...]


def unit_and_direction(about: Metric | None) -> str:
    """Write a metric's unit, and which way is better if one is."""
    if about is None:
        return ""
    words = [about.shown_unit] if about.shown_unit else []
    words += [] if about.direction is Direction.NEITHER else [about.direction.value]
    return " · ".join(words)
