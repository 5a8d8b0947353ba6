"""Whether this machine can run what is asked: libraries, memory, disk.

Covered: anything but GPUs (`gpu`).  Not covered: the model and the data (`inputs`).
"""

from __future__ import annotations

import math
import netrc
import os
import shutil
import sysconfig
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path

import psutil

from code_rlvr.errors import ConfigError, PreflightError
from code_rlvr.train.config import TrainConfig
from code_rlvr.train.preflight.sizes import actor_size, critic_size
from code_rlvr.train.versions import check_verl

CPU_RUN_GIB = 5.0
"""Memory of a CPU run with a small model: measured 4.5 GiB over all its processes, and some room."""

FREE_DISK_GIB = 2.0
"""Room for logs, rollouts and the checkpoints of a small model."""

CHECKPOINT_BYTES = {"trained": 12, "frozen": 4}
"""Of a weight in a checkpoint: itself and two optimizer moments, all in fp32; frozen under adapters, itself alone."""


def check_loggers(names: Iterable[str]) -> None:
    """Check that what the metrics are to go to is there, and that nobody will be asked to log in.

    Raises:
        PreflightError: It is not.
    """
    for name in names:
        if find_spec(name) is None:
            raise PreflightError(f"trainer.loggers names {name}, which is not installed; run: pip install {name}")
    offline = os.environ.get("WANDB_MODE") in ("offline", "disabled")
    if "wandb" in names and not offline and "WANDB_API_KEY" not in os.environ and not _has_netrc_entry("api.wandb.ai"):
        raise PreflightError(
            "wandb would ask for a login in the middle of the start; run `wandb login`, set WANDB_API_KEY, or set "
            "WANDB_MODE=offline"
        )


OURS = {
    "actor_rollout_ref.rollout.agent.agent_loop_manager_class": "it hands the verdicts over",
    "trainer.v1.sampler.custom_sampler": "it counts the samples and gives them their rewards",
    "reward.custom_reward_function": "reward.file names one of your own",
}
"""Words of verl's that a run sets and cannot do without, and what for."""


def check_words(words: Sequence[str]) -> None:
    """Check that words for verl are overrides at all, and leave alone what a run cannot do without.

    Raises:
        ConfigError: One is not, or does not.
    """
    if not words:
        return
    from hydra.core.override_parser.overrides_parser import OverridesParser  # noqa: PLC0415  comes with verl
    from hydra.errors import HydraException  # noqa: PLC0415

    for word in words:
        try:
            key = str(OverridesParser.create().parse_override(word).key_or_group)
        except HydraException as error:
            reason = str(error).splitlines()[0]
            raise ConfigError(f"{word!r} is no override for verl, as key=value is: {reason}") from None
        for ours, what in OURS.items():
            if f"{ours}.".startswith(f"{key}.") or key.startswith(f"{ours}."):
                raise ConfigError(f"{word!r} changes {ours}, which code-rlvr sets ({what}); leave it out")


def _has_netrc_entry(host: str) -> bool:
    try:
        return netrc.netrc().authenticators(host) is not None
    except (OSError, netrc.NetrcParseError):
        return False


def check_machine(folder: Path) -> None:
    """Check what the quickstart needs before it has a model or data.

    Args:
        folder: Where the run will lie.

    Raises:
        VersionMismatch: verl is missing or another version.
        PreflightError: Memory or disk is missing.
    """
    check_verl()
    check_memory(CPU_RUN_GIB)
    check_disk(folder, FREE_DISK_GIB)


def check_memory(need_gib: float) -> None:
    """Check that `need_gib` of memory is free.

    Raises:
        PreflightError: Less is free.
    """
    free_gib = psutil.virtual_memory().available / 2**30
    if free_gib < need_gib:
        raise PreflightError(
            f"{free_gib:.1f} GiB of memory is free, the run needs about {need_gib:.1f} GiB; close other programs "
            "or use a larger machine"
        )


def check_disk(folder: Path, need_gib: float) -> None:
    """Check that the disk of `folder` has `need_gib` free.

    Raises:
        PreflightError: Less is free.
    """
    existing = next(parent for parent in [folder.resolve(), *folder.resolve().parents] if parent.exists())
    free_gib = shutil.disk_usage(existing).free / 2**30
    if free_gib < need_gib:
        raise PreflightError(
            f"{free_gib:.1f} GiB of disk is free at {existing}, the run needs about {need_gib:.1f} GiB; free some, "
            "lower trainer.keep_checkpoints, or set runs_dir to another disk"
        )


def disk_need_gib(config: TrainConfig) -> float:
    """Room for logs and as many checkpoints as lie there at once: the last goes when its successor is written."""
    critic = critic_size(config)
    actor_bytes = CHECKPOINT_BYTES["frozen" if config.actor.lora_rank else "trained"] * actor_size(config).weights
    critic_bytes = CHECKPOINT_BYTES["trained"] * critic.weights if critic else 0
    saved = math.ceil(config.trainer.steps / config.trainer.save_every)
    checkpoints = min(saved, max(config.trainer.keep_checkpoints, 2))
    return FREE_DISK_GIB + (actor_bytes + critic_bytes) * checkpoints / 2**30


def check_compiler() -> str:
    """Look for what torch and vLLM make their kernels' launchers with, by Triton, when a GPU run begins.

    Returns:
        The compiler.

    Raises:
        PreflightError: There is none, or Python's headers are missing.
    """
    compiler = os.environ.get("CC") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        raise PreflightError(
            "neither gcc nor clang was found, which torch and vLLM need for GPU kernels; install one (apt-get install "
            "gcc), or name yours in CC"
        )
    scheme = sysconfig.get_default_scheme()
    # Debian's own Python names a folder for what users install, where its headers are not; Triton looks as this does.
    paths = sysconfig.get_paths("posix_prefix" if scheme == "posix_local" else scheme)
    header = Path(paths["include"]) / "Python.h"
    if not header.is_file():
        raise PreflightError(
            f"{header} is missing, which torch and vLLM need for GPU kernels; install Python's headers (apt-get "
            "install python3-dev), or use a Python that has them, as those of uv and conda"
        )
    return compiler


def check_shared_memory(need_gib: float) -> None:
    """Check that /dev/shm, through which Ray's processes hand each other data, has so much room.

    Raises:
        PreflightError: It has less, as in a container with the usual 64 MB.
    """
    free_gib = shutil.disk_usage("/dev/shm").free / 2**30
    if free_gib < need_gib:
        raise PreflightError(
            f"/dev/shm has {free_gib:.2f} GiB free, the run needs about {need_gib:.1f} GiB; start the container with "
            "--shm-size=8g or --ipc=host"
        )
