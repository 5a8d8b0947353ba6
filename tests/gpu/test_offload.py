"""Offloading on a real GPU: the memory of the weights is free afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

pytestmark = [
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU"),
    pytest.mark.filterwarnings("ignore"),
]


@pytest.fixture
def one_rank(tmp_path: Path) -> Iterator[None]:
    import torch.distributed as dist

    dist.init_process_group("nccl", init_method=f"file://{tmp_path / 'store'}", rank=0, world_size=1)
    yield
    dist.destroy_process_group()


@pytest.mark.usefixtures("one_rank")
def test_offloaded_weights_leave_the_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    from torch.distributed.fsdp import FullyShardedDataParallel, MixedPrecision
    from verl.utils import fsdp_utils

    from code_rlvr.train.verl_patches_gpu import let_go_of_offloaded_weights

    monkeypatch.setattr(fsdp_utils, "offload_fsdp_model_to_cpu", fsdp_utils.offload_fsdp_model_to_cpu)
    let_go_of_offloaded_weights(fsdp_utils)
    layers = torch.nn.Sequential(*(torch.nn.Linear(2048, 2048) for _ in range(8)))
    size = sum(weight.numel() for weight in layers.parameters()) * 4
    torch.nn.functional.linear(*(torch.ones(64, 2048, device="cuda", dtype=torch.bfloat16) for _ in range(2)))
    started = torch.cuda.memory_allocated()  # with cuBLAS's workspace, which stays
    model: Any = FullyShardedDataParallel(
        layers, device_id=0, use_orig_params=False, mixed_precision=MixedPrecision(param_dtype=torch.bfloat16)
    )
    assert torch.cuda.memory_allocated() - started > 0.9 * size
    for _ in range(2):  # once before any pass, once after weights were gathered as for a sampler
        fsdp_utils.offload_fsdp_model_to_cpu(model)
        assert torch.cuda.memory_allocated() - started < 0.1 * size
        fsdp_utils.load_fsdp_model_to_gpu(model)
        with torch.no_grad():
            model(torch.ones(4, 2048, device="cuda"))
        model.state_dict()


@pytest.mark.usefixtures("one_rank")
@pytest.mark.parametrize("offload", [False, True])
def test_a_reference_lies_where_its_setting_says(monkeypatch: pytest.MonkeyPatch, offload: bool) -> None:
    from types import SimpleNamespace

    from torch.distributed.device_mesh import init_device_mesh
    from verl.workers.config import FSDPEngineConfig
    from verl.workers.engine.fsdp import transformer_impl

    from code_rlvr.train.verl_patches_gpu import keep_the_reference_on_the_gpu

    build = transformer_impl.FSDPEngine._build_fsdp_module
    monkeypatch.setattr(transformer_impl.FSDPEngine, "_build_fsdp_module", build)
    keep_the_reference_on_the_gpu(transformer_impl)
    engine: Any = object.__new__(transformer_impl.FSDPEngine)
    vars(engine).update(
        engine_config=FSDPEngineConfig(forward_only=True, param_offload=offload),
        model_config=SimpleNamespace(lora_rank=0, enable_activation_offload=False),
        device_mesh=init_device_mesh("cuda", (1,), mesh_dim_names=("fsdp",)),
    )
    model = engine._build_fsdp_module(torch.nn.Linear(64, 32))
    for _ in range(2):
        assert {weight.device.type for weight in model.parameters()} == {"cpu" if offload else "cuda"}
        with torch.no_grad():
            assert model(torch.ones(4, 64, device="cuda")).shape == (4, 32)
