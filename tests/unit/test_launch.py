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
from code_rlvr.train.run_lock import lock_run

PROBLEMS = [Problem(f"p{i}", f"Print {i}.", Tests.stdio([""], [str(i)]), "toy") for i in range(5)]


@pytest.fixture
def config(tmp_path: Path) -> TrainConfig:
    for split, count in (("train", 4), ("validation", 1)):
        write_parquet(tmp_path / f"{split}.parquet", PROBLEMS[:count], split=split)
    (tmp_path / "model").mkdir()
    words = [f"data.{split}_file={tmp_path}/{split}.parquet" for split in ("train", "validation")]
    return load_config(TrainConfig, None, [f"runs_dir={tmp_path}/runs", f"model={tmp_path}/model", *words])


def start(config: TrainConfig, checkpoint: int | None = None) -> None:
    _prepare_folder(config, resume=False)
    config.run.command.write_text("python …", encoding="utf-8")
    if checkpoint is not None:
        (config.run.checkpoints / f"global_step_{checkpoint}" / "actor").mkdir(parents=True)
        latest = config.run.checkpoints / "latest_checkpointed_iteration.txt"
        latest.write_text(str(checkpoint), encoding="ascii")


def log_step(config: TrainConfig, step: int) -> None:
    config.run.metrics.write_text(json.dumps({"step": step, "data": {"reward/score": 0.5}}) + "\n", encoding="utf-8")


def test_a_start_that_failed_does_not_use_up_the_name(config: TrainConfig) -> None:
    start(config)
    log_step(config, 0)  # validation before training
    assert _prepare_folder(config, resume=False) == 0
    assert not config.run.metrics.exists()
    assert not config.run.command.exists()


@pytest.mark.parametrize("resume", [False, True])
def test_steps_without_a_checkpoint_are_not_thrown_away(config: TrainConfig, resume: bool) -> None:
    start(config)
    log_step(config, 3)
    with pytest.raises(UsageError, match="no checkpoint to go on from; choose another name"):
        _prepare_folder(config, resume)
    assert config.run.metrics.exists()


def test_a_run_goes_on_with_the_model_and_the_problems_that_it_was_started_with(config: TrainConfig) -> None:
    start(config, checkpoint=10)
    other = Path(config.model).with_name("other")
    other.mkdir()
    known = config.run.config.read_text(), config.run.data.read_text()
    with pytest.raises(UsageError, match=r"was trained from .*/model; start a new run"):
        _prepare_folder(config.model_copy(update={"model": str(other)}), resume=True)
    write_parquet(Path(config.data.train_file), PROBLEMS, split="train")
    with pytest.raises(UsageError, match=r"was trained on another train\.parquet"):
        _prepare_folder(config, resume=True)
    assert known == (config.run.config.read_text(), config.run.data.read_text())


def test_a_run_that_is_being_trained_is_left_alone(config: TrainConfig) -> None:
    with (
        lock_run(config.run),
        pytest.raises(UsageError, match="is being trained by another process"),
        lock_run(config.run),
    ):
        pass
    with lock_run(config.run):
        pass


def test_a_run_with_a_checkpoint_goes_on_only_when_asked_and_sets_later_verdicts_aside(config: TrainConfig) -> None:
    start(config, checkpoint=10)
    for step in (10, 11):
        (config.run.verdicts / f"step_{step}.jsonl").touch()
    with pytest.raises(UsageError, match="--resume"):
        _prepare_folder(config, resume=False)
    assert _prepare_folder(config, resume=True) == 10
    assert [file.name for file in config.run.verdicts.glob("*.jsonl")] == ["step_10.jsonl"]


def test_a_run_says_what_it_was_trained_on(config: TrainConfig, tmp_path: Path) -> None:
    found = describe_data(config)
    assert (found["train"]["problems"], found["validation"]["problems"]) == (4, 1)
    assert found["train"]["prepared"] is None
    manifest = {"files": {"train.parquet": {"sha256": found["train"]["sha256"]}}, "rules": {"seed": 0}}
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    found = describe_data(config)
    assert found["train"]["prepared"] == manifest
    assert found["validation"]["prepared"] is None
