"""Models that cannot be loaded are told from their headers, each with what to do about it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

from safetensors.torch import load_file, save_file

import code_rlvr.evaluate.model_check as model_check
from code_rlvr.errors import ModelError, PreflightError
from code_rlvr.evaluate.engine import HuggingFaceEngine
from code_rlvr.train.warmstart import WarmStartSettings, warm_start


@pytest.fixture(scope="module")
def model_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    settings = WarmStartSettings(
        vocab_size=300, hidden_size=16, layers=1, heads=2, intermediate_size=32, steps=1, batch=1, max_length=64
    )
    return warm_start(tmp_path_factory.mktemp("models") / "m", [("Add 1.", "print(1)")], settings).path


@pytest.fixture
def copy(model_dir: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(model_dir, tmp_path / "copy"))


def change_config(folder: Path, **changes: Any) -> None:
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, **changes}))


def cut_weights_off(folder: Path) -> None:
    file = folder / "model.safetensors"
    file.write_bytes(file.read_bytes()[:5000])


def name_a_file_that_is_not_there(folder: Path) -> None:
    index = {"weight_map": {"a": "model.safetensors", "b": "model-00002-of-00002.safetensors"}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))


FAULTS: dict[str, Callable[[Path], object]] = {
    r"architecture 'foo' .* does not know; choose another": lambda folder: change_config(folder, model_type="foo"),
    "architecture t5, of which transformers has no causal": lambda folder: change_config(folder, model_type="t5"),
    r"config\.json cannot be used": lambda folder: change_config(folder, hidden_size="wide"),
    "safetensors cannot be read .* copy": cut_weights_off,
    "lacks 1 of the files .* model-00002-of-00002.safetensors": name_a_file_that_is_not_there,
    "chat template .* fails .*unexpected end": lambda folder: (folder / "chat_template.jinja").write_text("{{ a"),
    "chat template .* fails .*no users": lambda folder: (folder / "chat_template.jinja").write_text(
        "{{ raise_exception('no users') }}"
    ),
}


def test_a_model_in_order_passes_and_no_weight_is_read(model_dir: Path) -> None:
    model_check.require_loadable(model_dir, "transformers")
    model_check.require_loadable(model_dir, "vllm")


@pytest.mark.parametrize("message", FAULTS)
def test_a_fault_is_told_before_anything_is_sampled(copy: Path, message: str) -> None:
    FAULTS[message](copy)
    with pytest.raises(ModelError, match=message):
        model_check.require_loadable(copy, "transformers")


def test_vllm_judges_architectures_itself(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_check, "load_tokenizer", lambda folder: None)
    change_config(copy, model_type="foo")
    model_check.require_loadable(copy, "vllm")


def test_a_model_beyond_the_memory_is_told_with_its_size(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Memory(NamedTuple):
        available: int

    numbers = sum(tensor.numel() for tensor in load_file(copy / "model.safetensors").values())
    monkeypatch.setattr(model_check.torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(model_check.psutil, "virtual_memory", lambda: Memory(4 * numbers))
    model_check.require_loadable(copy, "transformers")
    monkeypatch.setattr(model_check.psutil, "virtual_memory", lambda: Memory(4 * numbers - 1))
    with pytest.raises(PreflightError, match=r"GiB in float32.*use a smaller model"):
        model_check.require_loadable(copy, "transformers")


def test_weights_of_another_architecture_are_not_left_out_silently(copy: Path) -> None:
    weights = load_file(copy / "model.safetensors")
    assert any(name.endswith("q_proj.bias") for name in weights), "Qwen2 has biases that Llama has not"
    change_config(copy, model_type="llama", architectures=["LlamaForCausalLM"])
    with pytest.raises(ModelError, match=r"3 of the weights .*k_proj\.bias, have no place in a LlamaForCausalLM"):
        HuggingFaceEngine(copy)


def test_whole_layers_that_are_not_used_are_no_fault(copy: Path) -> None:
    weights = load_file(copy / "model.safetensors")
    extra = {"visual.proj.weight": weights["model.norm.weight"].clone()}
    save_file({**weights, **extra}, copy / "model.safetensors", {"format": "pt"})
    HuggingFaceEngine(copy)
