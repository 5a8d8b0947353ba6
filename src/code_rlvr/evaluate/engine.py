"""What an evaluation samples with: the interface, and transformers behind it.

Covered: chats in, texts out, with a seed for each sample.  Not covered: other engines; anything with the two
members of `Engine` will do.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedModel

from code_rlvr.decode import generate_batch
from code_rlvr.errors import ModelError
from code_rlvr.sampling import Sampling
from code_rlvr.threads import torch_threads
from code_rlvr.verifier.pool import usable_cpus

Chat = list[dict[str, str]]

_EDGE_BYTES = 2**20
_MODEL_FILES = ("*config.json", "tokenizer.json", "*.jinja", "*.safetensors", "*.bin")


@dataclass(frozen=True)
class Generated:
    """One response as text.

    Args:
        text: Without special tokens.
        tokens: Its length, the end token included.
        truncated: Whether it was cut at the longest length allowed.
    """

    text: str
    tokens: int
    truncated: bool


class Engine(Protocol):
    """A model that answers chats."""

    @property
    def identity(self) -> str:
        """Text that differs between models; part of what a resumed evaluation checks."""

    def generate(self, chats: Sequence[Chat], sampling: Sampling, seeds: Sequence[int]) -> list[Generated]:
        """Answer each chat once; the answer is fixed by the chat, the sampling and the seed."""


class HuggingFaceEngine:
    """Samples with `decode.generate_batch`.

    Args:
        model_dir: A folder with weights, tokenizer and chat template.
        device: Where to put the model, e.g. ``"cpu"`` or ``"cuda:0"``.
        max_rows: The most samples that are decoded at once; bounds memory.
        threads: CPU threads; half of the usable CPUs if None, because programs are judged meanwhile.

    Raises:
        ModelError: If the folder cannot be loaded or has no chat template or no end token.
    """

    def __init__(self, model_dir: Path, device: str = "cpu", max_rows: int = 256, threads: int | None = None) -> None:
        if not (model_dir / "config.json").is_file():
            raise ModelError(f"{model_dir} is not a model folder: it has no config.json")
        try:
            self._tokenizer = AutoTokenizer.from_pretrained(model_dir)
            # A CPU computes slowly in bfloat16, and merged checkpoints are stored in it.
            dtype = torch.float32 if device == "cpu" else "auto"
            model = AutoModelForCausalLM.from_pretrained(model_dir, dtype=dtype)
        except (OSError, ValueError, KeyError) as error:
            raise ModelError(f"cannot load {model_dir}: {error}") from error
        # transformers' annotation of `to` has lost its self
        self._model: PreTrainedModel = model.to(torch.device(device))  # type: ignore[arg-type]
        if not self._tokenizer.chat_template:
            raise ModelError(f"{model_dir} has no chat template; use a chat or instruct model")
        ends = self._model.generation_config.eos_token_id
        ends = self._tokenizer.eos_token_id if ends is None else ends
        if ends is None:
            raise ModelError(f"{model_dir} names no end token, so no response would ever end")
        self._ends: list[int] = [ends] if isinstance(ends, int) else list(ends)
        self._name = str(model_dir)
        self._max_rows = max_rows
        self._threads = threads or max(1, usable_cpus() // 2)
        self.identity = hash_model(model_dir)

    def generate(self, chats: Sequence[Chat], sampling: Sampling, seeds: Sequence[int]) -> list[Generated]:
        """Answer each chat once.

        Raises:
            ModelError: If the model gives probabilities that are no numbers.
        """
        prompts: Any = self._tokenizer.apply_chat_template(list(chats), add_generation_prompt=True, return_dict=False)
        pad = self._tokenizer.pad_token_id
        try:
            with torch_threads(self._threads):
                completions = generate_batch(
                    self._model,
                    prompts,
                    [sampling] * len(prompts),
                    eos_token_ids=self._ends,
                    pad_token_id=self._ends[0] if pad is None else pad,
                    seeds=seeds,
                    max_rows=self._max_rows,
                )
        except ValueError as error:
            raise ModelError(f"cannot sample from {self._name}: {error}") from error
        texts = self._tokenizer.batch_decode([one.token_ids for one in completions], skip_special_tokens=True)
        return [
            Generated(text, len(one.token_ids), one.finish_reason == "length")
            for text, one in zip(texts, completions, strict=True)
        ]


def hash_model(model_dir: Path) -> str:
    """Name the content of a model folder.

    Args:
        model_dir: A folder with configuration, tokenizer and weights; other files do not count.

    Returns:
        16 hexadecimal digits.  Of each file only the size and the first and last MiB count: an update of the
        weights changes those too, and a large model is named in milliseconds.
    """
    digest = hashlib.sha256()
    for path in sorted([*model_dir.glob("*.json"), *model_dir.glob("*.jinja"), *model_dir.glob("*.safetensors")]):
        size = path.stat().st_size
        digest.update(f"{path.name}/{size}/".encode())
        with path.open("rb") as file:
            digest.update(file.read(_EDGE_BYTES))
            file.seek(max(0, size - _EDGE_BYTES))
            digest.update(file.read())
    return digest.hexdigest()[:16]
