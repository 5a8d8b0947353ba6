"""Imported by every verl process of a CPU run; importing it registers the platform and the rollout.

verl imports it at the end of its own ``__init__`` when ``VERL_USE_EXTERNAL_MODULES`` names it, before
anything asks for the platform.
"""

from __future__ import annotations

from verl.plugin.platform import PlatformRegistry
from wrapt import when_imported

from code_rlvr.train import verl_patches
from code_rlvr.train.verl_cpu.platform import CpuPlatform


def _load_replica() -> type:
    from code_rlvr.train.verl_cpu.rollout import HfReplica  # noqa: PLC0415  heavy, only where it runs

    return HfReplica


verl_patches.apply_for_cpu()
PlatformRegistry.register("cpu")(CpuPlatform)
when_imported("verl.workers.rollout.replica")(
    lambda module: module.RolloutReplicaRegistry.register("hf", _load_replica)
)
