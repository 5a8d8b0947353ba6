"""The page of settings: every one with type, default, bounds and meaning, and what each preset changes.

Covered: settings of `train`, the quickstart and the report, read from the models' JSON schema; the presets' files.
Not covered: checks over several settings, which are the models' validators and told in one paragraph here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from code_rlvr.config import dotted, load_config
from code_rlvr.quickstart import QuickstartConfig
from code_rlvr.report.settings import ReportConfig
from code_rlvr.train.config import TrainConfig
from code_rlvr.train.presets import find_preset, preset_names

Schema = Mapping[str, Any]

INTRODUCTION = """# Configuration

Every setting of `code-rlvr train`, then those of the quickstart and the report; the page is made from the code by
`python -m code_rlvr.reference docs/reference`. A run takes the defaults, then `--preset`, then `--config FILE.toml`,
then words `section.key=value`; the later one wins. Unknown keys are refused, with the nearest known one. What a run
really used is in its `config.json`.

```toml
# my-run.toml, for: code-rlvr train --preset single-gpu-0.5b --config my-run.toml trainer.steps=100
name = "my-run"

[data]
train_file = "data/train.parquet"
validation_file = "data/validation.parquet"

[actor]
lr = 2e-6
```

The settings of verl that are not here are reached by what follows `--` on the command line, or by `verl`.

Checked over several settings: `trainer.batch` is a multiple of `actor.mini_batch`; without `actor.micro_batch_tokens`,
`actor.mini_batch` × `rollout.samples_per_prompt` is one of ranks × `actor.micro_batch`; `grpo` needs at least 2
samples a prompt; the weights of `tiered` add up to 1, and form earns less than tests.
"""
QUICKSTART = """## The quickstart

Settings of `code-rlvr quickstart`; those of its training are the ones above with `train.` in front, as in
`train.trainer.steps=40`.
"""
REPORT = """## The report

When the rules of health speak; the rules themselves: [health](../health.md); how to set them:
[report](../report.md#thresholds).
"""
PRESETS = """## What presets change

Where a cell is empty, the default holds. The files: [`configs/`](../../src/code_rlvr/configs). What they were run on:
[train.md](../train.md).
"""
TABLE = "| setting | type | default | bounds | meaning |\n|---|---|---|---|---|"
BOUNDS = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤", "exclusiveMaximum": "<", "pattern": "matches"}
TYPES = {"integer": "whole number", "number": "number", "string": "text", "boolean": "true or false"}


def config_markdown() -> str:
    """Return the page of all settings."""
    quickstart = QuickstartConfig.model_json_schema()
    del quickstart["properties"]["train"]
    parts = [INTRODUCTION, *_sections(TrainConfig.model_json_schema(), "Run", 2), QUICKSTART]
    parts += [
        *_sections(quickstart, "Sizes and places", 3),
        REPORT,
        *_sections(ReportConfig.model_json_schema(), "", 3),
    ]
    return "\n".join([*parts, PRESETS, _preset_table()]) + "\n"


def _sections(schema: Schema, title: str, level: int) -> Iterator[str]:
    """A table for the settings that stand in no section, then one for each section."""
    inner = {name: field for name, field in schema["properties"].items() if "$ref" in field}
    plain = {name: field for name, field in schema["properties"].items() if name not in inner}
    if plain:
        yield _section(title, schema["description"], plain, "", level)
    for name, field in inner.items():
        section = schema["$defs"][field["$ref"].rpartition("/")[2]]
        yield _section(f"`[{name}]`", section["description"], section["properties"], f"{name}.", level)


def _section(title: str, meaning: str, fields: Mapping[str, Schema], prefix: str, level: int) -> str:
    rows = [
        f"| `{prefix}{name}` | {_type(field)} | {_value(field['default'])} | {_bounds(field)} | {_cell(field)} |"
        for name, field in fields.items()
    ]
    return "\n".join([f"{'#' * level} {title}", "", _one_line(meaning), "", TABLE, *rows, ""])


def _alternatives(field: Schema) -> list[Schema]:
    return list(field.get("anyOf", [field]))


def _type(field: Schema) -> str:
    """A type in words: ``whole number, or unset``."""
    names = []
    for one in _alternatives(field):
        if "enum" in one or "const" in one:
            names.append(" or ".join(f"`{value}`" for value in one.get("enum", [one.get("const")])))
        elif one["type"] == "array":
            names.append(f"list of {_type(one['items'])}")
        elif one["type"] != "null":
            names.append(TYPES[one["type"]])
    unset = any(one.get("type") == "null" for one in _alternatives(field))
    return " or ".join(names) + (", or unset" if unset else "")


def _bounds(field: Schema) -> str:
    found = [
        f"{sign} `{one[key]}`" if key == "pattern" else f"{sign} {one[key]:g}"
        for one in _alternatives(field)
        for key, sign in BOUNDS.items()
        if key in one
    ]
    return _escape(", ".join(found))


def _value(value: Any) -> str:
    """A value as TOML writes it."""
    return "unset" if value is None else f"`{json.dumps(value)}`"


def _cell(field: Schema) -> str:
    return _escape(_one_line(field["description"]))


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _escape(text: str) -> str:
    return text.replace("|", r"\|")


def _preset_table() -> str:
    names = preset_names()
    changes = {
        name: dotted(load_config(TrainConfig, base=find_preset(name)).model_dump(mode="json", exclude_unset=True))
        for name in names
    }
    settings = dict.fromkeys(key for name in names for key in changes[name])  # each once, in order
    head = ["setting", *(f"`{name}`" for name in names)]
    rows = [
        [f"`{key}`", *(_value(changes[name][key]) if key in changes[name] else "" for name in names)]
        for key in settings
    ]
    return "\n".join(f"| {' | '.join(row)} |" for row in [head, ["---"] * len(head), *rows])
