"""Whether the numbers of a run fit each other, where verl would find out in the middle of it.

Covered: bounds in time, batches by ranks.  Not covered: what `TrainConfig` itself refuses, as a mini-batch that does
not divide the batch.
"""

from __future__ import annotations

import math

from code_rlvr.errors import ConfigError
from code_rlvr.train.config import TrainConfig


def check_limits(config: TrainConfig) -> str:
    """Check that everything is bounded in time, and shorter bounds lie within longer ones.

    Returns:
        The bounds, in a sentence.

    Raises:
        ConfigError: A bound is infinite, or a shorter one is not below a longer one.
    """
    test_s, program_s, step_s = config.reward.time_limit_s, config.reward.deadline_s, config.trainer.step_timeout_s
    bounds = {
        "reward.time_limit_s": test_s,
        "reward.deadline_s": program_s,
        "trainer.step_timeout_s": step_s,
        "trainer.start_timeout_s": config.trainer.start_timeout_s,
    }
    for name, seconds in bounds.items():
        if not math.isfinite(seconds):
            raise ConfigError(f"{name}={seconds} is no bound: what hangs would hang for ever; set it to some seconds")
    if test_s >= program_s:
        raise ConfigError(
            f"reward.time_limit_s={test_s:g} for one test is not below reward.deadline_s={program_s:g} for all tests "
            "of a program; lower it, or raise reward.deadline_s"
        )
    if program_s >= step_s:
        raise ConfigError(
            f"reward.deadline_s={program_s:g} is not below trainer.step_timeout_s={step_s:g}: a single slow program "
            "would end the run as if it hung; raise trainer.step_timeout_s, or lower reward.deadline_s"
        )
    return f"{test_s:g} s of CPU a test, {program_s:g} s a program, {step_s:g} s a step"


def check_batches(config: TrainConfig) -> str:
    """Check what verl asks of batches and ranks beyond what `TrainConfig` refuses.

    Returns:
        How a batch is divided, in a sentence.

    Raises:
        ConfigError: It cannot be divided.
    """
    ranks = config.trainer.ranks
    samples = config.actor.mini_batch * config.rollout.samples_per_prompt
    if samples % ranks:
        raise ConfigError(
            f"actor.mini_batch × rollout.samples_per_prompt ({samples}) must be a multiple of the {ranks} ranks "
            "(trainer.gpus_per_node × trainer.nodes), each of which takes the same number of samples"
        )
    if ranks % config.rollout.tensor_parallel:
        raise ConfigError(
            f"rollout.tensor_parallel={config.rollout.tensor_parallel} must divide the {ranks} ranks; lower it"
        )
    if config.rollout.engine == "hf" and config.rollout.tensor_parallel > 1:
        raise ConfigError("rollout.engine=hf keeps a model on one rank; set rollout.tensor_parallel=1")
    longest = config.data.max_prompt_tokens + config.data.max_response_tokens
    if config.actor.micro_batch_tokens is not None and config.actor.micro_batch_tokens < longest:
        raise ConfigError(
            f"actor.micro_batch_tokens={config.actor.micro_batch_tokens} does not hold one sample of {longest} tokens "
            "(data.max_prompt_tokens + data.max_response_tokens); raise it"
        )
    updates = config.trainer.batch // config.actor.mini_batch
    return f"{updates} updates a step, of {samples // ranks} samples on each of {ranks} ranks"
