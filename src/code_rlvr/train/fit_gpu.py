"""Which ways of saving a GPU's memory a run takes, and how large its passes are, by the estimate of `preflight.gpu`.

Covered: settings that were left open.  Not covered: what was set, which stays; runs that fit in no way (`preflight`).
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from code_rlvr.config import Section
from code_rlvr.train.config import TrainConfig
from code_rlvr.train.preflight.gpu import estimate, list_gpus

MARGIN = 0.85
"""Share of a GPU that may be planned with: estimates are off, and allocators leave gaps."""
PASS_TOKENS, LARGE_PASS_TOKENS = 16_384, 32_768
"""Tokens of a pass where they were left open, and where there is room to spare."""


class Saving(NamedTuple):
    """Ways to save memory, each slower than without."""

    checkpointing: bool
    offload_reference: bool
    offload_trained: bool


SAVINGS = (
    Saving(checkpointing=False, offload_reference=False, offload_trained=False),
    Saving(checkpointing=True, offload_reference=False, offload_trained=False),
    Saving(checkpointing=True, offload_reference=True, offload_trained=False),
    Saving(checkpointing=True, offload_reference=True, offload_trained=True),
)
"""From the fastest to the smallest."""


def fit_gpu(config: TrainConfig) -> TrainConfig:
    """Fill in what was left open about saving memory.

    Args:
        config: The run, its model a folder.

    Returns:
        The run with the first of `SAVINGS` that fits its GPUs, with the last if none does or no GPU is seen,
        and with the first on a CPU.  If the tokens of a pass were left open, passes are large only where they fit with
        the first: any saving costs more than large passes gain.
    """
    large = config
    if config.actor.micro_batch_tokens == 0:
        config, large = _in_passes_of(config, PASS_TOKENS), _in_passes_of(config, LARGE_PASS_TOKENS)
    if config.trainer.device == "cpu":
        return _with(config, SAVINGS[0])
    known = (Path(config.model) / "config.json").is_file()  # if not, `preflight` says so
    cards = list_gpus()[: config.trainer.gpus_per_node] if known else []
    tries = [_with(large, SAVINGS[0]), *(_with(config, saving) for saving in SAVINGS)]
    return next((one for one in tries if cards and _fits(one, min(cards))), tries[-1])


def _in_passes_of(config: TrainConfig, tokens: int) -> TrainConfig:
    longest = config.data.max_prompt_tokens + config.data.max_response_tokens
    actor = config.actor.model_copy(update={"micro_batch_tokens": max(tokens, longest)})
    return config.model_copy(update={"actor": actor})


def _fits(config: TrainConfig, card_gib: float) -> bool:
    need = estimate(config)
    room = MARGIN * card_gib
    return need.training <= room and need.sampling + config.rollout.gpu_memory_share * card_gib <= room


def _with(config: TrainConfig, saving: Saving) -> TrainConfig:
    actor = {"gradient_checkpointing": saving.checkpointing, "offload": saving.offload_trained}
    return config.model_copy(
        update={
            "actor": _fill(config.actor, actor),
            "critic": _fill(config.critic, {"offload": saving.offload_trained}),
            "reference": _fill(config.reference, {"offload": saving.offload_reference}),
        }
    )


def _fill(section: Section, values: dict[str, bool]) -> Section:
    """The section with values for what is None in it."""
    return section.model_copy(update={name: value for name, value in values.items() if getattr(section, name) is None})
