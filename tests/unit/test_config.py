"""Configuration: defaults, files, overrides, and messages that name the remedy."""

from __future__ import annotations

from pathlib import Path

import pytest

from code_rlvr.config import load_config
from code_rlvr.errors import ConfigError
from code_rlvr.train.config import TrainConfig


def test_an_override_wins_over_the_file_and_the_file_over_the_default(tmp_path: Path) -> None:
    file = tmp_path / "run.toml"
    file.write_text("seed = 7\n[trainer]\nsteps = 5\nbatch = 32\n", encoding="utf-8")
    config = load_config(TrainConfig, file, ["trainer.steps=9"])
    assert (config.seed, config.trainer.steps, config.trainer.batch) == (7, 9, 32)
    assert config.actor.lr == TrainConfig().actor.lr


def test_a_value_that_is_not_toml_is_text() -> None:
    assert load_config(TrainConfig, None, ["model=models/my-model"]).model == "models/my-model"


def test_what_a_run_wrote_reads_back_as_the_same_configuration(tmp_path: Path) -> None:
    config = load_config(TrainConfig, None, ["name=mine", "trainer.steps=3"])
    file = tmp_path / "config.json"
    file.write_text(config.model_dump_json(), encoding="utf-8")
    assert load_config(TrainConfig, file) == config


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("trainer.step=3", "did you mean trainer.steps"),
        ("steps=3", "unknown setting steps; did you mean trainer.steps"),
        ("train.trainer.steps=3", "unknown setting train.trainer.steps; did you mean trainer.steps"),
        ("trainer.steps=0", "trainer.steps"),
        ("trainer.steps", "write section.key=value"),
        ("seed.x=1", "configuration: seed"),
        ("trainer.batch=50", "must be a multiple of actor.mini_batch"),
        ("actor.micro_batch=24", "verl would fail in mid-step"),
        ("algorithm.estimator=grpo", "samples_per_prompt of at least 2"),
        ("name=../elsewhere", "name"),
    ],
)
def test_a_wrong_override_is_refused_with_the_remedy(word: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        load_config(TrainConfig, None, [word])


def test_an_unreadable_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"absent\.toml"):
        load_config(TrainConfig, tmp_path / "absent.toml")
    broken = tmp_path / "broken.toml"
    broken.write_text("steps = = 3", encoding="utf-8")
    with pytest.raises(ConfigError, match="not valid TOML"):
        load_config(TrainConfig, broken)
