"""Whether a folder is a model that can be trained or asked, and its tokenizer: one rule for every command.

Covered: what has to be there by its name, JSON that can be read, the architecture's name, the chat template.  Not
covered: finding the folder (`model_folder`); weights, which `evaluate.model_check` and `evaluate.engine` look at.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from code_rlvr.errors import ModelError

_WEIGHTS = ("*.safetensors", "*.bin")
_JSON_FILES = ("config.json", "generation_config.json", "tokenizer_config.json", "tokenizer.json")
_TEMPLATES = ("chat_template.jinja", "additional_chat_templates/default.jinja")
_WRITES_TEXT = ("ForCausalLM", "ForConditionalGeneration", "LMHeadModel")


def require_usable(folder: Path, *, writes_text: bool = True) -> None:
    """See that a folder holds a model with weights, a tokenizer and a chat template.

    Args:
        folder: A Hugging Face folder.
        writes_text: Whether its architecture has to be that of a language model; a critic's need not be.

    Raises:
        ModelError: Something is missing, or a file that is there cannot be read.
    """
    if not folder.is_dir():
        raise ModelError(f"{folder} does not exist; name a Hugging Face folder, or a name on the hub")
    if (folder / "adapter_config.json").exists():
        raise ModelError(f"{folder} holds only adapters; a run's checkpoint becomes a model with: code-rlvr merge RUN")
    settings = {name: read_settings(folder / name) for name in _JSON_FILES if (folder / name).is_file()}
    if "config.json" not in settings:
        raise ModelError(f"{folder} is not a model folder: it has no config.json; copy that of its base model there")
    if not any(any(folder.glob(pattern)) for pattern in _WEIGHTS):
        raise ModelError(
            f"{folder} holds no weights (*.safetensors); copy them there, and of a run's checkpoint make a model with: "
            "code-rlvr merge RUN"
        )
    if writes_text:
        _require_language_model(folder, settings["config.json"])
    if "tokenizer_config.json" not in settings and "tokenizer.json" not in settings:
        raise ModelError(f"{folder} has no tokenizer; copy the tokenizer files of its base model there")
    told = settings.get("tokenizer_config.json", {}).get("chat_template")
    # chat_template.json is for processors of pictures: no tokenizer reads it.
    if not told and not any((folder / name).is_file() for name in _TEMPLATES):
        raise ModelError(
            f"{folder} has no chat template; use a chat or instruct model, or put chat_template.jinja there"
        )


def read_settings(file: Path) -> dict[str, Any]:
    """The JSON object in a file of a model folder.

    Raises:
        ModelError: It cannot be read, or is something else.
    """
    try:
        found = json.loads(file.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise ModelError(
            f"{file} cannot be read ({first_line(error)}); it was cut off or damaged: copy it anew"
        ) from None
    if not isinstance(found, dict):
        raise ModelError(f"{file} holds no JSON object; copy that of its base model there")
    return found


def _require_language_model(folder: Path, config: dict[str, Any]) -> None:
    names = config.get("architectures") or []
    if names and not any(str(name).endswith(_WRITES_TEXT) for name in names):
        raise ModelError(
            f"{folder} is of the architecture {names[0]}, which writes no text; name a causal language model"
        )


def load_tokenizer(model: str | Path, revision: str | None = None) -> Any:
    """Load a tokenizer with a chat template, as verl does.

    Args:
        model: A folder, or a name on the hub.
        revision: Which version on the hub; the newest if None.

    Raises:
        ImportError: transformers is not installed.
        ModelError: It cannot be loaded, or has no chat template that can be used.
    """
    from jinja2 import TemplateError  # noqa: PLC0415  comes with transformers' templates
    from transformers import AutoTokenizer  # noqa: PLC0415  seconds to import

    try:
        tokenizer: Any = AutoTokenizer.from_pretrained(model, revision=revision)
    except (OSError, ValueError, KeyError) as error:
        raise ModelError(f"cannot load the tokenizer of {model}: {first_line(error)}") from error
    if not tokenizer.chat_template:
        raise ModelError(
            f"{model} has no chat template; use a chat or instruct model, or put chat_template.jinja there"
        )
    try:
        tokenizer.apply_chat_template([{"role": "user", "content": "?"}], add_generation_prompt=True)
    except (TemplateError, TypeError, ValueError) as error:  # what templates raise
        raise ModelError(
            f"the chat template of {model} fails on a user's message ({first_line(error)}); copy its base model's"
        ) from error
    return tokenizer


def first_line(error: Exception) -> str:
    """The first line of an error's text, or its name."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
