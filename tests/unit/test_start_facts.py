from __future__ import annotations

import json
from pathlib import Path

import pytest

from code_rlvr.train.start_facts import describe_start, record_start


def test_this_machine_is_described_in_plain_values() -> None:
    start = describe_start(None, "cpu")
    assert json.loads(json.dumps(start)) == start
    assert start["machine"]["cpu"]
    assert start["machine"]["cores"] >= 1
    assert start["machine"]["memory_gib"] > 0
    assert start["machine"]["gpus"] == []


def test_missing_tools_leave_gaps_and_raise_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    start = describe_start(None, "cuda")
    assert (start["machine"]["gpus"], start["commit"]) == ([], None)


def test_folder_outside_of_git_has_no_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert describe_start(None, "cpu")["commit"] is None


def test_a_resume_keeps_the_preset_on_record_and_a_fresh_start_does_not(tmp_path: Path) -> None:
    file = tmp_path / "start.json"
    recorded = []
    for preset, resume in (("laptop", False), (None, True), (None, False)):
        record_start(file, preset, "cpu", resume=resume)
        recorded.append(json.loads(file.read_bytes())["preset"])
    assert recorded == ["laptop", "laptop", None]


@pytest.mark.parametrize("damaged", ["", '{"preset": "lap', "[]"])
def test_damaged_record_does_not_stop_a_resume(tmp_path: Path, damaged: str) -> None:
    file = tmp_path / "start.json"
    file.write_text(damaged, encoding="utf-8")
    record_start(file, None, "cpu", resume=True)
    assert json.loads(file.read_bytes())["preset"] is None
