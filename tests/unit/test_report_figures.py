"""The numbers and words at the top of a report: ends of curves, order of evaluations and findings, intervals."""

from __future__ import annotations

import json
import math
import random
import re
from pathlib import Path

import pytest

from code_rlvr.evaluate.compare import Difference
from code_rlvr.evaluate.scores import Interval
from code_rlvr.health import HealthThresholds
from code_rlvr.report.as_json import to_json
from code_rlvr.report.as_text import to_text
from code_rlvr.report.chart_section import folded_sources, make_chart_groups, validation_legend
from code_rlvr.report.charts import DASHES, MARKERS, MARKS, VALIDATION_TONES
from code_rlvr.report.compare import render_comparison
from code_rlvr.report.compare.differences import shared_folders
from code_rlvr.report.compare.tables import make_value_rows
from code_rlvr.report.curves import pick_curve
from code_rlvr.report.evaluation import Row
from code_rlvr.report.headline import headline
from code_rlvr.report.html import render_report
from code_rlvr.report.inputs import RunInputs
from code_rlvr.report.numbers_as_text import digits_for, side_of_zero
from code_rlvr.report.run_state import RunState, read_state
from code_rlvr.report.solve_history import CHANGE, Fate
from code_rlvr.report.sources import find_sources
from code_rlvr.runs import RunFolder, StepMetrics
from tests.synthetic_run import make_run, write_scores
from tests.unit.test_report import Page


def state_of(path: Path) -> RunState:
    return read_state(find_sources([str(path)])[0], HealthThresholds())


def write_metrics(file: Path, lines: list[dict[str, float]]) -> Path:
    text = "".join(json.dumps({"step": step, "data": one}) + "\n" for step, one in enumerate(lines, start=1))
    file.write_text(text, encoding="utf-8")
    return file


def row(label: str, change: float, low: float, high: float) -> Row:
    difference = Difference(
        problems=9, before=0.4, after=0.4 + change, change=change, interval=Interval(low=low, high=high), better=1,
        worse=1,
    )  # fmt: skip
    return Row(label, "greedy", 9, None, None, difference)


def test_a_metric_that_is_no_number_at_the_end_has_no_value_there(tmp_path: Path) -> None:
    lines = [{"actor/entropy": step / 10 if step <= 60 else math.nan, "reward/score": 0.5} for step in range(1, 81)]
    state = state_of(write_metrics(tmp_path / "run.jsonl", lines))
    metric = json.loads(to_json([state]))["runs"][0]["metrics"]["actor/entropy"]
    assert (metric["mean_of_first_tenth"], metric["mean_of_last_tenth"]) == (pytest.approx(0.45), None)
    assert metric["steps_without_number"] == 20
    assert re.search(r"Entropy +0\.45 +–", to_text([state]))
    text = Page(render_report(state)).text
    assert "Entropy 0.45 → –" in text
    assert text.count("No number in 20 of 80 steps.") == 1
    (entropy,) = [one for one in make_value_rows([state, state]) if one.title == "Entropy"]
    assert entropy.cells[0].last == "–"


def test_a_score_that_is_no_number_at_the_end_did_not_go_anywhere() -> None:
    steps = [StepMetrics(step, {"reward/score": 0.3 if step <= 10 else math.nan}) for step in range(1, 41)]
    sentence = headline(RunInputs({}, "", {}, steps), [])
    assert "The training score is no number in the last tenth of the run (at step 10 it was 0.30)" in sentence


def test_tenths_are_of_the_steps_of_the_run_and_of_validation_of_the_validations() -> None:
    steps = [StepMetrics(0, {"val-core/a/acc/mean@1": 0.1})]
    steps += [StepMetrics(step, {"reward/score": 1.0}) for step in range(1, 40)]
    steps += [StepMetrics(20, {"val-core/a/acc/mean@1": 0.3}), StepMetrics(40, {"critic/vf_loss": 2.0})]
    assert pick_curve(steps, "val-core/a/acc/mean@1").ends == (0.1, 0.3)
    assert pick_curve(steps, "critic/vf_loss").ends == (None, 2.0)
    assert pick_curve(steps, "reward/score").missing == 1


def test_a_step_that_saves_a_checkpoint_does_not_move_the_time_of_a_step(tmp_path: Path) -> None:
    lines = [{"timing_s/step": 100.0 if step == 40 else 2.0, "reward/score": 0.5} for step in range(1, 41)]
    state = state_of(write_metrics(tmp_path / "run.jsonl", lines))
    assert re.search(r"Time of a step +2 +2 ", to_text([state]))
    metric = json.loads(to_json([state]))["runs"][0]["metrics"]["timing_s/step"]
    assert (metric["mean_of_last_tenth"], metric["median_of_last_tenth"]) == (26.5, 2.0)
    assert "of times medians" in Page(render_report(state)).text


def test_validation_alone_is_no_training_in_any_sentence(tmp_path: Path) -> None:
    lines = [{"val-core/a/acc/mean@1": 0.1}, {"val-core/a/acc/mean@1": 0.2}]
    state = state_of(write_metrics(tmp_path / "run.jsonl", lines))
    for text in (to_text([state]), Page(render_report(state)).text):
        assert "No training step was logged" in text
        assert "in 2 steps" not in text


def test_a_plain_run_of_verl_has_its_validation_in_the_headline() -> None:
    steps = [StepMetrics(step, {"val-core/math/acc/mean@1": 0.2 + step / 100}) for step in (0, 20)]
    assert headline(RunInputs({}, "", {}, steps), []).endswith(
        "In validation (math) the accuracy went from 0.20 at step 0 to 0.40 at step 20; no interval is known."
    )


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    run = make_run(tmp_path_factory.mktemp("runs") / "bench", steps=2, evaluated=False)
    rng = random.Random(0)
    for name, count, before, after in (
        ("gsm8k_greedy", 400, 0.5, 0.2),
        ("humaneval", 60, 0.2, 0.5),
        ("mbpp", 90, 0.2, 0.5),
        ("starter_greedy", 50, 0.1, 0.9),
        ("my_Bench", 40, 0.3, 0.3),
    ):
        groups = {f"{name}/{i}": ("easy", "medium", "hard")[i % 3] if "Bench" in name else name for i in range(count)}
        for stage, level in (("before", before), ("after", after)):
            write_scores(run, stage, name, groups, 1 if "greedy" in name else 4, level, rng)
    return run


def test_what_was_trained_on_comes_first_then_more_problems_and_controls_last(evaluated: RunFolder) -> None:
    labels = [one.label for one in state_of(evaluated.path).rows if not one.is_group]
    assert labels == ["starter", "MBPP", "HumanEval", "my_Bench", "GSM8K"]


def test_a_control_that_was_trained_on_is_none(evaluated: RunFolder) -> None:
    for file in evaluated.verdicts.iterdir():
        text = file.read_text(encoding="utf-8")
        file.write_text(re.sub(r'"data_source": "[^"]*"', '"data_source": "openai/gsm8k"', text), encoding="utf-8")
    assert next(iter(state_of(evaluated.path).rows)).label == "GSM8K"


def test_whatever_fell_for_sure_is_said_beside_what_rose(evaluated: RunFolder) -> None:
    run = RunInputs({}, "", {}, [])
    rows = [row("MBPP", 0.2, 0.1, 0.3), row("GSM8K", -0.1, -0.2, -0.004), row("Other", -0.1, -0.2, 0.1)]
    assert headline(run, rows).endswith("Worse than before: GSM8K (greedy: −0.100, 95% interval −0.200 to −0.004).")
    assert "Worse" not in headline(run, rows[:1])
    many = headline(run, [rows[0], *[row(f"B{n}", -0.1, -0.2, -0.05) for n in range(5)]])
    assert many.endswith(" and 2 more.")


def test_groups_of_difficulty_go_from_easy_to_hard(evaluated: RunFolder) -> None:
    assert [one.label for one in state_of(evaluated.path).rows if one.is_group] == ["easy", "medium", "hard"]


def test_what_ended_learning_is_the_first_finding(tmp_path: Path) -> None:
    lines = [
        {
            "reward/score": 0.4,
            "response_length/mean": 50.0,
            "response_length/clip_ratio": 0.9,
            "actor/pg_loss": 0.1 if step < 40 else math.nan,
        }
        for step in range(1, 61)
    ]
    findings = state_of(write_metrics(tmp_path / "run.jsonl", lines)).health.findings
    assert [one.rule for one in findings][:2] == ["not_a_number", "cut_off"]
    assert findings[1].first_step < findings[0].first_step


def test_intervals_next_to_zero_keep_the_digits_that_tell_them_from_it() -> None:
    assert [digits_for(0.004, 0.2), digits_for(-0.2, 0.0), digits_for(1e-17, 0.2)] == [3, 2, 2]
    assert [side_of_zero(0.004, 0.2), side_of_zero(-0.2, -1e-17), side_of_zero(-0.2, -0.01)] == [1, 0, -1]


def test_differences_without_zero_are_marked_in_text(evaluated: RunFolder) -> None:
    text = to_text([state_of(evaluated.path)])
    assert re.search(r"MBPP .*\+0\.\d\d \*", text)
    assert not re.search(r"my_Bench .*\*", text)


def test_a_plain_number_has_no_unit(tmp_path: Path) -> None:
    lines = [{"actor/grad_norm": 0.5, "reward/score": 0.4} for _ in range(4)]
    text = to_text([state_of(write_metrics(tmp_path / "run.jsonl", lines))])
    assert re.search(r"Gradient norm of the actor +0\.50 +0\.50$", text, re.MULTILINE)


def test_up_to_six_sources_of_validation_look_different_and_others_are_named() -> None:
    looks = (VALIDATION_TONES, MARKERS, MARKS, DASHES)
    assert [len(set(one)) for one in looks] == [len(VALIDATION_TONES)] * 4
    many = {f"val-core/s{n}/score/mean@1": 0.5 for n in range(9)}
    steps = [StepMetrics(0, many), StepMetrics(1, {**many, "reward/score": 0.5}), StepMetrics(2, {"reward/score": 0.5})]
    steps.append(StepMetrics(3, {"val-core/s8/score/mean@1": 0.7}))
    assert [source for *_, source in validation_legend(steps)] == ["s0", "s1", "s2", "s3", "s4", "s8"]
    assert folded_sources(steps) == ["s5", "s6", "s7"]
    groups, _ = make_chart_groups(steps)
    assert groups


def test_counts_of_problems_and_groups_are_in_json_and_text(tmp_path: Path) -> None:
    state = state_of(make_run(tmp_path / "run", steps=30, evaluated=False, group=4).path)
    run = json.loads(to_json([state]))["runs"][0]
    assert run["problems"]["count"] == 10 == sum(run["problems"][fate.value] for fate in Fate)
    assert run["problems"]["never"] > 0
    assert sum(one["share_in_last_tenth"] for one in run["groups"].values()) == pytest.approx(1)
    text = to_text([state])
    assert re.search(rf"never +{run['problems']['never']} +no sample was accepted", text)
    assert "all solved" in text
    assert f"{CHANGE:.2f}" == "0.33"
    assert "by a third of the samples or more" in Page(render_report(state)).text


def test_folders_that_all_paths_share_are_left_out() -> None:
    paths = ["/work/runs/models/a/warm", "/work/runs/models/b", None]
    assert paths[0] is not None
    assert paths[0][shared_folders(paths) :] == "a/warm"
    assert shared_folders(["/a/b", "/c/b"]) == shared_folders([0.1, "/a/b/c/d"]) == shared_folders(["/a/b/c/d"]) == 0


def test_what_is_not_known_is_not_said_to_be_the_same(tmp_path: Path) -> None:
    runs = [make_run(tmp_path / name, steps=2, seed=n, evaluated=False) for n, name in enumerate("ab")]
    for n, run in enumerate(runs):
        config = json.loads(run.config.read_text(encoding="utf-8"))
        run.config.write_text(json.dumps({**config, "seed": n}), encoding="utf-8")
    plain = write_metrics(tmp_path / "plain.jsonl", [{"critic/score/mean": 0.5}] * 2)
    known = [state_of(run.path) for run in runs]
    text = Page(render_comparison([*known, state_of(plain)])).text
    assert "not the same in all runs that recorded them; all others are the same in those." in text
    assert "not the same in all runs; all others are. A dash" in Page(render_comparison(known)).text
    both = [state_of(plain), state_of(write_metrics(tmp_path / "other.jsonl", [{"critic/score/mean": 0.5}]))]
    assert "In nothing that was recorded" not in to_text(both)
    assert "No configuration is known of plain, other." in to_text(both)
