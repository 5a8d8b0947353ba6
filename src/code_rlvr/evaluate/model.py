"""The model that a word on the command line means: its folder, and the run that trained it.

| word | model |
|---|---|
| `runs/NAME` | `runs/NAME/merged` |
| a folder | itself; as `merged` of a run, or by its `merge.json`, it comes from that run |
| OWNER/NAME | fetched from the hub |

Covered: finding it, and what can be told about it without loading it.  Not covered: loading (`engine`).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from code_rlvr.errors import ModelError
from code_rlvr.model_folder import local_model
from code_rlvr.runs import MERGE_RECORD, RunFolder
from code_rlvr.usable_model import require_usable


@dataclass(frozen=True, slots=True)
class Model:
    """A model to evaluate.

    Args:
        word: As it was given.
        folder: With weights, configuration and tokenizer.
        run: Whose training made it; None if that is not known.
    """

    word: str
    folder: Path
    run: RunFolder | None

    @property
    def name(self) -> str:
        """A name for a folder of results."""
        path = self.run.path if self.run else Path(self.word)
        return path.resolve().name if path.exists() else self.word.rpartition("/")[2]

    def base(self) -> Model | None:
        """What its run started from, if that is a model of a run as well."""
        named = self.run_setting("model")
        folder = Path(named) if isinstance(named, str) and named else None
        run = _run_of(folder) if folder is not None and folder.is_dir() else None
        return Model(str(named), folder, run) if folder is not None and run is not None else None

    def run_setting(self, path: str) -> Any:
        """A setting of its run by its dotted path; None if there is no run or no such setting."""
        value: Any = read_object(self.run.config) if self.run else {}
        for key in path.split("."):
            value = value.get(key) if isinstance(value, dict) else None
        return value


def find_model(word: str) -> Model:
    """Find a model and see that it can be one to evaluate.

    Raises:
        ModelError: It is neither here nor on the hub, or lacks weights, a tokenizer, a chat template, or the
            architecture of a language model.
    """
    path = Path(word)
    if _is_run(path):
        run = RunFolder(path)
        if not run.merged.is_dir():
            raise ModelError(f"{word} is a run without a merged model; make it with: code-rlvr merge {word}")
        model = Model(word, run.merged, run)
    else:
        # In a folder that is there, it is a path with a slip in it and no name on the hub.
        folder = path if path.parts and Path(path.parts[0]).is_dir() else Path(local_model(word))
        if not folder.is_dir():
            raise ModelError(f"{word} is no folder here, and no name on the hub, which would be OWNER/NAME")
        model = Model(word, folder, _run_of(folder))
    require_usable(model.folder)
    return model


def _is_run(path: Path) -> bool:
    """A run's config.json is of settings, a model's of an architecture."""
    return "trainer" in read_object(path / "config.json")


def _run_of(folder: Path) -> RunFolder | None:
    parent = folder.absolute().parent
    if folder.name == "merged" and _is_run(parent):
        return RunFolder(folder.parent if folder.parent != Path() else parent)
    note = read_object(folder / MERGE_RECORD)
    named = note.get("run_folder")
    return RunFolder(Path(named)) if isinstance(named, str) and named else None


def read_object(file: Path) -> dict[str, Any]:
    """The JSON object in a file; an empty one if there is none, for whatever reason."""
    try:
        found = json.loads(file.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
