"""torch's own kernel on a GPU: packed samples give what they give alone, to the precision of bfloat16."""

from __future__ import annotations

import pytest
import torch
from transformers import AttentionInterface, Qwen2Config, Qwen2ForCausalLM

from code_rlvr.train.packed_attention import packed_attention
from code_rlvr.train.verl_patches_gpu import PACKED_ATTENTION

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")

LENGTHS = [120, 1, 37, 300, 64]
TOLERANCE = 0.03
"""Relative; bfloat16 has 8 bits, and sdpa on the same numbers differs from float32 by as much."""


def qwen(attention: str, dtype: torch.dtype) -> Qwen2ForCausalLM:
    torch.manual_seed(0)
    config = Qwen2Config(
        vocab_size=512,
        hidden_size=256,
        intermediate_size=512,
        num_hidden_layers=3,
        num_attention_heads=4,
        num_key_value_heads=2,
    )
    config._attn_implementation = attention
    return Qwen2ForCausalLM(config).to("cuda", dtype)


def relative(one: torch.Tensor, other: torch.Tensor) -> float:
    return float((one.float() - other.float()).norm().detach() / other.float().norm().detach())


def test_logits_and_gradients_are_those_of_float32_samples_alone() -> None:
    AttentionInterface.register(PACKED_ATTENTION, packed_attention)
    packed, alone = qwen(PACKED_ATTENTION, torch.bfloat16), qwen("eager", torch.float32)
    alone.load_state_dict(packed.state_dict())
    ids = torch.randint(0, 512, (1, sum(LENGTHS)), device="cuda")
    positions = torch.cat([torch.arange(length) for length in LENGTHS])[None].cuda()
    weights = torch.randn(sum(LENGTHS), 512, device="cuda")
    together = packed(input_ids=ids, position_ids=positions, use_cache=False).logits[0]
    apart = torch.cat([alone(input_ids=one, use_cache=False).logits[0] for one in ids.split(LENGTHS, 1)])
    assert relative(together, apart) < TOLERANCE
    (together.float() * weights).sum().backward()
    (apart * weights).sum().backward()
    for (name, one), other in zip(packed.named_parameters(), alone.parameters(), strict=True):
        if "k_proj.bias" not in name:  # softmax does not see it: its gradient is rounding alone
            assert relative(one.grad, other.grad) < TOLERANCE, name
