"""How long a prompt is, in the tokens of the model that will be trained.

Covered: counting with the model's own tokenizer and chat template, or an estimate that is called one.
Not covered: what the prompt says (`data.prompts`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from code_rlvr.errors import PreflightError
from code_rlvr.usable_model import load_tokenizer

CHARACTERS_PER_TOKEN = 4  # a rule of thumb for English text and code

Chat = list[dict[str, str]]


class PromptLength:
    """Counts tokens.

    Args:
        model: A folder or a name on the hub; None to estimate from characters.
        revision: Which version of it; the newest if None.

    Attributes:
        name: What was counted with, for the manifest.
        is_estimate: Whether there is no tokenizer.

    Raises:
        ModelError: The tokenizer cannot be loaded, or has no chat template.
        PreflightError: The library that loads tokenizers is not installed.
    """

    def __init__(self, model: str | None, revision: str | None = None) -> None:
        self.name = model or f"an estimate: characters / {CHARACTERS_PER_TOKEN}"
        self.is_estimate = model is None
        self._tokenizer = _load(model, revision) if model else None

    def count(self, chats: Sequence[Chat]) -> list[int]:
        """Tokens of each prompt, with the chat template and the header of the answer, as the trainer counts them."""
        if self._tokenizer is None:
            characters = [sum(len(message["content"]) for message in chat) for chat in chats]
            return [-(-count // CHARACTERS_PER_TOKEN) for count in characters]
        if not chats:
            return []
        texts = self._tokenizer.apply_chat_template(list(chats), tokenize=False, add_generation_prompt=True)
        encoded = self._tokenizer(texts, add_special_tokens=False)["input_ids"]
        return [len(tokens) for tokens in encoded]


def _load(model: str, revision: str | None) -> Any:
    try:
        return load_tokenizer(model, revision)
    except ImportError:
        raise PreflightError(
            "counting a model's tokens needs transformers: pip install 'code-rlvr[eval]', or leave --model out"
        ) from None
