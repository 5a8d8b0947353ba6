"""Which statements overlap with a benchmark's problems.

Covered: equal statements, and shared runs of words after boilerplate is set aside.
Not covered: paraphrases and translations; solutions and tests that leaked; what is done about an overlap (`prepare`).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from code_rlvr.data.boilerplate import find_boilerplate, telling_parts, telling_words
from code_rlvr.data.similarity import gram_hashes, words_of

GRAM_WORDS = 13
SHORTEST_GRAM_WORDS = 8
"""The greatest and the least length of a gram in Brown et al. 2020 (arXiv:2005.14165), appendix C."""
GRAM_LENGTHS = range(SHORTEST_GRAM_WORDS, GRAM_WORDS + 1)

BOILERPLATE_TEXTS = 10
"""A gram in more texts (the number of Brown et al.), or in more benchmark problems, tells nothing about a problem."""

COVERED_SHARE = 0.1
"""Least share of a benchmark statement's words, boilerplate aside, that shared grams cover.

Touvron et al. 2023 (arXiv:2307.09288), appendix A.6, call a sample clean below 0.2.  Half of that, because a problem
dropped for nothing costs little and a missed overlap makes a benchmark's result wrong.  A sentence or two about the
input's format cover less of a contest statement.
"""


@dataclass(frozen=True, slots=True)
class Overlap:
    """The benchmark problem that a text overlaps with.

    Args:
        name: The benchmark problem.
        gram: The first shared run of the benchmark statement's words; the whole statement if they are equal.
        exact: Whether both have the same words.
        covered: Share of the benchmark statement's words that lie in shared grams, above 0 and at most 1.
    """

    name: str
    gram: str
    exact: bool
    covered: float


def find_overlaps(texts: Sequence[str], benchmark: Sequence[tuple[str, str]]) -> dict[int, Overlap]:
    """Find the texts that overlap with a benchmark.

    A text overlaps with a benchmark problem if their words are equal, or if the 13-grams of words that they share
    cover at least a tenth of the benchmark statement's words.  If one of the two has 8 to 12 words, all of it is its
    only gram; if fewer, only equality counts.  Boilerplate ("the first line contains a single integer t, the number
    of test cases") is set aside three times: runs of words that a twentieth of the texts or of the problems share are
    cut out before anything is compared (`boilerplate`); a gram in more than 10 texts or in more than 10 problems does
    not count; and in sets too small for that to be seen, boilerplate covers too little.

    The limit for benchmark problems is not lower because benchmarks come in variants (MBPP, its sanitized form, MBPP+):
    a gram of three of them may still be of one problem.

    Source: Brown et al. 2020 (arXiv:2005.14165), appendix C, for the grams' lengths and those in more than 10
    documents; Touvron et al. 2023 (arXiv:2307.09288), appendix A.6, for the covered share.

    Args:
        texts: Distinct statements: copies of one statement would make its words boilerplate.
        benchmark: Name and statement of each benchmark problem.

    Returns:
        For each overlapping text, by its position, the benchmark problem: an equal one, else the one of which most is
        covered, the earliest of several.
    """
    problems = [words_of(statement) for _, statement in benchmark]
    boilerplate = find_boilerplate(problems, map(words_of, texts))
    known = _Benchmark([name for name, _ in benchmark], problems, boilerplate)
    overlaps, shared = _look_up(texts, known, boilerplate)
    texts_with = Counter(gram for grams in shared for gram in grams)
    common = {gram for gram, count in texts_with.items() if count > BOILERPLATE_TEXTS}
    for number, grams in enumerate(shared):
        overlap = known.most_covered(grams - common)
        if overlap is not None:
            overlaps.setdefault(number, overlap)
    return dict(sorted(overlaps.items()))


def _look_up(
    texts: Sequence[str], known: _Benchmark, boilerplate: set[int]
) -> tuple[dict[int, Overlap], list[set[int]]]:
    """The equal problem of each text that has one; and of each text the grams that it shares with the benchmark."""
    equal_ones: dict[int, Overlap] = {}
    shared: list[set[int]] = []
    short_texts: dict[int, int] = {}
    for number, text in enumerate(texts):
        words = words_of(text)
        equal = known.equal_one(words)
        if equal is not None:
            equal_ones[number] = equal
        shared.append(known.grams_in(words))
        parts = telling_parts(words, boilerplate)
        if sum(map(len, parts)) < GRAM_WORDS:
            short_texts.update(dict.fromkeys(_own_grams(parts), number))
    for gram in known.add_grams(short_texts):
        shared[short_texts[gram]].add(gram)
    return equal_ones, shared


def _own_grams(parts: Iterable[Sequence[str]]) -> list[int]:
    """Hash the grams of a text's parts: their 13-grams, or all of a part that is shorter but not too short."""
    long_enough = [words for words in parts if len(words) >= SHORTEST_GRAM_WORDS]
    return [gram for words in long_enough for gram in gram_hashes(words, min(GRAM_WORDS, len(words))).tolist()]


class _Benchmark:
    """The problems of a benchmark, and where their grams occur."""

    def __init__(self, names: Sequence[str], problems: Sequence[Sequence[str]], boilerplate: set[int]) -> None:
        self._names = names
        self._words = problems
        self._telling = [telling_words(words, boilerplate) for words in problems]
        self._number_of: dict[str, int] = {}
        self._owners: defaultdict[int, set[int]] = defaultdict(set)
        lengths: set[int] = set()
        for number, words in enumerate(problems):
            self._number_of.setdefault(" ".join(words), number)
            parts = telling_parts(words, boilerplate)
            lengths.update(min(GRAM_WORDS, len(part)) for part in parts)
            for gram in _own_grams(parts):
                self._owners[gram].add(number)
        self._lengths = sorted(lengths & set(GRAM_LENGTHS))

    def equal_one(self, words: Sequence[str]) -> Overlap | None:
        """Find the first problem with just these words; no words are equal to nothing."""
        statement = " ".join(words)
        number = self._number_of.get(statement) if statement else None
        return None if number is None else Overlap(self._names[number], statement, exact=True, covered=1.0)

    def grams_in(self, words: Sequence[str]) -> set[int]:
        """Find the problems' grams that occur in a text."""
        found = (gram for length in self._lengths for gram in gram_hashes(words, length).tolist())
        return {gram for gram in found if gram in self._owners}

    def add_grams(self, wanted: Container[int]) -> set[int]:
        """Look in the statements for other grams, those of short texts.

        Returns:
            Those that occur, which are from now on grams of the problems.
        """
        found = set()
        for number, words in enumerate(self._words):
            for length in GRAM_LENGTHS:
                for gram in gram_hashes(words, length).tolist():
                    if gram in wanted:
                        self._owners[gram].add(number)
                        found.add(gram)
        return found

    def most_covered(self, shared: Iterable[int]) -> Overlap | None:
        """Choose the problem of which the shared grams cover most, if that is enough."""
        telling = {gram for gram in shared if len(self._owners[gram]) <= BOILERPLATE_TEXTS}
        owners = sorted({number for gram in telling for number in self._owners[gram]})
        overlaps = [self._overlap(number, telling) for number in owners]
        best = max(overlaps, key=lambda overlap: overlap.covered, default=None)
        return best if best is not None and best.covered >= COVERED_SHARE else None

    def _overlap(self, number: int, shared: Container[int]) -> Overlap:
        words, telling = self._words[number], self._telling[number]
        covered = np.zeros(len(words), dtype=bool)
        runs = []
        for length in GRAM_LENGTHS:
            for place, gram in enumerate(gram_hashes(words, length).tolist()):
                if gram in shared:
                    covered[place : place + length] = True
                    runs.append((place, length))
        place, length = min(runs)
        gram_words = " ".join(words[place : place + length])
        return Overlap(self._names[number], gram_words, exact=False, covered=float(covered[telling].mean()))
