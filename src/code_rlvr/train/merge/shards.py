"""The actor's weights as verl's FSDP ranks saved them, read without verl's merger.

Covered: finding what is missing or cut off in a checkpoint, each with its remedy; the whole tensor of a name, put
together from the ranks' parts.  The files are mapped, so that a tensor is in memory only while it is used.
Not covered: other backends than FSDP; what the weights mean (`merge.weights`).
"""

from __future__ import annotations

import json
import logging
import pickle
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import torch
from torch.distributed.tensor import DTensor, Shard

from code_rlvr.errors import ModelError, UsageError

FSDP_CONFIG = "fsdp_config.json"

_Part = Mapping[str, torch.Tensor]


class Shards:
    """The shards of one model.

    Args:
        folder: ``actor`` of a checkpoint.

    Raises:
        UsageError: Something is missing or cut off.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        world_size = _world_size(folder)
        first = _load(_file(folder, world_size, 0))
        # With replicas (a mesh of ddp × fsdp) the first row of ranks holds everything.
        self._parts: list[_Part] = [
            first,
            *(_load(_file(folder, world_size, rank)) for rank in range(1, _ranks(first, world_size))),
        ]

    @property
    def names(self) -> list[str]:
        """The names of the tensors, as the trainer has them."""
        return list(self._parts[0])

    @property
    def ranks(self) -> int:
        """How many parts each sharded tensor has."""
        return len(self._parts)

    def size(self, name: str) -> int:
        """How many numbers a whole tensor has."""
        return self._parts[0][name].numel()

    def whole(self, name: str) -> torch.Tensor:
        """Put one tensor together.

        Returns:
            The whole tensor, in the type in which it was trained; do not change it, it may be mapped from the file.

        Raises:
            UsageError: A rank lacks it, or the parts do not make up its shape.
        """
        try:
            parts = [part[name] for part in self._parts]
        except KeyError:
            raise UsageError(f"{self._folder}: not every rank has {name}; the ranks are of different runs") from None
        if not isinstance(parts[0], DTensor):
            if any(not torch.equal(parts[0], other) for other in parts[1:]):
                raise UsageError(f"{self._folder}: {name} differs between ranks; they are of different runs or steps")
            return parts[0]
        with torch.no_grad():
            local = [part.to_local() if isinstance(part, DTensor) else part for part in parts]
        placement = parts[0].placements[-1]
        if placement.is_replicate():
            return local[0]
        if not isinstance(placement, Shard):
            raise UsageError(f"{self._folder}: {name} is laid out as {placement}; only FSDP's shards can be merged")
        return self._join(name, local, parts[0].shape, placement.dim)

    def _join(self, name: str, local: list[torch.Tensor], shape: torch.Size, dim: int) -> torch.Tensor:
        """FSDP splits as `torch.chunk` does; later ranks have nothing where there are fewer slices than ranks."""
        whole = torch.empty(shape, dtype=local[0].dtype)
        slices = whole.chunk(len(local), dim)
        expected = [part.shape for part in slices] + [None] * (len(local) - len(slices))
        for rank, (part, wanted) in enumerate(zip(local, expected, strict=True)):
            if part.numel() != (wanted.numel() if wanted is not None else 0):
                raise UsageError(f"{self._folder}: rank {rank} has {tuple(part.shape)} of {name} {tuple(shape)}")
        for target, part in zip(slices, local, strict=False):
            target.copy_(part)
        return whole


def _world_size(folder: Path) -> int:
    config = folder / FSDP_CONFIG
    if not config.is_file():
        raise UsageError(_no_config(folder))
    try:
        world_size = json.loads(config.read_bytes())["world_size"]
    except (ValueError, KeyError, TypeError):
        world_size = None
    if not isinstance(world_size, int) or world_size < 1:
        raise UsageError(f"{config} names no world_size; it was cut off while being saved: choose another checkpoint")
    missing = [rank for rank in range(world_size) if not _file(folder, world_size, rank).is_file()]
    if missing:
        raise UsageError(
            f"{folder} lacks the shards of rank {', '.join(map(str, missing))} of {world_size} "
            f"({_file(folder, world_size, missing[0]).name}): if another machine saved them on its own disk, copy them "
            "here; if not, the checkpoint was cut off or partly deleted: choose another with --step"
        )
    return world_size


def _no_config(folder: Path) -> str:
    """verl writes the file last, and its early versions did not."""
    sizes = {file.name.split("_")[3] for file in folder.glob("model_world_size_*_rank_*.pt")}
    if len(sizes) != 1:
        return f"{folder} has no {FSDP_CONFIG} and no shards of one run; it was cut off while being saved, or emptied"
    size = sizes.pop()
    there = len(list(folder.glob(f"model_world_size_{size}_rank_*.pt")))
    problem = f"{folder} has no {FSDP_CONFIG}, which verl writes last and its early versions did not"
    if size.isdecimal() and there == int(size):
        return (
            f"{problem}; the shards of all {size} ranks are there: write it with\n"
            f'  echo \'{{"FSDP_version": 2, "world_size": {size}}}\' > {folder / FSDP_CONFIG}\n'
            "and merge again, or choose another checkpoint with --step"
        )
    return f"{problem}; there are shards of {there} of {size} ranks: choose another checkpoint with --step"


def _file(folder: Path, world_size: int, rank: int) -> Path:
    return folder / f"model_world_size_{world_size}_rank_{rank}.pt"


def _ranks(first: _Part, world_size: int) -> int:
    sharded = next((tensor for tensor in first.values() if isinstance(tensor, DTensor)), None)
    return int(sharded.device_mesh.shape[-1]) if sharded is not None else world_size


def _load(file: Path) -> _Part:
    try:
        with _quiet():
            # Only tensors are unpickled, never code.
            loaded = torch.load(file, map_location="cpu", mmap=True, weights_only=True)
    except (RuntimeError, pickle.UnpicklingError, EOFError, OSError, ValueError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise UsageError(
            f"{file} cannot be read ({reason}); it was cut off while being saved, or is not of FSDP: "
            "choose another checkpoint with --step"
        ) from None
    if not isinstance(loaded, dict) or not all(isinstance(tensor, torch.Tensor) for tensor in loaded.values()):
        raise ModelError(f"{file} holds something other than a model's tensors")
    return loaded


@contextmanager
def _quiet() -> Iterator[None]:
    """torch warns that the ranks' process group does not exist here; nothing is sent to it."""
    logger = logging.getLogger("torch.distributed.device_mesh")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)
