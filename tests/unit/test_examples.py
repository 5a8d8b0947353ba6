"""The examples work as they stand."""

from __future__ import annotations

import runpy
from pathlib import Path

from code_rlvr.config import load_config
from code_rlvr.train import preflight
from code_rlvr.train.config import TrainConfig

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_the_example_configuration_fits_the_example_data(tmp_path: Path) -> None:
    config = load_config(TrainConfig, EXAMPLES / "own-problems.toml")
    runpy.run_path(str(EXAMPLES / "own_problems.py"))["main"](tmp_path)
    preflight.check_data(tmp_path / Path(config.data.train_file).name, minimum=config.trainer.batch)
    preflight.check_data(tmp_path / Path(config.data.validation_file).name, minimum=1)
