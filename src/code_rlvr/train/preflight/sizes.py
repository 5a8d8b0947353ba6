"""How large the models of a run are, by their folders.

Covered: the number of weights, by the files' size; the configuration's numbers.  Not covered: what they take where
(`gpu`, `machine`).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from code_rlvr.train.config import TrainConfig
from code_rlvr.usable_model import read_settings

_BYTES_IN_FILE = {"float32": 4, "float16": 2, "bfloat16": 2}


class Size(NamedTuple):
    """A model's configuration, and how many weights it has."""

    shape: dict[str, Any]
    weights: float


def actor_size(config: TrainConfig) -> Size:
    """Of the model that is trained, and that the reference is."""
    return _size(Path(config.model))


def critic_size(config: TrainConfig) -> Size | None:
    """Of the critic; None if the run has none."""
    if config.algorithm.estimator != "gae":
        return None
    return _size(Path(config.critic.model or config.model))


def _size(folder: Path) -> Size:
    shape = read_settings(folder / "config.json")
    stored = sum(file.stat().st_size for file in folder.glob("*.safetensors"))
    return Size(shape, stored / _BYTES_IN_FILE.get(str(shape.get("torch_dtype") or shape.get("dtype")), 2))
