"""Batched sampling from a Hugging Face causal language model, on a CPU or a GPU.

Covered: left padding with masks and positions, a key-value cache, removal of finished rows, one prefill for
equal prompts, and random numbers that belong to a row and not to its batch.  Evaluation and verl's CPU
rollout both sample here.  Not covered: the draw itself (`sampling`), beams, penalties, stop strings,
speculative or continuous batching; a GPU run samples with vLLM.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from typing import Any, Literal

import numpy as np
import torch
from transformers import DynamicCache, PreTrainedModel
from transformers.cache_utils import DynamicLayer

from code_rlvr.sampling import Sampling, draw_tokens

__all__ = ["Completion", "OnDone", "Sampling", "generate_batch"]

COMPACT_BELOW = 0.75
"""Live share below which finished rows leave the batch; at every end of a row, copies would cost more."""

CACHE_BLOCK = 64
"""Tokens of room that a full cache layer adds at a time."""


@dataclass(frozen=True)
class Completion:
    """One sampled completion.

    Args:
        token_ids: The sampled tokens; the last one is the end-of-sequence token if `finish_reason` is "stop".
        log_probs: For each token its log-probability, in nats, under the distribution it was drawn from, that
            is, after temperature, top-k and top-p (vLLM calls this `processed_logprobs`).  Greedy rows
            report it at temperature 1, because the distribution they are drawn from is a single token.
        finish_reason: "stop" at an end-of-sequence token, "length" at `max_new_tokens`.
    """

    token_ids: list[int]
    log_probs: list[float]
    finish_reason: Literal["stop", "length"]


OnDone = Callable[[int, Completion], None]
"""Called with the number of a prompt and its completion, as soon as that is complete."""


@dataclass
class _Rows:
    """The live rows of a batch; every tensor's first dimension is the row.

    Token `t` of a row is drawn by inverting its cumulative distribution at the `t`-th number of a Philox stream
    seeded with the row's own seed (`uniform`).  So which rows are beside it does not matter, except where a rounding
    difference (padding changes the order of sums) moves a draw across the border between two tokens.
    """

    origin: torch.Tensor
    temperature: torch.Tensor
    top_p: torch.Tensor
    top_k: torch.Tensor
    limit: torch.Tensor
    next_position: torch.Tensor
    mask: torch.Tensor
    uniform: torch.Tensor

    def select(self, index: torch.Tensor) -> _Rows:
        return _Rows(**{field.name: getattr(self, field.name)[index] for field in fields(self)})


class _RoomyLayer(DynamicLayer):  # type: ignore[no-untyped-call]  # its base is not annotated
    """A cache layer with room to grow.

    `DynamicLayer` copies every key and value at each token, which took 60% of the decoding time.
    """

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *args: Any, **kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
            self._rooms = (key_states[:, :, :0], value_states[:, :, :0])
        start = self.get_seq_length()
        end = start + key_states.shape[-2]
        if end > self._rooms[0].shape[-2]:
            self._rooms = (self._enlarge(self._rooms[0], end), self._enlarge(self._rooms[1], end))
        for room, states in zip(self._rooms, (key_states, value_states), strict=True):
            room[:, :, start:end] = states
        self.keys, self.values = (room[:, :, :end] for room in self._rooms)
        return self.keys, self.values

    def batch_select_indices(self, indices: torch.Tensor) -> None:
        end = self.get_seq_length()
        self._rooms = (self._rooms[0][indices], self._rooms[1][indices])
        self.keys, self.values = (room[:, :, :end] for room in self._rooms)

    @staticmethod
    def _enlarge(room: torch.Tensor, end: int) -> torch.Tensor:
        rows, heads, used, size = room.shape
        larger = room.new_empty(rows, heads, end + CACHE_BLOCK, size)
        larger[:, :, :used] = room
        return larger


def generate_batch(
    model: PreTrainedModel,
    prompts: Sequence[Sequence[int]],
    samplings: Sequence[Sampling],
    *,
    eos_token_ids: Sequence[int],
    pad_token_id: int,
    seeds: Sequence[int],
    max_rows: int = 256,
    on_done: OnDone | None = None,
) -> list[Completion]:
    """Sample one completion for each prompt.

    A row's completion depends on its own seed, not on the rows beside it; see `_Rows`.

    Args:
        model: A causal language model; it is put in evaluation mode for the call.
        prompts: Token ids of each prompt, none empty.
        samplings: One for each prompt.
        eos_token_ids: Tokens that end a completion.
        pad_token_id: Fills short prompts on the left; never attended to.
        seeds: One non-negative integer for each prompt.
        max_rows: The most rows that are decoded at once; bounds the memory of the cache.
        on_done: Called in this thread for each completion as soon as it is there; decoding waits for it.

    Returns:
        One completion for each prompt, in their order.

    Raises:
        ValueError: If the lengths differ, a prompt is empty, `max_rows` is below 1, or the model gives
            probabilities that are no numbers, as after a training that diverged.
    """
    _check_rows(prompts, len(samplings), len(seeds), max_rows)
    # Neighbours in length share a batch, so that padding is small; equal prompts meet and share a prefill.
    order = sorted(range(len(prompts)), key=lambda i: (len(prompts[i]), tuple(prompts[i])))
    completions: dict[int, Completion] = {}
    with torch.inference_mode(), _evaluation_mode(model):
        eos = torch.tensor(sorted(set(eos_token_ids)), dtype=torch.long, device=model.device)
        for chunk in (order[start : start + max_rows] for start in range(0, len(order), max_rows)):
            rows = ([prompts[i] for i in chunk], [samplings[i] for i in chunk], [seeds[i] for i in chunk])
            for row, completion in _decode(model, *rows, eos, pad_token_id):
                completions[chunk[row]] = completion
                if on_done:
                    on_done(chunk[row], completion)
    return [completions[i] for i in range(len(prompts))]


def _check_rows(prompts: Sequence[Sequence[int]], samplings: int, seeds: int, max_rows: int) -> None:
    if not len(prompts) == samplings == seeds:
        raise ValueError(f"{len(prompts)} prompts, {samplings} samplings and {seeds} seeds")
    if max_rows < 1 or not all(map(len, prompts)):
        raise ValueError("max_rows must be at least 1 and no prompt may be empty")


@contextmanager
def _evaluation_mode(model: PreTrainedModel) -> Iterator[None]:
    was_training = model.training
    model.train(False)
    try:
        yield
    finally:
        model.train(was_training)


def _decode(
    model: PreTrainedModel,
    prompts: list[Sequence[int]],
    samplings: list[Sampling],
    seeds: list[int],
    eos: torch.Tensor,
    pad_token_id: int,
) -> Iterator[tuple[int, Completion]]:
    """Decode one batch to its end; yields each row's number and completion when the row ends."""
    rows = _new_rows(prompts, samplings, seeds, model.device)
    logits, cache = _prefill(model, prompts, pad_token_id)
    width = max(map(len, prompts))
    shape = (len(prompts), int(rows.limit.max()))
    tokens = torch.zeros(shape, dtype=torch.long, device=model.device)
    log_probs = torch.zeros(shape, device=model.device)
    live = torch.ones(len(prompts), dtype=torch.bool, device=model.device)
    for step in range(shape[1]):
        token, log_prob = draw_tokens(
            logits,
            rows.uniform[:, step],
            temperature=rows.temperature,
            top_k=rows.top_k,
            top_p=rows.top_p,
        )
        origin = rows.origin[live]
        tokens[origin, step], log_probs[origin, step] = token[live], log_prob[live]
        ended = live & (torch.isin(token, eos) | (rows.limit == step + 1))
        if bool(ended.any()):
            yield from _completions(rows.origin[ended], tokens[:, : step + 1], log_probs[:, : step + 1], eos)
        live = live & ~ended
        count = int(live.sum())
        if count == 0:
            break
        if count < COMPACT_BELOW * len(live):
            index = live.nonzero().squeeze(1)
            cache.batch_select_indices(index)
            rows, token, live = rows.select(index), token[index], live[index]
        logits = _forward(
            model, token[:, None], rows.mask[:, : width + step + 1], rows.next_position[:, None] + step, cache
        )


def _new_rows(prompts: list[Sequence[int]], samplings: list[Sampling], seeds: list[int], device: torch.device) -> _Rows:
    steps = max(sampling.max_new_tokens for sampling in samplings)
    width = max(map(len, prompts))
    lengths = torch.tensor([len(prompt) for prompt in prompts])
    mask = torch.arange(width + steps) >= width - lengths[:, None]
    uniform = np.stack([np.random.Generator(np.random.Philox(seed)).random(steps) for seed in seeds])
    return _Rows(
        origin=torch.arange(len(prompts), device=device),
        temperature=torch.tensor([sampling.temperature for sampling in samplings], device=device),
        top_p=torch.tensor([sampling.top_p for sampling in samplings], device=device),
        top_k=torch.tensor([sampling.top_k for sampling in samplings], device=device),
        limit=torch.tensor([sampling.max_new_tokens for sampling in samplings], device=device),
        next_position=lengths.to(device),
        mask=mask.to(device),
        uniform=torch.from_numpy(uniform).to(device),
    )


def _prefill(
    model: PreTrainedModel, prompts: list[Sequence[int]], pad_token_id: int
) -> tuple[torch.Tensor, DynamicCache]:
    """Run each distinct prompt once and copy its cache to the rows that share it."""
    distinct = {prompt: i for i, prompt in enumerate(dict.fromkeys(map(tuple, prompts)))}
    width = max(map(len, distinct))
    ids = torch.tensor([[pad_token_id] * (width - len(prompt)) + list(prompt) for prompt in distinct])
    lengths = torch.tensor([len(prompt) for prompt in distinct])
    mask = torch.arange(width) >= width - lengths[:, None]
    positions = (mask.long().cumsum(-1) - 1).clamp(min=0)
    cache = DynamicCache(config=model.config)
    # Sliding-window and recurrent layers keep their own kind.
    cache.layers = [_RoomyLayer() if type(layer) is DynamicLayer else layer for layer in cache.layers]
    device = model.device
    logits = _forward(model, ids.to(device), mask.to(device), positions.to(device), cache)
    if len(distinct) < len(prompts):
        copies = torch.tensor([distinct[tuple(prompt)] for prompt in prompts], device=device)
        cache.batch_select_indices(copies)
        logits = logits[copies]
    return logits, cache


def _forward(
    model: PreTrainedModel,
    ids: torch.Tensor,
    mask: torch.Tensor,
    positions: torch.Tensor,
    cache: DynamicCache,
) -> torch.Tensor:
    """The logits after the last token of each row, in fp32."""
    output = model(
        input_ids=ids,
        attention_mask=mask,
        position_ids=positions,
        past_key_values=cache,
        use_cache=True,
        logits_to_keep=1,
    )
    logits: torch.Tensor = output.logits[:, -1].float()
    return logits


def _completions(
    ended: torch.Tensor, tokens: torch.Tensor, log_probs: torch.Tensor, eos: torch.Tensor
) -> Iterator[tuple[int, Completion]]:
    """The completions of rows that have just ended, of equal lengths."""
    if bool(log_probs[ended].isnan().any()):
        raise ValueError("the model's probabilities are not numbers; its weights are broken")
    stopped = torch.isin(tokens[ended, -1], eos).tolist()
    for row, ids, logs, stop in zip(
        ended.tolist(), tokens[ended].tolist(), log_probs[ended].tolist(), stopped, strict=True
    ):
        yield row, Completion(ids, logs, "stop" if stop else "length")
