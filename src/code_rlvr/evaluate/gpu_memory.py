"""The memory of GPUs that other processes use too: when it is steady, and how much of it an engine may take.

vLLM measures the free memory while it starts.  It gives up where less is free than the share that it was told to take,
and where memory becomes free meanwhile: that of the engine before it, of a training run that has just ended.

Covered: waiting with a bound, the share to take, a model too large for what is free.  Not covered: what vLLM needs
besides its weights, which it finds out by a trial.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import torch

from code_rlvr.errors import PreflightError
from code_rlvr.evaluate.model import read_object

GIB = 2**30
SHARE = 0.85
"""The most of a GPU that an engine takes: estimates are off, and allocators leave gaps."""
MARGIN = 1 * GIB
"""Left free besides: vLLM's process takes some before it measures."""
POLL_S = 0.5
STEADY_READINGS = 4
"""So many readings alike, one after another, are taken for the end of a change."""
ALIKE = GIB // 16
"""Readings that differ by less are alike; in bytes."""
BOUND_S = 60.0
"""The longest wait.  An engine that was killed gives back its memory within seconds."""


class GpuMemory(NamedTuple):
    """The memory of one GPU, in bytes.

    Args:
        free: What no process has.
        total: What there is.
    """

    free: int
    total: int


Read = Callable[[], list[GpuMemory]]
"""Reads the memory of each GPU now."""


def read_memory(gpus: int) -> list[GpuMemory]:
    """The memory of the first GPUs that this process sees; nothing if it sees none."""
    if not torch.cuda.is_available():
        return []
    return [GpuMemory(*torch.cuda.mem_get_info(number)) for number in range(gpus)]


def wait_for_memory(
    read: Read,
    at_least: Sequence[int] = (),
    *,
    bound_s: float = BOUND_S,
    sleep: Callable[[float], None] = time.sleep,
) -> list[GpuMemory]:
    """Wait until the free memory changes no more, and until as much is free as there was before.

    Args:
        read: Reads it.
        at_least: Bytes that should be free on each GPU; `ALIKE` less will do.  Empty for no such condition.
        bound_s: The longest wait, in seconds; what is free then has to do, for another process may have the rest.
        sleep: Waits for some seconds.

    Returns:
        The last reading.
    """
    readings = [read()]
    for _ in range(int(bound_s / POLL_S) if readings[0] else 0):
        last = readings[-STEADY_READINGS:]
        back = all(one.free >= wanted - ALIKE for one, wanted in zip(last[-1], at_least, strict=False))
        if back and len(last) == STEADY_READINGS and _are_alike(last):
            break
        sleep(POLL_S)
        readings.append(read())
    return readings[-1]


def _are_alike(readings: Sequence[list[GpuMemory]]) -> bool:
    free = [[one.free for one in reading] for reading in readings]
    return all(max(gpu) - min(gpu) < ALIKE for gpu in zip(*free, strict=True))


def has_grown(before: Sequence[GpuMemory], after: Sequence[GpuMemory]) -> bool:
    """Whether another process gave memory back between two readings; a start that failed may succeed now."""
    return any(now.free - then.free >= ALIKE for then, now in zip(before, after, strict=True))


def count_weight_bytes(model_dir: Path) -> int:
    """Bytes that a model's weights take on a GPU: as they are stored, but float32 is halved by vLLM."""
    stored = sum(file.stat().st_size for file in model_dir.glob("*.safetensors"))
    config = read_object(model_dir / "config.json")
    return stored // 2 if "float32" in (config.get("dtype"), config.get("torch_dtype")) else stored


def plan_share(memory: Sequence[GpuMemory], weights: int, model_dir: Path) -> float:
    """The share of each GPU that an engine is told to take, no more than is free.

    Args:
        memory: Of each GPU that it uses.
        weights: Bytes that the model's weights take on each of them.
        model_dir: The model, for the message.

    Returns:
        A share in (0, `SHARE`].

    Raises:
        PreflightError: Not even the weights fit.
    """
    for number, one in enumerate(memory):
        if min(one.free - MARGIN, SHARE * one.total) <= weights:
            raise PreflightError(
                f"GPU {number} has {one.free / GIB:.1f} of {one.total / GIB:.1f} GiB free, and the weights of "
                f"{model_dir} take {weights / GIB:.1f}; end the other processes on it (nvidia-smi shows them), or use "
                "a smaller model"
            )
    return min([SHARE, *((one.free - MARGIN) / one.total for one in memory)])
