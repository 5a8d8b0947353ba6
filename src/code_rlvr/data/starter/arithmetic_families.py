"""Starter families on one, two or three integers without a loop."""

from __future__ import annotations

from random import Random

from code_rlvr.data.starter.family import Arguments, Family, one_each
from code_rlvr.data.starter.shapes import INTEGER, PAIR, TRIPLE


def multiple_or_any(rng: Random, k: int) -> Arguments:
    """Draw an integer that is a multiple of `k` in about half of the cases."""
    return (rng.choice((k * rng.randint(-3, 12), rng.randint(-20, 90))),)


def near_multiples(k: int) -> list[int]:
    """List integers that every proper divisor of `k` divides one of, but `k` itself none."""
    return [k + k // p for p in (2, 3, 5, 7, 11) if k % p == 0]


SCALE_SHIFT_PAIRS = tuple((k, m) for k in range(2, 10) for m in range(1, 10) if k != m)

ARITHMETIC_FAMILIES = (
    Family(
        name="sum_two",
        shape=PAIR,
        tasks=("the sum of a and b", "a plus b", "their sum", "the total of the two"),
        held_out_task="the total of a and b",
        body="print(a+b)",
        mistakes=("print(a-b)", "print(a*b)", "print(a+a)"),
        answer=lambda a, b: a + b,
    ),
    Family(
        name="product_two",
        shape=PAIR,
        tasks=("the product of a and b", "a times b", "their product", "a multiplied by b"),
        held_out_task="the product of the two",
        body="print(a*b)",
        mistakes=("print(a+b)", "print(a**2)", "print(a*b+1)"),
        answer=lambda a, b: a * b,
    ),
    Family(
        name="distance",
        shape=PAIR,
        tasks=(
            "the distance between a and b",
            "the absolute difference of a and b",
            "how far apart a and b are",
            "their distance",
        ),
        held_out_task="the absolute difference of the two",
        body="print(abs(a-b))",
        mistakes=("print(a-b)", "print(b-a)", "print(abs(a+b))", "print(abs(a)-abs(b))"),
        answer=lambda a, b: abs(a - b),
        edges=lambda: [(0, 0), (9, 10), (10, 9), (-3, 2), (2, -3)],
    ),
    Family(
        name="larger",
        shape=PAIR,
        tasks=(
            "the larger of a and b",
            "the maximum of a and b",
            "the bigger of the two",
            "the larger number",
        ),
        held_out_task="the maximum of the two",
        body="print(max(a,b))",
        mistakes=("print(min(a,b))", "print(a)", "print(max(a,0))", "print(max(abs(a),abs(b)))"),
        answer=max,
        edges=lambda: [(9, 10), (10, 9), (-3, -8), (5, 5)],
    ),
    Family(
        name="remainder",
        shape=PAIR,
        tasks=(
            "the remainder of a divided by b",
            "a modulo b",
            "the rest when a is divided by b",
            "the remainder when b divides a",
        ),
        held_out_task="the remainder when a is divided by b",
        body="print(a%b)",
        mistakes=("print(a//b)", "print(b%a)", "print(a-b)"),
        answer=lambda a, b: a % b,
        draw=lambda rng: (rng.randint(1, 60), rng.randint(2, 12)),
        edges=lambda: [(3, 10), (12, 4), (40, 7)],
    ),
    Family(
        name="greater",
        shape=PAIR,
        tasks=(
            "YES if a is greater than b, otherwise NO",
            "YES if a is larger than b, else NO",
            "whether a is greater than b, as YES or NO",
            "YES if a is more than b and NO if not",
        ),
        held_out_task="whether a is larger than b, as YES or NO",
        body='print("YES" if a>b else "NO")',
        mistakes=(
            'print("YES" if a<b else "NO")',
            'print("YES" if a>=b else "NO")',
            'print("NO" if a>b else "YES")',
            'print("YES" if a>0 else "NO")',
        ),
        answer=lambda a, b: "YES" if a > b else "NO",
        edges=lambda: [(4, 4), (10, 9), (9, 10), (-2, -7), (-1, 3)],
    ),
    Family(
        name="sum_three",
        shape=TRIPLE,
        tasks=("the sum of a, b and c", "a plus b plus c", "their sum", "the total of the three"),
        held_out_task="the total of a, b and c",
        body="print(a+b+c)",
        mistakes=("print(a+b)", "print(a*b+c)", "print(a+b-c)"),
        answer=lambda a, b, c: a + b + c,
    ),
    Family(
        name="median_three",
        shape=TRIPLE,
        tasks=(
            "the middle value of a, b and c",
            "the median of a, b and c",
            "the median of the three",
            "the number in the middle by size",
        ),
        held_out_task="the middle value of the three",
        body="print(sorted([a,b,c])[1])",
        mistakes=("print(sorted([a,b,c])[0])", "print(b)", "print(max(a,b,c))", "print((a+b+c)//3)"),
        answer=lambda a, b, c: a + b + c - max(a, b, c) - min(a, b, c),
        edges=lambda: [(9, 10, -1), (10, 9, 8), (30, 3, 20), (4, 4, 2)],
    ),
    Family(
        name="add_k",
        shape=INTEGER,
        tasks=("n plus {k}", "the sum of n and {k}", "n increased by {k}", "{k} more than n"),
        held_out_task="the total of n and {k}",
        body="print(n+{k})",
        mistakes=("print(n-{k})", "print(n*{k})", "print(n)", "print({k})"),
        answer=lambda n, k: n + k,
        seen=one_each(1, 2, 3, 4, 6, 8, 9, 10, 12, 15, 20),
        held_out=one_each(5, 7, 11, 25),
    ),
    Family(
        name="scale_shift",
        shape=INTEGER,
        tasks=(
            "n times {k} plus {m}",
            "{k} times n plus {m}",
            "n times {k}, increased by {m}",
            "the product of n and {k}, plus {m}",
        ),
        held_out_task="{k} times n, increased by {m}",
        body="print(n*{k}+{m})",
        mistakes=("print(n*{k})", "print(n*{k}-{m})", "print((n+{m})*{k})", "print(n*{m}+{k})"),
        answer=lambda n, k, m: n * k + m,
        seen=tuple(pair for pair in SCALE_SHIFT_PAIRS if sum(pair) % 5),
        held_out=tuple(pair for pair in SCALE_SHIFT_PAIRS if not sum(pair) % 5),
    ),
    Family(
        name="divisible",
        shape=INTEGER,
        tasks=(
            "YES if n is divisible by {k}, otherwise NO",
            "YES if {k} divides n, else NO",
            "whether n is a multiple of {k}, as YES or NO",
            "YES if n is a multiple of {k} and NO if not",
        ),
        held_out_task="whether n is divisible by {k}, as YES or NO",
        body='print("YES" if n%{k}==0 else "NO")',
        mistakes=(
            'print("NO" if n%{k}==0 else "YES")',
            'print("YES" if n%{k}==1 else "NO")',
            'print("YES" if n>{k} else "NO")',
            'print("YES" if n//{k}==0 else "NO")',
        ),
        answer=lambda n, k: "NO" if n % k else "YES",
        seen=one_each(2, 3, 5, 6, 8, 9, 10),
        held_out=one_each(4, 7, 11),
        draw=multiple_or_any,
        edges=lambda k: [(0,), (k,), (-k,), *((value,) for value in near_multiples(k))],
    ),
    Family(
        name="sign",
        shape=INTEGER,
        tasks=(
            "+ if n is positive, - if negative, else 0",
            "the sign of n as +, - or 0",
            "+, - or 0 by the sign of n",
            "the sign of n: + or - or 0",
        ),
        held_out_task="+, - or 0 if n is positive, negative or 0",
        body='print("+" if n>0 else "-" if n<0 else "0")',
        mistakes=(
            'print("+" if n>0 else "-")',
            'print("+" if n>=0 else "-")',
            'print("-" if n>0 else "+" if n<0 else "0")',
            'print("+" if n>1 else "-" if n<0 else "0")',
        ),
        answer=lambda n: {-1: "-", 0: "0", 1: "+"}[(n > 0) - (n < 0)],
        edges=lambda: [(0,), (1,), (-1,), (-10,), (25,)],
    ),
    Family(
        name="at_most_k",
        shape=INTEGER,
        tasks=(
            "n but at most {k}",
            "the smaller of n and {k}",
            "the minimum of n and {k}",
            "n, or {k} if n is larger",
        ),
        held_out_task="{k} if n is larger than {k}, else n",
        body="print(min(n,{k}))",
        mistakes=("print(max(n,{k}))", "print(n)", "print({k})", "print(abs(min(n,{k})))"),
        answer=lambda n, k: k if n > k else n,
        seen=one_each(3, 4, 5, 6, 8, 9, 10, 12, 20),
        held_out=one_each(2, 7, 15),
        draw=lambda rng, k: (rng.randint(k - 25, k + 25),),
        edges=lambda k: [(k,), (k - 1,), (k + 1,), (0,), (-7,)],
    ),
)
