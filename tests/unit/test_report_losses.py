"""What is missing or damaged is said, in every form of the report; nothing is said of a run that is whole."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from code_rlvr.health import HealthThresholds
from code_rlvr.report.as_json import to_json
from code_rlvr.report.as_text import to_text
from code_rlvr.report.html import render_report
from code_rlvr.report.run_state import RunState, read_state
from code_rlvr.report.settings import choose_thresholds
from code_rlvr.report.sources import find_sources
from code_rlvr.runs import RunFolder
from tests.synthetic_run import make_run
from tests.unit.test_report import Page


def state_of(path: Path, **thresholds: float) -> RunState:
    return read_state(find_sources([str(path)])[0], HealthThresholds.model_validate(thresholds))


def assert_said(state: RunState, loss: str) -> None:
    assert loss in json.loads(to_json([state]))["runs"][0]["losses"]
    assert loss in " ".join(to_text([state]).split())
    assert loss in Page(render_report(state)).text


def records_of(run: RunFolder, step: int) -> list[dict[str, Any]]:
    text = (run.verdicts / f"step_{step}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def write_records(run: RunFolder, step: int, records: Iterable[dict[str, Any]]) -> None:
    text = "".join(json.dumps(one) + "\n" for one in records)
    (run.verdicts / f"step_{step}.jsonl").write_text(text, encoding="utf-8")


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    return make_run(tmp_path / "run", steps=6, evaluated=False, batch=8)


def test_steps_without_records_are_said(run: RunFolder) -> None:
    for step in (2, 3):
        (run.verdicts / f"step_{step}.jsonl").unlink()
    loss = (
        "verdicts: there are no records of steps 2, 3, which were trained: no programs and no problems of them are "
        "counted."
    )
    assert_said(state_of(run.path), loss)


def test_samples_without_a_record_are_said_and_those_of_a_validation_are_not_counted_for_them(run: RunFolder) -> None:
    records = records_of(run, 4)
    write_records(run, 4, [*records[:5], *({**one, "split": "validation"} for one in records)])
    assert_said(state_of(run.path), "verdicts: 3 samples that the metrics count have no record (step 4).")


def test_a_line_that_cannot_be_read_is_said_once_and_not_as_a_missing_record_too(run: RunFolder) -> None:
    file = run.verdicts / "step_4.jsonl"
    file.write_bytes(b"[]\n" + b"\n".join(file.read_bytes().splitlines()[1:]) + b"\n")
    assert state_of(run.path).losses == ["verdicts: 1 line cannot be read (step_4.jsonl)."]


def test_a_damaged_validation_does_not_hide_what_training_lacks(run: RunFolder) -> None:
    (run.verdicts / "step_0.jsonl").write_text("[]\n", encoding="utf-8")
    write_records(run, 4, records_of(run, 4)[:5])
    assert state_of(run.path).losses == [
        "verdicts: 1 line cannot be read (step_0.jsonl).",
        "verdicts: 3 samples that the metrics count have no record (step 4).",
    ]


def test_a_run_without_any_records_says_so_in_every_form(run: RunFolder) -> None:
    for file in run.verdicts.iterdir():
        file.unlink()
    assert_said(state_of(run.path), "There are no verdict records: no programs and no single problems are shown.")


def test_a_run_that_is_whole_or_still_trains_or_lost_its_step_zero_lacks_nothing(run: RunFolder) -> None:
    assert state_of(run.path).losses == []
    write_records(run, 7, records_of(run, 6)[:0])  # begun
    write_records(run, 7, [{**one, "step": 7} for one in records_of(run, 6)[:3]])
    (run.verdicts / "step_0.jsonl").unlink()  # an older run has no records of validations
    assert state_of(run.path).losses == []


def test_a_sample_that_could_not_be_judged_and_a_step_that_was_trained_twice_lack_nothing(run: RunFolder) -> None:
    records = records_of(run, 5)
    write_records(run, 5, [*records, *records, {**records[0], "verdict": "UNJUDGED"}])
    assert state_of(run.path).losses == []


def test_a_run_that_was_told_to_keep_no_text_lacks_no_statements(run: RunFolder) -> None:
    for step in range(1, 7):
        write_records(run, step, [{**one, "response": None} for one in records_of(run, step)])
    (run.path / "data" / "train.parquet").unlink()
    assert state_of(run.path).losses == ["The verdict records hold no texts of responses: no programs are shown."]


@pytest.mark.parametrize("content", [None, b"PAR1 is not enough", b""])
def test_problem_files_that_are_gone_or_damaged_are_said(run: RunFolder, content: bytes | None) -> None:
    file = run.path / "data" / "train.parquet"
    file.unlink()
    if content is not None:
        file.write_bytes(content)
    fault = "is not there" if content is None else "cannot be read as problems"
    loss = f"train.parquet (data.train_file) {fault}: statements of problems are missing."
    if content is None:
        (run.path / "data" / "validation.parquet").unlink()  # which has the same problems, here
    state = state_of(run.path)
    if content is None:
        assert_said(state, loss)
        assert sum("statements" in one for one in state.losses) == 1
    else:
        assert all("train_file" in one for one in state.losses)


def test_a_damaged_problem_file_is_said_where_no_other_has_the_statements(run: RunFolder) -> None:
    for split in ("train", "validation"):
        (run.path / "data" / f"{split}.parquet").write_bytes(b"PAR1 is not enough")
    assert_said(
        state_of(run.path),
        "train.parquet (data.train_file) cannot be read as problems: statements of problems are missing.",
    )


@pytest.mark.parametrize("step", [True, -7, 0, 2.5, "3", 10**30])
def test_a_merge_of_a_step_that_cannot_be_is_said_and_does_not_count(run: RunFolder, step: object) -> None:
    run.merge_record.parent.mkdir()
    run.merge_record.write_text(json.dumps({"step": step}), encoding="utf-8")
    state = state_of(run.path)
    assert state.inputs.merged_step is None
    assert [one for one in state.losses if one.startswith("merge.json is damaged: its step is no training step")]


def test_every_bad_threshold_is_named_and_good_ones_beside_it_hold() -> None:
    losses: list[str] = []
    own = {"kl_high": "very", "patience": -5, "nonsense": 3, "window": 1.5, "kl_far": 2.0}
    thresholds = choose_thresholds({"health": own}, None, losses)
    assert (thresholds.kl_far, thresholds.patience) == (2.0, HealthThresholds().patience)
    (loss,) = losses
    for words in (
        'health.kl_high = "very" (it has to be a number)',
        "health.patience = -5 (it has to be at least 2)",
        "health.nonsense (there is no such threshold)",
        "health.window = 1.5 (it has to be a whole number)",
    ):
        assert words in loss


@pytest.mark.parametrize("own", [None, "on", [], 3])
def test_thresholds_that_are_no_table_are_said(own: object) -> None:
    losses: list[str] = []
    assert choose_thresholds({"health": own}, None, losses) == HealthThresholds()
    assert losses == ["config.json: health is no table of thresholds; the defaults hold."]


def test_thresholds_that_are_not_the_defaults_are_listed_with_who_set_them(run: RunFolder) -> None:
    config = json.loads(run.config.read_text(encoding="utf-8"))
    run.config.write_text(json.dumps({**config, "health": {"kl_high": 0.5, "patience": 15}}), encoding="utf-8")
    state = state_of(run.path, kl_far=2.0)
    assert json.loads(to_json([state]))["runs"][0]["thresholds"] == [
        {"name": "kl_high", "value": 0.5, "default": 0.2, "set_by": "the run's configuration"},
        {"name": "kl_far", "value": 2.0, "default": 1.0, "set_by": "the command"},
    ]
    for text in (to_text([state]), Page(render_report(state)).text):
        assert "health.kl_high = 0.5 (default 0.2), set by the run's configuration" in text
        assert "health.kl_far = 2 (default 1), set by the command" in text


def test_packed_metrics_are_unpacked_and_a_cut_off_end_is_said(tmp_path: Path) -> None:
    lines = [json.dumps({"step": step, "data": {"reward/score": step / 100}}) for step in range(1, 1_001)]
    packed = gzip.compress("\n".join(lines).encode())
    whole, cut = tmp_path / "whole.jsonl.gz", tmp_path / "cut.jsonl.gz"
    whole.write_bytes(packed)
    cut.write_bytes(packed[:-900])
    state = state_of(whole)
    assert (state.name, len(state.steps), state.losses) == ("whole", 1_000, [])
    state = state_of(cut)
    assert 0 < len(state.steps) < 1_000
    assert state.losses[0] == "cut.jsonl.gz cannot be unpacked to its end: what could be is shown."
