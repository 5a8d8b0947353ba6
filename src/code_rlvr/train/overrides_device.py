"""verl's settings that depend on the device: a CPU without a GPU's conveniences, or GPUs with vLLM."""

from __future__ import annotations

from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from packaging.version import Version

from code_rlvr.train.config import TrainConfig
from code_rlvr.train.verl_patches_gpu import PACKED_ATTENTION

Overrides = dict[str, Any]

TORCH_WITH_PACKED_ATTENTION = Version("2.11")
"""The first torch whose kernel takes a scale and a window."""

_MODELS = ("actor_rollout_ref", "critic")
_ENGINES = ("actor_rollout_ref.actor.fsdp_config", "actor_rollout_ref.ref.fsdp_config", "critic.fsdp")


def device_overrides(config: TrainConfig, ray_dir: Path | None) -> Overrides:
    """Return what the device of a run asks for.

    Args:
        config: The run.
        ray_dir: Folder for Ray's sockets and logs; its path must be short, since socket paths are bounded.
    """
    part = _both(config)
    part |= _cpu(config) if config.trainer.device == "cpu" else _gpu(config)
    if config.trainer.ray_address is None:
        part |= _own_cluster(config, ray_dir)
    return part


def _own_cluster(config: TrainConfig, ray_dir: Path | None) -> Overrides:
    """Of a cluster that is started for the run; one that runs already has its own."""
    part: Overrides = {"+ray_kwargs.ray_init.include_dashboard": False}
    if ray_dir is not None:
        part["+ray_kwargs.ray_init._temp_dir"] = str(ray_dir)
    if config.trainer.device == "cpu":
        part["+ray_kwargs.ray_init.num_gpus"] = config.trainer.gpus_per_node
        part["ray_kwargs.ray_init.num_cpus"] = 16  # logical; verl reserves one for each of its actors
        part["+ray_kwargs.ray_init.object_store_memory"] = 256 * 1024**2
    return part


def _both(config: TrainConfig) -> Overrides:
    # Fused logits read the output matrix past its module, where FSDP2 leaves it sharded and torch refuses to multiply.
    strategy = "fsdp" if config.actor.fused_logits else "fsdp2"
    part: Overrides = {
        "actor_rollout_ref.actor.strategy": strategy,
        "actor_rollout_ref.ref.strategy": strategy,
        "critic.strategy": strategy,
        "critic.fsdp.strategy": strategy,
        "actor_rollout_ref.model.lora_rank": config.actor.lora_rank,
        "actor_rollout_ref.model.lora_alpha": config.actor.lora_alpha,
    }
    if config.trainer.nodes == 1:  # each is a process that every phase of a step asks for its share of the samples
        part["transfer_queue.backend.SimpleStorage.num_data_storage_units"] = 1
    for model in _MODELS:
        part[f"{model}.model.enable_gradient_checkpointing"] = bool(config.actor.gradient_checkpointing)
    return part


def _attention(packed: bool) -> str:
    """The fastest attention that is there and fits: kernels know packed samples apart, torch's sdpa knows padding."""
    if find_spec("flash_attn"):
        return "flash_attention_2"
    return PACKED_ATTENTION if packed and Version(version("torch")) >= TORCH_WITH_PACKED_ATTENTION else "sdpa"


def _cpu(config: TrainConfig) -> Overrides:
    """What a machine without a GPU needs on top: fp32, no compilation, a small Ray cluster."""
    fp32 = {"param_dtype": "fp32", "reduce_dtype": "fp32", "buffer_dtype": "fp32"}
    part: Overrides = {
        "actor_rollout_ref.rollout.dtype": "float32",
        "actor_rollout_ref.rollout.free_cache_engine": False,
        "actor_rollout_ref.actor.use_torch_compile": False,
        "actor_rollout_ref.ref.use_torch_compile": False,
        "actor_rollout_ref.model.lora.merge": bool(config.actor.lora_rank),  # our rollout takes whole weights
    }
    for model in _MODELS:
        part[f"+{model}.model.override_config.attn_implementation"] = "sdpa"
    for engine in _ENGINES:
        part[f"{engine}.use_torch_compile"] = False
        part[f"+{engine}.mixed_precision"] = fp32
        part[f"{engine}.model_dtype"] = "fp32"
    return part


def _gpu(config: TrainConfig) -> Overrides:
    """What GPUs make possible: bf16 arithmetic on fp32 weights, offloading, vLLM's memory and graphs."""
    actor, rollout = config.actor, config.rollout
    attention = _attention(packed=actor.micro_batch_tokens is not None)
    part: Overrides = {
        "actor_rollout_ref.actor.fsdp_config.param_offload": bool(actor.offload),
        "actor_rollout_ref.actor.fsdp_config.optimizer_offload": bool(actor.offload),
        "actor_rollout_ref.ref.fsdp_config.param_offload": bool(config.reference.offload),
        "critic.fsdp.param_offload": bool(config.critic.offload),
        "critic.fsdp.optimizer_offload": bool(config.critic.offload),
        "actor_rollout_ref.model.use_fused_kernels": actor.fused_logits,
        "actor_rollout_ref.rollout.gpu_memory_utilization": rollout.gpu_memory_share,
        "actor_rollout_ref.rollout.enforce_eager": not rollout.cuda_graphs,
        "actor_rollout_ref.rollout.max_model_len": config.data.max_prompt_tokens + config.data.max_response_tokens,
    }
    if actor.lora_rank:
        part["actor_rollout_ref.rollout.load_format"] = "safetensors"  # the base is loaded, adapters are sent
    for model in _MODELS:
        part[f"+{model}.model.override_config.attn_implementation"] = attention
    for engine in _ENGINES:
        part[f"{engine}.use_torch_compile"] = actor.compile_layers
    return part
