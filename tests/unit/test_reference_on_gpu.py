"""The reference's weights are on the CPU if they are to be, and only then."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("verl", reason="needs the training extra")

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh

from code_rlvr.train.verl_patches_gpu import keep_the_reference_on_the_gpu

pytestmark = pytest.mark.filterwarnings("ignore")  # importing verl and Ray raises their own deprecations


@pytest.fixture
def one_rank(tmp_path: Path) -> Iterator[None]:
    dist.init_process_group("gloo", init_method=f"file://{tmp_path / 'store'}", rank=0, world_size=1)
    yield
    dist.destroy_process_group()


def _engine(module: Any, *, trained: bool, offload: bool) -> Any:
    from verl.workers.config import FSDPEngineConfig

    engine = object.__new__(module.FSDPEngine)
    config: Any = FSDPEngineConfig(forward_only=not trained, param_offload=offload)
    vars(engine).update(
        engine_config=config,
        model_config=SimpleNamespace(lora_rank=0, enable_activation_offload=False),
        device_mesh=init_device_mesh("cpu", (1,), mesh_dim_names=("fsdp",)),
    )
    return engine


@pytest.mark.usefixtures("one_rank")
@pytest.mark.parametrize(
    ("trained", "offload", "by_verl", "by_us"),
    [(False, False, True, False), (False, True, True, True), (True, False, False, False), (True, True, False, False)],
)
def test_fsdp_fetches_weights_from_the_cpu_only_where_it_was_asked_to(
    monkeypatch: pytest.MonkeyPatch, trained: bool, offload: bool, by_verl: bool, by_us: bool
) -> None:
    from verl.workers.engine.fsdp import transformer_impl

    # On a CPU FSDP refuses what verl asks of it, so what it is asked for has to do.
    monkeypatch.setattr(transformer_impl, "FSDP", lambda _model, **asked: SimpleNamespace(**asked))
    monkeypatch.setattr(transformer_impl, "get_device_id", lambda: torch.device("cpu"))
    build = transformer_impl.FSDPEngine._build_fsdp_module
    monkeypatch.setattr(transformer_impl.FSDPEngine, "_build_fsdp_module", build)

    def fetched() -> bool:
        engine = _engine(transformer_impl, trained=trained, offload=offload)
        asked = engine._build_fsdp_module(torch.nn.Linear(4, 2))
        assert engine.engine_config.forward_only is not trained, "what the engine is stays as it was"
        return asked.cpu_offload is not None and asked.cpu_offload.offload_params

    assert fetched() == by_verl, "verl asks its setting now: the patch can go"
    keep_the_reference_on_the_gpu(transformer_impl)
    assert fetched() == by_us
