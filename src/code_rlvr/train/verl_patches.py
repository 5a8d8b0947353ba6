"""Every change that we make to verl, with the reason and what would remove it.

verl 0.9.1 has extension points for the platform, the rollout and the sampler.  What it has none for is changed here,
in `verl_patches_gpu` and in `verl_patches_speed`, nowhere else.  Each change waits for the module that it concerns, so
that a process which never loads it pays nothing.  `check_verl` refuses any other verl: a patch that silently no longer
fits is worse than a run that does not start.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from wrapt import when_imported

from code_rlvr.train.verl_patches_gpu import (
    ask_the_sampler_for_tokens_only,
    attend_within_packed_samples,
    compile_decoder_layers,
    compile_fused_logits,
    find_adapters_in_wrapped_layers,
    keep_the_reference_on_the_gpu,
    let_go_of_offloaded_weights,
)
from code_rlvr.train.verl_patches_speed import (
    balance_plain_numbers,
    cut_responses_at_once,
    keep_whole_batches,
    leave_objects_in_the_store,
    pick_samples_at_once,
    put_samples_together,
    settle_the_models_heap,
    settle_the_trainers_heap,
    wait_for_samples,
)
from code_rlvr.train.versions import check_verl


def use_one_gloo_backend(module: Any) -> None:
    """Build the process group as ``cpu:gloo``.

    Why: verl composes ``cpu:gloo,<device>:<backend>``, which on a CPU names the device twice, and torch
    refuses that.  Removed by: verl composing the string from the set of devices.
    """
    original: Callable[..., None] = module.initialize_global_process_group_ray

    def initialize(timeout_second: float | None = None, backend: str | None = None) -> None:
        original(timeout_second=timeout_second, backend=backend or "cpu:gloo")

    module.initialize_global_process_group_ray = initialize


def average_by_sum(_module: Any) -> None:
    """Let ``all_reduce(op=AVG)`` be a sum and a division.

    Why: the training worker averages its loss over ranks, and gloo has no AVG.  Removed by: gloo
    supporting ReduceOp.AVG, or verl dividing itself.
    """
    import torch.distributed as dist  # noqa: PLC0415  only where torch is loaded anyway

    original = dist.all_reduce

    def all_reduce(tensor: Any, op: Any = dist.ReduceOp.SUM, group: Any = None, async_op: bool = False) -> Any:
        if op != dist.ReduceOp.AVG:
            return original(tensor, op=op, group=group, async_op=async_op)
        if async_op:
            raise NotImplementedError("an asynchronous average needs a division after the sum")
        original(tensor, op=dist.ReduceOp.SUM, group=group)
        tensor.div_(dist.get_world_size(group))
        return None

    dist.all_reduce = all_reduce


def offload_without_pinning(module: Any) -> None:
    """Keep the reference model's parameters in ordinary memory.

    Why: FSDP2 offloads the reference with ``pin_memory=True``, which needs an accelerator.  Removed by:
    verl asking its platform whether memory can be pinned.
    """
    policy = module.CPUOffloadPolicy
    module.CPUOffloadPolicy = lambda pin_memory=True: policy(pin_memory=False)


def critic_with_configured_attention(module: Any) -> None:
    """Load the critic with the attention that the configuration names.

    Why: verl hard-codes flash_attention_2 for value models and ignores
    ``override_config.attn_implementation``; without flash-attn it then fails with the misleading advice
    to install trl.  A GPU without flash-attn needs this too.  Removed by: verl passing the configured
    attention on.

    A head that the checkpoint does not have starts at zero, so that the first values are 0 everywhere: transformers'
    random ones differ from token to token by more than all returns do, and that is what the first advantages then show.
    """

    def load_valuehead_model(local_path: str, torch_dtype: Any, model_config: Any, trust_remote_code: bool) -> Any:
        from transformers import AutoModelForTokenClassification  # noqa: PLC0415  heavy, only in the critic

        model, loaded = AutoModelForTokenClassification.from_pretrained(
            local_path,
            dtype=torch_dtype,
            config=model_config,
            attn_implementation=getattr(model_config, "_attn_implementation", None) or "sdpa",
            trust_remote_code=trust_remote_code,
            output_loading_info=True,
        )
        for name in loaded["missing_keys"]:
            model.get_parameter(name).data.zero_()
        return model

    module.load_valuehead_model = load_valuehead_model


def register_rollout(module: Any) -> None:
    """Add ``rollout.name=hf``, the worker's side of the transformers rollout.

    Why: verl has a public registry for replicas but only a private table for the workers' adapters.
    Removed by: a public registration function for that table.
    """
    module._ROLLOUT_REGISTRY["hf", "async"] = "code_rlvr.train.verl_cpu.rollout.HfServerAdapter"


def end_the_references_flag_with_it(module: Any) -> None:
    """Let only the reference's pass leave the adapters out.

    Why: with adapters, the reference is the actor without them, which verl asks for by a flag in the batch.  The flag
    stays there, and the critic's pass then fails, having no adapters to leave out.  Removed by: verl taking it back.
    """
    original: Callable[..., Any] = module.PPOTrainer._compute_ref_log_prob

    def compute_ref_log_prob(self: Any, batch: Any, metrics: dict[str, Any]) -> Any:
        result = original(self, batch, metrics)
        result.extra_info.pop("no_lora_adapter", None)
        return result

    module.PPOTrainer._compute_ref_log_prob = compute_ref_log_prob


def wait_for_verdicts(module: Any) -> None:
    """Collect the rewards of a step where they are first read, before the advantages.

    Why: so long they may arrive while the models work on the responses (`agent_loop`); verl reads what is stored.  The
    wait is a phase of the step, ``verify``.  Removed by: verl asking for rewards itself.
    """
    original: Callable[..., Any] = module.PPOTrainer._compute_advantage

    def compute_advantage(self: Any, batch: Any, metrics: dict[str, Any]) -> Any:
        started = time.perf_counter()
        rewards = self.agent_loop_manager.rewards()
        metrics.update(self.replay_buffer.receive(batch, rewards))
        self.timing_raw["verify"] = time.perf_counter() - started
        self.timing_raw["adv"] = -self.timing_raw["verify"]  # verl adds what this function takes
        return original(self, batch, metrics)

    module.PPOTrainer._compute_advantage = compute_advantage


def _apply_for_all() -> None:
    when_imported("verl.utils.model")(critic_with_configured_attention)
    when_imported("verl.trainer.ppo.v1.trainer_base")(end_the_references_flag_with_it)
    when_imported("verl.trainer.ppo.v1.trainer_base")(wait_for_verdicts)
    when_imported("verl.trainer.ppo.v1.trainer_base")(settle_the_trainers_heap)
    when_imported("verl.workers.engine_workers")(settle_the_models_heap)
    when_imported("verl.trainer.ppo.v1.trainer_sync")(wait_for_samples)
    when_imported("verl.trainer.ppo.v1.agent_loop_tq")(put_samples_together)
    when_imported("transfer_queue.metadata")(keep_whole_batches)
    when_imported("verl.utils.transferqueue_utils")(leave_objects_in_the_store)
    when_imported("verl.utils.tensordict_utils")(pick_samples_at_once)
    # Others take these functions from here by name, so this is the place.
    when_imported("verl.utils.seqlen_balancing")(balance_plain_numbers)
    when_imported("verl.workers.utils.padding")(cut_responses_at_once)


def apply_for_gpu() -> None:
    """Arrange for what a GPU run needs, each patch to be applied when its module is imported.

    Raises:
        VersionMismatch: See `check_verl`.
    """
    check_verl()
    _apply_for_all()
    when_imported("transformers.modeling_utils")(attend_within_packed_samples)
    when_imported("verl.utils.fsdp_utils")(let_go_of_offloaded_weights)
    when_imported("verl.utils.fsdp_utils")(find_adapters_in_wrapped_layers)
    when_imported("verl.utils.experimental.torch_functional")(compile_fused_logits)
    when_imported("verl.workers.engine.fsdp.transformer_impl")(compile_decoder_layers)
    when_imported("verl.workers.engine.fsdp.transformer_impl")(keep_the_reference_on_the_gpu)
    when_imported("verl.workers.rollout.vllm_rollout.vllm_async_server")(ask_the_sampler_for_tokens_only)


def apply_for_cpu() -> None:
    """Arrange for what a CPU run needs, each patch to be applied when its module is imported.

    Raises:
        VersionMismatch: See `check_verl`.
    """
    check_verl()
    _apply_for_all()
    when_imported("verl.utils.distributed")(use_one_gloo_backend)
    when_imported("verl.workers.engine_workers")(average_by_sum)
    # transformer_impl takes the class from here by name, so the source module is the place.
    when_imported("verl.utils.fsdp_utils")(offload_without_pinning)
    when_imported("verl.workers.rollout.base")(register_rollout)
