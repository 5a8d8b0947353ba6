"""pass@k is the estimator of Chen et al. and refuses what it cannot estimate."""

from __future__ import annotations

from itertools import combinations

import pytest

from code_rlvr.evaluate.passk import mean_pass_at_k, pass_at_k


@pytest.mark.parametrize("n", range(1, 8))
def test_estimate_is_the_share_of_k_subsets_with_an_accepted_sample(n):
    for c in range(n + 1):
        samples = [True] * c + [False] * (n - c)
        for k in range(1, n + 1):
            subsets = list(combinations(samples, k))
            assert pass_at_k(n, c, k) == pytest.approx(sum(map(any, subsets)) / len(subsets))


def test_value_published_with_the_estimator():
    # numpy's product form from the paper, by hand: 1 - (195/200 · 194/199 · … ) for n=200, c=5, k=10
    expected = 1.0
    for i in range(196, 201):
        expected *= 1 - 10 / i
    assert pass_at_k(200, 5, 10) == pytest.approx(1 - expected)


def test_large_counts_neither_overflow_nor_lose_digits():
    assert pass_at_k(10_000, 1, 100) == pytest.approx(0.01)
    assert pass_at_k(10_000, 9_999, 2) == 1.0


@pytest.mark.parametrize(("n", "c", "k"), [(3, 1, 4), (0, 0, 1), (4, 5, 1), (4, -1, 1), (4, 2, 0)])
def test_undefined_estimates_are_refused(n, c, k):
    with pytest.raises(ValueError, match="pass@"):
        pass_at_k(n, c, k)


def test_mean_weighs_problems_and_not_samples():
    assert mean_pass_at_k([(1, 1), (10, 0)], 1) == 0.5


def test_mean_of_no_problems_is_refused():
    with pytest.raises(ValueError, match="undefined"):
        mean_pass_at_k([], 1)
