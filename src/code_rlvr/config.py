"""Reading configuration: pydantic models, from TOML, changed by dotted overrides.

`load_config` is the one way in: a model's defaults, then a TOML file, then ``section.key=value`` words from
the command line.  Unknown keys are refused, with the nearest known one.  What a run really used is written
to ``runs/NAME/config.json``, and `load_config` reads that back for a resume.
"""

from __future__ import annotations

import difflib
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from code_rlvr.errors import ConfigError

if sys.version_info >= (3, 11):
    import tomllib
else:  # pragma: no cover  only on Python 3.10
    import tomli as tomllib


class Section(BaseModel):
    """A section that refuses keys it does not know and shows its fields' docstrings."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True, validate_default=True)


ConfigT = TypeVar("ConfigT", bound=BaseModel)


def load_config(
    model: type[ConfigT], file: Path | None = None, overrides: Sequence[str] = (), *, base: Path | None = None
) -> ConfigT:
    """Build a configuration from defaults, a file and overrides, later ones winning.

    Args:
        model: The configuration class.
        file: TOML, or the ``config.json`` of a run.
        base: TOML that `file` builds on, e.g. a preset.
        overrides: Words ``section.key=value``; the value is read as TOML, and as text if it is none.

    Raises:
        ConfigError: The file cannot be read, a key is unknown or a value does not fit.
    """
    tree = _read_tree(base) if base else {}
    if file:
        _merge(tree, _read_tree(file))
    for word in overrides:
        _set_dotted(tree, word)
    try:
        return model.model_validate(tree)
    except ValidationError as error:
        raise ConfigError(_explain(error, model, file)) from None


def dotted(tree: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of nested tables by their dotted names, in order.

    Args:
        tree: Tables within tables, as a file of settings holds them.
    """
    flat: dict[str, Any] = {}
    for key, value in tree.items():
        if isinstance(value, Mapping):
            flat |= {f"{key}.{name}": one for name, one in dotted(value).items()}
        else:
            flat[key] = value
    return flat


def _read_tree(file: Path) -> dict[str, Any]:
    try:
        text = file.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"cannot read the configuration {file}: {error.strerror}") from None
    try:
        tree = json.loads(text) if file.suffix == ".json" else tomllib.loads(text)
    except ValueError as error:
        raise ConfigError(f"{file} is not valid {file.suffix[1:].upper() or 'TOML'}: {error}") from None
    if not isinstance(tree, dict):
        raise ConfigError(f"{file} must hold a table of settings")
    return tree


def _merge(tree: dict[str, Any], changes: Mapping[str, Any]) -> None:
    for key, value in changes.items():
        inner = tree.get(key)
        if isinstance(inner, dict) and isinstance(value, dict):
            _merge(inner, value)
        else:
            tree[key] = value


def _set_dotted(tree: dict[str, Any], word: str) -> None:
    key, equals, text = word.partition("=")
    if not equals or not key:
        raise ConfigError(f"{word!r} is not an override; write section.key=value, e.g. trainer.steps=40")
    *parents, last = key.split(".")
    for parent in parents:
        tree = tree.setdefault(parent, {})
        if not isinstance(tree, dict):
            raise ConfigError(f"{word!r}: {parent} is a value, not a section")
    try:
        tree[last] = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        tree[last] = text


def _explain(error: ValidationError, model: type[BaseModel], file: Path | None) -> str:
    """Turn pydantic's report into one line for each problem, with the nearest known key."""
    known = sorted(_dotted_names(model))
    lines = []
    for problem in error.errors():
        key = ".".join(str(part) for part in problem["loc"])
        if problem["type"] == "extra_forbidden":
            key = ".".join([key, *_only_keys(problem["input"])])
            near = [name for name in known if name.endswith(f".{key}")] or difflib.get_close_matches(key, known, n=1)
            lines.append(f"unknown setting {key}" + (f"; did you mean {near[0]}?" if near else ""))
        else:
            lines.append(f"{key}: {problem['msg']}" if key else problem["msg"].removeprefix("Value error, "))
    return "\n".join(f"{file or 'configuration'}: {line}" for line in lines)


def _only_keys(value: object) -> list[str]:
    """The keys below an unknown one, as far as there is one each: ``steps`` of ``{"steps": 40}``."""
    keys: list[str] = []
    while isinstance(value, Mapping) and len(value) == 1:
        key, value = next(iter(value.items()))
        keys.append(str(key))
    return keys


def _dotted_names(model: type[BaseModel], prefix: str = "") -> list[str]:
    names = []
    for name, field in model.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            names += _dotted_names(field.annotation, f"{prefix}{name}.")
        else:
            names.append(prefix + name)
    return names
