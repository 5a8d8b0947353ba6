"""Which statements say the same: their words, a hash of them, and a memory of earlier statements.

Covered: one normalisation for all comparisons; exact duplicates; near duplicates, found through MinHash and verified.
Not covered: paraphrases and translations; overlap with benchmarks (`contamination`); what is done about a duplicate
(`prepare`).
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from datasketch import MinHash, MinHashLSH

Hashes = npt.NDArray[np.uint64]

SHINGLE_WORDS = 5
NEAR_DUPLICATE = 0.8
"""Jaccard similarity of near duplicates, the value of Lee et al. 2022 (arXiv:2107.06499, appendix A)."""

PERMUTATIONS = 100
RECALL = 0.999
"""The least probability with which the index finds a pair whose similarity is exactly the threshold."""

# A layout command of LaTeX; what it applies to stays: of `\texttt{a}`, `a`.
_LATEX_COMMAND = re.compile(r"\\[a-zA-Z]+")
# Scripts that put no spaces between words: Thai, Lao, Myanmar, Khmer, kana, Chinese characters.
_UNSPACED = r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003ffff"
_WORD = re.compile(rf"[^\W_{_UNSPACED}]+|[^\W_]")
# An odd multiplier makes the order of words count and loses no bit of a word's hash; this one is 2**64 / golden ratio.
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


def words_of(text: str) -> list[str]:
    r"""Split a text into the words by which all texts are compared.

    Case, punctuation, white space, operators and LaTeX's commands do not count: `$\texttt{a}_i \le 5$` and `A_i <= 5`
    give the same.  In scripts without spaces (Chinese, Japanese, Thai) each character is a word; a combining mark that
    has no composed form (Devanagari's vowel signs) ends one.  What differs in operators only is the same: two tasks
    about "(" and "<".

    Args:
        text: A statement, in any script, with or without code and LaTeX.

    Returns:
        The runs of letters and digits, in order, after Unicode's NFKC and case folding.
    """
    plain = _LATEX_COMMAND.sub(" ", text)
    return _WORD.findall(unicodedata.normalize("NFKC", plain).casefold())


def gram_hashes(words: Sequence[str], length: int) -> Hashes:
    """Hash every run of so many words.

    Args:
        words: The words of a text.
        length: Words in a run, at least 1.

    Returns:
        One hash for each place where a run starts, in order; none where the text is shorter than a run.
    """
    places = max(0, len(words) - length + 1)
    hashes = np.fromiter(map(_word_hash, words), dtype=np.uint64, count=len(words))
    grams = np.zeros(places, dtype=np.uint64)
    for offset in range(length if places else 0):
        grams = grams * _MULTIPLIER + hashes[offset : offset + places]
    return grams


def jaccard(left: Hashes, right: Hashes) -> float:
    """Compute the Jaccard similarity of two sets, each given as distinct hashes, not both empty."""
    shared = len(np.intersect1d(left, right, assume_unique=True))
    return shared / (len(left) + len(right) - shared)


@dataclass(frozen=True, slots=True)
class Match:
    """An earlier text that says the same.

    Args:
        key: The key of the earlier text.
        exact: Whether both have the same words.
        similarity: Jaccard similarity of the two sets of shingles; 1.0 for exact ones.
    """

    key: str
    exact: bool
    similarity: float


@dataclass(frozen=True, slots=True)
class _Fingerprint:
    digest: str
    shingles: Hashes
    sketch: MinHash


class SeenTexts:
    """The texts so far, to find whether a new one says the same as one of them.

    Two texts are exact duplicates if they have the same words, and near duplicates if the Jaccard similarity of their
    sets of shingles (runs of five words) is at least `near`.  MinHash with banding only proposes candidates; each is
    verified, so there are no false ones, and a true one is missed with a probability below 1 - `RECALL`.

    Only the statement counts: two problems with the same statement and different function names or tests are
    duplicates.  In a long statement a few words do not count either: problems of one family ("easy version" and "hard
    version", which differ in a constraint) are near duplicates.  In a short one they do: with the default `near` one
    other word makes two problems of up to 48 words, or of up to 12 if it is the first or the last word.

    Source: Broder 1997, "On the resemblance and containment of documents"; Leskovec, Rajaraman and Ullman, "Mining of
    Massive Datasets", section 3.4, for bands and rows.

    Args:
        near: Least similarity of near duplicates, above 0 and at most 1.

    Raises:
        ValueError: `near` is out of its range.
    """

    def __init__(self, near: float = NEAR_DUPLICATE) -> None:
        if not 0 < near <= 1:
            raise ValueError(f"a similarity of near duplicates is above 0 and at most 1, not {near}")
        self._near = near
        self._keys: list[str] = []
        self._shingles: list[Hashes] = []
        self._number_of: dict[str, int] = {}
        self._index = MinHashLSH(num_perm=PERMUTATIONS, params=_bands_and_rows(near))
        # `hashfunc` is called with what are hashes already; the seed is the library's, fixed here for good.
        self._blank = MinHash(num_perm=PERMUTATIONS, seed=1, hashfunc=int, scheme="affine32")
        # `find` is mostly followed by `add` of the same text.
        self._fingerprint = lru_cache(maxsize=1)(self._take_fingerprint)

    def __len__(self) -> int:
        return len(self._keys)

    def find(self, text: str) -> Match | None:
        """Find the earlier text that is most like this one.

        Args:
            text: A text; it is not remembered.

        Returns:
            The exact duplicate, else the most similar near duplicate (the earliest of equally similar ones), else None.
        """
        fingerprint = self._fingerprint(text)
        same = self._number_of.get(fingerprint.digest)
        if same is not None:
            return Match(self._keys[same], exact=True, similarity=1.0)
        found = [
            (jaccard(self._shingles[number], fingerprint.shingles), -number)
            for number in self._index.query(fingerprint.sketch)
        ]
        similarity, number = max(found, default=(0.0, 0))
        return Match(self._keys[-number], exact=False, similarity=similarity) if similarity >= self._near else None

    def add(self, key: str, text: str) -> None:
        """Remember a text; of several exact duplicates only the first is remembered.

        Args:
            key: What `Match.key` will say.
            text: A text.
        """
        fingerprint = self._fingerprint(text)
        if fingerprint.digest in self._number_of:
            return
        number = len(self._keys)
        self._number_of[fingerprint.digest] = number
        self._keys.append(key)
        self._shingles.append(fingerprint.shingles)
        self._index.insert(number, fingerprint.sketch)

    def _take_fingerprint(self, text: str) -> _Fingerprint:
        words = words_of(text)
        # A text shorter than a shingle is one shingle; a text without words has none.
        shingles = np.unique(gram_hashes(words, max(1, min(SHINGLE_WORDS, len(words)))))
        sketch = self._blank.copy()
        sketch.update_batch((shingles >> np.uint64(32)).tolist())
        return _Fingerprint(_hash_of(words), shingles, sketch)


def _hash_of(words: Sequence[str]) -> str:
    return hashlib.sha256(" ".join(words).encode()).hexdigest()


@lru_cache(maxsize=1 << 17)
def _word_hash(word: str) -> int:
    return int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest(), "little")


def _bands_and_rows(near: float) -> tuple[int, int]:
    """Choose the longest bands, thus the fewest wrong candidates, that find a pair at the threshold often enough.

    Source: Leskovec, Rajaraman and Ullman, section 3.4.2: a pair of similarity s meets in one of b bands of r rows
    with the probability 1 - (1 - s^r)^b.
    """
    for rows in range(PERMUTATIONS // 2, 1, -1):
        bands = PERMUTATIONS // rows
        if 1 - (1 - near**rows) ** bands >= RECALL:
            return bands, rows
    return PERMUTATIONS, 1
