"""`build_report`: a run's folder as one HTML file that opens from disk.

The file needs no network and may not use any: a content security policy names the hash of each of its own
scripts and forbids everything else, so that text from a model is text, whatever stands in it.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
from importlib import metadata
from importlib.resources import files
from pathlib import Path
from typing import Any

from bokeh.embed import components
from bokeh.resources import Resources
from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from code_rlvr.errors import DataError
from code_rlvr.report.chart_section import (
    Chart,
    make_charts,
    make_time_chart,
    make_verdict_chart,
    validation_legend,
)
from code_rlvr.report.curves import steps_per_point
from code_rlvr.report.evaluation import make_rows, read_evaluations
from code_rlvr.report.facts import make_facts, make_metric_lines
from code_rlvr.report.headline import headline
from code_rlvr.report.inputs import RunInputs, read_inputs
from code_rlvr.report.numbers_as_text import format_signed
from code_rlvr.report.palette import TONES, css_variables
from code_rlvr.report.program_section import ProgramCard, make_card
from code_rlvr.report.programs import choose_programs, read_programs
from code_rlvr.report.prompts import find_prompts
from code_rlvr.report.visible import make_visible
from code_rlvr.runs import RunFolder


def build_report(run: RunFolder) -> Path:
    """Write ``report.html`` of a run, finished or not; an older one is replaced.

    Args:
        run: The run's folder.  What is missing or damaged in it is said in the report.

    Returns:
        The report.

    Raises:
        DataError: There is no such folder, or the report cannot be written.
    """
    if not run.path.is_dir():
        raise DataError(f"{run.path} is not the folder of a run")
    text = render_report(run)
    unfinished = run.report.with_name(run.report.name + ".unfinished")
    try:
        unfinished.write_text(text, encoding="utf-8")
        os.replace(unfinished, run.report)
    except OSError as error:
        raise DataError(f"cannot write {run.report}: {error.strerror}") from None
    return run.report


def render_report(run: RunFolder) -> str:
    """Return the report of a run as HTML."""
    losses: list[str] = []
    inputs = read_inputs(run, losses)
    rows = [row for one in read_evaluations(run.eval, losses) for row in make_rows(one, losses)]
    context = {
        "run": inputs,
        "command": make_visible(inputs.command, 20_000),
        "config": make_visible(json.dumps(inputs.config, indent=2), 50_000) if inputs.config else "",
        "headline": make_visible(headline(inputs, rows), 1_000),
        "facts": make_facts(inputs),
        "rows": rows,
        "programs": _programs(run, inputs, losses),
        "metric_groups": make_metric_lines(inputs.steps),
        "losses": [make_visible(loss, 500) for loss in losses],
        **_curves(inputs),
        "css": Markup(css_variables() + read_asset("report.css")),
        "version": metadata.version("code-rlvr"),
    }
    environment = Environment(autoescape=True, undefined=StrictUndefined)
    environment.filters["signed"] = format_signed
    return environment.from_string(read_asset("template.html.jinja")).render(context)


def _curves(inputs: RunInputs) -> dict[str, Any]:
    """Everything about the charts, the scripts that draw them and the policy that lets only those run."""
    charts, absent = make_charts(inputs.steps)
    stacks = [chart for chart in (make_verdict_chart(inputs.steps), make_time_chart(inputs.steps)) if chart]
    scripts, plots = _embed([*charts, *stacks])
    per_point = steps_per_point(inputs.steps)
    return {
        "charts": charts,
        "absent": absent,
        "stacks": stacks,
        "plots": plots,
        "per_point": per_point,
        "sources": [(tone, make_visible(source, 80)) for tone, source in validation_legend(inputs.steps)],
        "tones": Markup(json.dumps([list(tone) for tone in TONES.values()])),
        "scripts": [Markup(script) for script in scripts],
        "policy": content_security_policy(scripts),
    }


def _embed(charts: list[Chart]) -> tuple[list[str], dict[str, Markup]]:
    """Return the scripts that draw the charts, and for each chart's title the element that it is drawn in."""
    if not charts:
        return [], {}
    drawing, elements = components({chart.title: chart.plot for chart in charts}, wrap_script=False)
    bokeh = Resources(mode="inline", components=["bokeh"]).js_raw
    plots = {title: Markup(element) for title, element in elements.items()}
    return [*bokeh, drawing, read_asset("report.js")], plots


def content_security_policy(scripts: list[str]) -> str:
    """Allow exactly these scripts, inline styles, and nothing from anywhere."""
    hashes = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts]
    allowed = " ".join(f"'sha256-{value}'" for value in hashes) or "'none'"
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _programs(run: RunFolder, inputs: RunInputs, losses: list[str]) -> list[ProgramCard]:
    choices = choose_programs(read_programs(run.verdicts, losses))
    named = [inputs.setting("data.train_file"), inputs.setting("data.validation_file")]
    # Relative to where the run was started; a folder that was moved keeps its own copy in data/.
    files = [Path(name) for name in named if isinstance(name, str) and name]
    files += [run.path / "data" / file.name for file in files]
    prompts = find_prompts(files, {choice.program.problem_id for choice in choices})
    return [make_card(choice, prompts) for choice in choices]


def read_asset(name: str) -> str:
    return (files("code_rlvr.report") / name).read_text(encoding="utf-8")
