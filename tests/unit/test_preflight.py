"""What is said before a run starts, instead of after a minute of loading."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from code_rlvr.config import load_config
from code_rlvr.data.parquet import write_parquet
from code_rlvr.errors import ConfigError, DataError, ModelError, PreflightError, TestsFormatError
from code_rlvr.ground_truth import Tests
from code_rlvr.train import preflight
from code_rlvr.train.config import TrainConfig
from code_rlvr.train.preflight import check_training, examine, gpu, inputs, machine
from code_rlvr.train.presets import find_preset
from code_rlvr.types import Problem

PROBLEM = Problem("p1", "Print 1.", Tests.stdio([""], ["1"]), "toy")


def test_too_little_memory_is_said_with_what_is_free_and_what_is_needed() -> None:
    with pytest.raises(PreflightError, match=r"GiB of memory is free, the run needs about 1000000\.0 GiB"):
        machine.check_memory(1e6)


def test_too_little_disk_is_said_even_for_a_folder_that_does_not_exist_yet(tmp_path: Path) -> None:
    with pytest.raises(PreflightError, match="GiB of disk is free"):
        machine.check_disk(tmp_path / "runs" / "new", 1e6)
    machine.check_disk(tmp_path / "runs" / "new", 0.001)


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
    inputs.check_model(model_folder(tmp_path / "model"))


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
        inputs.check_model(model_folder(tmp_path / "model", without=without))


def test_a_tokenizer_without_chat_template_is_refused(tmp_path: Path) -> None:
    folder = model_folder(tmp_path / "model")
    (folder / "tokenizer_config.json").write_text("{}", encoding="utf-8")
    with pytest.raises(ModelError, match="chat template"):
        inputs.check_model(folder)


def test_prepared_data_passes(tmp_path: Path) -> None:
    write_parquet(tmp_path / "train.parquet", [PROBLEM] * 4, split="train")
    inputs.check_data(tmp_path / "train.parquet", minimum=4)


def test_data_that_is_too_short_missing_or_no_parquet_is_named(tmp_path: Path) -> None:
    file = tmp_path / "train.parquet"
    with pytest.raises(DataError, match="does not exist"):
        inputs.check_data(file, minimum=1)
    file.write_text("a,b\n1,2\n", encoding="utf-8")
    with pytest.raises(DataError, match="not a parquet file"):
        inputs.check_data(file, minimum=1)
    write_parquet(file, [PROBLEM], split="train")
    with pytest.raises(DataError, match="1 rows, fewer than the 64"):
        inputs.check_data(file, minimum=64)


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
        inputs.check_data(file, minimum=1)
    pq.write_table(rows(prompt="Print 1."), file)
    with pytest.raises(DataError, match="list of chat messages"):
        inputs.check_data(file, minimum=1)
    broken = json.dumps({"inputs": ["1", "2"], "outputs": ["1"]})
    pq.write_table(rows(reward_model={"style": "rule", "ground_truth": broken}), file)
    with pytest.raises(TestsFormatError, match=r"0 of .*train\.parquet"):
        inputs.check_data(file, minimum=1)


def test_a_logger_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "find_spec", lambda name: None)
    with pytest.raises(PreflightError, match="pip install tensorboard"):
        machine.check_loggers(["tensorboard"])


def test_wandb_without_a_login_is_said_before_anything_starts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(machine, "find_spec", lambda name: name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("WANDB_API_KEY", raising=False)
    monkeypatch.delenv("WANDB_MODE", raising=False)
    with pytest.raises(PreflightError, match="wandb login"):
        machine.check_loggers(["wandb"])
    (tmp_path / ".netrc").write_text("machine api.wandb.ai login user password x")
    (tmp_path / ".netrc").chmod(0o600)
    machine.check_loggers(["wandb"])
    (tmp_path / ".netrc").unlink()
    monkeypatch.setenv("WANDB_MODE", "offline")
    machine.check_loggers(["wandb"])


def test_a_problem_in_both_splits_is_named(tmp_path: Path) -> None:
    train, validation = tmp_path / "train.parquet", tmp_path / "validation.parquet"
    problems = [replace(PROBLEM, statement=f"Print {number}.") for number in range(6)]
    write_parquet(train, problems[:4], split="train")
    write_parquet(validation, problems[4:], split="validation")
    assert inputs.check_splits(train, validation) == 2
    write_parquet(validation, [replace(PROBLEM, statement="PRINT  2.")], split="validation")
    with pytest.raises(DataError, match=r"train\.parquet: row 3 is in .*validation"):
        inputs.check_splits(train, validation)


@pytest.fixture
def tokenizer(tmp_path: Path) -> Path:
    train_tokenizer = pytest.importorskip("code_rlvr.train.tokenizer").train_tokenizer
    train_tokenizer(["Print a number."] * 3, 400, 200).save_pretrained(tmp_path / "model")
    return tmp_path / "model"


def test_prompts_are_measured_and_have_to_survive_the_template(tmp_path: Path, tokenizer: Path) -> None:
    file = tmp_path / "train.parquet"
    write_parquet(
        file, [replace(PROBLEM, statement="Print " * length) for length in (2, 2, 60)], split="train", instruction=""
    )
    assert inputs.check_prompts(file, tokenizer, 100) == pytest.approx(1 / 3)
    with pytest.raises(DataError, match="100% of the prompts"):
        inputs.check_prompts(file, tokenizer, 3)
    (tokenizer / "chat_template.jinja").write_text("{{ messages[0].content[:5] }}")
    with pytest.raises(ModelError, match="loses what a prompt says"):
        inputs.check_prompts(file, tokenizer, 100)


QWEN_05B = {"hidden_size": 896, "num_hidden_layers": 24, "vocab_size": 151_936, "torch_dtype": "bfloat16"}


def gpu_config(folder: Path, preset: str, *words: str) -> TrainConfig:
    """The preset with a model of Qwen2.5-Coder-0.5B's shape, whose weights file has the size of the real one."""
    (folder / "config.json").write_text(json.dumps(QWEN_05B))
    with (folder / "model.safetensors").open("wb") as file:
        file.truncate(2 * 494_000_000)
    return load_config(TrainConfig, None, [f"model={folder}", *words], base=find_preset(preset))


def test_the_half_billion_preset_fits_a_card_of_24_gib_and_not_one_of_8(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = gpu_config(tmp_path, "single-gpu-0.5b")
    monkeypatch.setattr(gpu, "list_gpus", lambda: [24.0])
    assert "an estimate" in gpu.check_gpus(config)
    monkeypatch.setattr(gpu, "list_gpus", lambda: [8.0])
    with pytest.raises(PreflightError, match=r"needs about \d+ GiB of a GPU's 8 GiB \(an estimate\); actor\.offload"):
        gpu.check_gpus(config)
    monkeypatch.setattr(gpu, "list_gpus", lambda: [])
    with pytest.raises(PreflightError, match=r"shows 0 GPUs, trainer\.gpus_per_node asks for 1"):
        gpu.check_gpus(config)


def test_what_saves_memory_lowers_the_estimate(tmp_path: Path) -> None:
    base = gpu.estimate(gpu_config(tmp_path, "single-gpu-0.5b")).training
    for word in ("actor.offload=false", "actor.fused_logits=false", "actor.gradient_checkpointing=false"):
        assert gpu.estimate(gpu_config(tmp_path, "single-gpu-0.5b", word)).training > base + 1, word
    for word in ("actor.lora_rank=32", "actor.micro_batch_tokens=2048", "trainer.gpus_per_node=2"):
        assert gpu.estimate(gpu_config(tmp_path, "single-gpu-0.5b", word)).training <= base, word


def test_a_check_can_be_skipped_by_its_name_only(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(config: TrainConfig) -> str:
        raise PreflightError("no")

    monkeypatch.setattr(preflight, "CHECKS", {"one": lambda config: "fine", "two": fail})
    config = TrainConfig()
    with pytest.raises(PreflightError, match="no"):
        check_training(config)
    check_training(config, skip=["two"])
    with pytest.raises(ConfigError, match="there is no check three; known are one, two"):
        check_training(config, skip=["three"])
    assert list(examine(config)) == [("one", True, "fine"), ("two", False, "no")]


def test_a_check_whose_ground_is_missing_says_so(tmp_path: Path) -> None:
    found = {name: (passed, detail) for name, passed, detail in examine(TrainConfig(model=str(tmp_path)))}
    assert found["data"][0] is False
    assert found["splits"] == (False, "not looked at, for want of data")
    assert found["prompts"] == (False, "not looked at, for want of data and model")


def test_a_word_for_verl_that_is_no_override_is_named() -> None:
    pytest.importorskip("hydra")
    machine.check_words(["actor_rollout_ref.actor.grad_clip=0.5", "+a.b={c:1}", "~data.seed"])
    with pytest.raises(ConfigError, match="'raw' is no override for verl"):
        machine.check_words(["raw"])
