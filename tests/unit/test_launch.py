"""What a run's folder allows: every refusal names a way on that works."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from code_rlvr import Problem, Tests
from code_rlvr.config import load_config
from code_rlvr.data.parquet import write_parquet
from code_rlvr.errors import UsageError
from code_rlvr.train.config import TrainConfig
from code_rlvr.train.data_used import describe_data
from code_rlvr.train.launch import _prepare_folder


@pytest.fixture
def config(tmp_path: Path) -> TrainConfig:
    return load_config(TrainConfig, None, [f"runs_dir={tmp_path}"])


def start(config: TrainConfig, checkpoint: int | None = None) -> None:
    _prepare_folder(config, resume=False)
    config.run.command.write_text("python …", encoding="utf-8")
    if checkpoint is not None:
        (config.run.checkpoints / f"global_step_{checkpoint}" / "actor").mkdir(parents=True)
        latest = config.run.checkpoints / "latest_checkpointed_iteration.txt"
        latest.write_text(str(checkpoint), encoding="ascii")


@pytest.mark.parametrize("resume", [False, True])
def test_a_run_that_ended_before_its_first_checkpoint_is_not_sent_in_circles(config: TrainConfig, resume: bool) -> None:
    start(config)
    with pytest.raises(UsageError, match="no checkpoint to go on from; choose another name"):
        _prepare_folder(config, resume)


def test_a_run_with_a_checkpoint_goes_on_only_when_asked_and_sets_later_verdicts_aside(config: TrainConfig) -> None:
    start(config, checkpoint=10)
    for step in (10, 11):
        (config.run.verdicts / f"step_{step}.jsonl").touch()
    with pytest.raises(UsageError, match="--resume"):
        _prepare_folder(config, resume=False)
    assert _prepare_folder(config, resume=True) == 10
    assert [file.name for file in config.run.verdicts.glob("*.jsonl")] == ["step_10.jsonl"]


def test_a_run_says_what_it_was_trained_on(tmp_path: Path) -> None:
    problems = [Problem(f"p{i}", f"Print {i}.", Tests.stdio([""], [str(i)]), "toy") for i in range(5)]
    for split, count in (("train", 4), ("validation", 1)):
        write_parquet(tmp_path / f"{split}.parquet", problems[:count], split=split)
    words = [f"data.{split}_file={tmp_path}/{split}.parquet" for split in ("train", "validation")]
    config = load_config(TrainConfig, None, words)
    found = describe_data(config)
    assert (found["train"]["problems"], found["validation"]["problems"]) == (4, 1)
    assert found["train"]["prepared"] is None
    manifest = {"files": {"train.parquet": {"sha256": found["train"]["sha256"]}}, "rules": {"seed": 0}}
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    found = describe_data(config)
    assert found["train"]["prepared"] == manifest
    assert found["validation"]["prepared"] is None
