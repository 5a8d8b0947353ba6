"""What a run's folder allows: every refusal names a way on that works."""

from __future__ import annotations

from pathlib import Path

import pytest

from code_rlvr.config import load_config
from code_rlvr.errors import UsageError
from code_rlvr.train.config import TrainConfig
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
