"""`render_comparison`: several runs as one HTML file that opens from disk.

Covered: what stands in the page, and in which order.  Not covered: charts (`charts`), tables (`tables`), the style
sheet of all reports (``report.css``), the policy that lets only the page's own scripts run (`html`).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata
from typing import Any

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from code_rlvr.report.chart import unit_and_direction
from code_rlvr.report.compare.charts import make_run_charts, undrawn_sources
from code_rlvr.report.compare.differences import SettingDifference, list_differences, shared_folders
from code_rlvr.report.compare.run_styles import RUN_STYLES, RunStyle
from code_rlvr.report.compare.tables import make_evaluation_rows, make_value_rows
from code_rlvr.report.html import content_security_policy, embed, interval_digits, interval_side, read_asset, with_code
from code_rlvr.report.numbers_as_text import format_signed
from code_rlvr.report.palette import TONES, css_variables
from code_rlvr.report.run_state import RunState
from code_rlvr.report.visible import make_visible


@dataclass(frozen=True)
class RunCard:
    """One run at the top of the page."""

    state: RunState
    style: RunStyle
    name: str
    progress: str


def render_comparison(states: Sequence[RunState]) -> str:
    """Return the comparison of runs as HTML.

    Args:
        states: Two to eight runs of different names.
    """
    charts = make_run_charts(states)
    scripts, plots = embed([chart.plot for chart in charts])
    scripts += [read_asset("compare/compare.js")] if charts else []
    styles = {style.name: style.tone for style in RUN_STYLES}
    context = {
        "cards": [_card(number, state) for number, state in enumerate(states)],
        "losses": [(state.name, make_visible(loss, 500)) for state in states for loss in state.losses],
        "differences": list_differences(states),
        "without_config": [state.name for state in states if not state.inputs.config],
        "evaluations": make_evaluation_rows(states),
        "charts": charts,
        "undrawn": undrawn_sources(states),
        "plots": plots,
        "values": make_value_rows(states),
        "css": Markup(css_variables(styles) + read_asset("report.css") + read_asset("compare/compare.css")),
        "tones": Markup(json.dumps([*TONES.values(), *styles.values()])),
        "scripts": [Markup(script) for script in scripts],
        "policy": content_security_policy(scripts),
        "version": metadata.version("code-rlvr"),
    }
    environment = Environment(autoescape=True, undefined=StrictUndefined)
    environment.filters |= {
        "signed": format_signed, "digits": interval_digits, "side": interval_side, "shown": _shown,
        "breakable": _breakable, "setting": _setting, "about": unit_and_direction, "with_code": with_code,
    }  # fmt: skip
    return environment.from_string(read_asset("compare/template.html.jinja")).render(context)


def _card(number: int, state: RunState) -> RunCard:
    planned, done = state.inputs.setting("trainer.steps"), state.inputs.trained_steps
    progress = f"{done} of {planned} steps" if planned else f"{done} steps"
    return RunCard(state, RUN_STYLES[number], make_visible(state.name, 80), make_visible(progress, 80))


def _shown(text: str) -> str:
    return make_visible(text, 2_000)


def _breakable(setting: str) -> Markup:
    """A dotted path that a narrow column breaks at a dot."""
    return Markup(".<wbr>").join(_shown(setting).split("."))


def _setting(difference: SettingDifference, number: int) -> str:
    """The value of one run, as it would stand in a file of settings."""
    value: Any = difference.values[number]
    if value is None:
        return "–"
    if isinstance(value, str):
        value = value[shared_folders(difference.values) :]
        value = value if value == difference.values[number] else f"…/{value}"
    return make_visible(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False), 300) or '""'
