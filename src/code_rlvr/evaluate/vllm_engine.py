"""Sampling with vLLM, for evaluations on a GPU.

Covered: all chats of a call at once, a seed for each sample, the same end tokens and the same treatment of long prompts
as `HuggingFaceEngine`; one engine after another on the same GPU.  Not covered: equality with transformers token by
token: kernels and random numbers differ, so a comparison keeps to one engine.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch

from code_rlvr.errors import ModelError, PreflightError
from code_rlvr.evaluate.context import fit_to_context
from code_rlvr.evaluate.engine import NO_ROOM, Generated, end_tokens, hash_model
from code_rlvr.evaluate.gpu_memory import count_weight_bytes, has_grown, plan_share, read_memory, wait_for_memory
from code_rlvr.evaluate.task import Chat
from code_rlvr.sampling import Sampling
from code_rlvr.usable_model import load_tokenizer, require_usable

CONTEXT_THAT_FITS = -1
"""For vLLM: the model's own context, less only if the GPU has no memory for so many tokens."""


class VllmEngine:
    """Samples with vLLM on the first GPUs that it sees.

    Args:
        model_dir: A folder with weights, tokenizer and chat template.
        max_tokens: Longest prompt and response together; what the model and the GPU permit when None.
        tensor_parallel: GPUs that share one copy of the model.

    Raises:
        PreflightError: vLLM is not installed, or the GPU has no room for the weights.
        ModelError: The folder cannot be loaded or has no chat template or no end token, or vLLM cannot serve it.
    """

    def __init__(self, model_dir: Path, max_tokens: int | None = None, tensor_parallel: int = 1) -> None:
        # Looking whether there is a GPU has started CUDA here, which a forked process cannot use.
        os.environ["VLLM_WORKER_MULTIPROC_METHOD"] = "spawn"
        self._name = str(model_dir)
        require_usable(model_dir)
        self._tokenizer = load_tokenizer(model_dir)
        self._ends = end_tokens(model_dir, self._tokenizer)
        self._read_memory = partial(read_memory, tensor_parallel)
        options = {"max_model_len": max_tokens or CONTEXT_THAT_FITS, "tensor_parallel_size": tensor_parallel}
        weights = count_weight_bytes(model_dir) // tensor_parallel
        self._llm: Any = self._start(model_dir, weights, options)
        self._context: int = self._llm.llm_engine.model_config.max_model_len
        self.identity = f"vllm/{hash_model(model_dir)}"

    def _start(self, model_dir: Path, weights: int, options: dict[str, Any], tries: int = 2) -> Any:
        try:
            from vllm import LLM  # noqa: PLC0415  takes half a minute, and a CPU has none
        except ImportError as error:
            raise PreflightError(f"vLLM cannot be used ({error}); pip install 'code-rlvr[gpu]'") from None
        before = wait_for_memory(self._read_memory)  # a training run may have ended just now
        share = plan_share(before, weights, model_dir)
        self._free_before = [one.free for one in before]
        try:
            # Without "vllm" the folder's penalties would apply, which training does not know.
            return LLM(model=self._name, gpu_memory_utilization=share, generation_config="vllm", **options)
        except (ValueError, OSError, RuntimeError) as error:  # what vLLM raises: bad folders, and GPUs too small
            if tries > 1 and has_grown(before, wait_for_memory(self._read_memory)):
                return self._start(model_dir, weights, options, tries - 1)
            raise ModelError(
                f"vLLM cannot serve {model_dir}: {error}; its own lines above name the cause. If it is memory, end the "
                "other processes on the GPU (nvidia-smi shows them); --engine transformers works without vLLM"
            ) from error

    def generate(self, chats: Sequence[Chat], sampling: Sampling, seeds: Sequence[int]) -> list[Generated]:
        """Answer each chat once.

        A response ends at the latest where the model's context does, and counts as truncated there; a prompt that
        fills the context gets an empty one.

        Raises:
            ModelError: vLLM refuses a prompt.
            PreflightError: Its process ended while it sampled.
        """
        from vllm.v1.engine.exceptions import EngineDeadError  # noqa: PLC0415  loaded by now

        prompts = self._tokenizer.apply_chat_template(list(chats), add_generation_prompt=True, return_dict=False)
        fitting = fit_to_context([len(one) for one in prompts], sampling, self._context)
        asked = [{"prompt_token_ids": prompts[number]} for number in fitting]
        settings = [self._settings(one, seeds[number]) for number, one in fitting.items()]
        try:
            found = self._llm.generate(asked, settings, use_tqdm=False) if asked else []
        except ValueError as error:
            raise ModelError(f"cannot sample from {self._name}: {error}") from error
        except EngineDeadError as error:
            raise PreflightError(
                f"vLLM's process ended while it sampled from {self._name}; its own lines above name the cause. The "
                "same command goes on from the last batch; a smaller --batch loses less"
            ) from error
        answers = {number: _generated(one.outputs[0]) for number, one in zip(fitting, found, strict=True)}
        return [answers.get(number, NO_ROOM) for number in range(len(prompts))]

    def _settings(self, sampling: Sampling, seed: int) -> Any:
        from vllm import SamplingParams  # noqa: PLC0415  loaded by now

        return SamplingParams(
            temperature=sampling.temperature,
            top_p=sampling.top_p,
            top_k=max(sampling.top_k, 0),  # for vLLM, 0 is all
            max_tokens=sampling.max_new_tokens,
            seed=seed,
            stop_token_ids=self._ends,
        )

    def close(self) -> None:
        """End the processes that hold the GPU, and wait until its memory is free again for the next model."""
        self._llm.llm_engine.engine_core.shutdown()  # waits for its processes, and kills them after some seconds
        del self._llm  # where vLLM runs in this process, the weights are its own
        gc.collect()
        torch.cuda.empty_cache()
        wait_for_memory(self._read_memory, self._free_before)


def _generated(answer: Any) -> Generated:
    return Generated(answer.text, len(answer.token_ids), answer.finish_reason == "length")
