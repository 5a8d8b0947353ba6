"""Whether the GPUs are there and large enough, by an estimate that is called one.

| role | bytes a weight | where |
|---|---|---|
| actor, critic | 16: weight 4, gradient 4, Adam's moments 8; 4 if frozen under adapters | spread over the GPUs |
| reference | 4 | spread over the GPUs; with adapters it is the actor without them |
| logits of a pass | 6 a token and vocabulary entry, unless they are fused | each GPU |
| activations of a pass | a token and layer: 24 a hidden unit, 8 an intermediate one | each GPU |
| the same if recomputed | 2 a token, layer and hidden unit, and one layer in full | each GPU |

Roles that are offloaded take turns, so that the largest counts; others add up.  vLLM's share comes on top of what stays
on the GPU while it samples.  Sources for the constants: mixed-precision Adam, Rajbhandari et al. 2019
(arXiv:1910.02054), section 3.1; activations, what a layer with a gated MLP keeps in bfloat16 for its backward pass, as
measured for Qwen2.5-0.5B at 16,384 tokens (22.0 GiB; this gives 22.1).

Covered: counting GPUs, the estimate.  Not covered: fragmentation, and what libraries take for themselves.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from code_rlvr.errors import PreflightError
from code_rlvr.train.config import TrainConfig

GIB = 2**30
CONTEXT_GIB = 1.5  # what CUDA and its libraries take in each process, several of them
BYTES_IN_FILE = {"float32": 4, "float16": 2, "bfloat16": 2}


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
    folder = Path(config.model)
    shape = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    weights = _weights(folder, shape)
    ranks = config.trainer.gpus_per_node * config.trainer.nodes
    frozen, trained = 4 * weights / ranks / GIB, 16 * weights / ranks / GIB
    actor = (frozen if config.actor.lora_rank else trained) + CONTEXT_GIB
    critic = (trained if config.algorithm.estimator == "gae" else 0.0) + CONTEXT_GIB
    reference = 0.0 if config.actor.lora_rank else frozen
    roles = [(actor, config.actor.offload), (critic, config.critic.offload), (reference, config.reference.offload)]
    resident = sum(size for size, offloaded in roles if not offloaded)
    in_turn = max((size for size, offloaded in roles if offloaded), default=0.0)
    return Need(resident + in_turn + _pass_gib(config, shape), resident + CONTEXT_GIB)


def _weights(folder: Path, shape: dict[str, Any]) -> float:
    stored = sum(file.stat().st_size for file in folder.glob("*.safetensors"))
    return stored / BYTES_IN_FILE.get(str(shape.get("torch_dtype") or shape.get("dtype")), 2)


def _pass_gib(config: TrainConfig, shape: dict[str, Any]) -> float:
    """What the tokens of one forward and backward pass take."""
    longest = config.data.max_prompt_tokens + config.data.max_response_tokens
    tokens = config.actor.micro_batch_tokens or config.actor.micro_batch * longest
    hidden, layers = int(shape.get("hidden_size", 0)), int(shape.get("num_hidden_layers", 0))
    layer = tokens * (24 * hidden + 8 * int(shape.get("intermediate_size", 4 * hidden)))
    activations = 2 * tokens * hidden * layers + layer if config.actor.gradient_checkpointing else layer * layers
    logits = 0 if config.actor.fused_logits else 6 * tokens * int(shape.get("vocab_size", 0))
    return (activations + logits) / GIB
