"""One rule for a model folder, whichever command is given it, and one sentence for what is wrong with it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from code_rlvr.errors import ModelError
from code_rlvr.usable_model import load_tokenizer, read_settings, require_usable

TEMPLATE = json.dumps({"chat_template": "{{ messages }}"})


def model_folder(folder: Path, changes: dict[str, str | None] | None = None) -> Path:
    """A folder in order, but for changes: the text of a file, or None for none."""
    files = {
        "config.json": '{"architectures": ["Qwen2ForCausalLM"]}',
        "model.safetensors": "",
        "tokenizer.json": "{}",
        "tokenizer_config.json": TEMPLATE,
        **(changes or {}),
    }
    for name, text in files.items():
        if text is not None:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"tokenizer.json": None},
        {"tokenizer_config.json": None, "chat_template.jinja": "{{ messages }}"},
        {"tokenizer_config.json": "{}", "additional_chat_templates/default.jinja": "{{ messages }}"},
        {"model.safetensors": None, "pytorch_model.bin": ""},
        {"config.json": "{}"},
    ],
)
def test_a_folder_in_order_passes(tmp_path: Path, changes: dict[str, str | None]) -> None:
    require_usable(model_folder(tmp_path / "model", changes))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"config.json": None}, r"no config\.json; copy"),
        ({"model.safetensors": None}, "no weights .* code-rlvr merge RUN"),
        ({"adapter_config.json": "{}"}, "only adapters"),
        ({"config.json": '{"architectures": ["BertForMaskedLM"]}'}, "BertForMaskedLM, which writes no text"),
        ({"tokenizer.json": None, "tokenizer_config.json": None}, "no tokenizer; copy"),
        ({"tokenizer_config.json": "{}"}, "no chat template; use a chat or instruct model"),
        ({"tokenizer_config.json": "{}", "chat_template.json": TEMPLATE}, r"no chat template; .*chat_template\.jinja"),
        ({"tokenizer_config.json": TEMPLATE[:9]}, r"tokenizer_config\.json cannot be read .*: copy it anew"),
        ({"config.json": '{"archi'}, r"[^_]config\.json cannot be read"),
        ({"tokenizer.json": "{"}, r"tokenizer\.json cannot be read"),
        ({"generation_config.json": ""}, r"generation_config\.json cannot be read"),
        ({"config.json": "[]"}, "holds no JSON object"),
    ],
)
def test_what_is_wrong_is_said_with_a_remedy(tmp_path: Path, changes: dict[str, str | None], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        require_usable(model_folder(tmp_path / "model", changes))


def test_a_folder_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="does not exist"):
        require_usable(tmp_path / "nowhere")


def test_a_critic_need_not_write_text(tmp_path: Path) -> None:
    changes = {"config.json": '{"architectures": ["Qwen2ForTokenClassification"]}'}
    require_usable(model_folder(tmp_path / "model", changes), writes_text=False)


def test_settings_that_are_cut_off_are_a_model_error(tmp_path: Path) -> None:
    folder = model_folder(tmp_path / "model", {"config.json": '{"a": '})
    with pytest.raises(ModelError, match="cut off or damaged"):
        read_settings(folder / "config.json")


def test_training_refuses_a_folder_by_the_same_rule(tmp_path: Path) -> None:
    preflight = pytest.importorskip("code_rlvr.train.preflight")
    from code_rlvr.train.config import TrainConfig

    folder = model_folder(tmp_path / "model", {"tokenizer_config.json": TEMPLATE[:9]})
    config = TrainConfig.model_validate({"model": str(folder), "data": {"train_file": "t", "validation_file": "v"}})
    with pytest.raises(ModelError, match="cannot be read"):
        preflight.CHECKS["model"](config)


def test_a_tokenizer_that_cannot_be_loaded_is_a_model_error(tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    with pytest.raises(ModelError, match="cannot load the tokenizer"):
        load_tokenizer(model_folder(tmp_path / "model"))
