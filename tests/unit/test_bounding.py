"""Samples of tests: within bounds, in order, the same every time."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from code_rlvr import Tests
from code_rlvr.data.prepare.bounding import bound_tests, count_tests

MANY = Tests.stdio([f"{i}\n" for i in range(50)], [str(i) for i in range(50)])


def test_tests_within_bounds_stay_as_they_are() -> None:
    assert bound_tests(MANY, 50, 1000, "seed") is MANY


def test_a_sample_keeps_the_order_and_pairs_inputs_with_their_outputs() -> None:
    kept = bound_tests(MANY, 10, 1000, "seed")
    assert kept is not None
    assert [f"{out}\n" for out in kept.outputs] == list(kept.inputs)
    assert sorted(map(int, kept.outputs)) == [int(out) for out in kept.outputs]


def test_a_sample_depends_on_the_seed_alone() -> None:
    assert bound_tests(MANY, 10, 1000, "seed") == bound_tests(MANY, 10, 1000, "seed")
    assert bound_tests(MANY, 10, 1000, "seed") != bound_tests(MANY, 10, 1000, "other")


def test_large_tests_make_room_for_small_ones() -> None:
    tests = Tests.stdio(["x" * 500, "1", "2"], ["1", "2", "3"])
    kept = bound_tests(tests, 10, 100, "seed")
    assert kept is not None
    assert kept.inputs == ("1", "2")


def test_where_no_test_is_small_enough_there_are_none() -> None:
    assert bound_tests(Tests.stdio(["x" * 500], ["1"]), 10, 100, "seed") is None
    assert bound_tests(Tests.assertions(["assert f('" + "x" * 500 + "') == 1"]), 10, 100, "seed") is None


def test_calls_and_assertions_are_bounded_too_and_survive_their_text() -> None:
    calls = Tests.call("f", [[i] for i in range(9)], [[i, i] for i in range(9)])
    asserts = Tests.assertions([f"assert f({i}) == {i}" for i in range(9)], entry_point="f", prelude="import math")
    for tests in (calls, asserts):
        kept = bound_tests(tests, 4, 10_000, "seed")
        assert kept is not None
        assert count_tests(kept) == 4
        assert Tests.parse(kept.to_json()) == kept


@given(st.lists(st.text(max_size=30), min_size=1, max_size=30), st.integers(1, 30), st.integers(1, 300))
def test_no_bound_is_ever_passed(inputs: list[str], max_tests: int, max_bytes: int) -> None:
    kept = bound_tests(Tests.stdio(inputs, ["1"] * len(inputs)), max_tests, max_bytes, "seed")
    if kept is not None:
        assert 1 <= len(kept.inputs) <= max_tests
        assert sum(len(text.encode()) + 1 for text in kept.inputs) <= max_bytes
