"""Preparing a set of problems: reading, choosing, writing, with an account of every row.

| file | holds |
|---|---|
| train.parquet, validation.parquet | the problems, as the trainer reads them |
| solutions.jsonl | the programs that are said to solve them, as `code-rlvr verify` and `audit` read them |
| rows.jsonl | a line for each row of code: what became of it and why |
| manifest.json | what went in, by which settings, counts, and the hash of each file; written last |

The same rows and settings give the same bytes.  A call that broke off goes on where it was when it is repeated.

Covered: the order of things, files that appear whole or not at all.
Not covered: deciding (`scan`, `select`), what the files hold (`output`, `manifest`).
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from code_rlvr.data.prepare.benchmarks import Benchmarks, read_benchmarks
from code_rlvr.data.prepare.inputs import Input, find_all, find_inputs
from code_rlvr.data.prepare.manifest import count_outcomes, describe_given, make_manifest, require_any
from code_rlvr.data.prepare.output import write_set
from code_rlvr.data.prepare.prompt_length import PromptLength
from code_rlvr.data.prepare.scan import Bounds, Scanner
from code_rlvr.data.prepare.select import Sizes, select
from code_rlvr.data.prepare.spool import SPLITS, Split, Spool
from code_rlvr.data.set_files import MANIFEST
from code_rlvr.errors import DataError
from code_rlvr.progress import Stages

UNFINISHED = ".unfinished"


@dataclass(frozen=True, slots=True)
class PrepareSettings:
    """What to prepare, and how.

    Args:
        sources, validation: Words that mean files of rows; see `inputs`.
        out: The folder for the set.
        benchmarks: Words that mean files of problems that must not be in the set.
        model: The model to be trained, whose tokenizer counts prompts; None for an estimate.
        revision: Of data sets on the hub.
        instruction: What prompts say about the form of the answer; see `build_prompt`.
        max_prompt_tokens, max_tests, max_test_kib: What a problem may be like; the last for all its tests together.
        train_size, validation_size: How many problems; see `Sizes`.
        seed: Of every sample.
        overwrite: Whether a set that is there already is replaced.
    """

    sources: tuple[str, ...]
    out: Path
    validation: tuple[str, ...] = ()
    benchmarks: tuple[str, ...] = ()
    model: str | None = None
    revision: str | None = None
    instruction: str | None = None
    max_prompt_tokens: int = 512
    max_tests: int = 32
    max_test_kib: int = 256
    train_size: int | None = 1000
    validation_size: int | None = None
    seed: int = 0
    overwrite: bool = False

    def rules(self) -> dict[str, Any]:
        """Everything but files that the outcome depends on, for the manifest."""
        names = ("instruction", "max_prompt_tokens", "max_tests", "max_test_kib", "train_size", "validation_size")
        return {name: getattr(self, name) for name in (*names, "seed")}

    @property
    def bounds(self) -> Bounds:
        """What a problem may be like."""
        kib = 1024
        return Bounds(self.max_prompt_tokens, self.max_tests, kib * self.max_test_kib, self.seed, self.instruction)

    @property
    def sizes(self) -> Sizes:
        """How many problems are wanted."""
        return Sizes(self.train_size, self.validation_size, self.seed)


@dataclass(frozen=True, slots=True)
class Prepared:
    """A prepared set.

    Args:
        folder: Where it is.
        manifest: What the manifest says.
    """

    folder: Path
    manifest: dict[str, Any]


def prepare(settings: PrepareSettings, console: Console) -> Prepared:
    """Prepare a set of problems.

    Args:
        settings: What, and how.
        console: For progress.

    Raises:
        UsageError: Something that was given cannot be used, or no problem is left; nothing is half-written.
        PreflightError: A library is missing.
    """
    _require_free(settings)
    stages = Stages(console, total=4)
    with stages.stage("Looking at what was given"):
        left_out: list[str] = []
        inputs = find_inputs(settings.sources, settings.revision, left_out)
        inputs["validation"] += find_all(settings.validation, settings.revision)
        lengths = PromptLength(settings.model)
        benchmarks = read_benchmarks(find_all(settings.benchmarks, settings.revision))
        given = describe_given(settings.rules(), inputs, lengths.name, benchmarks)
        _note_given(stages, inputs, lengths, benchmarks)
        for name in left_out:
            stages.note(f"left out: {name} (for another split, or empty); give it by its own name to read it")
    unfinished = settings.out / UNFINISHED
    with _alone_in(unfinished), Spool(unfinished / "parts", given) as spool:
        with stages.stage("Reading rows"):
            _scan_all(Scanner(spool, settings.bounds, lengths), inputs, stages)
        with stages.stage("Removing duplicates and overlaps, choosing"):
            choices = select(spool, benchmarks.statements, settings.sizes)
            counts = count_outcomes(spool, choices)
            require_any(counts["train"], spool)
        with stages.stage("Writing the set"):
            written = unfinished / "set"
            shutil.rmtree(written, ignore_errors=True)
            written.mkdir()
            sizes = write_set(written, spool, choices, settings.instruction)
            manifest = make_manifest(written, given, counts, sizes)
            _move(written, settings.out)
    shutil.rmtree(unfinished)
    return Prepared(settings.out, manifest)


def _require_free(settings: PrepareSettings) -> None:
    if (settings.out / MANIFEST).exists() and not settings.overwrite:
        raise DataError(f"{settings.out} holds a prepared set already; name another --out, or give --overwrite")
    for word in (*settings.sources, *settings.validation):
        folder = Path(word.rpartition("=")[2])
        if folder.is_dir() and settings.out.resolve().is_relative_to(folder.resolve()):
            raise DataError(f"--out {settings.out} lies in the source {folder}, which would read it next; name another")


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """Make the folder of unfinished work, and refuse to share it with another call."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise DataError(f"cannot write to {folder.parent}: {error.strerror}; name another --out") from None
    with os.fdopen(lock):
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise DataError(f"another call is preparing {folder.parent}; wait for it, or name another --out") from None
        yield


def _note_given(stages: Stages, inputs: Mapping[Split, Sequence[Input]], lengths: PromptLength, of: Benchmarks) -> None:
    for split in SPLITS:
        for one in inputs[split]:
            stages.note(f"{split}: {one.file.name}, layout {one.source.name}")
    if lengths.is_estimate:
        stages.note(f"prompt lengths are {lengths.name}; --model NAME counts real tokens")
    if of.statements:
        stages.note(f"benchmark problems to keep out: {len(of.statements):,}")
    if of.unreadable:
        stages.note(f"of the benchmarks, {of.unreadable:,} rows have no statement that could be read")


def _scan_all(scanner: Scanner, inputs: Mapping[Split, Sequence[Input]], stages: Stages) -> None:
    totals = [one.file.count() for split in SPLITS for one in inputs[split]]
    total = sum(filter(None, totals)) if None not in totals else None
    rows = code = candidates = 0
    with stages.bar(total) as show:
        for split in SPLITS:
            for number, one in enumerate(inputs[split]):
                for part in scanner.scan(split, number, one.file, one.source):
                    rows += part.rows
                    code += part.rows - part.not_code
                    candidates += part.candidates
                    show(rows, f"{code:,} of code, {candidates:,} candidates")
    stages.note(f"{rows:,} rows, {code:,} of code, {candidates:,} candidates")


def _move(written: Path, out: Path) -> None:
    """Put a whole set in its place, the manifest last: a folder with a manifest is whole."""
    (out / MANIFEST).unlink(missing_ok=True)
    for path in sorted(written.iterdir(), key=lambda path: path.name == MANIFEST):
        os.replace(path, out / path.name)
