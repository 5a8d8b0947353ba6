"""The manifest of a prepared set: what went in, by which rules, what became of it, and the hash of each file.

Covered: its content, counting, the table for the terminal.  Not covered: writing the other files (`output`).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any

import pyarrow as pa
from rich.table import Table

from code_rlvr.data.hashes import hash_of
from code_rlvr.data.prepare.benchmarks import Benchmarks
from code_rlvr.data.prepare.inputs import Input
from code_rlvr.data.prepare.select import Choice
from code_rlvr.data.prepare.spool import SPLITS, Split, Spool
from code_rlvr.data.prompts import ASSERT_INSTRUCTION, FUNCTION_INSTRUCTION, STDIN_INSTRUCTION
from code_rlvr.data.set_files import MANIFEST
from code_rlvr.data.sources.source import Drop, Reason
from code_rlvr.errors import DataError

_EXAMPLES = 3
FORMAT = 1  # of the manifest and of the files beside it

Outcomes = Mapping[Split, Counter[str]]
"""For the rows given for each split, how many ended as what: a split's name, or the value of a `Reason`."""

_MEANINGS = {
    "train": "for training",
    "validation": "for validation",
    Reason.NOT_CODE.value: "not about code",
    Reason.NO_TESTS.value: "without tests",
    Reason.MALFORMED_TESTS.value: "tests that cannot be used",
    Reason.NEEDS_CHECKER.value: "several right answers, and no checker",
    Reason.NO_STATEMENT.value: "without a usable statement",
    Reason.TESTS_TOO_LARGE.value: "no test within --max-test-kib",
    Reason.OVERLONG.value: "longer than --max-prompt-tokens",
    Reason.DUPLICATE.value: "same text as another",
    Reason.NEAR_DUPLICATE.value: "nearly the text of another",
    Reason.IN_VALIDATION.value: "same or nearly as one for validation",
    Reason.IN_BENCHMARK.value: "overlaps with a benchmark",
    Reason.NOT_SAMPLED.value: "left over",
}


def describe_given(
    rules: Mapping[str, Any], inputs: Mapping[Split, Sequence[Input]], tokenizer: str, benchmarks: Benchmarks
) -> dict[str, Any]:
    """Everything that the outcome depends on; the same whenever and wherever it is asked for."""
    return {
        "format": FORMAT,
        "rules": dict(rules),
        "tokenizer": tokenizer,
        "instructions": [STDIN_INSTRUCTION, FUNCTION_INSTRUCTION, ASSERT_INSTRUCTION],
        "sources": {
            split: [
                {"file": PurePath(one.file.name).name, "content": one.file.content_hash(), "layout": one.source.name}
                for one in inputs[split]
            ]
            for split in SPLITS
        },
        "benchmarks": {
            "problems": len(benchmarks.statements),
            "unreadable": benchmarks.unreadable,
            "contents": list(benchmarks.hashes),
        },
        "pyarrow": pa.__version__,  # it decides the bytes of the parquet files
    }


def count_outcomes(spool: Spool, choices: Mapping[Split, Sequence[Choice]]) -> Outcomes:
    """Count what became of every row."""
    counts: dict[Split, Counter[str]] = {}
    for split in SPLITS:
        count = counts[split] = Counter[str]()
        for part in spool.summaries(split):
            count[Reason.NOT_CODE.value] += part.not_code
            count.update(row.reason.value for row in part.dropped)
        for choice in choices[split]:
            outcome = choice.outcome
            count[outcome.reason.value if isinstance(outcome, Drop) else outcome] += 1
    return counts


def require_any(count: Counter[str], spool: Spool) -> None:
    """Refuse a set without problems to train on.

    Args:
        count: What became of the rows.
        spool: For examples.

    Raises:
        DataError: There is none; the message says what became of the rows.
    """
    if count["train"]:
        return
    lines = [", ".join(f"{number:,} {_MEANINGS[name]}" for name, number in count.most_common() if number)]
    lines[0] = f"no row became a problem for training: {lines[0] or 'there are no rows'}"
    if count["validation"]:
        lines.append("a smaller --validation-size leaves some for training")
    dropped = [row for part in spool.summaries("train") for row in part.dropped]
    lines += [f"{row.place}: {row.reason.value}: {row.detail}" for row in dropped[:_EXAMPLES]]
    raise DataError("\n  ".join(lines))


def make_manifest(folder: Path, given: Mapping[str, Any], counts: Outcomes, sizes: Mapping[str, int]) -> dict[str, Any]:
    """Write the manifest of the files in a folder, and return it.

    Args:
        folder: With every other file of the set.
        given: See `describe_given`.
        counts: What became of the rows.
        sizes: How many problems or lines each file has.
    """
    files = {name: {"items": size, "sha256": hash_of(folder / name)} for name, size in sizes.items()}
    outcomes = {
        split: {
            "rows": counts[split].total(),
            **{name: counts[split][name] for name in _MEANINGS if counts[split][name]},
        }
        for split in SPLITS
    }
    manifest = {**given, "outcomes": outcomes, "files": files}
    (folder / MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")
    return manifest


def outcome_table(manifest: Mapping[str, Any]) -> Table:
    """What became of the rows, for a terminal."""
    outcomes = manifest["outcomes"]
    splits = [split for split in SPLITS if outcomes[split]["rows"]]
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("rows")
    for split in splits:
        table.add_column(f"given for {split}", justify="right")
    for name, meaning in {"rows": "all", **_MEANINGS}.items():
        numbers = [outcomes[split].get(name, 0) for split in splits]
        if any(numbers):
            style = "bold" if name in SPLITS else None
            table.add_row(meaning, *(f"{number:,}" for number in numbers), style=style)
    return table
