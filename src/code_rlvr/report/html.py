"""`build_report`: a run's folder as one HTML file that opens from disk.

The file needs no network and may not use any: a content security policy names the hash of each of its own
scripts and forbids everything else, so that text from a model is text, whatever stands in it.

Covered: putting the parts together.  Not covered: the parts, which are the ``*_section`` modules; layout
(``*.html.jinja``).
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from importlib import metadata
from importlib.resources import files
from pathlib import Path
from typing import Any

from bokeh.document import Document
from bokeh.embed import components
from bokeh.model import Model
from bokeh.resources import Resources
from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from code_rlvr.errors import DataError
from code_rlvr.evaluate.scores import Interval
from code_rlvr.health import HealthThresholds
from code_rlvr.report.chart import ChartGroup
from code_rlvr.report.chart_section import folded_sources, make_chart_groups, validation_legend
from code_rlvr.report.config_difference import compare_with_base
from code_rlvr.report.curves import steps_per_point
from code_rlvr.report.facts import make_facts, make_metric_lines
from code_rlvr.report.health_section import Health, make_finding_cards, make_phase_notes
from code_rlvr.report.inputs import RunInputs
from code_rlvr.report.numbers_as_text import digits_for, format_signed, side_of_zero
from code_rlvr.report.palette import SOLVE_RATES, TONES, css_variables
from code_rlvr.report.program_section import make_browser
from code_rlvr.report.run_state import RunState, read_state
from code_rlvr.report.solve_history import History
from code_rlvr.report.solve_map import SolveMap, make_solve_map
from code_rlvr.report.sources import Source
from code_rlvr.report.visible import make_visible
from code_rlvr.runs import RunFolder
from code_rlvr.whole_file import whole_file


def build_report(run: RunFolder, asked: HealthThresholds | None = None) -> Path:
    """Write ``report.html`` of a run, finished or not; an older one is replaced.

    Args:
        run: The run's folder.  What is missing or damaged in it is said in the report.
        asked: Thresholds of the health rules; those that are set in it win over the run's own.

    Returns:
        The report.

    Raises:
        DataError: There is no such folder, or the report cannot be written.
    """
    if not run.path.is_dir():
        raise DataError(f"{run.path} is not the folder of a run")
    state = read_state(Source(run.path.resolve().name, run.path), asked or HealthThresholds())
    write_page(run.report, render_report(state))
    return run.report


def write_page(file: Path, text: str) -> None:
    """Write a page; it appears whole or not at all, in place of an older one.

    Raises:
        DataError: It cannot be written.
    """
    try:
        with whole_file(file) as unfinished:
            unfinished.write_text(text, encoding="utf-8")
    except OSError as error:
        raise DataError(f"cannot write {file}: {error.strerror}") from None


def render_report(state: RunState) -> str:
    """Return the report of one run, or of a file of metrics alone, as HTML.

    Args:
        state: The run.
    """
    inputs, health = state.inputs, state.health
    solve_map = make_solve_map(state.records, state.histories)
    context = {
        "name": make_visible(state.name, 200),
        "run": inputs,
        "command": make_visible(inputs.command, 20_000),
        "config": make_visible(json.dumps(inputs.config, indent=2), 50_000) if inputs.config else "",
        "difference": compare_with_base(inputs.config, _preset(inputs)),
        "headline": make_visible(state.headline, 1_000),
        "health": health,
        "facts": make_facts(inputs),
        "rows": state.rows,
        "solve_map": solve_map,
        "solve_rates": SOLVE_RATES,
        "metric_groups": make_metric_lines(inputs.steps),
        **_programs(state),
        **_curves(inputs, health, state.histories),
        "losses": [make_visible(loss, 500) for loss in state.losses],
        "css": Markup(css_variables() + read_asset("report.css")),
        "version": metadata.version("code-rlvr"),
    }
    context |= _scripts(context["chart_groups"], solve_map, has_samples=context["samples"] is not None)
    environment = Environment(autoescape=True, undefined=StrictUndefined, loader=FunctionLoader(read_asset))
    environment.filters |= {
        "signed": format_signed,
        "digits": interval_digits,
        "side": interval_side,
        "with_code": with_code,
    }
    return environment.get_template("template.html.jinja").render(context)


def interval_digits(interval: Interval) -> int:
    """Return with how many digits a difference with this interval is written."""
    return digits_for(interval.low, interval.high)


def interval_side(interval: Interval) -> int:
    """Return on which side of 0 a difference is, or 0."""
    return side_of_zero(interval.low, interval.high)


def with_code(text: str) -> Markup:
    """Set what stands between backticks as code; the rest is escaped."""
    parts = text.split("`")
    return Markup("").join(Markup("<code>{}</code>").format(part) if i % 2 else part for i, part in enumerate(parts))


def _preset(inputs: RunInputs) -> str | None:
    preset = inputs.start.get("preset")
    return preset if isinstance(preset, str) else None


def _curves(inputs: RunInputs, health: Health, histories: Sequence[History]) -> dict[str, Any]:
    """The charts and the words around them."""
    groups, absent = make_chart_groups(
        inputs.steps, health.phases, histories, [finding.metric for finding in health.findings]
    )
    return {
        "chart_groups": groups,
        "absent": absent,
        "phases": make_phase_notes(health.phases),
        "per_point": steps_per_point(inputs.steps),
        "sources": [(*look, make_visible(source, 80)) for *look, source in validation_legend(inputs.steps)],
        "folded": [make_visible(source, 80) for source in folded_sources(inputs.steps)],
    }


def _programs(state: RunState) -> dict[str, Any]:
    """The samples to look through, and those beside findings."""
    shown, records = state.shown, state.records
    return {
        "samples": make_browser(shown.first, shown.more, shown.prompts, records.steps_read),
        "findings": make_finding_cards(state.health, records.programs, shown.prompts, records.steps_read),
    }


def _scripts(groups: Sequence[ChartGroup], solve_map: SolveMap | None, *, has_samples: bool) -> dict[str, Any]:
    """The scripts of the page, the elements that they draw in, and the policy that lets only those run."""
    drawings = [chart.plot for group in groups for chart in group.charts]
    scripts, plots = embed([*drawings, solve_map.plot] if solve_map else drawings)
    scripts += [read_asset("samples.js")] if has_samples else []
    return {
        "plots": plots,
        "tones": Markup(json.dumps([list(tone) for tone in TONES.values()])),
        "scripts": [Markup(script) for script in scripts],
        "policy": content_security_policy(scripts),
    }


def embed(drawings: Sequence[Model]) -> tuple[list[str], dict[str, Markup]]:
    """Return the scripts that draw charts, and for the ``id`` of each drawing the element that it is drawn in.

    The page has to have an element ``tones`` with the colours of either mode, as the template of the report has.
    """
    if not drawings:
        return [], {}
    document = Document()
    with document.models.freeze():  # or each chart that is added would look at all models of those before it
        for plot in drawings:
            document.add_root(plot)
    drawing, elements = components({plot.id: plot for plot in drawings}, wrap_script=False)
    bokeh = Resources(mode="inline", components=["bokeh"]).js_raw
    return [*bokeh, drawing, read_asset("report.js")], {one: Markup(element) for one, element in elements.items()}


def content_security_policy(scripts: list[str]) -> str:
    """Allow exactly these scripts, inline styles, and nothing from anywhere."""
    hashes = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts]
    allowed = " ".join(f"'sha256-{value}'" for value in hashes) or "'none'"
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def read_asset(name: str) -> str:
    """Read a style sheet or a script that lies beside the templates."""
    return (files("code_rlvr.report") / name).read_text(encoding="utf-8")
