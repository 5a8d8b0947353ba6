"""Before a run starts, epochs become steps and names of models become folders, or one message says why not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import huggingface_hub
import pytest
from huggingface_hub.errors import LocalEntryNotFoundError

from code_rlvr import Problem, Tests
from code_rlvr.config import load_config
from code_rlvr.data.parquet import write_parquet
from code_rlvr.errors import DataError, ModelError
from code_rlvr.model_folder import local_model
from code_rlvr.train.config import TrainConfig
from code_rlvr.train.resolve import resolve

PROBLEM = Problem("p", "Print 1.", Tests.stdio([""], ["1"]), "toy")


def config(folder: Path, *words: str) -> TrainConfig:
    given = [
        f"model={folder}",
        f"data.train_file={folder}/train.parquet",
        "data.validation_file=v.parquet",
        "trainer.batch=32",
        *words,
    ]
    return load_config(TrainConfig, None, given)


def test_epochs_become_steps_of_whole_batches(tmp_path: Path) -> None:
    write_parquet(tmp_path / "train.parquet", [PROBLEM] * 100, split="train")
    assert resolve(config(tmp_path, "trainer.epochs=5")).trainer.steps == 15
    assert resolve(config(tmp_path, "trainer.steps=7")).trainer.steps == 7
    assert resolve(config(tmp_path, "trainer.epochs=5", "trainer.steps=7")).trainer.steps == 7


def test_a_set_smaller_than_a_batch_has_no_epochs(tmp_path: Path) -> None:
    write_parquet(tmp_path / "train.parquet", [PROBLEM] * 31, split="train")
    with pytest.raises(DataError, match="31 problems, fewer than the 32 of one batch"):
        resolve(config(tmp_path, "trainer.epochs=5"))
    with pytest.raises(DataError, match="code-rlvr prepare"):
        resolve(config(tmp_path, "trainer.epochs=5", "data.train_file=nowhere.parquet"))


def test_a_folder_stays_what_it_is_and_a_name_is_fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(huggingface_hub, "snapshot_download", lambda name: f"/cache/{name}")
    assert local_model(str(tmp_path)) == str(tmp_path)
    assert local_model("Qwen/Qwen2.5-Coder-0.5B-Instruct") == "/cache/Qwen/Qwen2.5-Coder-0.5B-Instruct"
    assert local_model("runs/missing/merged") == "runs/missing/merged"  # preflight says what it lacks
    found = resolve(config(tmp_path, "critic.model=some/critic"))
    assert found.critic.model == "/cache/some/critic"


def test_a_name_that_cannot_be_fetched_is_one_message(monkeypatch: pytest.MonkeyPatch) -> None:
    def unreachable(name: str) -> Any:
        raise LocalEntryNotFoundError("no network")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", unreachable)
    with pytest.raises(ModelError, match="some/model is no folder here and cannot be fetched"):
        local_model("some/model")
    with pytest.raises(ModelError, match="no model is named"):
        local_model("")


@pytest.mark.parametrize("name", ["train_file", "validation_file"])
def test_a_file_that_is_not_named_is_asked_for(tmp_path: Path, name: str) -> None:
    with pytest.raises(DataError, match=rf"data\.{name} is not set; name a file that code-rlvr prepare wrote"):
        resolve(config(tmp_path, f"data.{name}="))
