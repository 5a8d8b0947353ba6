"""From the words on the command line to files of rows: paths, folders, data sets on the hub.

| word | means |
|---|---|
| a file | its rows |
| a folder | its files; if names speak of `train`, `validation` and `test`, only the first two, each for its split |
| OWNER/NAME, or a short name | the same of a data set on the hub |
| LAYOUT=WORD | any of these, whose rows have that layout, where the first row does not tell |

Covered: finding and telling apart; which files are for which split.  Not covered: reading rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from code_rlvr.data.hub import KNOWN, open_dataset
from code_rlvr.data.prepare.spool import Split
from code_rlvr.data.rows import DataFile
from code_rlvr.data.set_files import MANIFEST
from code_rlvr.data.sources import SOURCES, get_source
from code_rlvr.data.sources.source import Source
from code_rlvr.errors import DataError

_FILES = ("*.parquet", "*.jsonl", "*.jsonl.gz", "*.json")
_HUB_NAME = re.compile(r"[\w.-]+/[\w.-]+")
_SPLIT_WORDS = {"train": "train", "training": "train", "validation": "validation", "valid": "validation"}
_SPLIT_WORDS |= {"val": "validation", "dev": "validation", "test": "test"}


@dataclass(frozen=True, slots=True)
class Input:
    """A file of rows, with their layout."""

    file: DataFile
    source: Source


def find_inputs(words: Sequence[str], revision: str | None, left_out: list[str]) -> dict[Split, list[Input]]:
    """The files that some words mean, by split.

    Args:
        words: See the table above.
        revision: Of data sets on the hub.
        left_out: Gets the names of files that are there and not read.

    Raises:
        DataError: A word means nothing, or its rows are of no known layout.
        ConfigError: It names a layout that is not known.
    """
    found: dict[Split, list[Input]] = {"train": [], "validation": []}
    for word in words:
        layout, files, together = _resolve(word, revision)
        splits = {file.name: split_of(file.label) if together else "train" for file in files}
        if any(splits.values()):
            left_out += [file.name for file in files if splits[file.name] in (None, "test")]
            files = [file for file in files if splits[file.name]]
        if not {"train", None} & {splits[file.name] for file in files}:
            names = ", ".join(file.name for file in files)
            raise DataError(f"{word} has no file for training, only {names}; name the files that you want")
        for file in files:
            if together and file.count() == 0:
                left_out.append(file.name)
            elif splits[file.name] == "validation":
                found["validation"].append(_input(file, layout))
            elif splits[file.name] != "test":
                found["train"].append(_input(file, layout))
    return found


def find_all(words: Iterable[str], revision: str | None = None) -> list[Input]:
    """The files that some words mean, whatever split their names speak of."""
    return [_input(file, layout) for word in words for layout, files, _ in [_resolve(word, revision)] for file in files]


def split_of(path: str) -> str | None:
    """The split that a file's path in its data set speaks of, its name before its folders: train, validation, test."""
    for part in reversed(path.lower().split("/")):
        for word in re.findall(r"[a-z]+", part):
            if word in _SPLIT_WORDS:
                return _SPLIT_WORDS[word]
    return None


def _resolve(word: str, revision: str | None) -> tuple[Source | None, list[DataFile], bool]:
    """The layout that a word names, its files, and whether these are a whole data set."""
    if not word.strip():
        raise DataError("a source is empty; give a file, a folder or a data set on the hub")
    layout, equals, rest = word.partition("=")
    if equals and layout.isidentifier() and not Path(word).exists():
        source = get_source(layout)
        _, files, together = _resolve(rest, revision)
        return source, files, together
    path = Path(word)
    if path.is_file():
        return None, [_local(path)], False
    if path.is_dir():
        files = [_local(file) for pattern in _FILES for file in path.glob(pattern) if file.name != MANIFEST]
        if not files:
            raise DataError(f"{path} holds none of {', '.join(_FILES)}; give the folder that does, or the files")
        return None, sorted(files, key=lambda file: file.name), True
    if word in KNOWN or (_HUB_NAME.fullmatch(word) and not _looks_like_a_path(path)):
        return SOURCES.get(word), list(open_dataset(word, revision).files), True
    raise DataError(
        f"{word} is no file or folder here; a data set on the hub is written OWNER/NAME, or {', '.join(KNOWN)}"
    )


def _looks_like_a_path(path: Path) -> bool:
    """Whether a word that is no file here is more likely one than a name on the hub."""
    return path.suffix in (".parquet", ".jsonl", ".json", ".gz", ".csv") or Path(path.parts[0]).is_dir()


def _local(path: Path) -> DataFile:
    return DataFile(str(path), lambda: path.open("rb"), label=path.name)


def _input(file: DataFile, layout: Source | None) -> Input:
    return Input(file, layout or file.detect_source())
