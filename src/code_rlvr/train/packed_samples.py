"""Batches of samples of different lengths, one behind the other: pick some, cut the responses out.

verl does both sample by sample in Python, for every field and every micro-batch, and in its losses with lengths that
lie on the device, so that each cut waits for it.  Here the places of all tokens are computed at once, where they are,
and one indexing fetches them.

Covered: jagged tensors as verl makes them, of any trailing shape.  Not covered: jagged tensors with gaps, or ragged in
another than the first dimension of a sample, which `pick_samples` refuses to take.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch


def is_packed(field: Any) -> bool:
    """Whether `pick_samples` takes it."""
    if not isinstance(field, torch.Tensor) or not field.is_nested or field.layout is not torch.jagged:
        return False
    jagged: Any = field  # torch has no type for it
    return jagged.lengths() is None and getattr(field, "_ragged_idx", 1) == 1


def pick_samples(packed: torch.Tensor, samples: torch.Tensor | Sequence[int]) -> torch.Tensor:
    """Return some samples of a batch, in the order that is asked for.

    Args:
        packed: A jagged tensor (samples, tokens, …), see `is_packed`.
        samples: Numbers of samples; one may be asked for twice.

    Returns:
        Jagged tensor (numbers, tokens, …).
    """
    jagged: Any = packed  # torch has no type for it
    offsets = jagged.offsets()
    samples = torch.as_tensor(samples, dtype=torch.int64, device=offsets.device)
    lengths, starts = offsets.diff()[samples], offsets[samples]
    new = torch.zeros(len(samples) + 1, dtype=offsets.dtype, device=offsets.device)
    torch.cumsum(lengths, dim=0, out=new[1:])
    total, shortest, longest = torch.stack([new[-1], lengths.min(), lengths.max()]).tolist()
    shift = torch.repeat_interleave(starts - new[:-1], lengths, output_size=total)
    values = jagged.values()[torch.arange(total, device=offsets.device) + shift]
    return torch.nested.nested_tensor_from_jagged(values, new, min_seqlen=shortest, max_seqlen=longest)


def padded_responses(tensor: torch.Tensor, data: Mapping[str, Any]) -> torch.Tensor:
    """Cut the responses out of an output over prompts and responses, one token earlier, and pad them.

    A model's output at a token is about the next one, so a response's log-probabilities or values begin at the last
    token of its prompt.

    Args:
        tensor: Output of a batch, samples one behind the other: a jagged tensor (samples, tokens, …), or its values
            of shape (all tokens, …).
        data: ``prompts`` and ``responses``, both jagged, or both padded with an ``attention_mask`` over them; and
            maybe ``max_response_len``, the width that is wanted.

    Returns:
        Tensor (samples, longest response or the wanted width, …), 0 behind the end of a response.

    Raises:
        AssertionError: The lengths do not fit, or a prompt is empty: as verl's own function has it.
    """
    values = tensor.values() if tensor.is_nested else tensor
    prompt_lens, response_lens, width = _lengths(data)
    ends = (prompt_lens + response_lens).cumsum(dim=0)
    # One wait for the device for all that has to be known on this side.
    total, shortest_prompt, longest = torch.stack([ends[-1], prompt_lens.min(), response_lens.max()]).tolist()
    assert total == values.shape[0], f"lengths add up to {total}, the output has {values.shape[0]} tokens"
    assert shortest_prompt > 0, "a prompt is empty: nothing predicts the response's first token"
    width = longest if width < 0 else width
    assert longest <= width, f"a response of {longest} tokens does not fit into {width}"

    columns = torch.arange(width, device=ends.device)
    inside = columns < response_lens.unsqueeze(1)
    places = (ends - response_lens - 1).unsqueeze(1) + columns
    padded = values.new_zeros(*inside.shape, *values.shape[1:])
    # Padding is not read: every place occurs once, so that gradients need no adding up.
    return padded.index_put((inside,), values[places[inside]])


def _lengths(data: Mapping[str, Any]) -> tuple[torch.Tensor, torch.Tensor, int]:
    """Return the prompts' and the responses' lengths (samples,) and the wanted width, -1 for that of the longest."""
    prompts, responses = data["prompts"], data["responses"]
    if prompts.is_nested:
        width = data.get("max_response_len", None)
        width = getattr(width, "data", width)  # tensordict wraps what is not a tensor
        return prompts.offsets().diff(), responses.offsets().diff(), -1 if width is None else int(width)
    mask, split = data["attention_mask"], prompts.shape[1]
    return mask[:, :split].sum(dim=1), mask[:, split:].sum(dim=1), responses.shape[1]
