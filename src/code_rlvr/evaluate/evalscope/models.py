"""What EvalScope's way of loading and asking a model needs to be known of it before.

Covered: code in the model folder, the system role of its chat template.  Not covered: finding it (`evaluate.model`).
"""

from __future__ import annotations

from pathlib import Path

from code_rlvr.errors import ModelError
from code_rlvr.usable_model import load_tokenizer, read_settings

_PROBE = "between two words"


def require_plain_model(folder: Path) -> None:
    """Refuse a model with Python code: EvalScope loads with `trust_remote_code`, that is, runs it.

    Raises:
        ModelError: A file of the folder names such code.
    """
    for name in ("config.json", "tokenizer_config.json"):
        file = folder / name
        if file.is_file() and "auto_map" in read_settings(file):
            raise ModelError(f"{file} names code of its own, which EvalScope would run; remove auto_map from it")


def knows_system_role(folder: Path) -> bool:
    """Whether a system message reaches the model: some templates refuse it, others drop it."""
    from jinja2 import TemplateError  # noqa: PLC0415  comes with transformers

    chat = [{"role": "system", "content": _PROBE}, {"role": "user", "content": "?"}]
    try:
        return _PROBE in load_tokenizer(folder).apply_chat_template(chat, tokenize=False)
    except TemplateError:
        return False
