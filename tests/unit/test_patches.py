"""The patches of verl: they refuse another version, and they still have something to patch."""

from __future__ import annotations

import importlib
from importlib import metadata

import pytest

from code_rlvr.errors import VersionMismatch
from code_rlvr.train import versions

pytest.importorskip("verl", reason="needs the training extra")
pytestmark = pytest.mark.filterwarnings("ignore")  # importing verl and Ray raises their own deprecations


def test_the_installed_verl_is_the_pinned_one() -> None:
    assert metadata.version("verl") == versions.PINNED_VERL, "verl changed: read train/verl_patches.py again"


def test_another_verl_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(versions, "PINNED_VERL", "0.0.1")
    with pytest.raises(VersionMismatch, match=r"pip install verl==0\.0\.1"):
        versions.check_verl()


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("verl.utils.distributed", "initialize_global_process_group_ray"),
        ("verl.utils.model", "load_valuehead_model"),
        ("verl.utils.fsdp_utils", "CPUOffloadPolicy"),
        ("verl.utils.transferqueue_utils", "async_kv_batch_meta2batch_meta"),
        ("verl.utils.tensordict_utils", "index_select_tensor_dict"),
        ("verl.workers.utils.padding", "no_padding_2_padding"),
        ("verl.workers.rollout.base", "_ROLLOUT_REGISTRY"),
        ("verl.workers.rollout.replica", "RolloutReplicaRegistry"),
        ("verl.trainer.ppo.v1.replay_buffer", "ReplayBuffer"),
    ],
)
def test_what_a_patch_replaces_exists(module: str, name: str) -> None:
    assert hasattr(importlib.import_module(module), name)
