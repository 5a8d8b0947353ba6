"""In what runs differ: settings, versions of libraries, files of problems.

Covered: which settings differ, as values.  Not covered: what a difference did; runs that differ in several settings
do not tell that.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from code_rlvr.config import dotted
from code_rlvr.report.inputs import NAMES_OF_THE_RUN
from code_rlvr.report.run_state import RunState


@dataclass(frozen=True)
class SettingDifference:
    """A setting that is not the same in all runs.

    Args:
        kind: ``setting``, ``version`` or ``problems``.
        setting: Its dotted path; or the library, or the split whose file differs.
        values: Of each run; None where it is not set, or not known.
        partly: Whether it is missing in a run that recorded others of its kind, e.g. one of another version.
    """

    kind: str
    setting: str
    values: tuple[Any, ...]
    partly: bool


def list_differences(states: Sequence[RunState]) -> list[SettingDifference]:
    """Return what differs, settings first.

    Args:
        states: The runs.  One that did not record a kind at all, e.g. a plain file of metrics, counts as unknown there
            and makes no difference.
    """
    kinds = {
        "setting": [_settings(state.inputs.config) for state in states],
        "version": [dict(state.inputs.versions) for state in states],
        "problems": [state.problem_hashes for state in states],
    }
    return [
        SettingDifference(
            kind,
            setting,
            tuple(one.get(setting) for one in trees),
            partly=any(setting not in one for one in trees if one),
        )
        for kind, trees in kinds.items()
        for setting in _differing(trees)
    ]


def shared_folders(values: Sequence[Any]) -> int:
    """Return how many characters of paths are the same folders in all of them; 0 if that is no more than one.

    Args:
        values: Of each run; None where there is none.
    """
    known = [value for value in values if value is not None]
    if len(known) < 2 or not all(isinstance(value, str) for value in known):
        return 0
    levels = zip(*(value.split("/")[:-1] for value in known), strict=False)
    shared = [level[0] for level in itertools.takewhile(lambda level: len(set(level)) == 1, levels)]
    return sum(len(folder) + 1 for folder in shared) if len(shared) > 2 else 0


def _settings(config: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in dotted(config).items() if name not in NAMES_OF_THE_RUN}


def _differing(trees: Sequence[Mapping[str, Any]]) -> list[str]:
    known = [tree for tree in trees if tree]
    names = dict.fromkeys(name for tree in known for name in tree)  # in the order of the first run's file
    # Not `==` alone: 1 equals True.
    return [name for name in names if len({repr(tree.get(name)) for tree in known}) > 1]
