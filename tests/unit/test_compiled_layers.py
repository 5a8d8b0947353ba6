"""Compiled layers compute what layers do, under FSDP and at every length; here with a plain kernel, unoptimised."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
import torch.distributed as dist
from torch._dynamo.testing import CompileCounterWithBackend
from torch.distributed.fsdp import FullyShardedDataParallel, MixedPrecision
from torch.distributed.fsdp.wrap import transformer_auto_wrap_policy
from transformers import AttentionInterface, Qwen2Config, Qwen2ForCausalLM, Qwen2ForTokenClassification
from transformers.models.qwen2.modeling_qwen2 import Qwen2DecoderLayer

from code_rlvr.train import compiled_layers, packed_attention
from code_rlvr.train.compiled_layers import compile_layers
from code_rlvr.train.verl_patches_gpu import PACKED_ATTENTION, compile_decoder_layers

pytestmark = pytest.mark.filterwarnings("ignore")  # FSDP's, about a single rank


def attend(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, edges: torch.Tensor) -> torch.Tensor:
    """Something of all that a kernel is given: the query, and the mean over its sample."""
    sample = torch.bucketize(torch.arange(query.shape[0]), edges, right=True)
    same = (sample[:, None] == sample).to(value.dtype)
    mean = torch.einsum("ts,sgd->tgd", same / same.sum(1, keepdim=True), key * value)
    return query + mean.repeat_interleave(query.shape[1] // key.shape[1], 1)


@pytest.fixture
def graphs(monkeypatch: pytest.MonkeyPatch) -> CompileCounterWithBackend:
    """What was compiled; with the kernel above."""
    monkeypatch.setattr(packed_attention, "_kernel", lambda q, k, v, edges, *_args, **_options: attend(q, k, v, edges))
    AttentionInterface.register(PACKED_ATTENTION, packed_attention.packed_attention)
    torch._dynamo.reset()
    counter = CompileCounterWithBackend("aot_eager")
    monkeypatch.setattr(torch, "compile", partial(torch.compile, backend=counter))
    monkeypatch.setattr(compiled_layers, "_of_a_kind", {})
    return counter


@pytest.fixture
def one_rank(tmp_path: Path) -> Iterator[None]:
    dist.init_process_group("gloo", init_method=f"file://{tmp_path / 'store'}", rank=0, world_size=1)
    yield
    dist.destroy_process_group()


def qwen(kind: Any = Qwen2ForCausalLM, *, twice: bool = False, **shape: Any) -> Any:
    torch.manual_seed(0)
    sizes = {"vocab_size": 64, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 3}
    config = Qwen2Config(**sizes, num_attention_heads=4, num_key_value_heads=2, **shape)
    config._attn_implementation = PACKED_ATTENTION
    model = kind(config)
    if twice:
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    return model


def wrapped(model: Any) -> Any:
    """As verl wraps a model on one GPU."""
    layers = partial(transformer_auto_wrap_policy, transformer_layer_cls={Qwen2DecoderLayer})
    bf16 = MixedPrecision(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
    return FullyShardedDataParallel(
        model, auto_wrap_policy=layers, device_id=torch.device("cpu"), mixed_precision=bf16, use_orig_params=False
    )


def passes(model: Any) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
    """Outputs and gradients of rows of several lengths and numbers of samples, each without gradients first."""
    outputs = []
    for lengths in ([5, 1, 9], [3], [30, 7, 2, 2]):
        positions = torch.cat([torch.arange(length) for length in lengths])[None]
        row = {"input_ids": (positions * 7) % 64, "position_ids": positions, "use_cache": False}
        with torch.autocast("cpu", torch.bfloat16):
            with torch.no_grad():
                outputs.append(model.eval()(**row).logits)
            logits = model.train()(**row).logits
        outputs.append(logits.detach())
        logits.float().square().mean().backward()
    return outputs, [weight.grad for weight in model.parameters() if weight.grad is not None]


@pytest.mark.parametrize("twice", [False, True])
@pytest.mark.usefixtures("one_rank")
def test_outputs_and_gradients_are_those_of_the_layers(graphs: CompileCounterWithBackend, twice: bool) -> None:
    plain = passes(wrapped(qwen(twice=twice)))
    assert graphs.frame_count == 0
    model = qwen(twice=twice)
    assert compile_layers(model) == 3
    compiled = passes(wrapped(model))
    assert len(plain[1]) == len(compiled[1]) > 0
    for one, other in zip(plain[0] + plain[1], compiled[0] + compiled[1], strict=True):
        assert (one - other).norm() < 0.02 * one.norm()  # of bfloat16, whose sums are rounded in another order


@pytest.mark.usefixtures("one_rank")
def test_layers_of_all_models_and_rows_share_one_code_for_each_kind_of_pass(graphs: CompileCounterWithBackend) -> None:
    for kind in (Qwen2ForCausalLM, Qwen2ForTokenClassification):
        model = qwen(kind)
        assert compile_layers(model) == 3
        passes(wrapped(model))
    assert graphs.frame_count == 2, "one without gradients, one with"


def test_layers_that_see_less_far_are_compiled_apart(graphs: CompileCounterWithBackend) -> None:
    compile_layers(qwen(use_sliding_window=True, sliding_window=4, max_window_layers=1))
    assert len(compiled_layers._of_a_kind) == 2
    compile_layers(qwen(max_window_layers=1))
    assert len(compiled_layers._of_a_kind) == 2


def test_layers_with_dropout_stay_as_they_are(graphs: CompileCounterWithBackend) -> None:
    assert compile_layers(qwen(attention_dropout=0.1)) == 0


def test_a_pass_with_a_cache_goes_on_as_it_would(graphs: CompileCounterWithBackend) -> None:
    model, positions = qwen().eval(), torch.arange(6)[None]
    row = {"input_ids": positions, "position_ids": positions, "use_cache": True}
    expected = model(**row).logits
    compile_layers(model)
    assert torch.equal(model(**row).logits, expected)
    assert graphs.frame_count == 0


@pytest.mark.parametrize(
    ("attention", "compiling", "adapters", "replaced"),
    [
        (PACKED_ATTENTION, True, False, True),
        ("sdpa", True, False, False),
        (PACKED_ATTENTION, False, False, False),
        (PACKED_ATTENTION, True, True, False),
    ],
)
def test_verl_compiles_layers_of_packed_samples_without_adapters_before_it_wraps_them(
    graphs: CompileCounterWithBackend, attention: str, compiling: bool, adapters: bool, replaced: bool
) -> None:
    class FSDPEngine:
        engine_config = SimpleNamespace(use_torch_compile=compiling)

        def _build_fsdp_module(self, model: Any) -> list[bool]:
            return ["forward" in vars(layer) for layer in model.modules() if isinstance(layer, Qwen2DecoderLayer)]

    model = qwen()
    model.config._attn_implementation = attention
    if adapters:
        peft = pytest.importorskip("peft", reason="needs the training extra")
        model = peft.get_peft_model(model, peft.LoraConfig(task_type="CAUSAL_LM", target_modules="all-linear"))
    compile_decoder_layers(SimpleNamespace(FSDPEngine=FSDPEngine))
    assert FSDPEngine()._build_fsdp_module(model) == [replaced] * 3


def test_a_model_whose_layers_cannot_be_compiled_is_named_in_the_log(
    graphs: CompileCounterWithBackend, caplog: pytest.LogCaptureFixture
) -> None:
    class FSDPEngine:
        engine_config = SimpleNamespace(use_torch_compile=True)

        def _build_fsdp_module(self, model: Any) -> Any:
            return model

    compile_decoder_layers(SimpleNamespace(FSDPEngine=FSDPEngine))
    for dropout in (0.0, 0.1):
        model = qwen(attention_dropout=dropout)
        model.config._attn_implementation = PACKED_ATTENTION
        FSDPEngine()._build_fsdp_module(model)
        assert ("the layers of Qwen2ForCausalLM run uncompiled" in caplog.text) == (dropout > 0)
