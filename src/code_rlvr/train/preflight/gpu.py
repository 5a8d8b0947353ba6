"""Whether the GPUs are there and large enough, by an estimate that is called one.

| role | bytes a weight | where |
|---|---|---|
| actor, critic | 16: weight 4, gradient 4, Adam's moments 8; 4 if frozen under adapters | spread over the GPUs |
| reference | 4 | spread over the GPUs; with adapters it is the actor without them |
| logits of a pass | 6 a token and vocabulary entry, unless they are fused | each GPU |
| activations of a pass | a token and layer: 24 a hidden unit, 8 an intermediate one | each GPU |
| the same if recomputed | 2 a token, layer and hidden unit, and one layer in full | each GPU |

Roles that are offloaded take turns, so that the largest counts, with what its pass takes; others add up.  vLLM's share
comes on top of what stays on the GPU while it samples.  Sources for the constants: mixed-precision Adam, Rajbhandari et
al. 2019 (arXiv:1910.02054), section 3.1; activations, what a layer with a gated MLP keeps in bfloat16 for its backward
pass, as measured for Qwen2.5-0.5B at 16,384 tokens (22.0 GiB; this gives 22.1).

Covered: counting GPUs, the estimate.  Not covered: fragmentation, and what libraries take for themselves.
"""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from typing import Any, NamedTuple

from code_rlvr.errors import PreflightError
from code_rlvr.train.config import TrainConfig
from code_rlvr.train.preflight.sizes import actor_size, critic_size

GIB = 2**30
TRAINER_GIB, ASLEEP_GIB = 1.2, 2.0
"""What CUDA and libraries take in the trainer's process, and what vLLM holds beside its weights; of a run of 1.5B."""
TRAINED, FROZEN = 16, 4  # bytes a weight


@dataclass(frozen=True, slots=True)
class Need:
    """What one GPU has to hold, in GiB.

    Args:
        training: While a role is trained, vLLM asleep.
        sampling: While vLLM samples, without its own share.
    """

    training: float
    sampling: float


def check_gpus(config: TrainConfig) -> str:
    """Check that each node has the GPUs that are asked for, and that they are large enough.

    Returns:
        What was found, in a sentence.

    Raises:
        PreflightError: There are too few, or the estimate exceeds their memory.
    """
    cards = list_gpus()
    wanted = config.trainer.gpus_per_node
    if len(cards) < wanted:
        raise PreflightError(
            f"this machine shows {len(cards)} GPUs, trainer.gpus_per_node asks for {wanted}; lower it or see nvidia-smi"
        )
    card_gib = min(cards[:wanted])
    need = estimate(config)
    sampling = need.sampling + config.rollout.gpu_memory_share * card_gib
    if max(need.training, sampling) > card_gib:
        phase = "training" if need.training > sampling else "sampling"
        raise PreflightError(
            f"{phase} needs about {max(need.training, sampling):.0f} GiB of a GPU's {card_gib:.0f} GiB (an estimate); "
            "actor.offload, critic.offload and reference.offload, a smaller actor.micro_batch_tokens or "
            "rollout.gpu_memory_share, actor.lora_rank, or more GPUs need less"
        )
    return (
        f"{wanted} of {card_gib:.0f} GiB; training needs about {need.training:.0f} GiB, sampling {sampling:.0f} GiB "
        "(an estimate)"
    )


def list_gpus() -> list[float]:
    """The memory of each GPU of this machine in GiB; none if there is no driver."""
    if shutil.which("nvidia-smi") is None:
        return []
    command = ["nvidia-smi", "--query-gpu=memory.total", "--format=csv,noheader,nounits"]
    shown = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    return [float(line) / 1024 for line in shown.stdout.split("\n") if line.strip().isdigit()]


def estimate(config: TrainConfig) -> Need:
    """Estimate what one GPU has to hold."""
    roles = _roles(config)
    resident = sum(role.weights_gib for role in roles if not role.offloaded) + TRAINER_GIB
    in_turn = max(role.pass_gib + (role.weights_gib if role.offloaded else 0.0) for role in roles)
    return Need(resident + in_turn + ASLEEP_GIB, resident)


class _Role(NamedTuple):
    """One model on a GPU: what stays of it, and what one of its passes takes on top, in GiB."""

    weights_gib: float
    pass_gib: float
    offloaded: bool


def _roles(config: TrainConfig) -> list[_Role]:
    ranks = config.trainer.ranks
    model, critic = actor_size(config), critic_size(config)
    adapters = bool(config.actor.lora_rank)
    in_pass = _pass_gib(config, model.shape, logits=not config.actor.fused_logits)
    held = (FROZEN if adapters else TRAINED) * model.weights / ranks / GIB
    roles = [_Role(held, in_pass, bool(config.actor.offload))]
    if not adapters:
        roles.append(_Role(FROZEN * model.weights / ranks / GIB, 0.0, bool(config.reference.offload)))
    if critic is not None:
        in_pass = _pass_gib(config, critic.shape, logits=False)
        roles.append(_Role(TRAINED * critic.weights / ranks / GIB, in_pass, bool(config.critic.offload)))
    return roles


def _pass_gib(config: TrainConfig, shape: dict[str, Any], *, logits: bool) -> float:
    """What the tokens of one forward and backward pass take, with or without logits."""
    longest = config.data.max_prompt_tokens + config.data.max_response_tokens
    tokens = config.actor.micro_batch_tokens or config.actor.micro_batch * longest
    hidden, layers = int(shape.get("hidden_size", 0)), int(shape.get("num_hidden_layers", 0))
    layer = tokens * (24 * hidden + 8 * int(shape.get("intermediate_size", 4 * hidden)))
    activations = 2 * tokens * hidden * layers + layer if config.actor.gradient_checkpointing else layer * layers
    return (activations + (6 * tokens * int(shape.get("vocab_size", 0)) if logits else 0)) / GIB
