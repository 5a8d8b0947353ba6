"""Sampling with vLLM, for evaluations on a GPU.

Covered: all chats of a call at once, a seed for each sample, the same end tokens as `HuggingFaceEngine`.  Not covered:
equality with transformers token by token: kernels and random numbers differ, so a comparison keeps to one engine.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from code_rlvr.errors import ModelError, PreflightError
from code_rlvr.evaluate.engine import Generated, hash_model
from code_rlvr.evaluate.task import Chat
from code_rlvr.sampling import Sampling

GPU_MEMORY_SHARE = 0.85


class VllmEngine:
    """Samples with vLLM on the GPUs that it sees.

    Args:
        model_dir: A folder with weights, tokenizer and chat template.
        gpu_memory_share: Share of each GPU's memory for weights and cache, in (0, 1).
        max_tokens: Longest prompt and response together; the model's own limit when None.
        tensor_parallel: GPUs that share one copy of the model.

    Raises:
        PreflightError: vLLM is not installed.
        ModelError: The folder cannot be loaded or has no chat template or no end token, or the GPU is too small.
    """

    def __init__(
        self,
        model_dir: Path,
        gpu_memory_share: float = GPU_MEMORY_SHARE,
        max_tokens: int | None = None,
        tensor_parallel: int = 1,
    ) -> None:
        # Looking whether there is a GPU has started CUDA here, which a forked process cannot use.
        os.environ["VLLM_WORKER_MULTIPROC_METHOD"] = "spawn"
        try:
            from vllm import LLM  # noqa: PLC0415  takes half a minute, and a CPU has none
        except ImportError as error:
            raise PreflightError(f"vLLM cannot be used ({error}); pip install 'code-rlvr[gpu]'") from None
        if not (model_dir / "config.json").is_file():
            raise ModelError(f"{model_dir} is not a model folder: it has no config.json")
        self._name = str(model_dir)
        try:
            self._llm = LLM(
                model=self._name,
                gpu_memory_utilization=gpu_memory_share,
                max_model_len=max_tokens,
                tensor_parallel_size=tensor_parallel,
                generation_config="vllm",  # or the folder's penalties would apply, which training does not know
            )
        except (ValueError, OSError, RuntimeError) as error:  # what vLLM raises: bad folders, and GPUs too small
            raise ModelError(
                f"vLLM cannot serve {model_dir}: {error}; if the memory is short, free the GPU or lower its share"
            ) from error
        self._tokenizer: Any = self._llm.get_tokenizer()
        if not self._tokenizer.chat_template:
            raise ModelError(f"{model_dir} has no chat template; use a chat or instruct model")
        self._ends = self._end_tokens(model_dir)
        self.identity = f"vllm/{hash_model(model_dir)}"

    def _end_tokens(self, model_dir: Path) -> list[int]:
        from transformers import GenerationConfig  # noqa: PLC0415  vLLM has loaded it

        has_own = (model_dir / "generation_config.json").is_file()
        ends = GenerationConfig.from_pretrained(model_dir).eos_token_id if has_own else None
        ends = self._tokenizer.eos_token_id if ends is None else ends
        if ends is None:
            raise ModelError(f"{model_dir} names no end token, so no response would ever end")
        return [ends] if isinstance(ends, int) else list(ends)

    def generate(self, chats: Sequence[Chat], sampling: Sampling, seeds: Sequence[int]) -> list[Generated]:
        """Answer each chat once.

        Raises:
            ModelError: A prompt with its response is longer than the model takes.
        """
        from vllm import SamplingParams  # noqa: PLC0415  loaded by now

        prompts = self._tokenizer.apply_chat_template(list(chats), add_generation_prompt=True, return_dict=False)
        settings = [
            SamplingParams(
                temperature=sampling.temperature,
                top_p=sampling.top_p,
                top_k=max(sampling.top_k, 0),  # for vLLM, 0 is all
                max_tokens=sampling.max_new_tokens,
                seed=seed,
                stop_token_ids=self._ends,
            )
            for seed in seeds
        ]
        try:
            found = self._llm.generate([{"prompt_token_ids": ids} for ids in prompts], settings, use_tqdm=False)
        except ValueError as error:
            raise ModelError(f"cannot sample from {self._name}: {error}") from error
        answers = [one.outputs[0] for one in found]
        return [Generated(answer.text, len(answer.token_ids), answer.finish_reason == "length") for answer in answers]

    def close(self) -> None:
        """End the processes that hold the GPU, so that another model has room."""
        self._llm.llm_engine.engine_core.shutdown()
