"""The CPU as a verl platform.

verl asks its platform for the device's name, memory, random state and collective backend.  For a CPU
most answers are "nothing to do".  Two are not obvious:

* `ray_resource_name` is ``"GPU"``.  verl counts only GPU and NPU resources when it checks that the
  cluster is large enough, so a CPU run declares one logical GPU (``ray_init.num_gpus=1``), which
  stands for "the place where the model lives".
* `current_device` is the string ``"cpu"``.  verl passes it to ``Tensor.to``, where an index would
  mean an accelerator.
"""

from __future__ import annotations

import contextlib
import types
from collections.abc import Iterator
from typing import Any

import psutil
import torch
from verl.plugin.platform.platform_base import PlatformBase


def _nothing(*_args: object, **_kwargs: object) -> None:
    """Stands for a device call that a CPU does not need."""


def _memory_used_bytes(*_args: object, **_kwargs: object) -> int:
    return int(psutil.Process().memory_info().rss)


def _device_module() -> types.ModuleType:
    """Return a module with those functions of ``torch.cuda`` that verl calls."""
    module = types.ModuleType("code_rlvr_cpu_device")
    module.__dict__.update(
        is_available=lambda: True,
        current_device=lambda: "cpu",
        device_count=lambda: 1,
        set_device=_nothing,
        synchronize=_nothing,
        empty_cache=_nothing,
        ipc_collect=_nothing,
        reset_peak_memory_stats=_nothing,
        memory_allocated=_memory_used_bytes,
        memory_reserved=_memory_used_bytes,
        max_memory_allocated=_memory_used_bytes,
        max_memory_reserved=_memory_used_bytes,
        mem_get_info=lambda *_: (psutil.virtual_memory().available, psutil.virtual_memory().total),
        manual_seed=torch.manual_seed,
        manual_seed_all=torch.manual_seed,
        get_rng_state=lambda *_: torch.get_rng_state(),
        set_rng_state=lambda state, *_: torch.set_rng_state(state),
        get_device_name=lambda *_: "cpu",
    )
    return module


class CpuPlatform(PlatformBase):
    """The host's processor and memory as verl's device."""

    _module = _device_module()

    @property
    def device_name(self) -> str:
        return "cpu"

    @property
    def vendor_name(self) -> str:
        return "cpu"

    @property
    def device_module(self) -> types.ModuleType:
        return self._module

    def is_available(self) -> bool:
        return True

    def is_platform_available(self, use_smi_check: bool = False) -> bool:
        # Only when asked for by name (VERL_PLATFORM=cpu): never win an auto-detection.
        return False

    def current_device(self) -> str:  # type: ignore[override]
        return "cpu"

    def device_count(self) -> int:
        return 1

    def set_device(self, device_index: int) -> None:
        pass

    def synchronize(self, device_index: int | None = None) -> None:
        pass

    def manual_seed(self, seed: int) -> None:
        torch.manual_seed(seed)

    def manual_seed_all(self, seed: int) -> None:
        torch.manual_seed(seed)

    def set_allocator_settings(self, settings: str) -> None:
        pass

    def empty_cache(self) -> None:
        pass

    def get_device_capability(self, device_index: int = 0) -> tuple[int | None, int | None]:
        return None, None

    def communication_backend_name(self) -> str:
        return "gloo"

    def visible_devices_envvar(self) -> str:
        return "CUDA_VISIBLE_DEVICES"

    @contextlib.contextmanager
    def nvtx_range(self, msg: str) -> Iterator[None]:
        yield

    def profiler_start(self) -> None:
        pass

    def profiler_stop(self) -> None:
        pass

    def ray_resource_name(self) -> str:
        return "GPU"

    def ray_noset_envvars(self) -> list[str]:
        return []

    def is_ipc_supported(self) -> bool:
        return False

    def cudart(self) -> Any:
        return None
