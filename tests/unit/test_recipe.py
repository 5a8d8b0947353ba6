"""The tutorial's files: each does what the tutorial says, by the names that it uses."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from code_rlvr.config import load_config
from code_rlvr.reward import compute_score
from code_rlvr.train.config import TrainConfig
from code_rlvr.train.presets import find_preset

RECIPE = Path(__file__).parents[2] / "recipe"
SETTINGS = {
    "MODEL_PATH": ("model", "some/model"),
    "CRITIC_MODEL_PATH": ("critic.model", "some/critic"),
    "NNODES": ("trainer.nodes", 2),
    "NDEVICES_PER_NODE": ("trainer.gpus_per_node", 4),
    "TRAIN_BATCH_SIZE": ("trainer.batch", 256),
    "PPO_MINI_BATCH_SIZE": ("actor.mini_batch", 32),
    "MAX_PROMPT_LENGTH": ("data.max_prompt_tokens", 700),
    "MAX_RESPONSE_LENGTH": ("data.max_response_tokens", 900),
    "ACTOR_LR": ("actor.lr", 2e-6),
    "CRITIC_LR": ("critic.lr", 2e-5),
    "ROLLOUT_TP": ("rollout.tensor_parallel", 2),
    "ROLLOUT_GPU_MEM_UTIL": ("rollout.gpu_memory_share", 0.3),
    "ROLLOUT_N": ("rollout.samples_per_prompt", 4),
    "TOTAL_EPOCHS": ("trainer.epochs", 3),
    "SAVE_FREQ": ("trainer.save_every", 7),
    "TEST_FREQ": ("trainer.validate_every", 9),
    "TRAIN_FILE": ("data.train_file", "t.parquet"),
    "VAL_FILE": ("data.validation_file", "v.parquet"),
    "EXPERIMENT_NAME": ("name", "second"),
    "REWARD_FILE": ("reward.file", "recipe/code_reward.py"),
}


@pytest.fixture
def called(tmp_path: Path) -> Path:
    """A folder with a `code-rlvr` that says how it was called."""
    command = tmp_path / "code-rlvr"
    command.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    command.chmod(0o755)
    return tmp_path


def words_of(called: Path, variables: dict[str, object], *more: str) -> list[str]:
    """The words with which the script calls `code-rlvr train --preset single-gpu-0.5b`."""
    script = RECIPE / "run_qwen_coder_ppo_single_gpu.sh"
    environment = {name: str(value) for name, value in variables.items()}
    path = f"{called}:{os.environ['PATH']}"
    out = subprocess.run(
        [script, *more], env={"PATH": path, **environment}, capture_output=True, text=True, check=True, timeout=60
    )
    head, preset, name, *words = out.stdout.splitlines()
    assert (head, preset, name) == ("train", "--preset", "single-gpu-0.5b")
    return words


def test_every_variable_of_the_tutorial_becomes_its_setting(called: Path) -> None:
    words = words_of(called, {name: value for name, (_, value) in SETTINGS.items()})
    config = load_config(TrainConfig, None, words, base=find_preset("single-gpu-0.5b"))
    for setting, value in SETTINGS.values():
        found: object = config
        for part in setting.split("."):
            found = getattr(found, part)
        assert found == value, setting


def test_without_variables_the_preset_decides_and_more_words_are_passed_on(called: Path) -> None:
    words = words_of(called, {}, "trainer.steps=3", "--", "actor_rollout_ref.actor.grad_clip=0.5")
    assert words == [
        "data.train_file=data/eurus/train.parquet",
        "data.validation_file=data/eurus/validation.parquet",
        "trainer.steps=3",
        "--",
        "actor_rollout_ref.actor.grad_clip=0.5",
    ]


def test_the_reward_file_shows_that_it_works() -> None:
    out = subprocess.run(
        [sys.executable, RECIPE / "code_reward.py"], capture_output=True, text=True, check=True, timeout=120
    )
    assert out.stdout.splitlines() == [
        "correct code: score=1.00 pass_rate=1.00 format=1",
        "wrong code: score=0.00 pass_rate=0.00 format=1",
        "no code: score=0.00 pass_rate=0.00 format=0",
    ]


def test_the_reward_file_says_how_it_is_called() -> None:
    words = [sys.executable, RECIPE / "code_reward.py"]
    told = subprocess.run([*words, "--help"], capture_output=True, text=True, check=True, timeout=60)
    assert told.stdout.startswith("usage: code_reward.py [-h]")
    assert subprocess.run([*words, "file"], capture_output=True, check=False, timeout=60).returncode == 2


def test_the_reward_file_is_ours_when_verl_loads_it_by_its_path() -> None:
    pytest.importorskip("verl")
    from importlib.util import module_from_spec, spec_from_file_location

    spec = spec_from_file_location("custom_module", RECIPE / "code_reward.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.compute_score is compute_score


def test_preparing_says_what_it_reads_without_a_hub(tmp_path: Path) -> None:
    """The words go to `code-rlvr prepare`; a folder of files stands in for the hub."""
    (tmp_path / "train.jsonl").write_text("{}")
    out = subprocess.run(
        [sys.executable, RECIPE / "prepare_data.py", str(tmp_path / "none"), "--out", str(tmp_path / "out")],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert out.returncode != 0
    assert "is no file or folder here" in out.stdout + out.stderr
