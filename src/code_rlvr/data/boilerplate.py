"""Words that texts have from a template: "your code has to pass this test", "the first line contains an integer".

Covered: runs of words that many texts share, and texts without them.  Not covered: templates that few texts have.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence

import numpy as np
import numpy.typing as npt

from code_rlvr.data.similarity import gram_hashes

RUN_WORDS = 8
"""Words of a run; the least length of a gram that can tell an overlap."""

COMMON_TEXTS = 10
COMMON_SHARE = 0.05
"""A template is in more texts than this, of both; "write a function to find the number of" is in 1% of MBPP, and what
follows it would be too short to compare if it were cut off."""


def find_boilerplate(problems: Sequence[Sequence[str]], texts: Iterable[Sequence[str]]) -> set[int]:
    """Find the runs of words in a benchmark that tell nothing about a problem.

    Args:
        problems: The words of each problem of the benchmark.
        texts: The words of each text that is compared with it.

    Returns:
        The hash of each run that more than 10 of the problems, and a twentieth of them, or as many of the texts share.
    """
    problems_with = Counter(run for words in problems for run in set(gram_hashes(words, RUN_WORDS).tolist()))
    known = np.fromiter(problems_with, dtype=np.uint64, count=len(problems_with))
    known.sort()
    texts_with: Counter[int] = Counter()
    count = 0
    for count, words in enumerate(texts, start=1):  # noqa: B007  the number of them is wanted after the loop
        # Only runs of the benchmark are counted: a large set has hundreds of millions of others.
        runs = np.unique(gram_hashes(words, RUN_WORDS))
        texts_with.update(runs[np.isin(runs, known, assume_unique=True)].tolist())
    return _common(problems_with, len(problems)) | _common(texts_with, count)


def _common(counts: Counter[int], of: int) -> set[int]:
    limit = max(COMMON_TEXTS, COMMON_SHARE * of)
    return {run for run, count in counts.items() if count > limit}


def telling_words(words: Sequence[str], boilerplate: Collection[int]) -> npt.NDArray[np.bool_]:
    """Mark the words that lie in no run of boilerplate, shape [words]."""
    telling = np.ones(len(words), dtype=bool)
    for place, run in enumerate(gram_hashes(words, RUN_WORDS).tolist()):
        if run in boilerplate:
            telling[place : place + RUN_WORDS] = False
    return telling


def telling_parts(words: Sequence[str], boilerplate: Collection[int]) -> list[Sequence[str]]:
    """Split a text at its boilerplate; the text itself if it has none."""
    telling = telling_words(words, boilerplate)
    edges = np.flatnonzero(np.diff(telling, prepend=False, append=False)).tolist()
    return [words[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True)]
