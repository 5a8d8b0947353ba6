"""Layers compiled for a GPU give what the layers gave, to the precision of bfloat16."""

from __future__ import annotations

import pytest
import torch
from transformers import AttentionInterface, Qwen2Config, Qwen2ForCausalLM

from code_rlvr.train.compiled_layers import compile_layers
from code_rlvr.train.packed_attention import packed_attention
from code_rlvr.train.verl_patches_gpu import PACKED_ATTENTION

pytestmark = [
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU"),
    # torch's compiler imports what is deprecated, and looks at what it warns of: as errors its warnings end it.
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning"),
]

TOLERANCE = 0.03
"""Relative; see `test_packed_attention`."""


def qwen() -> Qwen2ForCausalLM:
    torch.manual_seed(0)
    sizes = {"vocab_size": 512, "hidden_size": 256, "intermediate_size": 512, "num_hidden_layers": 4}
    config = Qwen2Config(**sizes, num_attention_heads=4, num_key_value_heads=2)
    config._attn_implementation = PACKED_ATTENTION
    return Qwen2ForCausalLM(config).to("cuda", torch.bfloat16)


def outputs_and_gradients(model: Qwen2ForCausalLM) -> list[torch.Tensor]:
    outputs = []
    for lengths in ([120, 1, 37, 300, 64], [2000, 5], [9]):
        positions = torch.cat([torch.arange(length) for length in lengths])[None].cuda()
        row = {"input_ids": (positions * 7) % 512, "position_ids": positions, "use_cache": False}
        with torch.no_grad():
            outputs.append(model(**row).logits)
        logits = model(**row).logits
        outputs.append(logits.detach())
        logits.float().square().mean().backward()
    names = [name for name, _ in model.named_parameters()]
    grads = [weight.grad for weight in model.parameters()]
    return outputs + [grad for name, grad in zip(names, grads, strict=True) if "k_proj.bias" not in name]


def test_outputs_and_gradients_are_those_of_the_layers() -> None:
    AttentionInterface.register(PACKED_ATTENTION, packed_attention)
    plain, model = outputs_and_gradients(qwen()), qwen()
    assert compile_layers(model) == 4
    for one, other in zip(plain, outputs_and_gradients(model), strict=True):
        assert float((one.float() - other.float()).norm() / one.float().norm()) < TOLERANCE
