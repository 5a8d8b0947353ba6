"""What is said before a run starts, instead of after a minute of loading."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from code_rlvr.data.parquet import write_parquet
from code_rlvr.errors import DataError, ModelError, PreflightError, TestsFormatError
from code_rlvr.ground_truth import Tests
from code_rlvr.train import preflight
from code_rlvr.types import Problem

PROBLEM = Problem("p1", "Print 1.", Tests.stdio([""], ["1"]), "toy")


def test_too_little_memory_is_said_with_what_is_free_and_what_is_needed() -> None:
    with pytest.raises(PreflightError, match=r"GiB of memory is free, the run needs about 1000000\.0 GiB"):
        preflight.check_memory(1e6)


def test_too_little_disk_is_said_even_for_a_folder_that_does_not_exist_yet(tmp_path: Path) -> None:
    with pytest.raises(PreflightError, match="GiB of disk is free"):
        preflight.check_disk(tmp_path / "runs" / "new", 1e6)
    preflight.check_disk(tmp_path / "runs" / "new", 0.001)


def model_folder(folder: Path, *, without: str = "") -> Path:
    files = {
        "config.json": "{}",
        "model.safetensors": "",
        "tokenizer_config.json": json.dumps({"chat_template": "{{ messages }}"}),
    }
    folder.mkdir()
    for name, text in files.items():
        if name != without:
            (folder / name).write_text(text, encoding="utf-8")
    return folder


def test_a_complete_model_folder_passes(tmp_path: Path) -> None:
    preflight.check_model(model_folder(tmp_path / "model"))


@pytest.mark.parametrize(
    ("without", "message"),
    [
        ("config.json", r"no config\.json"),
        ("model.safetensors", "no weights"),
        ("tokenizer_config.json", r"no tokenizer_config\.json"),
    ],
)
def test_an_incomplete_model_folder_is_named(without: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=message):
        preflight.check_model(model_folder(tmp_path / "model", without=without))


def test_a_tokenizer_without_chat_template_is_refused(tmp_path: Path) -> None:
    folder = model_folder(tmp_path / "model")
    (folder / "tokenizer_config.json").write_text("{}", encoding="utf-8")
    with pytest.raises(ModelError, match="chat template"):
        preflight.check_model(folder)


def test_prepared_data_passes(tmp_path: Path) -> None:
    write_parquet(tmp_path / "train.parquet", [PROBLEM] * 4, split="train")
    preflight.check_data(tmp_path / "train.parquet", minimum=4)


def test_data_that_is_too_short_missing_or_no_parquet_is_named(tmp_path: Path) -> None:
    file = tmp_path / "train.parquet"
    with pytest.raises(DataError, match="does not exist"):
        preflight.check_data(file, minimum=1)
    file.write_text("a,b\n1,2\n", encoding="utf-8")
    with pytest.raises(DataError, match="not a parquet file"):
        preflight.check_data(file, minimum=1)
    write_parquet(file, [PROBLEM], split="train")
    with pytest.raises(DataError, match="1 rows, fewer than the 64"):
        preflight.check_data(file, minimum=64)


def rows(**changes: object) -> pa.Table:
    row = {
        "prompt": [{"role": "user", "content": "Print 1."}],
        "reward_model": {"style": "rule", "ground_truth": PROBLEM.tests.to_json()},
        "data_source": "toy",
        "extra_info": {"index": 0},
        **changes,
    }
    return pa.Table.from_pylist([{name: value for name, value in row.items() if value is not None}])


def test_a_missing_column_a_plain_prompt_and_broken_tests_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "train.parquet"
    pq.write_table(rows(data_source=None), file)
    with pytest.raises(DataError, match="data_source"):
        preflight.check_data(file, minimum=1)
    pq.write_table(rows(prompt="Print 1."), file)
    with pytest.raises(DataError, match="list of chat messages"):
        preflight.check_data(file, minimum=1)
    broken = json.dumps({"inputs": ["1", "2"], "outputs": ["1"]})
    pq.write_table(rows(reward_model={"style": "rule", "ground_truth": broken}), file)
    with pytest.raises(TestsFormatError, match=r"0 of .*train\.parquet"):
        preflight.check_data(file, minimum=1)


def test_a_logger_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preflight, "find_spec", lambda name: None)
    with pytest.raises(PreflightError, match="pip install tensorboard"):
        preflight.check_loggers(["tensorboard"])


def test_wandb_without_a_login_is_said_before_anything_starts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(preflight, "find_spec", lambda name: name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("WANDB_API_KEY", raising=False)
    monkeypatch.delenv("WANDB_MODE", raising=False)
    with pytest.raises(PreflightError, match="wandb login"):
        preflight.check_loggers(["wandb"])
    (tmp_path / ".netrc").write_text("machine api.wandb.ai login user password x")
    (tmp_path / ".netrc").chmod(0o600)
    preflight.check_loggers(["wandb"])
    (tmp_path / ".netrc").unlink()
    monkeypatch.setenv("WANDB_MODE", "offline")
    preflight.check_loggers(["wandb"])
