"""A model and data so small that the real trainer takes two steps within a minute or two."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # importing verl and Ray raises their own deprecations
    pytest.importorskip("verl.trainer.ppo.v1", reason="needs the training extra")

from code_rlvr.config import load_config
from code_rlvr.data.parquet import write_parquet
from code_rlvr.data.starter import build_starter, imperfect_corpus
from code_rlvr.train.config import TrainConfig
from code_rlvr.train.warmstart import WarmStartSettings, warm_start

SMALL = [
    "trainer.batch=16",
    "actor.mini_batch=16",
    "actor.micro_batch=16",
    "trainer.save_every=1",
    "trainer.validate_every=2",
    "trainer.steps=2",
]


@pytest.fixture(scope="session")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with ``model``, ``train.parquet`` and ``validation.parquet``."""
    folder = tmp_path_factory.mktemp("inputs")
    settings = WarmStartSettings(hidden_size=32, layers=1, heads=2, intermediate_size=64, steps=3, threads=1)
    warm_start(folder / "model", imperfect_corpus(0, 400), settings)
    problems = build_starter(0, 64, 16, 1, 1)
    write_parquet(folder / "train.parquet", problems.train, split="train", instruction="")
    write_parquet(folder / "validation.parquet", problems.validation, split="validation", instruction="")
    return folder


def training_config(inputs: Path, runs_dir: Path, *words: str) -> TrainConfig:
    """Return the configuration of a tiny run."""
    return load_config(
        TrainConfig,
        None,
        [
            f"runs_dir={runs_dir}",
            f"model={inputs / 'model'}",
            f"data.train_file={inputs / 'train.parquet'}",
            f"data.validation_file={inputs / 'validation.parquet'}",
            *SMALL,
            *words,
        ],
    )


def read_verdicts(folder: Path, step: int) -> list[dict[str, Any]]:
    """The verdict records of one step, in the order in which they were judged."""
    return [json.loads(line) for line in (folder / f"step_{step}.jsonl").read_text(encoding="utf-8").splitlines()]
