"""Rewards into verl's store: the score of each sample at its last token; a sample without one counts no more.

A batch keeps its size, which its mini-batches divide.  So a sample whose judging failed becomes what verl itself fills
batches up with: nothing in it is learned from, it is a group of its own, and the metrics pass it over.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
import transfer_queue as tq
from verl.utils.tensordict_utils import get_tensordict, list_of_dict_to_tensordict


def sample_of(key: str) -> str:
    """Return ``<uid>_<session>`` of a key ``<uid>_<session>_<output>``."""
    return key.rsplit("_", 1)[0]


def store_rewards(batch: Any, rewards: Mapping[str, Mapping[str, float]]) -> tuple[list[str], list[str]]:
    """Give the samples of a batch their scores.

    Args:
        batch: verl's description of it; the tags of samples without a reward become those of padding.
        rewards: By sample, see `sample_of`; each with ``score``.

    Returns:
        Keys of the samples with a reward and of those without, padding that verl put in left out; in the batch's order.
    """
    real = [key for key, tag in zip(batch.keys, batch.tags, strict=True) if not tag.get("is_padding", False)]
    judged = [key for key in real if sample_of(key) in rewards]
    lost = [key for key in real if sample_of(key) not in rewards]
    if judged:
        masks = _masks(batch, judged)
        at_the_end = torch.zeros(masks.values().shape[0], dtype=torch.float32)
        scores = [rewards[sample_of(key)]["score"] for key in judged]
        at_the_end[masks.offsets()[1:] - 1] = torch.tensor(scores, dtype=torch.float32)
        nested = torch.nested.nested_tensor_from_jagged(at_the_end, masks.offsets())
        tq.kv_batch_put(keys=judged, partition_id=batch.partition_id, fields=get_tensordict({"rm_scores": nested}))
    if lost:
        _retire(batch, lost)
    return judged, lost


def _retire(batch: Any, keys: list[str]) -> None:
    """Let samples be padding; their score in the store is 0 already."""
    fields = [
        {"response_mask": torch.zeros_like(mask), "loss_mask": torch.zeros_like(mask), "uid": f"lost{key}"}
        for key, mask in zip(keys, _masks(batch, keys).unbind(), strict=True)
    ]
    tags = dict(zip(batch.keys, batch.tags, strict=True))
    for key in keys:
        tags[key]["is_padding"] = True
    tq.kv_batch_put(  # later phases take the tags from the store
        keys=keys,
        partition_id=batch.partition_id,
        fields=list_of_dict_to_tensordict(fields),
        tags=[tags[key] for key in keys],
    )


def _masks(batch: Any, keys: list[str]) -> Any:
    """Return the response masks of samples, a jagged tensor (samples, tokens)."""
    fields = tq.kv_batch_get(keys=keys, partition_id=batch.partition_id, select_fields=["response_mask"])
    return fields["response_mask"]
