"""Adapters reach the sampler with their names and values, though FSDP wraps each of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("verl", reason="needs the training extra")

import torch
import torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel
from torch.multiprocessing.spawn import spawn

from code_rlvr.errors import TrainingError
from code_rlvr.train.verl_patches_gpu import find_adapters_in_wrapped_layers

pytestmark = pytest.mark.filterwarnings("ignore")  # importing verl and Ray raises their own deprecations


def _model() -> Any:
    from transformers import Qwen2Config, Qwen2ForCausalLM

    torch.manual_seed(0)
    shape = {"hidden_size": 16, "intermediate_size": 16, "num_attention_heads": 2, "num_key_value_heads": 2}
    return Qwen2ForCausalLM(Qwen2Config(**shape, num_hidden_layers=2, vocab_size=32))


def _with_adapters() -> tuple[Any, dict[str, torch.Tensor]]:
    """A model with adapters, no weight of which is zero, and these by the names of an adapter's file."""
    from peft import LoraConfig, get_peft_model
    from peft.utils.save_and_load import get_peft_model_state_dict

    model = get_peft_model(_model(), LoraConfig(task_type="CAUSAL_LM", r=4, target_modules="all-linear"))
    for name, weight in model.named_parameters():
        if "lora_B" in name:
            torch.nn.init.normal_(weight)
    return model, {name: weight.clone() for name, weight in get_peft_model_state_dict(model).items()}


def _wrapped(model: Any) -> Any:
    """As verl wraps a model with adapters on a GPU."""
    from verl.utils.fsdp_utils import get_fsdp_wrap_policy

    policy = get_fsdp_wrap_policy(model, {"min_num_params": 0}, is_lora=True)
    return FullyShardedDataParallel(
        model, auto_wrap_policy=policy, device_id=torch.device("cpu"), use_orig_params=False
    )


def _compare(rank: int, ranks: int, store: str) -> None:
    """One rank's process: what is sent is what the adapters were."""
    from verl.utils import fsdp_utils

    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=ranks)
    model, expected = _with_adapters()
    model = _wrapped(model)
    if ranks == 1:
        theirs = fsdp_utils.collect_lora_params(model, layered_summon=False, base_sync_done=True)
        assert not theirs, "verl finds adapters in wrapped layers now: the patch can go"
    find_adapters_in_wrapped_layers(fsdp_utils)
    found = fsdp_utils.collect_lora_params(module=model, layered_summon=False, base_sync_done=True)
    assert found.keys() == expected.keys()
    assert all(torch.equal(found[name], weight) for name, weight in expected.items())
    with pytest.raises(TrainingError, match="no adapters"):
        fsdp_utils.collect_lora_params(_wrapped(_model()), layered_summon=False, base_sync_done=True)
    dist.destroy_process_group()


@pytest.mark.parametrize("ranks", [1, 2])
def test_every_adapter_is_sent_under_its_name(ranks: int, tmp_path: Path) -> None:
    spawn(_compare, args=(ranks, str(tmp_path / "store")), nprocs=ranks)  # type: ignore[no-untyped-call]
