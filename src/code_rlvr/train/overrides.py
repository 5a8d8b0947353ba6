"""From our configuration to verl's: the Hydra overrides of one run.

One pure function, so that a test can compose them against verl's own configuration without starting
anything.  Keys that verl accepts and ignores (its traps) are avoided here and nowhere else.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from code_rlvr.train.config import TrainConfig
from code_rlvr.train.overrides_device import Overrides, device_overrides

STOP_FILE = "stopped.txt"
"""In ``logs/``: why the trainer stopped itself, for the launcher to show."""


def verl_overrides(
    config: TrainConfig, *, ray_dir: Path | None = None, environment: Mapping[str, str] | None = None
) -> list[str]:
    """Return the command-line words for ``python -m verl.trainer.main_ppo``.

    Args:
        config: The run.
        ray_dir: Folder for Ray's sockets and logs; its path must be short, since socket paths are bounded.
        environment: What the trainer's processes need; those of a cluster that runs already do not inherit it.
    """
    parts = [
        _data(config),
        _actor(config),
        _rollout(config),
        _critic(config),
        _algorithm(config),
        _reward(config),
        _trainer(config),
        device_overrides(config, ray_dir),
        _cluster(config, environment or {}),
    ]
    return [*(f"{key}={_hydra(value)}" for part in parts for key, value in part.items()), *config.verl]


def _cluster(config: TrainConfig, environment: Mapping[str, str]) -> Overrides:
    """What joining a cluster that runs already asks for."""
    if config.trainer.ray_address is None:
        return {}
    given = {name: value for name, value in environment.items() if name != "CUDA_VISIBLE_DEVICES"}
    return {
        "+ray_kwargs.ray_init.address": config.trainer.ray_address,
        "+ray_kwargs.ray_init.runtime_env.env_vars": given,
    }


def _hydra(value: Any) -> str:
    """Write a value in Hydra's grammar; JSON is a subset of it, but for keys with quotes."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{key}:{_hydra(item)}" for key, item in value.items()) + "}"
    if value is None:
        return "null"
    return json.dumps(str(value) if isinstance(value, Path) else value)


def _data(config: TrainConfig) -> Overrides:
    return {
        "data.train_files": [str(Path(config.data.train_file).resolve())],
        "data.val_files": [str(Path(config.data.validation_file).resolve())],
        "data.train_batch_size": config.trainer.batch,
        "data.max_prompt_length": config.data.max_prompt_tokens,
        "data.max_response_length": config.data.max_response_tokens,
        "data.filter_overlong_prompts": True,
        "data.truncation": "error",
        "data.dataloader_num_workers": 0,
        "data.seed": config.seed,
    }


def _actor(config: TrainConfig) -> Overrides:
    prefix, actor = "actor_rollout_ref", config.actor
    return {
        f"{prefix}.model.path": str(Path(config.model).resolve()),
        f"{prefix}.actor.optim.lr": actor.lr,
        f"{prefix}.actor.optim.lr_warmup_steps": actor.lr_warmup_steps,
        f"{prefix}.actor.ppo_mini_batch_size": actor.mini_batch,
        f"{prefix}.actor.clip_ratio": actor.clip_ratio,
        f"{prefix}.actor.clip_ratio_low": actor.clip_ratio,
        f"{prefix}.actor.clip_ratio_high": actor.clip_ratio,
        f"{prefix}.actor.entropy_coeff": actor.entropy_coeff,
        f"{prefix}.actor.data_loader_seed": config.seed,
        **_batches(config),
    }


def _batches(config: TrainConfig) -> Overrides:
    """How samples are put together for a forward pass: so many, or as many as make so many tokens."""
    actor = config.actor
    packed = actor.micro_batch_tokens is not None
    part: Overrides = {
        "actor_rollout_ref.model.use_remove_padding": packed,
        "critic.model.use_remove_padding": packed,
    }
    if packed:
        for role, prefix in (("actor", "ppo"), ("ref", "log_prob"), ("rollout", "log_prob")):
            dynamic = "use_dynamic_bsz" if role == "actor" else f"{prefix}_use_dynamic_bsz"
            part[f"actor_rollout_ref.{role}.{dynamic}"] = True
            part[f"actor_rollout_ref.{role}.{prefix}_max_token_len_per_gpu"] = actor.micro_batch_tokens
        part["critic.use_dynamic_bsz"] = True
        # The trainer reads this name, of both kinds of pass, and no other; without it they are of 32,768 tokens.
        part["+critic.ppo_infer_max_token_len_per_gpu"] = actor.micro_batch_tokens
        return part
    samples = min(actor.micro_batch, actor.mini_batch * config.rollout.samples_per_prompt)
    return part | {
        "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu": samples,
        "actor_rollout_ref.ref.log_prob_micro_batch_size_per_gpu": actor.micro_batch,
        "actor_rollout_ref.rollout.log_prob_micro_batch_size_per_gpu": actor.micro_batch,
        "critic.ppo_micro_batch_size_per_gpu": samples,
        # What is said of the critic does not reach its engine, which would make batches of so many tokens.
        "+critic.fsdp.use_dynamic_bsz": False,
        "+critic.fsdp.micro_batch_size_per_gpu": samples,
        "+critic.fsdp.infer_micro_batch_size_per_gpu": actor.micro_batch,
    }


def _rollout(config: TrainConfig) -> Overrides:
    prefix = "actor_rollout_ref.rollout"
    return {
        f"{prefix}.name": config.rollout.engine,
        f"{prefix}.n": config.rollout.samples_per_prompt,
        f"{prefix}.temperature": config.rollout.temperature,
        f"{prefix}.tensor_model_parallel_size": config.rollout.tensor_parallel,
        f"{prefix}.agent.num_workers": config.rollout.workers,
        f"+{prefix}.agent.agent_loop_manager_class": "code_rlvr.train.agent_loop.DeferredRewardManager",
        f"{prefix}.val_kwargs.n": 1,
        f"{prefix}.val_kwargs.do_sample": True,
        f"{prefix}.val_kwargs.temperature": config.rollout.temperature,
        f"{prefix}.seed": config.seed,
    }


def _critic(config: TrainConfig) -> Overrides:
    return {
        "critic.enable": config.algorithm.estimator == "gae",
        "critic.model.path": str(Path(config.critic.model or config.model).resolve()),
        "critic.optim.lr": config.critic.lr,
        "critic.ppo_mini_batch_size": config.actor.mini_batch,
        "critic.data_loader_seed": config.seed,
    }


def _algorithm(config: TrainConfig) -> Overrides:
    return {
        "algorithm.adv_estimator": config.algorithm.estimator,
        "algorithm.gamma": config.algorithm.gamma,
        "algorithm.lam": config.algorithm.lam,
        # The reference model exists only with this (or a KL loss); a coefficient of 0 still logs the KL.
        "algorithm.use_kl_in_reward": True,
        "algorithm.kl_ctrl.kl_coef": config.algorithm.kl_coef,
    }


def _reward(config: TrainConfig) -> Overrides:
    file = config.reward.file
    return {
        "reward.custom_reward_function.path": str(Path(file).resolve()) if file else "pkg://code_rlvr.reward",
        "reward.custom_reward_function.name": "compute_score",
        # One process has the one judge, which runs `reward.workers` programs at a time.
        "reward.num_workers": 1,
        "+reward.custom_reward_function.reward_kwargs": {
            **config.reward.keywords(),
            "verdict_dir": str(config.run.verdicts.resolve()),
            "keep_text": True,
        },
        "trainer.v1.sampler.custom_sampler.path": "pkg://code_rlvr.train.sampler",
        "trainer.v1.sampler.custom_sampler.name": "VerifiedReplayBuffer",
        "+trainer.v1.sampler.sampler_kwargs": {
            "rollout_n": config.rollout.samples_per_prompt,
            "validation_n": 1,
            "max_response_tokens": config.data.max_response_tokens,
            "stop_file": str(config.run.logs.resolve() / STOP_FILE),
        },
    }


def _trainer(config: TrainConfig) -> Overrides:
    return {
        "trainer.project_name": "code-rlvr",
        "trainer.experiment_name": config.name,
        "trainer.logger": ["file", *config.trainer.loggers],
        "trainer.total_training_steps": config.trainer.steps,
        "trainer.total_epochs": 1_000_000,  # steps decide
        "trainer.save_freq": config.trainer.save_every,
        "trainer.max_actor_ckpt_to_keep": config.trainer.keep_checkpoints,
        "trainer.max_critic_ckpt_to_keep": config.trainer.keep_checkpoints,
        "trainer.test_freq": config.trainer.validate_every,
        "hydra.run.dir": str(config.run.logs.resolve() / "hydra"),
        "trainer.default_local_dir": str(config.run.checkpoints.resolve()),
        "trainer.resume_mode": "auto",
        "trainer.n_gpus_per_node": config.trainer.gpus_per_node,
        "trainer.nnodes": config.trainer.nodes,
        "trainer.device": config.trainer.device,
    }
