"""Benchmark files of the hub, kept on the disk: an evaluation that goes on does not fetch gigabytes again.

Covered: one copy for each commit, whole or not there.  Not covered: removing copies; the folder may be deleted at any
time.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from code_rlvr.data.rows import DataFile
from code_rlvr.errors import DataError
from code_rlvr.whole_file import whole_file


def cache_folder() -> Path:
    """Where the copies are: below XDG_CACHE_HOME, else below ~/.cache."""
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "code-rlvr" / "benchmarks"


def keep(file: DataFile, dataset: str, commit: str) -> DataFile:
    """The same file, read from a copy that is made when it is first opened.

    Args:
        file: A file of the hub.
        dataset: Owner and name.
        commit: Names its content.
    """
    copy = cache_folder() / dataset.replace("/", "--") / commit / file.label
    return DataFile(file.name, lambda: _fetched(file, copy).open("rb"), file.revision, file.label)


def _fetched(file: DataFile, copy: Path) -> Path:
    if copy.is_file():
        return copy
    try:
        copy.parent.mkdir(parents=True, exist_ok=True)
        with file.open() as source, whole_file(copy) as unfinished, unfinished.open("wb") as target:
            shutil.copyfileobj(source, target, 1 << 20)
    except OSError as error:
        raise DataError(
            f"cannot keep {file.name} in {copy.parent}: {error.strerror or error}; make room, or set "
            "XDG_CACHE_HOME to a folder on another disk"
        ) from None
    return copy
