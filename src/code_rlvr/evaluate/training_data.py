"""Whether a model was trained on the problems of a benchmark.

Two problems are the same if their statements are, but for white space, case and known instructions at the end, or if
their tests are, where there are enough of them to tell.

Covered: the training files of the run that made the model, and of those that made what it started from.  Not covered:
what a model from elsewhere was trained on; problems in other words with other tests, which `prepare --benchmark` looks
for before training.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from code_rlvr.data.hashes import hash_of
from code_rlvr.data.set_files import MANIFEST
from code_rlvr.data.sources.statements import without_endings
from code_rlvr.errors import DataError, TestsFormatError
from code_rlvr.evaluate.model import Model, read_object
from code_rlvr.evaluate.scores import TrainingCheck
from code_rlvr.ground_truth import Tests
from code_rlvr.runs import RunFolder
from code_rlvr.words import counted

FEWEST_TESTS = 3
"""Fewer tests may be equal by chance."""
SHOWN = 5


@dataclass(frozen=True, slots=True)
class Known:
    """What a problem is recognised by.

    Args:
        statements: All forms of its statement.
        tests: Its tests; None if it has none of ours.
    """

    statements: tuple[str, ...]
    tests: Tests | None


def check_training_data(model: Model, problems: Mapping[str, Known]) -> TrainingCheck:
    """Look for a benchmark's problems in what a model was trained on.

    Args:
        model: The model.
        problems: What each problem of the benchmark is recognised by.

    Raises:
        DataError: The training file is there and cannot be read.
    """
    if model.run is None:
        return TrainingCheck(checked=False, note="not checked: the folder does not say which run made it")
    files, missing = [], []
    for one in _lineage(model):
        file, why = _training_file(one)
        if file is None:
            missing.append(why)
        else:
            files.append(file)
    trained = frozenset().union(*(_digests_of_file(file, file.stat().st_mtime_ns) for file in files))
    found = tuple(name for name, one in problems.items() if not trained.isdisjoint(_digests(one)))
    notes = [f"compared with {file}" for file in files] + [f"not checked: {why}" for why in missing]
    return TrainingCheck(checked=not missing, note="; ".join(notes), trained_on=found)


def _lineage(model: Model) -> list[Model]:
    """The model, what its run started from, and so on, as long as runs are known."""
    found: list[Model] = []
    one: Model | None = model
    while one is not None and one.folder.resolve() not in {before.folder.resolve() for before in found}:
        found.append(one)
        one = one.base()
    return found


def require_not_trained_on(benchmark: str, size: int, model: Model, check: TrainingCheck) -> None:
    """Refuse a benchmark that a model was trained on.

    Raises:
        DataError: A problem of it is among the training problems.
    """
    if check.trained_on:
        shown = ", ".join(check.trained_on[:SHOWN]) + (", …" if len(check.trained_on) > SHOWN else "")
        raise DataError(
            f"{model.word} was trained on {len(check.trained_on):,} of the {counted(size, 'problem')} of {benchmark}: "
            f"{shown}; its result would say nothing about new problems. Prepare the training set with --benchmark, "
            "evaluate on others, or, to see it all the same, add --allow-trained-on"
        )


def check_benchmarks(
    model: Model, benchmarks: Mapping[str, Mapping[str, Known]], allow_trained_on: bool, say: Callable[[str], None]
) -> dict[str, TrainingCheck]:
    """Look for the problems of all benchmarks in what a model was trained on, and refuse those that are there.

    Args:
        model: The model.
        benchmarks: At least one; by its name, what each of its problems is recognised by.
        allow_trained_on: Whether nothing is refused.
        say: Told what was compared.

    Raises:
        DataError: A problem is among the training problems, or the training file is there and cannot be read.
    """
    checks = {}
    for name, problems in benchmarks.items():
        check = checks[name] = check_training_data(model, problems)
        if not allow_trained_on:
            require_not_trained_on(name, len(problems), model, check)
    say(f"training data of {model.word}: {next(iter(checks.values())).note}")  # the same for all benchmarks
    return checks


def training_instruction(model: Model) -> str | None:
    """What the training prompts said about the form of the answer, as far as that can be told.

    Returns:
        None for the default instruction of each kind of tests, or if it is not known.
    """
    file, _ = _training_file(model) if model.run else (None, "")
    if file is None:
        return None
    rules = read_object(file.with_name(MANIFEST)).get("rules", {})
    if isinstance(rules, dict) and "instruction" in rules:
        return rules["instruction"] if isinstance(rules["instruction"], str) else None
    first = next((prompt for prompt, _ in _rows(file)), "")
    return None if without_endings(first) != first.rstrip() else ""


def _training_file(model: Model) -> tuple[Path | None, str]:
    run = model.run or RunFolder(Path())
    named = model.run_setting("data.train_file")
    if not isinstance(named, str) or not named:
        return None, f"{run.config} names no training file"
    near = (Path(named), run.path / "data" / Path(named).name)
    file = next((path for path in near if path.is_file()), None)
    if file is None:
        return None, f"the training file {named} is gone"
    known = read_object(run.data).get("train", {}).get("sha256")
    if known is not None and known != hash_of(file):
        return None, f"the training file {named} is not what it was when {run.path} was trained"
    return file, ""


def _rows(file: Path) -> Iterator[tuple[str, str]]:
    """The last message of each prompt, and the ground truth."""
    try:
        with pq.ParquetFile(file) as parquet:
            for batch in parquet.iter_batches(batch_size=256, columns=["prompt", "reward_model"]):
                for row in batch.to_pylist():
                    prompt, given = row["prompt"] or [{}], row["reward_model"] or {}
                    yield str(prompt[-1].get("content") or ""), str(given.get("ground_truth") or "")
    except (pa.ArrowException, OSError, KeyError) as error:
        raise DataError(f"cannot read the training file {file}: {error}; --allow-trained-on goes on without") from None


@lru_cache(maxsize=8)  # of the model, of its baseline and of what they started from; every benchmark asks again
def _digests_of_file(file: Path, changed_ns: int) -> frozenset[str]:
    return frozenset(_read_digests(file))


def _read_digests(file: Path) -> Iterator[str]:
    manifest = read_object(file.with_name(MANIFEST)).get("rules", {})
    told = manifest.get("instruction") if isinstance(manifest, dict) else None
    for prompt, given in _rows(file):
        statement = prompt.removesuffix(told) if isinstance(told, str) else prompt
        try:
            tests = Tests.parse(given)
        except TestsFormatError:  # then it is known by its statement
            tests = None
        yield from _digests(Known((statement,), tests))


def _digests(problem: Known) -> Iterable[str]:
    for statement in problem.statements:
        words = " ".join(without_endings(statement).split()).casefold()
        if words:
            yield hashlib.sha256(f"statement {words}".encode("utf-8", "surrogatepass")).hexdigest()
    tests = problem.tests
    if (
        tests is not None
        and max(len(tests.inputs), sum(text.count("assert ") for text in tests.asserts)) >= FEWEST_TESTS
    ):
        content = [tests.kind, tests.inputs, tests.outputs, tests.asserts]
        yield hashlib.sha256(json.dumps(content).encode()).hexdigest()
