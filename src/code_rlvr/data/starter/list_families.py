"""Starter families on a list of integers: sums, counts, order and selection."""

from __future__ import annotations

from random import Random

from code_rlvr.data.starter.arithmetic_families import near_multiples
from code_rlvr.data.starter.family import Arguments, Family, one_each
from code_rlvr.data.starter.shapes import LIST, LIST_AND_ONE, numbers, spaced


def near(rng: Random, k: int) -> Arguments:
    """Draw a list of which about half is above `k`, often with `k` itself in it."""
    return ([rng.randint(k - 8, k + 8) for _ in range(rng.randint(3, 7))] + [k] * rng.randint(0, 1),)


def with_multiples(rng: Random, k: int) -> Arguments:
    """Draw a list of which about half are multiples of `k`."""
    size = rng.randint(3, 7)
    return ([rng.choice((k * rng.randint(-3, 7), rng.randint(-20, 40))) for _ in range(size)],)


def _longer_than(rng: Random, k: int) -> Arguments:
    return (numbers(rng, k + 1, k + 4),)


def _insertion_sorted(values: list[int]) -> list[int]:
    done: list[int] = []
    for value in values:
        place = sum(other <= value for other in done)
        done.insert(place, value)
    return done


def _distinct(values: list[int]) -> int:
    return sum(value not in values[:i] for i, value in enumerate(values))


LIST_FAMILIES = (
    Family(
        name="list_sum",
        shape=LIST,
        tasks=("the sum of a", "the sum of the list", "the total of all integers", "all integers added"),
        held_out_task="the total of the list",
        body="print(sum(a))",
        mistakes=("print(len(a))", "print(sum(a[1:]))", "print(max(a))", "print(a[0]+a[-1])"),
        answer=lambda a: -sum(-value for value in a),
    ),
    Family(
        name="list_max",
        shape=LIST,
        tasks=(
            "the largest integer",
            "the maximum of a",
            "the largest of the list",
            "the biggest integer of a",
        ),
        held_out_task="the maximum of the list",
        body="print(max(a))",
        mistakes=("print(min(a))", "print(a[-1])", "print(sorted(a)[0])", "print(max(a+[0]))"),
        answer=lambda a: -min(-value for value in a),
        edges=lambda: [([7],), ([9, 10, -3],), ([-4, -9],), ([5, 2, 5],)],
    ),
    Family(
        name="count_over",
        shape=LIST,
        tasks=(
            "how many are greater than {k}",
            "the number of integers above {k}",
            "the count of integers larger than {k}",
            "how many integers are more than {k}",
        ),
        held_out_task="the number of integers greater than {k}",
        body="print(sum(x>{k} for x in a))",
        mistakes=(
            "print(sum(x>={k} for x in a))",
            "print(sum(x<{k} for x in a))",
            "print(sum(x for x in a if x>{k}))",
            "print(len(a))",
        ),
        answer=lambda a, k: len([value for value in a if value > k]),
        seen=one_each(2, 3, 5, 6, 8, 9, 10),
        held_out=one_each(4, 7, 12),
        draw=near,
        edges=lambda k: [([k],), ([k + 1],), ([k, k - 1, k + 1, 100],), ([k - 2, k + 5, k + 5],)],
    ),
    Family(
        name="count_multiples",
        shape=LIST,
        tasks=(
            "how many are divisible by {k}",
            "the number of multiples of {k}",
            "the count of multiples of {k} in a",
            "how many integers {k} divides",
        ),
        held_out_task="the number of integers divisible by {k}",
        body="print(sum(x%{k}==0 for x in a))",
        mistakes=(
            "print(sum(x%{k}==1 for x in a))",
            "print(sum(x%{k}!=0 for x in a))",
            "print(sum(x for x in a if x%{k}==0))",
            "print(sum(x%{k} for x in a))",
        ),
        answer=lambda a, k: sum(abs(value) in range(0, 10_000, k) for value in a),
        seen=one_each(2, 3, 4, 5, 7, 9),
        held_out=one_each(6, 8),
        draw=with_multiples,
        edges=lambda k: [([0],), ([k + 1],), ([k, k, -k],), ([1, k, *near_multiples(k), 3 * k],)],
    ),
    Family(
        name="sort_up",
        shape=LIST,
        tasks=(
            "the list in ascending order",
            "a sorted from small to large",
            "the integers sorted",
            "a in increasing order",
        ),
        held_out_task="the integers in ascending order",
        body="print(*sorted(a))",
        mistakes=("print(*sorted(a)[::-1])", "print(*a)", "print(*sorted(set(a)))", "print(sorted(a))"),
        answer=lambda a: spaced(_insertion_sorted(a)),
        edges=lambda: [([7],), ([10, 9, -3],), ([4, 4, 1],), ([2, 2],)],
    ),
    Family(
        name="kth_smallest",
        shape=LIST,
        tasks=(
            "the integer at place {k} in sorted order",
            "number {k} of the sorted list",
            "the one at place {k} when a is sorted",
            "number {k} of a from the smallest on",
        ),
        held_out_task="number {k} of a in sorted order",
        body="print(sorted(a)[{k}-1])",
        mistakes=("print(sorted(a)[{k}])", "print(a[{k}-1])", "print(sorted(a)[-{k}])", "print(max(a))"),
        answer=lambda a, k: _insertion_sorted(a)[k - 1],
        seen=one_each(1, 2, 4, 5),
        held_out=one_each(3, 6),
        draw=_longer_than,
        edges=lambda k: [
            ([*range(k + 3, 2, -1)],),
            ([10, 9] + [0] * (k - 1),),
            ([*range(1, k + 3)],),
            ([9] + [3] * k + [4],),
        ],
    ),
    Family(
        name="distinct",
        shape=LIST,
        tasks=(
            "how many different integers there are",
            "the number of distinct integers",
            "the count of different integers in a",
            "how many distinct integers a has",
        ),
        held_out_task="the number of different integers",
        body="print(len(set(a)))",
        mistakes=("print(len(a))", "print(set(a))", "print(len(set(a))-1)", "print(max(a))"),
        answer=_distinct,
        draw=lambda rng: ([rng.randint(-3, 4) for _ in range(rng.randint(3, 9))],),
        edges=lambda: [([7],), ([3, 3],), ([10, 1, 10],), ([0, -1, -2],)],
        tolerates=("a=input().split()",),
    ),
    Family(
        name="add_each",
        shape=LIST,
        tasks=(
            "each integer plus {k}",
            "a with {k} added to each",
            "all integers, each increased by {k}",
            "every integer plus {k}",
        ),
        held_out_task="every integer increased by {k}",
        body="print(*[x+{k} for x in a])",
        mistakes=(
            "print(*[x-{k} for x in a])",
            "print(*a)",
            "print(sum(a)+{k})",
            "print([x+{k} for x in a])",
        ),
        answer=lambda a, k: spaced(value - -k for value in a),
        seen=one_each(1, 2, 3, 5, 6, 8, 9, 10),
        held_out=one_each(4, 7, 12),
    ),
    Family(
        name="count_x",
        shape=LIST_AND_ONE,
        tasks=(
            "how many times x is in a",
            "the number of times x is in the list",
            "the count of x in a",
            "how many integers of a are x",
        ),
        held_out_task="the number of integers that are x",
        body="print(a.count(x))",
        mistakes=("print(x in a)", "print(len(a))", "print(sum(v>x for v in a))", "print(a.count(a[0]))"),
        answer=lambda a, x: len([value for value in a if value == x]),
    ),
)
