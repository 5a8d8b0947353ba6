"""The folder that a merge leaves: its record, and how it takes its place.

Covered: who may be replaced, room on the disk, ``merge.json``, the change from old to new.  Not covered: what is in
it otherwise.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import asdict
from importlib import metadata
from pathlib import Path
from typing import Any

from code_rlvr.data.hashes import hash_of
from code_rlvr.errors import DataError, PreflightError, UsageError
from code_rlvr.runs import MERGE_RECORD, RunFolder
from code_rlvr.train.merge.proof import Proof
from code_rlvr.train.merge.weights import Adapters
from code_rlvr.train.versions import installed_versions

_SPARE_BYTES = 64 * 2**20  # tokenizer, configuration, what others write meanwhile


def require_free(target: Path, run: RunFolder) -> None:
    """See that a merge may take a folder's place.

    Raises:
        UsageError: Something lies there that no merge wrote.
    """
    if target.resolve() == run.merged.resolve() or not target.exists():
        return
    if not target.is_dir() or (any(target.iterdir()) and not (target / MERGE_RECORD).is_file()):
        raise UsageError(f"{target} is there already and was not written by a merge; choose another --out")


def require_room(folder: Path, needed: int) -> None:
    """See that the disk has room.

    Args:
        folder: One on that disk.
        needed: Bytes of the weights.

    Raises:
        PreflightError: It has too little.
    """
    free = shutil.disk_usage(folder).free
    if free < needed + _SPARE_BYTES:
        raise PreflightError(
            f"merging needs {(needed + _SPARE_BYTES) / 2**30:.1f} GiB beside what is there, but the disk of {folder} "
            f"has {free / 2**30:.1f} GiB left; free some, or merge to another with --out FOLDER"
        )


def read_base_model(run: RunFolder) -> str | None:
    """Return the model that the run trained, as its configuration names it; None if there is no configuration.

    Raises:
        DataError: The configuration is not JSON.
    """
    config = _read_json(run.config)
    return str(config["model"]) if isinstance(config, dict) and config.get("model") else None


def base_folder(run: RunFolder) -> Path | None:
    """Return the folder of the model that the run trained, if it is here."""
    name = read_base_model(run)
    if name is None:
        return None
    # Relative names are of the folder in which training was started, which usually holds runs/.
    candidates = [Path(name), run.path.resolve().parent.parent / name]
    return next((folder.resolve() for folder in candidates if (folder / "config.json").is_file()), None)


def write_record(folder: Path, run: RunFolder, step: int, adapters: Adapters | None, proof: Proof) -> None:
    """Write where a merged folder comes from, and what was proven about it.

    There is no time of day in it: the same checkpoint merged twice gives the same bytes.

    Raises:
        DataError: The run's own records cannot be read.
        OSError: The folder cannot be written.
    """
    found = _read_json(run.data)
    data = found if isinstance(found, dict) else {}
    record: dict[str, Any] = {
        "run": run.path.resolve().name,
        "run_folder": str(run.path.resolve()),
        "step": step,
        "base_model": read_base_model(run),
        "data": {split: {key: about[key] for key in ("file", "problems", "sha256")} for split, about in data.items()},
        "data_json_sha256": hash_of(run.data) if run.data.is_file() else None,
        "adapters": {"rank": adapters.rank, "alpha": adapters.alpha} if adapters else None,
        "proof": asdict(proof),
        "versions": installed_versions() | {"peft": metadata.version("peft")},
    }
    (folder / MERGE_RECORD).write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")


def take_place(unfinished: Path, target: Path) -> None:
    """Put a finished folder where the old one is; the old one is whole until the new one is there."""
    if not target.exists():
        unfinished.rename(target)
        return
    old = target.with_name(target.name + ".old")
    shutil.rmtree(old, ignore_errors=True)
    target.rename(old)
    unfinished.rename(target)
    shutil.rmtree(old)


def _read_json(file: Path) -> Any:
    if not file.is_file():
        return None
    try:
        return json.loads(file.read_bytes())
    except (OSError, ValueError):
        raise DataError(f"{file} is not JSON; restore it, or remove it to merge without what it says") from None
