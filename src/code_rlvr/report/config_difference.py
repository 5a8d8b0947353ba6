"""How a run's settings differ from the preset that it was started with, or from the defaults.

Covered: settings by their dotted names.  Not covered: how they came about (`config`), names of files and folders,
which differ in every run.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from code_rlvr.config import dotted, load_config
from code_rlvr.errors import ConfigError
from code_rlvr.report.inputs import NAMES_OF_THE_RUN
from code_rlvr.report.visible import make_visible
from code_rlvr.train.config import TrainConfig
from code_rlvr.train.presets import find_preset

_OF_EVERY_RUN = {*NAMES_OF_THE_RUN, "model", "data.train_file", "data.validation_file"}


@dataclass(frozen=True)
class ConfigDifference:
    """Settings that are not those of the base.

    Args:
        base: ``the preset laptop``, or ``the defaults``.
        changes: Setting, its value in the base, its value in the run.
    """

    base: str
    changes: tuple[tuple[str, str, str], ...]


def compare_with_base(config: Mapping[str, Any], preset: str | None) -> ConfigDifference | None:
    """Compare a run's configuration with what it was made from.

    Args:
        config: ``config.json`` of the run.
        preset: Name of its preset; None if there was none, or it was not recorded.

    Returns:
        None for an empty configuration.
    """
    if not config:
        return None
    title = f"the preset {preset}"
    try:
        base = load_config(TrainConfig, find_preset(preset) if preset else None)
    except ConfigError:  # a preset that is no longer there
        base, preset = TrainConfig(), None
    before, after = dotted(base.model_dump(mode="json")), dotted(config)
    # A setting that the run's file lacks is newer than the run, and was not changed by it.
    changes = [
        (make_visible(name, 100), _text(before, name), _text(after, name))
        for name in sorted(after.keys() - _OF_EVERY_RUN)
        if before.get(name, _ABSENT) != after[name]
    ]
    return ConfigDifference(title if preset else "the defaults", tuple(changes))


_ABSENT = object()


def _text(settings: Mapping[str, Any], name: str) -> str:
    if name not in settings:
        return "not there"
    value = settings[name]
    return "not set" if value is None else make_visible(json.dumps(value, ensure_ascii=False), 200)
