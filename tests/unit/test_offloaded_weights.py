"""Weights that move to the CPU leave nothing behind, their views move along; a reference's move only if they are to."""

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
from torch.distributed.fsdp import FullStateDictConfig, FullyShardedDataParallel, StateDictType
from torch.distributed.fsdp._flat_param import FlatParamHandle

from code_rlvr.train.verl_patches_gpu import keep_the_reference_on_the_gpu, let_go_of_offloaded_weights

pytestmark = pytest.mark.filterwarnings("ignore")  # importing verl and Ray raises their own deprecations


@pytest.fixture
def one_rank(tmp_path: Path) -> Iterator[None]:
    dist.init_process_group("gloo", init_method=f"file://{tmp_path / 'store'}", rank=0, world_size=1)
    yield
    dist.destroy_process_group()


def _wrapped() -> Any:
    layers = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Linear(4, 2))
    return FullyShardedDataParallel(layers, device_id=torch.device("cpu"), use_orig_params=False)


def _move_elsewhere(handle: FlatParamHandle, *_device: Any, **_options: Any) -> None:
    handle.flat_param.data = handle.flat_param.clone()  # other memory, as another device's would be


def _still_held(model: Any) -> bool:
    """Whether a layer's weight lies in other memory than the flat weights."""
    (handle,) = model._all_handles
    flat = handle.flat_param.untyped_storage().data_ptr()
    return any(layer.weight.untyped_storage().data_ptr() != flat for layer in model.module)


@pytest.mark.usefixtures("one_rank")
def test_layers_let_go_of_memory_that_weights_left(monkeypatch: pytest.MonkeyPatch) -> None:
    from verl.utils import fsdp_utils

    emptied: list[bool] = []
    device = SimpleNamespace(empty_cache=lambda: emptied.append(True))
    monkeypatch.setattr(fsdp_utils, "get_torch_device", lambda: device)
    monkeypatch.setattr(FlatParamHandle, "flat_param_to", _move_elsewhere)

    model = _wrapped()
    given = torch.randn(3, 4)
    before = model(given)
    fsdp_utils.offload_fsdp_model_to_cpu(model)
    assert _still_held(model), "torch or verl refreshes the views now: the patch can go"

    module = SimpleNamespace(
        offload_fsdp_model_to_cpu=fsdp_utils.offload_fsdp_model_to_cpu,
        fsdp_version=fsdp_utils.fsdp_version,
        get_torch_device=fsdp_utils.get_torch_device,
    )
    let_go_of_offloaded_weights(module)
    emptied.clear()
    module.offload_fsdp_model_to_cpu(model)
    assert not _still_held(model)
    assert emptied == [True], "memory goes back to the device once all of it is free"
    assert torch.equal(model(given), before)


@pytest.fixture
def patched(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """verl's module with the patch, and moves that copy, as between devices."""
    from verl.utils import fsdp_utils

    monkeypatch.setattr(fsdp_utils, "get_torch_device", lambda: SimpleNamespace(empty_cache=lambda: None))
    monkeypatch.setattr(fsdp_utils, "get_device_id", lambda: 0)
    monkeypatch.setattr(fsdp_utils, "get_device_name", lambda: "cpu")
    monkeypatch.setattr(FlatParamHandle, "flat_param_to", _move_elsewhere)
    module = SimpleNamespace(
        offload_fsdp_model_to_cpu=fsdp_utils.offload_fsdp_model_to_cpu,
        load_fsdp_model_to_gpu=fsdp_utils.load_fsdp_model_to_gpu,
        fsdp_version=fsdp_utils.fsdp_version,
        get_torch_device=fsdp_utils.get_torch_device,
    )
    let_go_of_offloaded_weights(module)
    return module


@pytest.mark.usefixtures("one_rank")
def test_what_the_sampler_and_checkpoints_get_are_the_weights_after_the_last_update(patched: SimpleNamespace) -> None:
    model = _wrapped()
    FullyShardedDataParallel.set_state_dict_type(model, StateDictType.FULL_STATE_DICT, FullStateDictConfig())
    names = ("0.weight", "0.bias", "1.weight", "1.bias")
    for update in range(3):
        patched.offload_fsdp_model_to_cpu(model)
        patched.load_fsdp_model_to_gpu(model)
        (handle,) = model._all_handles
        with torch.no_grad():
            handle.flat_param.add_(update)  # no pass in between, which would refresh the views
        expected = handle.flat_param.detach().clone()
        state = model.state_dict()
        assert torch.equal(torch.cat([state[name].flatten() for name in names]), expected)
        with FullyShardedDataParallel.summon_full_params(model, writeback=False):
            assert torch.equal(torch.cat([weight.flatten() for weight in model.module.parameters()]), expected)


@pytest.mark.usefixtures("one_rank")
def test_training_goes_on_after_weights_moved_away_and_back(patched: SimpleNamespace) -> None:
    def trained(moving: bool) -> list[float]:
        torch.manual_seed(0)
        model = _wrapped()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(4):
            if moving:
                patched.offload_fsdp_model_to_cpu(model)
                patched.load_fsdp_model_to_gpu(model)
            loss = model(torch.ones(3, 4)).square().mean()
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            losses.append(float(loss))
        return losses

    assert trained(moving=True) == trained(moving=False)
    assert trained(moving=True)[0] > trained(moving=True)[-1]


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
