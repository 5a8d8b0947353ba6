"""Packed samples see themselves only; here the kernel is a plain one, in tests/gpu it is torch's."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from transformers import AttentionInterface, Qwen2Config, Qwen2ForCausalLM

from code_rlvr.train import packed_attention
from code_rlvr.train.packed_attention import borders
from code_rlvr.train.verl_patches_gpu import PACKED_ATTENTION

LENGTHS = [5, 1, 9, 3]


def plain_kernel(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    starts: torch.Tensor,
    _starts_of_keys: torch.Tensor,
    longest: int,
    _longest_of_keys: int,
    *,
    scale: float | None,
    window_size: tuple[int, int],
    **_options: Any,
) -> torch.Tensor:
    """What the kernel computes, sample by sample and with a mask."""
    assert starts.dtype == torch.int32
    assert longest == int(starts.diff().max())
    outs = []
    for begin, end in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
        q, k, v = (states[begin:end].transpose(0, 1) for states in (query, key, value))
        k, v = (states.repeat_interleave(q.shape[0] // k.shape[0], 0) for states in (k, v))
        back = torch.arange(end - begin)[:, None] - torch.arange(end - begin)[None]
        seen = (back >= 0) & ((back <= window_size[0]) if window_size[0] >= 0 else True)
        attended = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=seen, scale=scale)
        outs.append(attended.transpose(0, 1))
    return torch.cat(outs)


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed_attention, "_kernel", plain_kernel)
    AttentionInterface.register(PACKED_ATTENTION, packed_attention.packed_attention)


def qwen(attention: str, **shape: Any) -> Qwen2ForCausalLM:
    torch.manual_seed(0)
    config = Qwen2Config(
        vocab_size=64,
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        **shape,
    )
    config._attn_implementation = attention
    return Qwen2ForCausalLM(config)


def packed_row() -> tuple[torch.Tensor, torch.Tensor]:
    ids = torch.randint(0, 64, (1, sum(LENGTHS)), generator=torch.Generator().manual_seed(1))
    return ids, torch.cat([torch.arange(length) for length in LENGTHS])[None]


@pytest.mark.parametrize("window", [None, 4])
@pytest.mark.usefixtures("kernel")
def test_a_packed_row_gives_what_its_samples_give_alone(window: int | None) -> None:
    shape = {"use_sliding_window": True, "sliding_window": window, "max_window_layers": 0} if window else {}
    packed, alone = qwen(PACKED_ATTENTION, **shape), qwen("sdpa", **shape)
    ids, positions = packed_row()
    together = packed(input_ids=ids, position_ids=positions, use_cache=False).logits[0]
    apart = torch.cat([alone(input_ids=one, use_cache=False).logits[0] for one in ids.split(LENGTHS, 1)])
    torch.testing.assert_close(together, apart)
    if window:  # or the window would not have been tested
        wide = torch.cat([qwen("sdpa")(input_ids=one).logits[0] for one in ids.split(LENGTHS, 1)])
        assert not torch.allclose(together, wide)


@pytest.mark.usefixtures("kernel")
def test_gradients_are_those_of_the_samples_alone() -> None:
    packed, alone = qwen(PACKED_ATTENTION), qwen("sdpa")
    ids, positions = packed_row()
    weights = torch.randn(sum(LENGTHS), 64)
    (packed(input_ids=ids, position_ids=positions, use_cache=False).logits[0] * weights).sum().backward()
    apart = torch.cat([alone(input_ids=one, use_cache=False).logits[0] for one in ids.split(LENGTHS, 1)])
    (apart * weights).sum().backward()
    for one, other in zip(packed.parameters(), alone.parameters(), strict=True):
        torch.testing.assert_close(one.grad, other.grad, rtol=1e-4, atol=1e-5)


@pytest.mark.usefixtures("kernel")
def test_padding_and_dropout_are_refused_rather_than_attended_to() -> None:
    ids, positions = packed_row()
    with pytest.raises(ValueError, match="use attn_implementation=sdpa"):
        qwen(PACKED_ATTENTION)(input_ids=ids.repeat(2, 1), position_ids=positions.repeat(2, 1), use_cache=False)
    query = torch.zeros(1, 4, 5, 8)
    with pytest.raises(ValueError, match="needs position_ids, or the borders"):
        packed_attention.packed_attention(torch.nn.Identity(), query, query, query, None)
    with pytest.raises(ValueError, match="dropout"):
        qwen(PACKED_ATTENTION, attention_dropout=0.1).train()(input_ids=ids, position_ids=positions, use_cache=False)


def test_borders_are_found_once_for_all_layers_of_a_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    _, positions = packed_row()
    edges, longest = borders(positions)
    assert edges.tolist() == [0, 5, 6, 15, 18]
    assert longest == 9
    monkeypatch.delattr(torch, "cat")
    assert borders(positions)[0] is edges
    with pytest.raises(AttributeError):
        borders(positions.clone())  # another row is looked at anew, whatever is in it
