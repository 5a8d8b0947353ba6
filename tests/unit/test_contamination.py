"""Which statements overlap with a benchmark's problems."""

from __future__ import annotations

import gzip
import json
import os
import random
from pathlib import Path

import pytest

from code_rlvr.data.contamination import Overlap, find_overlaps

FOLDER = os.environ.get("CODE_RLVR_ORACLE")
BOILERPLATE = "The first line contains a single integer t, the number of test cases; then t cases follow."
HEXAGONAL = "Write a function to find the nth hexagonal number."


def prose(count: int, seed: int) -> str:
    draw = random.Random(seed)
    return " ".join(f"w{draw.randrange(10**6)}" for _ in range(count))


PROBLEM = prose(40, seed=1)


def first_words(text: str, count: int) -> str:
    return " ".join(text.split()[:count])


def test_equal_words_overlap_whatever_the_layout() -> None:
    overlaps = find_overlaps(["Sort it!", "Sort them"], [("bench/1", "sort  IT"), ("bench/2", "sort it")])
    assert overlaps == {0: Overlap("bench/1", "sort it", exact=True, covered=1.0)}


def test_thirteen_shared_words_overlap_and_twelve_do_not() -> None:
    texts = [f"{prose(50, 2)} {first_words(PROBLEM, count)} {prose(50, 3)}" for count in (12, 13)]
    overlaps = find_overlaps(texts, [("bench/1", PROBLEM)])
    assert overlaps == {1: Overlap("bench/1", first_words(PROBLEM, 13), exact=False, covered=13 / 40)}


def test_words_in_another_order_do_not_overlap() -> None:
    assert find_overlaps([" ".join(reversed(PROBLEM.split()))], [("bench/1", PROBLEM)]) == {}


@pytest.mark.parametrize(("copies", "expected"), [(10, 10), (11, 0)])
def test_a_gram_of_more_than_ten_texts_is_boilerplate(copies: int, expected: int) -> None:
    texts = [f"{prose(50, seed)} {BOILERPLATE}" for seed in range(copies)]
    assert len(find_overlaps(texts, [("bench/1", BOILERPLATE)])) == expected


@pytest.mark.parametrize(("copies", "expected"), [(10, 1), (11, 0)])
def test_a_gram_of_more_than_ten_benchmark_problems_is_boilerplate(copies: int, expected: int) -> None:
    benchmark = [(f"bench/{seed}", f"{prose(20, seed)} {BOILERPLATE}") for seed in range(copies)]
    assert len(find_overlaps([f"{prose(50, 99)} {BOILERPLATE}"], benchmark)) == expected


def test_boilerplate_that_looks_rare_in_a_small_set_covers_too_little() -> None:
    text = f"{prose(200, 2)} {BOILERPLATE}"
    assert find_overlaps([text], [("bench/1", f"{prose(200, 3)} {BOILERPLATE}")]) == {}


def test_a_template_around_every_statement_ties_no_two_together() -> None:
    templated = "Write a function to {} Your code has to pass this test, among others: assert {}"
    ends = [f"of {one} {other}" for one in ("a", "the", "this") for other in ("list", "string", "tuple")]
    texts = [templated.format(f"{prose(8, n)} {ends[n % 9]}", prose(6, 100 + n)) for n in range(60)]
    benchmark = [
        (f"bench/{n}", templated.format(f"{prose(8, 200 + n)} {ends[n % 9]}", prose(6, 300 + n))) for n in range(60)
    ]
    assert find_overlaps(texts, benchmark) == {}
    leaked = [*texts, benchmark[7][1].replace("among others", "among others that you do not see")]
    assert {number: found.name for number, found in find_overlaps(leaked, benchmark).items()} == {60: "bench/7"}


def test_variants_of_one_benchmark_do_not_make_its_problems_boilerplate() -> None:
    benchmark = [(f"{variant}/1", f"{PROBLEM} {variant}") for variant in ("mbpp", "sanitized", "plus")]
    overlaps = find_overlaps([f"{PROBLEM} and more"], benchmark)
    assert overlaps[0].name == "mbpp/1"


def test_a_short_benchmark_statement_within_a_text_overlaps() -> None:
    overlaps = find_overlaps([f"{HEXAGONAL} {prose(100, 2)}"], [("bench/1", HEXAGONAL)])
    assert overlaps == {
        0: Overlap("bench/1", "write a function to find the nth hexagonal number", exact=False, covered=1.0)
    }


def test_a_short_text_within_a_benchmark_statement_overlaps() -> None:
    overlaps = find_overlaps([HEXAGONAL], [("bench/1", f"{HEXAGONAL} assert hexagonal_num(10) == 190")])
    assert overlaps == {
        0: Overlap("bench/1", "write a function to find the nth hexagonal number", exact=False, covered=9 / 14)
    }


@pytest.mark.parametrize("other", ["Write a function to find the nth octagonal number.", "Find the nth number."])
def test_another_short_task_does_not_overlap(other: str) -> None:
    assert find_overlaps([other], [("bench/1", HEXAGONAL), ("bench/2", f"{HEXAGONAL} Print it.")]) == {}


def test_statements_of_seven_words_overlap_only_if_equal() -> None:
    seven = "Write a function to sort a list"
    texts = [seven, f"{seven} of tuples by their second element, in place"]
    assert list(find_overlaps(texts, [("bench/1", seven)])) == [0]


def test_the_most_covered_problem_is_named_and_the_earliest_of_equally_covered_ones() -> None:
    benchmark = [(name, first_words(PROBLEM, count) + " " + prose(20, 2)) for name, count in [("a", 15), ("b", 30)]]
    assert find_overlaps([PROBLEM], benchmark)[0].name == "b"
    assert find_overlaps([PROBLEM], [("first", f"{PROBLEM} x"), ("second", f"{PROBLEM} y")])[0].name == "first"


def test_an_equal_problem_is_named_before_others() -> None:
    overlaps = find_overlaps([PROBLEM], [("longer", f"{PROBLEM} x"), ("equal", PROBLEM)])
    assert overlaps == {0: Overlap("equal", PROBLEM, exact=True, covered=1.0)}


def test_texts_without_words_overlap_with_nothing() -> None:
    assert find_overlaps(["", "?!"], [("bench/1", ""), ("bench/2", "...")]) == {}
    assert find_overlaps([], [("bench/1", PROBLEM)]) == {}
    assert find_overlaps([PROBLEM], []) == {}


@pytest.mark.skipif(not FOLDER, reason="CODE_RLVR_ORACLE names no folder of real problems")
@pytest.mark.parametrize(
    ("texts", "benchmark", "least", "most"),
    [
        # 196 of the 377 MBPP+ statements hold MBPP's unchanged; the others were rewritten.
        ("mbppplus", "mbpp", 200, 230),
        ("mbpp", "mbppplus", 200, 250),
        ("humaneval", "mbpp", 0, 2),
        ("mbpp", "humaneval", 0, 2),
        ("gsm8k_test", "humaneval", 0, 0),
        # Problems made from HumanEval's, by rewriting one or joining two.
        ("sandboxfusion_assert_samples", "humaneval", 15, 30),
        ("codecontests_graph", "stdio_kattis_contests", 0, 2),
        ("stdio_kattis_contests", "codecontests_graph", 0, 2),
        # One problem is in both; another has much of its input's format in common.
        ("codecontests_graph", "sandboxfusion_code_contests", 1, 3),
    ],
)
def test_overlaps_between_real_sets_are_the_known_ones(texts: str, benchmark: str, least: int, most: int) -> None:
    overlaps = find_overlaps([text for _, text in statements(texts)], statements(benchmark))
    assert least <= len(overlaps) <= most


def statements(name: str) -> list[tuple[str, str]]:
    with gzip.open(Path(FOLDER or "") / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = map(json.loads, lines)
        return list({row["prompt"]: (row["id"], row["prompt"]) for row in rows if row["prompt"]}.values())
