"""Starter families that no training ever sees; each joins what other families teach."""

from __future__ import annotations

from math import prod

from code_rlvr.data.starter.family import Family, one_each
from code_rlvr.data.starter.shapes import LIST, PAIR, ROWS, TRIPLE, WORDS, spaced
from code_rlvr.data.starter.word_families import unequal_lengths

UNSEEN_FAMILIES = (
    Family(
        name="product_three",
        shape=TRIPLE,
        tasks=("the product of a, b and c", "a times b times c", "their product", "the product of the three"),
        held_out_task="a multiplied by b and c",
        body="print(a*b*c)",
        mistakes=("print(a*b)", "print(a+b+c)", "print(a*b+c)"),
        answer=lambda a, b, c: prod((a, b, c)),
        edges=lambda: [(0, 3, 5), (9, 10, -1), (4, 4, 2), (1, 1, 1)],
    ),
    Family(
        name="scale_each",
        shape=LIST,
        tasks=(
            "each integer times {k}",
            "a with each multiplied by {k}",
            "all integers, each times {k}",
            "every integer multiplied by {k}",
        ),
        held_out_task="{k} times each integer",
        body="print(*[x*{k} for x in a])",
        mistakes=(
            "print(*[x+{k} for x in a])",
            "print(sum(x*{k} for x in a))",
            "print(*a)",
            "print(*a*{k})",
        ),
        answer=lambda a, k: spaced(sum([value] * k) for value in a),
        seen=one_each(2, 3, 4, 5, 6, 7, 8, 9),
    ),
    Family(
        name="rows_max",
        shape=ROWS,
        tasks=(
            "the largest of the n integers",
            "the maximum of the n integers",
            "the largest integer after n",
            "the biggest of the n integers",
        ),
        held_out_task="the maximum of all n integers",
        body="print(max(a))",
        mistakes=("print(min(a))", "print(max(n,max(a)))", "print(a[-1])", "print(max(a[0],a[-1]))"),
        answer=lambda a: -min(-value for value in a),
        edges=lambda: [([7],), ([9, 10, -3],), ([-4, -9],), ([5, 2, 5],), ([1, 2, 1],)],
    ),
    Family(
        name="f_distance",
        function=True,
        shape=PAIR,
        tasks=(
            "the distance between a and b",
            "the absolute difference of a and b",
            "how far apart a and b are",
            "the distance of the two",
        ),
        held_out_task="the absolute difference of the two",
        body="return abs(a-b)",
        mistakes=("return a-b", "return b-a", "return abs(a+b)", "return abs(a)-abs(b)"),
        answer=lambda a, b: max(a, b) - min(a, b),
        edges=lambda: [(0, 0), (9, 10), (10, 9), (-3, 2), (2, -3)],
    ),
    Family(
        name="f_longest_word",
        function=True,
        shape=WORDS,
        tasks=(
            "the longest word of w",
            "the word of w with the most letters",
            "the longest word in the list w",
            "the word with the most letters in w",
        ),
        held_out_task="the longest of the words in w",
        body="return max(w,key=len)",
        mistakes=("return max(w)", "return min(w,key=len)", "return len(max(w,key=len))", "return w[0]"),
        answer=lambda w: sorted(w, key=lambda text: -len(text))[0],
        draw=unequal_lengths,
        edges=lambda: [(["ok"],), (["a", "bcd", "zz"],), (["long", "z"],)],
    ),
)
