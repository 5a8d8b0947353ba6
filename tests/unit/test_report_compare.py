"""The comparison of runs: what differs, what is side by side, how runs are told apart."""

from __future__ import annotations

import base64
import hashlib
import itertools
import json
import re
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from code_rlvr.health import HealthThresholds
from code_rlvr.report.compare import render_comparison
from code_rlvr.report.compare.charts import make_run_charts
from code_rlvr.report.compare.differences import list_differences
from code_rlvr.report.compare.run_styles import RUN_STYLES
from code_rlvr.report.compare.tables import make_evaluation_rows, make_value_rows
from code_rlvr.report.main_metrics import choose_metrics
from code_rlvr.report.palette import TONES
from code_rlvr.report.run_state import RunState, read_state
from code_rlvr.report.sources import Source, find_sources
from tests.synthetic_run import make_run
from tests.unit.test_report import Page

HOSTILE = "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">@step"


def states_of(*words: str | Path) -> list[RunState]:
    return [read_state(source, HealthThresholds()) for source in find_sources([str(word) for word in words])]


def metrics_file(file: Path, steps: range, **series: float) -> Path:
    lines = [
        json.dumps({"step": step, "data": {name.replace("__", "/"): value for name, value in series.items()}})
        for step in steps
    ]
    file.write_text("\n".join(lines), encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Path]:
    folder = tmp_path_factory.mktemp("runs")
    long = make_run(folder / "long", steps=40, heldout=60)
    short = make_run(folder / "short", steps=12, seed=1, heldout=60)
    config = json.loads(short.config.read_text(encoding="utf-8"))
    config["actor"] = {"lr": 1e-5}
    config["algorithm"]["kl_coef"] = 0.05
    short.config.write_text(json.dumps(config), encoding="utf-8")
    (short.path / "data.json").write_text(json.dumps({"train": {"sha256": "ab" * 32}}), encoding="utf-8")
    (long.path / "data.json").write_text(json.dumps({"train": {"sha256": "cd" * 32}}), encoding="utf-8")
    plain = metrics_file(folder / "plain.jsonl", range(1, 7), critic__score__mean=0.25, actor__kl_loss=0.01)
    return long.path, short.path, plain


def test_page_has_every_run_and_every_part(runs: tuple[Path, Path, Path]) -> None:
    page = Page(render_comparison(states_of(*runs)))
    for expected in (
        "Comparison of 3 training runs",
        "long, short, plain",
        "algorithm. kl_coef",
        "No configuration is known of plain, so nothing is said about what it was set to.",
        "problems, by hash",
        "Held-out problems",
        "Not logged by plain.",
        "Last values",
        "at step 12",
        "Validation: starter",
    ):
        assert expected in page.text
    assert sum(attrs.get("role") == "img" for _, attrs in page.tags) >= 10
    assert sum("data-run" in attrs for _, attrs in page.tags) == 3


def test_page_loads_nothing_and_its_policy_allows_exactly_its_own_scripts(runs: tuple[Path, Path, Path]) -> None:
    page = Page(render_comparison(states_of(*runs)))
    policy = next(attrs["content"] for _, attrs in page.tags if attrs.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    hashes = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in page.scripts]
    assert re.findall(r"'sha256-([^']+)'", policy) == hashes
    for tag, attrs in page.tags:
        assert not {"src", "srcset"} & attrs.keys(), tag
        assert (attrs.get("href") or "data:,") == "data:,", tag


def test_foreign_text_stays_text(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", steps=3, evaluated=False)
    config = json.loads(run.config.read_text(encoding="utf-8"))
    run.config.write_text(json.dumps({**config, "model": HOSTILE, HOSTILE: 1}), encoding="utf-8")
    with run.metrics.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"step": 3, "data": {f"val-core/{HOSTILE}/acc/mean@1": 0.5}}) + "\n")
    other = make_run(tmp_path / "other", steps=3, evaluated=False)
    evil = read_state(Source(HOSTILE, run.path), HealthThresholds())
    page = Page(render_comparison([evil, *states_of(other.path)]))
    assert len(page.scripts) == 5  # Bokeh, its log level, the drawing, the painting, the switches
    assert not [tag for tag, attrs in page.tags if tag == "img" or "onerror" in attrs]
    assert page.text.count("<script>document.title='owned'</script>") >= 6


def test_only_what_differs_is_listed(runs: tuple[Path, Path, Path]) -> None:
    found = {one.setting: one for one in list_differences(states_of(*runs))}
    assert found["algorithm.kl_coef"].values == (0.001, 0.05, None)
    assert not found["algorithm.kl_coef"].partly
    assert found["actor.lr"].values == (None, 1e-5, None)
    assert found["actor.lr"].partly
    assert found["train"].kind == "problems"
    assert "algorithm.estimator" not in found
    assert "seed" not in found
    assert list_differences(states_of(runs[0]) * 2) == []


def test_true_is_not_the_same_as_one(tmp_path: Path) -> None:
    for name, value in (("a", True), ("b", 1)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.json").write_text(json.dumps({"trainer": {"flag": value}}), encoding="utf-8")
    (found,) = list_differences(states_of(tmp_path / "a", tmp_path / "b"))
    assert (found.setting, found.values) == ("trainer.flag", (True, 1))


def test_runs_without_any_configuration_are_not_said_to_be_equal(tmp_path: Path) -> None:
    files = [metrics_file(tmp_path / f"{name}.jsonl", range(1, 5), critic__score__mean=0.2) for name in "ab"]
    page = Page(render_comparison(states_of(*files)))
    assert "Not known: a, b have no configuration." in page.text
    assert "In no setting that was recorded" not in page.text


def test_a_quantity_is_compared_under_a_name_that_all_runs_have() -> None:
    ours = {"reward/score", "critic/score/mean", "reward/accepted"}
    assert [one.name for one in choose_metrics([ours, ours])] == ["reward/score", "reward/accepted"]
    mixed = [one.name for one in choose_metrics([ours, {"critic/score/mean"}, set()])]
    assert mixed == ["critic/score/mean", "reward/accepted"]


def test_runs_of_different_length_are_compared_at_the_step_that_both_have(tmp_path: Path) -> None:
    long = tmp_path / "long.jsonl"
    lines = [json.dumps({"step": step, "data": {"critic/score/mean": step / 100}}) for step in range(1, 101)]
    long.write_text("\n".join(lines), encoding="utf-8")
    short = tmp_path / "short.jsonl"
    short.write_text("\n".join(lines[:50]), encoding="utf-8")
    (row,) = [one for one in make_value_rows(states_of(long, short)) if one.title == "Score"]
    assert row.common_step == 50
    assert [cell.last for cell in row.cells] == ["0.96", "0.48"]
    assert [cell.at_common_step for cell in row.cells] == ["0.50", "0.49"]  # the smoothed line, in both


def test_metric_of_one_run_only_is_shown_and_the_other_is_said_to_lack_it(tmp_path: Path) -> None:
    one = metrics_file(tmp_path / "one.jsonl", range(1, 5), actor__entropy=0.4)
    two = metrics_file(tmp_path / "two.jsonl", range(1, 5), actor__grad_norm=0.4)
    charts = {chart.title: chart for chart in make_run_charts(states_of(one, two))}
    assert charts["Entropy"].note == "Not logged by two."
    assert charts["Gradient norm of the actor"].note == "Not logged by one."
    rows = {row.title: row for row in make_value_rows(states_of(one, two))}
    assert [cell.last for cell in rows["Entropy"].cells] == ["0.40", ""]


def test_evaluations_of_the_same_problems_are_paired_and_others_are_not(tmp_path: Path) -> None:
    first, second = (make_run(tmp_path / name, steps=2, seed=3, heldout=40) for name in ("first", "second"))
    worse = json.loads((second.eval / "after" / "heldout.json").read_text(encoding="utf-8"))
    for problem in worse["problems"].values():
        problem["accepted"] = 0
    (second.eval / "after" / "heldout.json").write_text(json.dumps(worse), encoding="utf-8")
    unseen = json.loads((second.eval / "after" / "unseen.json").read_text(encoding="utf-8"))
    (second.eval / "after" / "unseen.json").write_text(json.dumps({**unseen, "max_new_tokens": 7}), encoding="utf-8")
    rows = make_evaluation_rows(states_of(first.path, second.path))
    whole = {(row.label, row.decoding.split(",")[0]): row.cells for row in rows if not row.is_group}
    changed = whole["Held-out problems", "T = 1"][1]
    assert changed.baseline == "first"
    assert changed.against is not None
    assert changed.against.interval.high < 0
    same = whole["Held-out problems", "greedy"][1]
    assert same.against is not None
    assert same.against.change == 0
    other = whole["Unseen families", "T = 1"][1]
    assert other.against is None
    assert other.note == "other problems or settings"
    assert {row.label for row in rows if row.is_group} >= {"combination", "paraphrase"}


def test_eight_runs_one_of_them_empty_have_a_page(tmp_path: Path) -> None:
    files: list[Path] = []
    for number in range(7):
        files.append(metrics_file(tmp_path / f"{number}.jsonl", range(1, 4 + number), reward__score=number / 10))
    empty = tmp_path / "empty"
    empty.mkdir()
    (empty / "config.json").write_text("{}", encoding="utf-8")
    page = Page(render_comparison(states_of(*files, empty)))
    assert "Not logged by empty." in page.text
    assert "empty : metrics.jsonl cannot be read" in page.text


def test_runs_none_of_which_has_metrics_have_a_page_without_scripts(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.json").write_text('{"seed": 0}', encoding="utf-8")
    page = Page(render_comparison(states_of(tmp_path / "a", tmp_path / "b")))
    assert page.scripts == []
    assert "In no setting that was recorded." in page.text


# Sight without one kind of cones, as a linear map of linear RGB: Machado, Oliveira and Fernandes 2009, severity 1.
SIGHTS = {
    "usual": np.eye(3),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
}
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def linear(color: str) -> npt.NDArray[np.float64]:
    rgb = np.array([int(color[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def contrast(one: str, other: str) -> float:
    dim, bright = sorted(float(linear(color) @ TO_XYZ[1]) for color in (one, other))
    return (bright + 0.05) / (dim + 0.05)


def lab(rgb: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    xyz = TO_XYZ @ np.clip(rgb, 0, 1) / [0.9505, 1, 1.089]
    x, y, z = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("mode", [0, 1])
def test_runs_are_told_apart_by_colour_whoever_looks_and_by_dashes(mode: int) -> None:
    colors = [style.tone[mode] for style in RUN_STYLES]
    for color, back in itertools.product(colors, (TONES["surface"][mode], TONES["page"][mode])):
        assert contrast(color, back) >= 3
    for sight, matrix in SIGHTS.items():
        for one, other in itertools.combinations(colors, 2):
            distance = np.linalg.norm(lab(matrix @ linear(one)) - lab(matrix @ linear(other)))
            assert distance > 15, (sight, one, other)
    assert len({style.dash for style in RUN_STYLES}) == len(RUN_STYLES)


def test_painting_finds_for_each_colour_one_partner_only() -> None:
    pairs = {*TONES.values(), *(style.tone for style in RUN_STYLES)}
    drawn = [style.tone.light for style in RUN_STYLES]
    for tone in pairs:
        if tone.light in drawn:
            assert [one for one in pairs if one.light == tone.light or one.dark == tone.dark] == [tone]
