"""Which candidates stay: what can only be decided about all of them together.

In this order: duplicates, validation problems first, so that what a run is watched with stays whole; overlap with
benchmarks; a seeded sample, which stays the same when other rows come or go.

Covered: the decisions.  Not covered: how texts are compared (`data.similarity`, `data.contamination`), reading
and writing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from code_rlvr.data.contamination import find_overlaps
from code_rlvr.data.prepare.spool import Split, Spool
from code_rlvr.data.similarity import SeenTexts
from code_rlvr.data.sources.source import Drop, Reason

MAX_VALIDATION = 200
_SHOWN = 80  # characters of a shared passage


@dataclass(frozen=True, slots=True)
class Sizes:
    """How many problems are wanted.

    Args:
        train: None for all.
        validation: None for all that were given for it; if none were, so many are taken from the others, None
            being a tenth of them, at least one and at most `MAX_VALIDATION`.
        seed: Of the samples.
    """

    train: int | None
    validation: int | None
    seed: int


@dataclass(frozen=True, slots=True)
class Choice:
    """What becomes of a candidate.

    Args:
        problem_id, place: Which.
        outcome: The split that it belongs to, or why to none.
    """

    problem_id: str
    place: str
    outcome: Split | Drop


@dataclass(slots=True)
class _Entry:
    given: Split
    problem_id: str
    place: str
    statement: str
    outcome: Split | Drop | None = None


def select(spool: Spool, benchmark: Sequence[tuple[str, str]], sizes: Sizes) -> dict[Split, list[Choice]]:
    """Decide about every candidate.

    Args:
        spool: The candidates.
        benchmark: Names and statements of problems that must not be trained or tuned on.
        sizes: How many are wanted.

    Returns:
        For each split that rows were given for, a choice for each of its candidates, in their order.
    """
    entries: dict[Split, list[_Entry]] = {
        "validation": list(_entries(spool, "validation")),
        "train": list(_entries(spool, "train")),
    }
    everything = [*entries["validation"], *entries["train"]]
    _drop_duplicates(everything)
    _drop_overlaps([one for one in everything if one.outcome is None], benchmark)
    if entries["validation"]:
        _take(entries["validation"], "validation", sizes.validation, sizes.seed)
    else:
        left = sum(one.outcome is None for one in entries["train"])
        size = min(max(left // 10, min(left - 1, 1)), MAX_VALIDATION) if sizes.validation is None else sizes.validation
        _take(entries["train"], "validation", size, sizes.seed)
    _take(entries["train"], "train", sizes.train, sizes.seed)
    for one in everything:
        one.outcome = one.outcome or Drop(Reason.NOT_SAMPLED)
    return {
        split: [Choice(one.problem_id, one.place, one.outcome) for one in them if one.outcome is not None]
        for split, them in entries.items()
    }


def _entries(spool: Spool, split: Split) -> Iterator[_Entry]:
    for row in spool.candidates(split, ["problem_id", "place", "statement"]):
        yield _Entry(split, **row)


def _drop_duplicates(entries: Iterable[_Entry]) -> None:
    seen = SeenTexts()
    kept: dict[str, _Entry] = {}
    for one in entries:
        match = seen.find(one.statement)
        if match is None:
            seen.add(one.problem_id, one.statement)
            kept[one.problem_id] = one
            continue
        other = kept[match.key]
        if other.given != one.given:
            reason = Reason.IN_VALIDATION
        else:
            reason = Reason.DUPLICATE if match.exact else Reason.NEAR_DUPLICATE
        like = "the same as" if match.exact else f"{match.similarity:.0%} like"
        one.outcome = Drop(reason, f"{like} {other.place}")


def _drop_overlaps(entries: Sequence[_Entry], benchmark: Sequence[tuple[str, str]]) -> None:
    for index, overlap in find_overlaps([one.statement for one in entries], benchmark).items():
        what = "the same as" if overlap.exact else "shares with"
        detail = f"{what} {overlap.name}: {overlap.gram[:_SHOWN]}"
        entries[index].outcome = Drop(Reason.IN_BENCHMARK, detail)


def _take(entries: Sequence[_Entry], split: Split, size: int | None, seed: int) -> None:
    """Give a split its share of what is left."""
    left = [one for one in entries if one.outcome is None]
    for one in sorted(left, key=lambda one: _rank(one.problem_id, seed))[:size]:
        one.outcome = split


def _rank(problem_id: str, seed: int) -> Any:
    """A place in a shuffled order that does not depend on which other problems there are."""
    return hashlib.sha256(f"{seed}/{problem_id}".encode()).digest()
