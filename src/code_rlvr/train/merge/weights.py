"""What a checkpoint's weights mean: the trained tensors under the names of a Hugging Face model.

Covered: full weights, and weights with low-rank adapters, which count as W + alpha/rank · B·A (arXiv:2106.09685,
section 4.1), added in float32.  Not covered: other adapters (DoRA, of embeddings, of experts), and checkpoints with
nothing but adapters (verl's ``save_lora_only``); both are refused.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

import torch

from code_rlvr.errors import UsageError
from code_rlvr.train.merge.shards import Shards

LORA_META = "lora_train_meta.json"

_PREFIX = "base_model.model."
_ADAPTER = re.compile(rf"{re.escape(_PREFIX)}(?P<module>.+)\.lora_(?P<half>[AB])\.default\.weight")


@dataclass(frozen=True)
class Adapters:
    """The low-rank adapters of a checkpoint.

    Args:
        rank: Of A and B.
        alpha: They count ``alpha / rank`` times.
        modules: Names of the layers that have one, e.g. ``model.layers.0.self_attn.q_proj``.
    """

    rank: int
    alpha: float
    modules: tuple[str, ...]


class TrainedWeights:
    """The weights of one checkpoint, a tensor at a time.

    Args:
        folder: ``actor`` of a checkpoint.

    Raises:
        UsageError: It is incomplete, or has adapters of another kind.
    """

    def __init__(self, folder: Path) -> None:
        self.shards = Shards(folder)
        self.adapters = _read_adapters(folder, self.shards)
        self._saved = {_plain(name): name for name in self.shards.names if ".lora_" not in name}
        if not self._saved:
            raise UsageError(
                f"{folder} holds adapters without the weights that they belong to (save_lora_only), which cannot be "
                "merged; train without that word"
            )
        self._adapted = set(self.adapters.modules) if self.adapters else set()

    @property
    def names(self) -> list[str]:
        """The tensors' names in a Hugging Face model; tied ones can be there twice."""
        return list(self._saved)

    @property
    def numbers(self) -> int:
        """How many numbers the merged model has."""
        return sum(self.shards.size(saved) for saved in self._saved.values())

    def is_adapted(self, name: str) -> bool:
        """Whether an adapter is added to a tensor."""
        return name.removesuffix(".weight") in self._adapted

    def tensor(self, name: str) -> torch.Tensor:
        """Return a trained tensor as it is to be merged.

        Returns:
            In float32 if an adapter is added, else in the type in which it was trained; not to be changed.

        Raises:
            UsageError: The shards or the adapter do not fit together.
        """
        weight = self.shards.whole(self._saved[name])
        if not self.is_adapted(name):
            return weight
        assert self.adapters is not None
        down, up = (self.adapter(name.removesuffix(".weight"), half).float() for half in "AB")
        change = up @ down * (self.adapters.alpha / self.adapters.rank)
        if change.shape != weight.shape:
            raise UsageError(f"the adapter of {name} makes {tuple(change.shape)}, the weight is {tuple(weight.shape)}")
        return weight.float() + change

    def adapter(self, module: str, half: str) -> torch.Tensor:
        """Return ``A`` [rank, in] or ``B`` [out, rank] of a layer's adapter, as it was trained."""
        return self.shards.whole(f"{_PREFIX}{module}.lora_{half}.default.weight")


def _plain(saved: str) -> str:
    """The name without what peft puts around a layer with an adapter."""
    if not saved.startswith(_PREFIX):
        return saved
    return re.sub(r"\.base_layer\.(weight|bias)$", r".\1", saved.removeprefix(_PREFIX))


def _read_adapters(folder: Path, shards: Shards) -> Adapters | None:
    names = [name for name in shards.names if "lora_" in name]
    if not names:
        return None
    found = {name: _ADAPTER.fullmatch(name) for name in names}
    strange = next((name for name, match in found.items() if match is None), None)
    if strange is not None:
        raise UsageError(f"{folder} has adapters of a kind that cannot be merged here: {strange}")
    modules = tuple(match["module"] for match in found.values() if match is not None and match["half"] == "A")
    rank = shards.whole(f"{_PREFIX}{modules[0]}.lora_A.default.weight").shape[0]
    return Adapters(rank, _read_alpha(folder / LORA_META, rank), modules)


def _read_alpha(file: Path, rank: int) -> float:
    remedy = (
        f'write {{"r": {rank}, "lora_alpha": ALPHA, "task_type": "CAUSAL_LM"}} into it, with actor.lora_alpha of the '
        "run's config.json as ALPHA"
    )
    try:
        meta = json.loads(file.read_bytes())
        saved_rank, alpha = int(meta["r"]), float(meta["lora_alpha"])
    except (OSError, ValueError, KeyError, TypeError):
        raise UsageError(f"{file} does not say how much the adapters count; {remedy}") from None
    if saved_rank != rank or alpha <= 0:
        raise UsageError(f"{file} has rank {saved_rank} and alpha {alpha}; the adapters have rank {rank}: {remedy}")
    return alpha
