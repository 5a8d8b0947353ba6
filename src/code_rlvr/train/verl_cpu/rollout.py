"""Generation with transformers, as a rollout engine of verl.

Three parts, as verl expects them: `HfServer` is the Ray actor that owns a copy of the model and answers
`generate` calls; `HfReplica` starts it; `HfServerAdapter` lives in the training worker and hands it new
weights.  verl sends one call per prompt, so the server gathers calls that arrive together into one batch, and answers
each as soon as its own response has ended.

Not covered: several ranks per replica, multimodal prompts, partial rollouts.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Any

import ray
import torch
from transformers import AutoModelForCausalLM
from verl.workers.rollout.base import BaseRollout
from verl.workers.rollout.replica import RolloutReplica, TokenOutput

from code_rlvr.decode import Completion, Sampling, generate_batch
from code_rlvr.errors import ModelError, TrainingError
from code_rlvr.train.settled_heap import settle_heap

QUIET_S = 0.03
"""A batch is closed when no further call has arrived for this long; verl's calls come about 1 ms apart."""

MAX_ROWS = 256
"""Rows decoded at once; more are decoded one batch after another."""


@dataclass
class _Request:
    prompt: list[int]
    sampling: Sampling
    seed: int
    done: asyncio.Future[tuple[Completion, dict[str, float]]]


class HfServer:
    """The Ray actor that generates; one per replica.

    Args:
        model_path: A Hugging Face folder; gives the architecture and the first weights.
        dtype: Name of the floating-point type, e.g. ``"float32"``.
        response_length: Longest response, in tokens.
        seed: Seed of the run; with the step, the prompt and the count of equal prompts it seeds each sample.
    """

    def __init__(self, model_path: str, dtype: str, response_length: int, seed: int) -> None:
        self._model = AutoModelForCausalLM.from_pretrained(model_path, dtype=getattr(torch, dtype))
        eos = self._model.generation_config.eos_token_id
        if eos is None:
            raise ModelError(f"{model_path}: generation_config.json has no eos_token_id, so nothing would ever end")
        self._eos_ids = eos if isinstance(eos, list) else [eos]
        self._pad_id = self._model.generation_config.pad_token_id or 0
        self._response_length = response_length
        self._seed = seed
        self._step = 0
        self._asked: dict[str, int] = {}
        self._queue: asyncio.Queue[_Request] = asyncio.Queue()
        self._batcher: asyncio.Task[None] | None = None

    async def generate(
        self, prompt_ids: list[int], sampling_params: dict[str, Any], request_id: str, **_unused: Any
    ) -> TokenOutput:
        """Generate one response.

        Args:
            prompt_ids: Token ids of the prompt.
            sampling_params: verl's ``temperature, top_p, top_k`` and optionally ``max_tokens``.
            request_id: verl's name for the call; unused, samples are seeded by prompt and step.

        Returns:
            Token ids (the end token included), their log-probabilities and why generation ended.
        """
        if self._batcher is None or self._batcher.done():
            self._batcher = asyncio.create_task(self._serve())
        prompt = [int(token) for token in prompt_ids]
        request = _Request(
            prompt=prompt,
            sampling=Sampling(
                temperature=float(sampling_params.get("temperature", 1.0)),
                top_p=float(sampling_params.get("top_p", 1.0)),
                top_k=int(sampling_params.get("top_k", -1)),
                max_new_tokens=int(sampling_params.get("max_tokens") or self._response_length),
            ),
            seed=self._sample_seed(prompt),
            done=asyncio.get_running_loop().create_future(),
        )
        await self._queue.put(request)
        completion, timing = await request.done
        return TokenOutput(
            token_ids=completion.token_ids,
            log_probs=completion.log_probs,
            stop_reason="completed" if completion.finish_reason == "stop" else "length",
            extra_fields={"global_steps": self._step, **timing},
        )

    def _sample_seed(self, prompt: list[int]) -> int:
        """Return a seed that does not depend on the order in which calls arrive."""
        name = f"{self._seed}/{self._step}/{prompt}"
        count = self._asked[name] = self._asked.get(name, 0) + 1
        return int.from_bytes(hashlib.sha256(f"{name}/{count}".encode()).digest()[:7], "big")

    async def _serve(self) -> None:
        while True:
            batch = [await self._queue.get()]
            while True:
                try:
                    batch.append(await asyncio.wait_for(self._queue.get(), QUIET_S))
                except asyncio.TimeoutError:
                    break
            await self._answer(batch)

    async def _answer(self, batch: list[_Request]) -> None:
        """Decode `batch` in a thread; resolve each future when its row ends, or with the exception if decoding fails.

        So a program that ends early is judged while others are still being written.
        """
        loop = asyncio.get_running_loop()
        heard = time.monotonic()

        def answer(row: int, completion: Completion) -> None:
            nonlocal heard
            timing = {"generate_s": time.monotonic() - heard}  # since the answer before; the sampler adds these up
            heard = time.monotonic()
            loop.call_soon_threadsafe(_resolve, batch[row].done, (completion, timing))

        decoding = asyncio.to_thread(
            generate_batch,
            self._model,
            [request.prompt for request in batch],
            [request.sampling for request in batch],
            eos_token_ids=self._eos_ids,
            pad_token_id=self._pad_id,
            seeds=[request.seed for request in batch],
            max_rows=MAX_ROWS,
            on_done=answer,
        )
        # Whatever goes wrong there must reach the callers, who would otherwise wait for ever.
        (failure,) = await asyncio.gather(decoding, return_exceptions=True)
        if isinstance(failure, BaseException):
            for request in batch:
                if not request.done.done():
                    request.done.set_exception(TrainingError(f"generation failed: {failure!r}"))

    async def load_weights(self, weights: dict[str, torch.Tensor], global_steps: int | None) -> None:
        """Replace every weight of the model.

        Args:
            weights: Full tensors by their Hugging Face names.
            global_steps: The training step that they belong to.

        Raises:
            TrainingError: If a weight of the model is missing or of another shape.
        """
        result = self._model.load_state_dict(weights, strict=False)
        tied = set(getattr(self._model, "all_tied_weights_keys", None) or ())
        missing = [name for name in result.missing_keys if name not in tied]
        if missing or result.unexpected_keys:
            raise TrainingError(
                f"the trainer's weights do not fit the rollout model: missing {missing[:3]}, "
                f"unexpected {list(result.unexpected_keys)[:3]}"
            )
        self._step = global_steps if global_steps is not None else self._step
        self._asked.clear()
        settle_heap()  # the first weights come when all is loaded

    # verl drives every engine through these; a copy of the model in ordinary memory needs none of them.
    async def wake_up(self, **_unused: Any) -> None: ...
    async def sleep(self, **_unused: Any) -> None: ...
    async def abort_all_requests(self, **_unused: Any) -> None: ...
    async def resume_generation(self) -> None: ...
    async def clear_kv_cache(self) -> None: ...
    async def release_kv_cache(self) -> None: ...
    async def resume_kv_cache(self) -> None: ...
    async def start_profile(self, **_unused: Any) -> None: ...
    async def stop_profile(self) -> None: ...


def _resolve(done: asyncio.Future[Any], answer: tuple[Completion, dict[str, float]]) -> None:
    if not done.done():  # as when its caller has gone
        done.set_result(answer)


def _server_name(replica_rank: int) -> str:
    return f"hf_server_{replica_rank}_0"


class HfReplica(RolloutReplica):
    """Starts one `HfServer` beside its training worker."""

    async def launch_servers(self) -> None:
        if self.world_size != 1:
            raise TrainingError("the transformers rollout runs on one rank: set rollout.tensor_model_parallel_size=1")
        server: Any = (
            ray.remote(HfServer)
            .options(name=_server_name(self.replica_rank), max_concurrency=self.max_concurrency)
            .remote(
                model_path=self.model_config.local_path
                if hasattr(self.model_config, "local_path")
                else self.model_config.path,
                dtype=str(self.config.dtype),
                response_length=int(self.config.response_length),
                seed=int(self.config.seed) + self.replica_rank,
            )
        )
        self.servers = [server]
        self._server_handle = server
        self._server_address = _server_name(self.replica_rank)


async def _as_async(weights: Any) -> AsyncIterator[tuple[str, torch.Tensor]]:
    if isinstance(weights, Iterator) or hasattr(weights, "__iter__"):
        for item in weights:
            yield item
    else:
        async for item in weights:
            yield item


class HfServerAdapter(BaseRollout):
    """The training worker's side: gathers the weights on every rank, sends them from one."""

    def __init__(self, config: Any, model_config: Any, device_mesh: Any, replica_rank: int = -1) -> None:
        super().__init__(config, model_config, device_mesh)
        rank = torch.distributed.get_rank()
        self.replica_rank = rank if replica_rank == -1 else replica_rank

    async def resume(self, tags: list[str]) -> None: ...

    async def release(self) -> None: ...

    async def update_weights(
        self,
        weights: Any,
        wire_format: str = "named_tensors",
        global_steps: int | None = None,
        **_unused: Any,
    ) -> None:
        """Send the actor's weights to the server.

        Args:
            weights: Yields (name, full tensor); making a tensor full is a collective call, so every rank
                goes through all of them.
            wire_format: Only ``"named_tensors"``.
            global_steps: The training step that the weights belong to.

        Raises:
            TrainingError: On another wire format or weights that do not fit.
        """
        if wire_format != "named_tensors":
            raise TrainingError(f"the transformers rollout cannot read weights as {wire_format!r}")
        full = {name: tensor.detach().cpu().contiguous() async for name, tensor in _as_async(weights)}
        server = ray.get_actor(_server_name(self.replica_rank))
        await server.load_weights.remote(full, global_steps)
