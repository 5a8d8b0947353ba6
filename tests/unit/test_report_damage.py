"""Runs that are damaged, strange or hostile, in every form of the report."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from bokeh.models import ColumnDataSource

from code_rlvr.health import HealthThresholds
from code_rlvr.health import signals as signals_of_health
from code_rlvr.report.as_json import to_json
from code_rlvr.report.as_text import to_text
from code_rlvr.report.chart_section import make_chart_groups
from code_rlvr.report.compare import render_comparison
from code_rlvr.report.html import render_report
from code_rlvr.report.inputs import MAX_DEPTH, input_files
from code_rlvr.report.run_state import RunState, read_state
from code_rlvr.report.sources import find_sources
from code_rlvr.runs import RunFolder, StepMetrics
from tests.synthetic_run import make_run
from tests.unit.test_report import Page


def state_of(path: Path) -> RunState:
    return read_state(find_sources([str(path)])[0], HealthThresholds())


def every_form(path: Path, other: Path) -> dict[str, Any]:
    """Make the report of a run in every form, a comparison with another too; return the JSON of the run."""
    states = [state_of(path), state_of(other)]
    assert to_text(states)
    assert render_report(states[0])
    assert render_comparison(states)
    tree: dict[str, Any] = json.loads(to_json(states), parse_constant=pytest.fail)
    return tree


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    return make_run(tmp_path_factory.mktemp("runs") / "sound", steps=20, heldout=40)


def write_lines(run: Path, lines: list[dict[str, Any]]) -> Path:
    run.mkdir(exist_ok=True)
    (run / "metrics.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines), encoding="utf-8")
    return run


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 1e308, -1e308, 1e99])
def test_numbers_of_any_size_have_a_report_in_every_form(tmp_path: Path, sound: RunFolder, value: float) -> None:
    lines = [json.loads(line) for line in sound.metrics.read_text(encoding="utf-8").splitlines()]
    run = write_lines(tmp_path / "run", [{**one, "data": dict.fromkeys(one["data"], value)} for one in lines])
    config = {"trainer": {"steps": value}, "actor": {"lr": value, "betas": [0.9, value]}}
    (run / "config.json").write_text(json.dumps(config), encoding="utf-8")
    (run / "start.json").write_text(json.dumps({"machine": {"memory_gib": 10**400}}), encoding="utf-8")
    tree = every_form(run, sound.path)
    kept = value if math.isfinite(value) else None
    assert tree["runs"][0]["planned_steps"] == kept
    differences = {one["setting"]: one["values"]["run"] for one in tree["differences"]}
    assert (differences["actor.lr"], differences["actor.betas"]) == (kept, [0.9, kept])
    said = "metrics.jsonl: numbers beyond 1e+100 count as infinite (steps 0, 1, 2, 3, 4 and 16 more)."
    assert (said in tree["runs"][0]["losses"]) == (abs(value) == 1e308)


def test_what_was_logged_and_is_no_number_is_named(tmp_path: Path) -> None:
    lines = [{"step": step, "data": {"reward/score": 0.5, "note": "text", "table": [1]}} for step in (1, 2)]
    assert state_of(write_lines(tmp_path / "run", lines)).losses[0] == (
        "metrics.jsonl: what is no number is left out (metrics note, table)."
    )


def test_half_a_character_in_the_settings_does_not_stop_any_form(tmp_path: Path, sound: RunFolder) -> None:
    run = write_lines(tmp_path / "run", [{"step": 1, "data": {"reward/score": 0.5}}])
    (run / "config.json").write_text('{"model": "\\ud800", "\\udfff": 1}', encoding="utf-8")
    to_json([state_of(run), state_of(sound.path)]).encode()
    differences = {one["setting"]: one["values"] for one in every_form(run, sound.path)["differences"]}
    assert differences["model"]["run"] == "\ud800"
    assert differences["\udfff"]["run"] == 1


def test_damage_of_each_file_is_said_and_only_what_older_runs_lack_is_not(tmp_path: Path, sound: RunFolder) -> None:
    for number, name in enumerate(input_files(sound)):
        run = make_run(tmp_path / str(number), steps=2, evaluated=False)
        file = input_files(run)[name]
        file.parent.mkdir(exist_ok=True)
        for damage in ("", "[1, 2]", '{"step": ', "\x00"):
            if name != "command":  # any text is one
                file.write_text(damage, encoding="utf-8")
                assert [loss for loss in state_of(run.path).losses if file.name in loss], (name, damage)
        file.unlink(missing_ok=True)
        assert any(file.name in loss for loss in state_of(run.path).losses) == (
            name in ("config", "command", "metrics")
        )
        file.mkdir()
        assert [loss for loss in state_of(run.path).losses if f"{file.name} cannot be read" in loss], name


@pytest.mark.parametrize("depth", [MAX_DEPTH + 1, 300, 900, 100_000])
def test_settings_that_are_nested_without_end_are_damage(tmp_path: Path, sound: RunFolder, depth: int) -> None:
    run = write_lines(tmp_path / "run", [{"step": 1, "data": {"reward/score": 0.5}}])
    for opening, closing in (('{"a": ', "}"), ("[", "]")):
        text = '{"b": ' + opening * depth + "1" + closing * depth + "}"
        (run / "config.json").write_text(text, encoding="utf-8")
        assert "config.json is not a JSON object." in every_form(run, sound.path)["runs"][0]["losses"]


def test_a_run_of_plain_verl_says_how_many_steps_it_trained(tmp_path: Path) -> None:
    validation = {"val-core/math/reward/mean@1": 0.5, "val-aux/math/score/mean@1": 0.5}
    lines = [{"step": step, "data": {"critic/score/mean": step / 100}} for step in range(1, 31)]
    run = write_lines(tmp_path / "run", [{"step": 0, "data": validation}, *lines, {"step": 31, "data": validation}])
    (run / "config.json").write_text('{"trainer": {"steps": 80}}', encoding="utf-8")
    state = state_of(run)
    assert state.inputs.trained_steps == state.health.trained == 30
    assert "step 30 of 80" in to_text([state])
    assert "In validation (math) the score went from 0.50 at step 0 to 0.50 at step 31" in state.headline
    assert "30 of 80" in Page(render_report(state)).text


def test_validation_alone_is_no_training(tmp_path: Path) -> None:
    run = write_lines(tmp_path / "run", [{"step": 40, "data": {"val-core/math/reward/mean@1": 0.5}}])
    state = state_of(run)
    assert state.inputs.trained_steps == state.health.trained == 0
    assert "Samples" not in json.loads(to_json([state]))["runs"][0]["facts"]


def test_sources_that_are_alike_at_the_beginning_have_a_line_and_a_chart_each(tmp_path: Path) -> None:
    names = [f"{'deep/' * 20}{end}" for end in ("one", "two")]
    data = {f"reward/by_source/{name}/pass_rate": 0.5 for name in names}
    data |= {f"val-core/{name}/accepted/mean@1": 0.5 for name in names}
    runs = [write_lines(tmp_path / one, [{"step": step, "data": data} for step in (1, 2)]) for one in "ab"]
    page = Page(render_report(state_of(runs[0])))
    legend = page.text.split("Tests passed by data source")[1].split("Means of the training batch")[0]
    assert legend.count("… 43 more characters") == 2
    assert "more data sources are not drawn" not in page.text
    comparison = Page(render_comparison([state_of(run) for run in runs]))
    roots = [attrs["data-root-id"] for _, attrs in comparison.tags if "data-root-id" in attrs]
    assert len(roots) == len(set(roots)) == sum(attrs.get("role") == "img" for _, attrs in comparison.tags)
    assert comparison.text.count("Validation: deep/deep") == 2


def test_whatever_metric_a_finding_names_has_a_chart() -> None:
    tuples = [value for value in vars(signals_of_health).values() if isinstance(value, tuple)]
    names = {name for one in tuples for name in one if "/" in name and "<" not in name}
    names |= {f"val-core/some/{key}/mean@1" for key in signals_of_health.HELD_OUT_KEYS}
    assert len(names) > 20
    values = {name: number / 100 for number, name in enumerate(sorted(names), start=1)}
    for steps in ([values], *([{name: value}] for name, value in values.items())):
        for name in steps[0]:
            groups, _ = make_chart_groups([StepMetrics(step, steps[0]) for step in (1, 2, 3)], named=[name])
            plots = [chart.plot for group in groups for chart in group.charts]
            sources = [source for plot in plots for source in plot.select({"type": ColumnDataSource})]
            assert any(values[name] in source.data.get("value", ()) for source in sources), name


def test_a_loss_that_explodes_beside_a_calm_one_of_the_same_model_is_drawn(tmp_path: Path) -> None:
    lines = [
        {"step": step, "data": {"actor/pg_loss": 0.1, "actor/loss": 0.1 if step < 40 else 500.0, "reward/score": 0.5}}
        for step in range(1, 61)
    ]
    state = state_of(write_lines(tmp_path / "run", lines))
    (finding,) = [one for one in state.health.findings if one.rule == "loss_explosion"]
    assert finding.metric == "actor/loss"
    page = Page(render_report(state))
    assert "Named by findings actor/loss" in page.text
    assert any((attrs.get("aria-label") or "").startswith("actor/loss over training") for _, attrs in page.tags)
