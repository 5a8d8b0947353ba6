"""What a run is trained and validated on: the hash of each file, so that results can be told apart and repeated.

Covered: the run's ``data.json``.  Not covered: how the files came about, which the manifest beside them says.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from code_rlvr.data.hashes import hash_of
from code_rlvr.data.set_files import MANIFEST
from code_rlvr.train.config import TrainConfig


def describe_data(config: TrainConfig) -> dict[str, Any]:
    """Name, size and hash of the run's files, with the manifest of the set that they are of, if there is one."""
    files = {"train": Path(config.data.train_file), "validation": Path(config.data.validation_file)}
    described = {}
    for split, file in files.items():
        sha256 = hash_of(file)
        described[split] = {
            "file": file.name,
            "problems": pq.read_metadata(file).num_rows,
            "sha256": sha256,
            "prepared": _prepared(file, sha256),
        }
    return described


def _prepared(file: Path, sha256: str) -> Any:
    """The manifest beside a file, if it is of this very file."""
    manifest = file.with_name(MANIFEST)
    if not manifest.is_file():
        return None
    found = json.loads(manifest.read_bytes())
    return found if found.get("files", {}).get(file.name, {}).get("sha256") == sha256 else None
