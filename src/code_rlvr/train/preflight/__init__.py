"""What must be true before a training run starts, checked in seconds instead of failing after minutes.

Each check has a name, says what it found, or raises with the remedy; `--skip NAME` leaves one out on purpose.

Covered: the list of checks.  Not covered: what each does (`inputs`, `prompts`, `settings`, `judging`, `cluster`,
`machine`, `gpu`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from pathlib import Path

from code_rlvr.errors import CodeRlvrError, ConfigError
from code_rlvr.train.config import TrainConfig
from code_rlvr.train.preflight import cluster, gpu, inputs, judging, machine, prompts, settings
from code_rlvr.train.preflight.machine import check_machine
from code_rlvr.train.versions import PINNED_VERL, check_companions, check_verl
from code_rlvr.usable_model import require_usable

__all__ = ["CHECKS", "check_machine", "check_training", "examine", "require_known"]

SHARED_MEMORY_GIB = 1.0


def _verl(config: TrainConfig) -> str:
    check_verl()
    machine.check_words(config.verl)
    return f"verl {PINNED_VERL}"


def _versions(config: TrainConfig) -> str:
    return check_companions(config.trainer.device, config.rollout.engine)


def _loggers(config: TrainConfig) -> str:
    machine.check_loggers(config.trainer.loggers)
    return ", ".join(["console", "metrics.jsonl", *config.trainer.loggers])


def _model(config: TrainConfig) -> str:
    require_usable(Path(config.model))
    if config.critic.model:
        require_usable(Path(config.critic.model), writes_text=False)
    return config.model


def _critic(config: TrainConfig) -> str:
    if config.algorithm.estimator != "gae":
        return "none needed"
    if not config.critic.model:
        return "starts from the model"
    shared = inputs.check_critic(Path(config.model), Path(config.critic.model))
    return f"{config.critic.model}, with the same {shared:,} tokens"


def _data(config: TrainConfig) -> str:
    trained = inputs.check_data(Path(config.data.train_file), minimum=config.trainer.batch)
    held_out = inputs.check_data(Path(config.data.validation_file), minimum=1)
    return f"columns, chat lists; tests of {trained} rows to train on, {held_out} for validation"


def _splits(config: TrainConfig) -> str:
    found = prompts.check_splits(Path(config.data.train_file), Path(config.data.validation_file))
    return (
        f"none of {found.problems:,} problems for validation is trained on; sha256 of their file {found.sha256[:12]}…, "
        "whole in data.json"
    )


def _prompts(config: TrainConfig) -> str:
    found = prompts.check_prompts(Path(config.data.train_file), Path(config.model), config.data.max_prompt_tokens)
    sample = "all" if found.looked_at == found.rows else f"a sample of {found.looked_at}"
    return f"{sample} of {found.rows:,} survive the chat template; {found.overlong:.0%} are too long"


def _ray(config: TrainConfig) -> str:
    return cluster.check_ray(config.trainer.ray_address)


def _memory(config: TrainConfig) -> str:
    if config.trainer.device == "cpu":
        machine.check_memory(machine.CPU_RUN_GIB)
    machine.check_shared_memory(SHARED_MEMORY_GIB if config.trainer.device == "cuda" else SHARED_MEMORY_GIB / 4)
    return "enough, /dev/shm too"


def _disk(config: TrainConfig) -> str:
    need_gib = machine.disk_need_gib(config)
    machine.check_disk(config.run.path, need_gib)
    return f"more than the {need_gib:.0f} GiB that logs and checkpoints take"


def _gpus(config: TrainConfig) -> str:
    return gpu.check_gpus(config) if config.trainer.device == "cuda" else "none needed"


def _compiler(config: TrainConfig) -> str:
    if config.trainer.device == "cpu":
        return "none needed"
    if config.trainer.ray_address is not None:
        return "not looked for: that of the cluster's machines counts"
    return f"{machine.check_compiler()}, and Python's headers"


CHECKS: dict[str, Callable[[TrainConfig], str]] = {
    "verl": _verl,
    "versions": _versions,
    "loggers": _loggers,
    "limits": settings.check_limits,
    "batches": settings.check_batches,
    "model": _model,
    "critic": _critic,
    "data": _data,
    "splits": _splits,
    "prompts": _prompts,
    "reward": judging.check_reward,
    "judge": judging.check_judge,
    "ray": _ray,
    "memory": _memory,
    "disk": _disk,
    "gpus": _gpus,
    "compiler": _compiler,
}


NEEDS = {
    "critic": ("model",),
    "splits": ("data",),
    "prompts": ("model", "data"),
    "disk": ("model",),
    "gpus": ("model",),
    "versions": ("verl",),
}
"""Which checks make sense only after which others."""


def check_training(config: TrainConfig, skip: Collection[str] = ()) -> None:
    """Check everything that a run needs.

    Args:
        config: The run, resolved.
        skip: Names of checks that are left out.

    Raises:
        ConfigError: There is no check of a name that is to be skipped, or settings do not fit each other.
        VersionMismatch, PreflightError, ModelError, DataError, TestsFormatError: A check failed.
    """
    require_known(skip)
    for name, check in CHECKS.items():
        if name not in skip:
            check(config)


def require_known(names: Collection[str]) -> None:
    """Refuse names of no check.

    Raises:
        ConfigError: One is.
    """
    for name in names:
        if name not in CHECKS:
            raise ConfigError(f"there is no check {name}; known are {', '.join(CHECKS)}")


def examine(config: TrainConfig) -> Iterator[tuple[str, bool, str]]:
    """Do every check, whatever the others said; yields the name, whether it passed, and what it says.

    Args:
        config: The run, resolved.
    """
    failed: set[str] = set()
    for name, check in CHECKS.items():
        missing = failed.intersection(NEEDS.get(name, ()))
        try:
            finding = f"not looked at, for want of {' and '.join(sorted(missing))}" if missing else check(config)
        except CodeRlvrError as error:
            missing, finding = {name}, str(error)
        if missing:
            failed.add(name)
        yield name, not missing, finding
