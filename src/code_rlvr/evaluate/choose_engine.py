"""Which engine samples: vLLM on a GPU, transformers elsewhere; loaded only when something is to be sampled.

Covered: the choice, loading late, letting go of the memory.  Not covered: sampling (`engine`, `vllm_engine`).
"""

from __future__ import annotations

import gc
import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import torch

from code_rlvr.errors import PreflightError
from code_rlvr.evaluate.engine import Engine, Generated, HuggingFaceEngine, hash_model
from code_rlvr.evaluate.task import Chat
from code_rlvr.sampling import Sampling

EngineName = Literal["vllm", "transformers"]
EngineChoice = Literal["auto", "vllm", "transformers"]
BATCHES: dict[EngineName, int] = {"vllm": 2048, "transformers": 256}
"""Samples drawn at once: vLLM keeps a GPU busy with thousands, transformers holds all of them in memory."""


def choose_engine(wanted: EngineChoice) -> EngineName:
    """The engine to use on this machine.

    Args:
        wanted: "auto" is vLLM if it is installed and there is a GPU.

    Raises:
        PreflightError: vLLM is wanted and cannot be used here.
    """
    installed, gpu = importlib.util.find_spec("vllm") is not None, torch.cuda.is_available()
    if wanted == "vllm" and not (installed and gpu):
        lacks = "a GPU that torch can see" if installed else "vllm: pip install 'code-rlvr[gpu]'"
        raise PreflightError(f"--engine vllm needs {lacks}; --engine transformers works without")
    if wanted == "auto":
        return "vllm" if installed and gpu else "transformers"
    return wanted


class LateEngine:
    """An engine that is loaded when it is first asked; a finished evaluation never loads it.

    Args:
        model_dir: The model.
        name: Which engine.
        max_rows: For transformers, samples decoded at once.
    """

    def __init__(self, model_dir: Path, name: EngineName, max_rows: int) -> None:
        self._model_dir, self._name, self._max_rows = model_dir, name, max_rows
        self._engine: Engine | None = None
        content = hash_model(model_dir)
        # The same seeds give other samples with vLLM.
        self.identity = content if name == "transformers" else f"{name}/{content}"

    def generate(self, chats: Sequence[Chat], sampling: Sampling, seeds: Sequence[int]) -> list[Generated]:
        """Answer each chat once.

        Raises:
            ModelError: The model cannot be loaded or sampled from.
            PreflightError: It does not fit into memory.
        """
        if self._engine is None:
            self._engine = self._load()
        return self._engine.generate(chats, sampling, seeds)

    def close(self) -> None:
        """Give the memory back, for the next model."""
        close = getattr(self._engine, "close", None)
        if close is not None:
            close()
        self._engine = None
        gc.collect()
        if torch.cuda.is_available():
            torch.cuda.empty_cache()

    def _load(self) -> Engine:
        from transformers.utils import logging  # noqa: PLC0415

        logging.disable_progress_bar()  # type: ignore[no-untyped-call]  # noise among ours
        logging.set_verbosity_error()  # type: ignore[no-untyped-call]
        if self._name == "vllm":
            from code_rlvr.evaluate.vllm_engine import VllmEngine  # noqa: PLC0415  only where it is installed

            return VllmEngine(self._model_dir)
        device = "cuda" if torch.cuda.is_available() else "cpu"
        return HuggingFaceEngine(self._model_dir, device, max_rows=self._max_rows)
