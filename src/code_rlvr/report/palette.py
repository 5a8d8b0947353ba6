"""Every colour of the report, once for light and once for dark.

The style sheet gets them as custom properties; charts are drawn in the light ones and repainted by
``report.js`` where the reader prefers dark.  Colour-blind readers can tell verdicts apart, and stages.
Sources: Okabe and Ito 2008 (verdicts), Paul Tol's muted scheme (stages), both adjusted for contrast.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Tone(NamedTuple):
    """One colour for either mode."""

    light: str
    dark: str


TONES: dict[str, Tone] = {
    "page": Tone("#f6f7f9", "#0e1116"),
    "surface": Tone("#ffffff", "#161b22"),
    "sunken": Tone("#f1f3f6", "#0f141a"),
    "ink": Tone("#1c2128", "#e4e8ee"),
    "muted": Tone("#5b6573", "#99a4b3"),
    "rule": Tone("#dfe3e8", "#2a313b"),
    "grid": Tone("#e9ecf0", "#252c35"),
    "accent": Tone("#1f6feb", "#58a6ff"),
    "validation": Tone("#b85c00", "#ffa657"),
    "validation-2": Tone("#8250df", "#bc8cff"),
    "validation-3": Tone("#0f7b6c", "#3fc8b4"),
    "validation-4": Tone("#bf2a7b", "#ff7eb6"),
    "validation-5": Tone("#6b6a00", "#d7d94f"),
    "validation-6": Tone("#6e4b3a", "#c9a08a"),
    "before": Tone("#7d8794", "#8d97a5"),
    "good": Tone("#0a7a55", "#3fbf8f"),
    "bad": Tone("#b3261e", "#ff8a80"),
    "warn": Tone("#fff4dc", "#2d2413"),
    "warn-rule": Tone("#d69e2e", "#b7862a"),
    "code-keyword": Tone("#a3195b", "#ff7bb0"),
    "code-string": Tone("#0b5a8a", "#8ecbff"),
    "code-number": Tone("#8a4b00", "#f0b072"),
    "code-name": Tone("#5a32a3", "#cba6ff"),
    "code-comment": Tone("#66707c", "#8b96a3"),
    "verdict-accepted": Tone("#009e73", "#1fb389"),
    "verdict-wrong_answer": Tone("#e69f00", "#e8aa26"),
    "verdict-runtime_error": Tone("#d55e00", "#e0702a"),
    "verdict-compile_error": Tone("#cc79a7", "#d48fb5"),
    "verdict-no_code": Tone("#8c8c8c", "#7b838d"),
    "verdict-time_limit": Tone("#56b4e9", "#6cc0ee"),
    "verdict-memory_limit": Tone("#0072b2", "#3a8fd0"),
    "verdict-output_limit": Tone("#d9cc2b", "#e6dc5a"),
    "stage-generate": Tone("#3b4cc0", "#7482e8"),
    "stage-verify": Tone("#cc6677", "#d97f8e"),
    "stage-old_log_prob": Tone("#88ccee", "#93d2f1"),
    "stage-ref": Tone("#44aa99", "#52b8a7"),
    "stage-values": Tone("#ddcc77", "#e0d184"),
    "stage-update_critic": Tone("#999933", "#a9a945"),
    "stage-update_actor": Tone("#117733", "#2f9450"),
    "stage-update_weights": Tone("#882255", "#b1487f"),
    "stage-other": Tone("#b4b9c0", "#666f7a"),
    "series-1": Tone("#1f6fec", "#58a6fe"),
    "series-2": Tone("#c2410c", "#fb923c"),
    "series-3": Tone("#047857", "#34d399"),
    "series-4": Tone("#a21caf", "#e879f9"),
    "series-5": Tone("#4d5562", "#aab4c2"),
    "series-6": Tone("#a16207", "#facc15"),
    "outcome-none": Tone("#c8553e", "#d5624a"),
    "outcome-some": Tone("#e3a27d", "#a9653f"),
    "outcome-most": Tone("#8fbbd9", "#3f7ea6"),
    "outcome-all": Tone("#0071b3", "#2f93d6"),
    "phase-format": Tone("#fbf3e6", "#241d14"),
    "phase-writing": Tone("#eaf3fe", "#14212f"),
    "phase-diminishing": Tone("#f0eef6", "#1e1b2a"),
    "danger": Tone("#fdeaea", "#2f1618"),
    "danger-rule": Tone("#c62828", "#e5534b"),
    "marked": Tone("#dceafc", "#15304f"),
}

SOLVE_RATES = (
    "#c8553d", "#cf7355", "#d48f70", "#d7a98f", "#cbb9ad",
    "#b5b9bd", "#9db4c4", "#7fa6c4", "#5c96c2", "#3686bd", "#0072b2",
)  # fmt: skip
"""Colours of solve rates from 0 to 1, the same in light and dark: told apart by colour-blind readers on either."""


def light(name: str) -> str:
    """Return the colour that a chart is drawn in."""
    return TONES[name].light


def phase_tone(name: str) -> str:
    """Return the colour's name of a phase: ``diminishing returns`` → ``phase-diminishing``."""
    return f"phase-{name.partition(' ')[0]}"


def css_variables(more: Mapping[str, Tone] | None = None) -> str:
    """Return all tones as custom properties, those for dark in a media query.

    Args:
        more: Name to colour, of those that only this page has.
    """
    tones = {**TONES, **(more or {})}
    bright = "".join(f"--{name}:{tone.light};" for name, tone in tones.items())
    dark = "".join(f"--{name}:{tone.dark};" for name, tone in tones.items())
    return f":root{{{bright}}}@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}"
