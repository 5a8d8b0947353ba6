"""Which statements say the same: words, hashes, exact and near duplicates."""

from __future__ import annotations

import gzip
import json
import os
import random
from pathlib import Path

import pytest

from code_rlvr.data.similarity import SHINGLE_WORDS, Match, SeenTexts, gram_hashes, words_of

FOLDER = os.environ.get("CODE_RLVR_ORACLE")
needs_problems = pytest.mark.skipif(not FOLDER, reason="CODE_RLVR_ORACLE names no folder of real problems")


def words(count: int, seed: int = 0) -> list[str]:
    draw = random.Random(seed)
    return [f"w{draw.randrange(10**6)}" for _ in range(count)]


def true_similarity(left: list[str], right: list[str]) -> float:
    def shingles(text: list[str]) -> set[tuple[str, ...]]:
        return {tuple(text[at : at + SHINGLE_WORDS]) for at in range(len(text) - SHINGLE_WORDS + 1)}

    return len(shingles(left) & shingles(right)) / len(shingles(left) | shingles(right))


def match_of(text: str, *earlier: str) -> Match | None:
    seen = SeenTexts()
    for number, other in enumerate(earlier):
        seen.add(str(number), other)
    return seen.find(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Find  the\n\tSUM!", "find the sum"),
        (r"$\texttt{a}_i \le 10^{5}$", "a i 10 5"),
        ("a_i <= 10^5", "a i 10 5"),
        ("def get_max(xs): return xs[0]+1", "def get max xs return xs 0 1"),
        ("ﬁnd Straße", "find strasse"),
        ("给定整数 n", "给 定 整 数 n"),
        ("數を1つ", "數 を 1 つ"),
        ("한국어 문장", "한국어 문장"),
        ("Дано ЧИСЛО", "дано число"),
        (" ... <= ", ""),
    ],
)
def test_words_are_runs_of_letters_and_digits_without_case_and_layout(text: str, expected: str) -> None:
    assert words_of(text) == expected.split()


def test_hashes_are_the_same_on_every_machine_and_depend_on_the_order_of_words() -> None:
    assert gram_hashes(["find", "it"], 2).tolist() == [9347541412971416358]
    assert gram_hashes(["it", "find"], 2).tolist() != gram_hashes(["find", "it"], 2).tolist()


def test_a_text_shorter_than_a_gram_has_none() -> None:
    assert len(gram_hashes(["a"] * 4, 5)) == 0
    assert len(gram_hashes(["a"] * 6, 5)) == 2


def test_case_punctuation_spacing_and_latex_make_no_other_problem() -> None:
    found = match_of(r"Given $\texttt{n}$  , find  $a _ n$ !", "given n: find $a_n$")
    assert found == Match("0", exact=True, similarity=1.0)


def test_a_trailing_sentence_makes_a_near_duplicate() -> None:
    statement = " ".join(words(60))
    found = match_of(f"{statement} Note that the answer may be large.", statement)
    assert found is not None
    assert not found.exact
    assert 0.8 <= found.similarity < 1


def test_members_of_a_family_are_near_duplicates() -> None:
    statement = "This is the {} version, with n up to {}. " + " ".join(words(200))
    found = match_of(statement.format("hard", "2e5"), statement.format("easy", "100"))
    assert found is not None
    assert not found.exact


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Write a function to find the nth hexagonal number.", "Write a function to find the nth octagonal number."),
        ("Write a function to find the sum of the list.", "Write a function to find the product of the list."),
        ("Write a function to convert a tuple to a list.", "Write a function to convert a tuple to a string."),
        ("Add two numbers.", "Add three numbers."),
        ("求两个整数的和", "求两个整数的积"),
        ("Sort it", ""),
    ],
)
def test_short_tasks_that_differ_in_one_word_are_two_problems(one: str, other: str) -> None:
    assert match_of(one, other) is None
    assert match_of(other, one) is None


@pytest.mark.parametrize("text", ["", "Sort.", "Sort it now please"])
def test_texts_of_few_words_and_of_none_are_found_again(text: str) -> None:
    assert match_of(text, "Something else", text) == Match("1", exact=True, similarity=1.0)


def test_find_remembers_nothing() -> None:
    seen = SeenTexts()
    assert seen.find("Sort it") is None
    assert seen.find("Sort it") is None
    assert len(seen) == 0


def test_the_first_of_several_exact_duplicates_is_named() -> None:
    seen = SeenTexts()
    seen.add("first", "Sort it")
    seen.add("second", "sort it!")
    assert len(seen) == 1
    assert seen.find("SORT IT") == Match("first", exact=True, similarity=1.0)


def test_the_most_similar_text_is_named_and_the_earliest_of_equally_similar_ones() -> None:
    text = words(100)
    far, near, as_near = [*text, "x", "y", "z"], [*text, "x"], [*text, "y"]
    found = match_of(" ".join(text), *(" ".join(one) for one in (far, near, as_near)))
    assert found == Match("1", exact=False, similarity=96 / 97)


def test_an_exact_duplicate_is_named_before_an_earlier_near_one() -> None:
    text = " ".join(words(100))
    found = match_of(text, f"{text} x", text)
    assert found == Match("1", exact=True, similarity=1.0)


@pytest.mark.parametrize("near", [0.5, 0.8, 0.9])
def test_planted_pairs_are_found_just_if_they_are_similar_enough(near: float) -> None:
    draw = random.Random(7)
    originals = [words(200, seed) for seed in range(200)]
    seen = SeenTexts(near)
    for number, original in enumerate(originals):
        seen.add(str(number), " ".join(original))
    similar = 0
    for number, original in enumerate(originals):
        edited = list(original)
        for _ in range(draw.randrange(1, 20)):
            edited[draw.randrange(len(edited))] = "other"
        similarity = true_similarity(original, edited)
        similar += similarity >= near
        expected = Match(str(number), exact=False, similarity=similarity) if similarity >= near else None
        assert seen.find(" ".join(edited)) == expected
    assert similar > 10


@pytest.mark.parametrize("near", [0.0, -0.1, 1.1, float("nan")])
def test_a_similarity_out_of_range_is_refused(near: float) -> None:
    with pytest.raises(ValueError, match="above 0 and at most 1"):
        SeenTexts(near)


def test_similarity_of_one_asks_for_the_same_shingles() -> None:
    text = " ".join(words(50))
    seen = SeenTexts(near=1.0)
    seen.add("it", text)
    assert seen.find(text) == Match("it", exact=True, similarity=1.0)
    assert seen.find(f"{text} more") is None


@needs_problems
@pytest.mark.parametrize(
    ("name", "exact", "near"),
    [("mbpp", 4, 6), ("humaneval", 1, 0), ("codecontests_graph", 0, 10), ("sandboxfusion_assert_samples", 0, 0)],
)
def test_duplicates_among_real_problems_are_the_known_ones(name: str, exact: int, near: int) -> None:
    # Looked at one by one: each is the same statement, but for a title, "by using regex" or the kind of brackets.
    seen = SeenTexts()
    found = []
    with gzip.open(Path(FOLDER or "") / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            match = seen.find(row["prompt"])
            if match is None:
                seen.add(row["id"], row["prompt"])
            else:
                found.append(match.exact)
    assert (found.count(True), found.count(False)) == (exact, near)
