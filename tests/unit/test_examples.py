"""The examples work as they stand."""

from __future__ import annotations

import runpy
import subprocess
import sys
from pathlib import Path

from typer.testing import CliRunner

from code_rlvr.cli import app
from code_rlvr.config import load_config
from code_rlvr.train.config import TrainConfig
from code_rlvr.train.preflight.inputs import check_data

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_the_example_configuration_fits_the_example_data(tmp_path: Path) -> None:
    config = load_config(TrainConfig, EXAMPLES / "own-problems.toml")
    runpy.run_path(str(EXAMPLES / "own_problems.py"))["main"](tmp_path / "mine.jsonl")
    prepared = CliRunner().invoke(
        app, ["prepare", str(tmp_path / "mine.jsonl"), "--instruction", "", "--out", str(tmp_path / "set")]
    )
    assert prepared.exit_code == 0, prepared.output
    check_data(tmp_path / "set" / Path(config.data.train_file).name, minimum=config.trainer.batch)
    check_data(tmp_path / "set" / Path(config.data.validation_file).name, minimum=1)


def test_the_example_says_how_it_is_called_and_writes_nothing_then(tmp_path: Path) -> None:
    for word, code in (("--help", 0), ("--hlep", 2)):
        told = subprocess.run(
            [sys.executable, EXAMPLES / "own_problems.py", word],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert told.returncode == code
        assert "usage: own_problems.py [-h] [file]" in told.stdout + told.stderr
    assert not [*tmp_path.iterdir()]
