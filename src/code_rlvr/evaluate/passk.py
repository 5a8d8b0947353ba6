"""The unbiased pass@k estimator.

Covered: one problem, and the mean over problems.  Not covered: intervals (`scores`), and best@k by
resampling, which is another quantity.
"""

from __future__ import annotations

import math
from collections.abc import Iterable


def pass_at_k(n: int, c: int, k: int) -> float:
    """Estimate the probability that at least one of k samples is accepted.

    Args:
        n: Samples that were judged, at least `k`.
        c: Accepted samples, 0 to `n`.
        k: Samples that a user would draw, at least 1.

    Returns:
        1 - C(n-c, k) / C(n, k), in [0, 1].

    Raises:
        ValueError: If n < k, for which no unbiased estimate exists, or an argument is outside its range.

    Source: Chen et al. 2021, arXiv:2107.03374, equation 1.
    """
    if k < 1 or not 0 <= c <= n:
        raise ValueError(f"pass@k needs k >= 1 and 0 <= c <= n, not n={n}, c={c}, k={k}")
    if n < k:
        raise ValueError(f"pass@{k} is undefined with {n} samples of a problem; draw at least {k}")
    return 1.0 - math.comb(n - c, k) / math.comb(n, k)


def mean_pass_at_k(counts: Iterable[tuple[int, int]], k: int) -> float:
    """Average pass@k over problems, each with the same weight.

    Args:
        counts: (n, c) of each problem; at least one.
        k: See `pass_at_k`.

    Returns:
        The mean, in [0, 1]; with k = 1 the mean share of accepted samples.

    Raises:
        ValueError: If there is no problem, or `pass_at_k` is undefined for one.
    """
    values = [pass_at_k(n, c, k) for n, c in counts]
    if not values:
        raise ValueError(f"pass@{k} of no problems is undefined")
    return sum(values) / len(values)
