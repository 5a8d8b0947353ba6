"""Presets: named settings of a training run for one kind of machine, kept as TOML files in `code_rlvr.configs`.

Covered: finding one by its name.  Not covered: what its settings mean (`train.config`).
"""

from __future__ import annotations

import difflib
from importlib.resources import files
from pathlib import Path

from code_rlvr.errors import ConfigError


def preset_names() -> list[str]:
    """Every preset's name."""
    return sorted(Path(file.name).stem for file in files("code_rlvr.configs").iterdir() if file.name.endswith(".toml"))


def find_preset(name: str) -> Path:
    """The file of a preset.

    Raises:
        ConfigError: There is none of that name.
    """
    known = preset_names()
    if name not in known:
        near = difflib.get_close_matches(name, known, n=1)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise ConfigError(f"there is no preset {name}{hint}; known are {', '.join(known)}")
    return Path(str(files("code_rlvr.configs"))) / f"{name}.toml"
