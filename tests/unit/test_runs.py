"""Reading a run's files back, also after a crash or a resume."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from code_rlvr.errors import DataError
from code_rlvr.runs import StepMetrics, read_metrics
from code_rlvr.train.metrics_tail import MetricsTail


def test_a_step_logged_again_after_a_resume_counts_once_with_its_later_values(tmp_path: Path) -> None:
    file = tmp_path / "metrics.jsonl"
    file.write_text(
        '{"step":1,"data":{"a":1}}\n{"step":2,"data":{"a":2}}\n{"step":1,"data":{"val":5}}\n{"step":2,"data":{"a":9}}\n',
        encoding="utf-8",
    )
    assert [(m.step, m.data) for m in read_metrics(file)] == [(1, {"a": 1.0, "val": 5.0}), (2, {"a": 9.0})]


def test_a_line_cut_off_by_a_crash_is_left_out_but_a_broken_one_before_it_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "metrics.jsonl"
    file.write_text('{"step":1,"data":{"a":1}}\n{"step":2,"da', encoding="utf-8")
    assert [m.step for m in read_metrics(file)] == [1]
    file.write_text('{"step":1,"da\n{"step":2,"data":{}}\n', encoding="utf-8")
    with pytest.raises(DataError, match=r"metrics\.jsonl:1"):
        read_metrics(file)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"metrics\.jsonl"):
        read_metrics(tmp_path / "metrics.jsonl")


def test_the_tail_copies_complete_lines_once_and_keeps_what_was_there(tmp_path: Path) -> None:
    source, target = tmp_path / "segment.jsonl", tmp_path / "metrics.jsonl"
    target.write_text('{"step":1,"data":{}}\n', encoding="utf-8")
    tail = MetricsTail(source, target)
    assert tail.read_new() == []
    source.write_text('{"step":2,"data":{"a":1}}\n{"step":3,', encoding="utf-8")
    assert [m.step for m in tail.read_new()] == [2]
    with source.open("a", encoding="utf-8") as file:
        file.write('"data":{"a":2}}\n')
    assert [m.step for m in tail.read_new()] == [3]
    assert [m.step for m in read_metrics(target)] == [1, 2, 3]


def test_no_number_of_verls_log_is_nan_and_what_is_no_number_at_all_is_named() -> None:
    line = '{"step": 3, "data": {"loss": null, "score": 0.5, "done": true, "note": "text", "shape": [1]}}'
    metrics = StepMetrics.from_line(line)
    assert math.isnan(metrics.data["loss"])
    assert metrics.data["score"] == 0.5
    assert metrics.left_out == ("done", "note", "shape")


@pytest.mark.parametrize("step", ["3.5", '"3"', "true", "null", "[3]"])
def test_a_step_that_is_no_whole_number_is_no_line_of_metrics(step: str) -> None:
    with pytest.raises(DataError, match="not a line of metrics"):
        StepMetrics.from_line(f'{{"step": {step}, "data": {{}}}}')
