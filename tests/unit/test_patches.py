"""The patches of verl: they refuse another version, and they still have something to patch."""

from __future__ import annotations

import importlib
import sys
from importlib import metadata
from operator import attrgetter
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from code_rlvr.errors import VersionMismatch
from code_rlvr.train import versions
from code_rlvr.train.verl_patches import critic_with_configured_attention
from code_rlvr.train.verl_patches_gpu import ask_the_sampler_for_tokens_only
from code_rlvr.train.verl_patches_speed import balance_plain_numbers, keep_whole_batches

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
        ("verl.utils.fsdp_utils", "offload_fsdp_model_to_cpu"),
        ("verl.utils.transferqueue_utils", "async_kv_batch_meta2batch_meta"),
        ("verl.utils.tensordict_utils", "index_select_tensor_dict"),
        ("verl.workers.utils.padding", "no_padding_2_padding"),
        ("verl.utils.seqlen_balancing", "get_seqlen_balanced_partitions"),
        ("verl.trainer.ppo.v1.agent_loop_tq", "tq.async_kv_batch_put"),
        ("verl.trainer.ppo.v1.agent_loop_tq", "list_of_dict_to_tensordict"),
        ("verl.trainer.ppo.v1.trainer_base", "PPOTrainer.step"),
        ("verl.trainer.ppo.v1.trainer_sync", "PPOTrainerSync.on_sample_begin"),
        ("verl.workers.engine_workers", "ActorRolloutRefWorker.update_weights"),
        ("transfer_queue.metadata", "BatchMeta.select_samples"),
        ("verl.workers.rollout.base", "_ROLLOUT_REGISTRY"),
        ("verl.workers.rollout.replica", "RolloutReplicaRegistry"),
        ("verl.trainer.ppo.v1.replay_buffer", "ReplayBuffer"),
        ("verl.utils.experimental.torch_functional", "_fused_linear_for_ppo_fwd"),
        ("verl.utils.experimental.torch_functional", "_fused_linear_for_ppo_bwd"),
        ("verl.workers.engine.fsdp.transformer_impl", "FSDPEngine._build_fsdp_module"),
        ("verl.experimental.agent_loop.agent_loop", "AgentLoopWorker._run_agent_loop"),
    ],
)
def test_what_a_patch_replaces_exists(module: str, name: str) -> None:
    assert attrgetter(name)(importlib.import_module(module)) is not None


def test_a_new_critic_expects_nothing_and_a_trained_one_keeps_its_head(tmp_path: Path) -> None:
    import torch
    from transformers import AutoConfig, Qwen2Config, Qwen2ForCausalLM

    def load(folder: Path) -> Any:
        config = AutoConfig.from_pretrained(folder, num_labels=1, classifier_dropout=0.0)
        return module.load_valuehead_model(str(folder), torch.float32, config, False)

    module = SimpleNamespace()
    critic_with_configured_attention(module)
    sizes = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    written = Qwen2ForCausalLM(Qwen2Config(**sizes, num_key_value_heads=2, vocab_size=32))
    written.save_pretrained(tmp_path / "written")
    critic = load(tmp_path / "written")
    tokens = torch.arange(8)[None]
    assert critic(input_ids=tokens).logits.abs().max() == 0
    trunk = critic.model.layers[0].mlp.up_proj.weight
    assert torch.equal(trunk, written.model.layers[0].mlp.up_proj.weight)

    torch.nn.init.normal_(critic.score.weight)
    critic.save_pretrained(tmp_path / "trained")
    assert torch.equal(load(tmp_path / "trained").score.weight, critic.score.weight)


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """verl's module that serves vLLM, with what it takes from it; vLLM itself needs a GPU."""
    sampling = ModuleType("vllm.sampling_params")
    sampling.RequestOutputKind = SimpleNamespace(FINAL_ONLY="final only")  # type: ignore[attr-defined]  # a stand-in
    monkeypatch.setitem(sys.modules, "vllm", ModuleType("vllm"))
    monkeypatch.setitem(sys.modules, "vllm.sampling_params", sampling)
    module = SimpleNamespace(SamplingParams=dict)
    ask_the_sampler_for_tokens_only(module)
    return module


def test_the_sampler_is_asked_for_tokens_once_and_for_no_text(served: SimpleNamespace) -> None:
    asked = served.SamplingParams(max_tokens=8, temperature=1.0, logprobs=0)
    assert asked == {
        "detokenize": False,
        "output_kind": "final only",
        "max_tokens": 8,
        "temperature": 1.0,
        "logprobs": 0,
    }


def test_responses_that_end_at_a_text_are_decoded_as_they_grow(served: SimpleNamespace) -> None:
    assert served.SamplingParams(max_tokens=8, stop=["\n\n"])["detokenize"] is True
    assert served.SamplingParams(max_tokens=8, detokenize=True)["detokenize"] is True


@pytest.mark.parametrize("ranks", [1, 4])
def test_samples_are_shared_out_as_verl_shares_them_and_without_tensors(ranks: int) -> None:
    import torch
    from verl.utils import seqlen_balancing

    handed_over = []

    def shared_out(numbers: Any, k_partitions: int, equal_size: bool) -> Any:
        handed_over.append(numbers)
        return seqlen_balancing.get_seqlen_balanced_partitions(numbers, k_partitions, equal_size)

    module = SimpleNamespace(get_seqlen_balanced_partitions=shared_out)
    balance_plain_numbers(module)
    lengths = torch.randint(50, 500, (64,), generator=torch.Generator().manual_seed(0))
    found = module.get_seqlen_balanced_partitions(lengths, k_partitions=ranks, equal_size=True)
    assert found == seqlen_balancing.get_seqlen_balanced_partitions(lengths, k_partitions=ranks, equal_size=True)
    assert handed_over == [lengths.tolist()]
    assert module.get_seqlen_balanced_partitions([3, 1, 2, 2], ranks, True)


def test_the_description_of_a_whole_batch_is_not_copied_and_that_of_a_part_is_as_before() -> None:
    import torch
    from transfer_queue.metadata import BatchMeta

    class Described(BatchMeta):
        pass

    def describe(kind: type[BatchMeta]) -> BatchMeta:
        shapes = [torch.Size([3]), torch.Size([1]), torch.Size([2])]
        tokens = {"dtype": torch.int64, "shape": None, "is_nested": True, "per_sample_shapes": shapes}
        notes = [{"uid": uid} for uid in "abc"]
        return kind([7, 8, 9], ["train"] * 3, field_schema={"tokens": tokens}, custom_meta=notes)

    plain, batch = describe(BatchMeta), describe(Described)
    keep_whole_batches(SimpleNamespace(BatchMeta=Described))
    for samples in ([0, 1, 2], [2, 1, 0], [0, 1], [1]):
        picked, expected = batch.select_samples(samples), plain.select_samples(samples)
        assert picked.global_indexes == expected.global_indexes
        assert picked.field_schema == expected.field_schema
        assert picked.get_all_custom_meta() == expected.get_all_custom_meta()
        assert picked.production_status.tolist() == expected.production_status.tolist()
    assert batch.select_samples([0, 1, 2]).custom_meta[0] is batch.custom_meta[0]
    assert batch.select_samples([0, 1]).custom_meta[0] is not batch.custom_meta[0]
    with pytest.raises(ValueError, match="range"):
        batch.select_samples([0, 1, 3])
