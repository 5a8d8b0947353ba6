"""What an evaluation samples with: the interface, and transformers behind it.

Covered: chats in, texts out, with a seed for each sample.  Not covered: other engines; anything with the two
members of `Engine` will do.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import torch
from safetensors import SafetensorError
from transformers import AutoModelForCausalLM, PreTrainedModel

from code_rlvr.decode import Completion, generate_batch
from code_rlvr.errors import ModelError, PreflightError
from code_rlvr.evaluate.context import fit_to_context
from code_rlvr.evaluate.model import read_object
from code_rlvr.evaluate.task import Chat
from code_rlvr.sampling import Sampling
from code_rlvr.threads import torch_threads
from code_rlvr.usable_model import first_line, load_tokenizer, require_usable
from code_rlvr.verifier.pool import usable_cpus

_EDGE_BYTES = 2**20
_MODEL_FILES = ("*.json", "*.jinja", "*.safetensors", "*.bin")


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


NO_ROOM = Generated("", 0, True)
"""The answer to a prompt that fills the model's context."""


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
        max_rows: The most samples that are decoded at once; bounds memory, and is halved when that runs out.
        threads: CPU threads; half of the usable CPUs if None, because programs are judged meanwhile.

    Raises:
        ModelError: If the folder cannot be loaded or has no chat template or no end token.
        PreflightError: If the model does not fit into the memory.
    """

    def __init__(self, model_dir: Path, device: str = "cpu", max_rows: int = 256, threads: int | None = None) -> None:
        self._name = str(model_dir)
        require_usable(model_dir)
        self._tokenizer = load_tokenizer(model_dir)
        self._ends = end_tokens(model_dir, self._tokenizer)
        self._model = _load(model_dir, device)
        self._context: int | None = getattr(self._model.config, "max_position_embeddings", None)
        self._max_rows = max_rows
        self._threads = threads or max(1, usable_cpus() // 2)
        self.identity = hash_model(model_dir)

    def generate(self, chats: Sequence[Chat], sampling: Sampling, seeds: Sequence[int]) -> list[Generated]:
        """Answer each chat once.

        A response ends at the latest where the model's context does, and counts as truncated there; a prompt that
        fills the context gets an empty one.

        Raises:
            ModelError: If the model gives probabilities that are no numbers.
            PreflightError: If a single sample does not fit into the memory.
        """
        prompts: Any = self._tokenizer.apply_chat_template(list(chats), add_generation_prompt=True, return_dict=False)
        fitting = fit_to_context([len(one) for one in prompts], sampling, self._context)
        completions = self._complete(
            [prompts[number] for number in fitting], list(fitting.values()), [seeds[number] for number in fitting]
        )
        answers = {number: self._generated(one) for number, one in zip(fitting, completions, strict=True)}
        return [answers.get(number, NO_ROOM) for number in range(len(prompts))]

    def _generated(self, answer: Completion) -> Generated:
        text = self._tokenizer.decode(answer.token_ids, skip_special_tokens=True)
        return Generated(text, len(answer.token_ids), answer.finish_reason == "length")

    def _complete(self, prompts: Any, samplings: list[Sampling], seeds: list[int]) -> list[Completion]:
        """Decode; with half as many at once for as long as the memory runs out."""
        pad = self._tokenizer.pad_token_id
        while True:
            try:
                with torch_threads(self._threads):
                    return generate_batch(
                        self._model,
                        prompts,
                        samplings,
                        eos_token_ids=self._ends,
                        pad_token_id=self._ends[0] if pad is None else pad,
                        seeds=seeds,
                        max_rows=self._max_rows,
                    )
            except ValueError as error:
                raise ModelError(f"cannot sample from {self._name}: {error}") from error
            except (RuntimeError, MemoryError) as error:
                if not _is_out_of_memory(error):
                    raise
                if self._max_rows == 1:
                    raise PreflightError(
                        f"a single sample of {self._name} does not fit into the memory; lower --max-new-tokens, or "
                        "free memory of other processes"
                    ) from error
                self._max_rows //= 2
            if torch.cuda.is_available():  # outside of the handler, which keeps the tensors alive
                torch.cuda.empty_cache()


def end_tokens(model_dir: Path, tokenizer: Any) -> list[int]:
    """The tokens that end a response: of generation_config.json, else config.json, else the tokenizer.

    Raises:
        ModelError: None is named.
    """
    named = [read_object(model_dir / name).get("eos_token_id") for name in ("generation_config.json", "config.json")]
    ends = next((one for one in (*named, tokenizer.eos_token_id) if one is not None), None)
    if ends is None:
        raise ModelError(f"{model_dir} names no end token, so no response would ever end")
    return [ends] if isinstance(ends, int) else list(ends)


def _load(model_dir: Path, device: str) -> PreTrainedModel:
    # A CPU computes slowly in bfloat16, and merged checkpoints are stored in it.
    dtype = torch.float32 if device == "cpu" else "auto"
    loader: Any = AutoModelForCausalLM  # its annotation does not know that it also gives what it found
    try:
        model, told = loader.from_pretrained(model_dir, dtype=dtype, output_loading_info=True)
        if told["missing_keys"]:  # they would be random
            missing = sorted(told["missing_keys"])
            raise ModelError(f"the weights in {model_dir} lack {len(missing)} of the model's, e.g. {missing[0]}")
        _require_no_other_weights(model_dir, model, told["unexpected_keys"])
        placed: PreTrainedModel = model.to(torch.device(device))
        return placed
    except (OSError, ValueError, KeyError, SafetensorError) as error:
        raise ModelError(f"cannot load {model_dir}: {first_line(error)}") from error
    except (RuntimeError, MemoryError) as error:
        if not _is_out_of_memory(error):
            raise ModelError(f"cannot load {model_dir}: {first_line(error)}") from error
        raise PreflightError(
            f"{model_dir} does not fit into the memory of {device}; free memory of other processes, or use a smaller "
            "model"
        ) from error


def _require_no_other_weights(model_dir: Path, model: PreTrainedModel, unexpected: Iterable[str]) -> None:
    """Refuse weights of another architecture: transformers leaves out what it has no place for, and says nothing.

    Weights of whole layers that the model lacks, as of a vision tower or of heads that predict further tokens, are no
    sign of that; a layer that has some weights in the model, and more in the file, is.
    """
    layers = {name.rpartition(".")[0] for name, _ in model.named_parameters()}
    other = sorted(name for name in unexpected if name.rpartition(".")[0] in layers)
    if other:
        raise ModelError(
            f"{len(other)} of the weights in {model_dir}, e.g. {other[0]}, have no place in a {type(model).__name__}; "
            "its config.json is of another model"
        )


def _is_out_of_memory(error: Exception) -> bool:
    # The allocator of a CPU has no error of its own.
    return isinstance(error, (torch.OutOfMemoryError, MemoryError)) or "can't allocate memory" in str(error)


def hash_model(model_dir: Path) -> str:
    """Name the content of a model folder.

    Args:
        model_dir: A folder with configuration, tokenizer and weights; other files do not count.

    Returns:
        16 hexadecimal digits.  Of each file only the size and the first and last MiB count: an update of the
        weights changes those too, and a large model is named in milliseconds.
    """
    digest = hashlib.sha256()
    for path in sorted(file for pattern in _MODEL_FILES for file in model_dir.glob(pattern)):
        size = path.stat().st_size
        digest.update(f"{path.name}/{size}/".encode())
        with path.open("rb") as file:
            digest.update(file.read(_EDGE_BYTES))
            file.seek(max(0, size - _EDGE_BYTES))
            digest.update(file.read())
    return digest.hexdigest()[:16]
