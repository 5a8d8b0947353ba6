"""Starter families on one integer that count, loop or take it apart."""

from __future__ import annotations

from math import factorial, gcd
from random import Random

from code_rlvr.data.starter.family import Arguments, Family, Value, one_each
from code_rlvr.data.starter.shapes import INTEGER, LIST, ROWS, spaced


def _small(rng: Random, *values: Value) -> Arguments:
    return (rng.randint(1, 15),)


def _digits(rng: Random, *values: Value) -> Arguments:
    return (rng.randint(10, 9_999),)


def _divisor_count(n: int) -> int:
    return sum(gcd(n, i) == i for i in range(1, n + 1))


def _floor_walk(numbers: list[int]) -> int:
    sums = [0]
    for number in numbers:
        sums.append(sums[-1] + number)
    return sums[-1] - min(sums)


LOOP_FAMILIES = (
    Family(
        name="digit_sum",
        shape=INTEGER,
        tasks=(
            "the sum of the digits of n",
            "the digit sum of n",
            "the total of its digits",
            "the digits of n added",
        ),
        held_out_task="the sum of its digits",
        body="print(sum(map(int,str(n))))",
        mistakes=("print(len(str(n)))", "print(n%10)", "print(n//10+n%10)", "print(sum(map(int,str(n)))%10)"),
        answer=lambda n: sum(ord(digit) - ord("0") for digit in str(n)),
        draw=_digits,
        edges=lambda: [(0,), (9,), (10,), (999,), (203,)],
        tolerates=("n=input()",),
    ),
    Family(
        name="sum_to",
        shape=INTEGER,
        tasks=(
            "the sum of 1 to n",
            "the sum of the integers from 1 to n",
            "the total of the numbers 1 to n",
            "1 plus 2 and so on up to n",
        ),
        held_out_task="the sum of the numbers from 1 up to n",
        body="print(sum(range(n+1)))",
        mistakes=("print(sum(range(n)))", "print(n*n)", "print(n+1)", "print(sum(range(1,n)))"),
        answer=lambda n: n * (n + 1) // 2,
        draw=_small,
        edges=lambda: [(1,), (2,), (10,), (30,)],
    ),
    Family(
        name="factorial",
        shape=INTEGER,
        tasks=(
            "n factorial",
            "the factorial of n",
            "the product of the integers from 1 to n",
            "the product of 1 to n",
        ),
        held_out_task="the product of the numbers from 1 to n",
        body="p=1\nfor i in range(1,n+1):p*=i\nprint(p)",
        mistakes=(
            "p=1\nfor i in range(1,n):p*=i\nprint(p)",
            "p=0\nfor i in range(1,n+1):p*=i\nprint(p)",
            "p=1\nfor i in range(n+1):p*=i\nprint(p)",
            "p=1\nfor i in range(1,n+1):p+=i\nprint(p)",
        ),
        answer=factorial,
        draw=lambda rng: (rng.randint(2, 12),),
        edges=lambda: [(1,), (2,), (3,), (10,)],
    ),
    Family(
        name="count_up",
        shape=INTEGER,
        tasks=(
            "the integers from 1 to n",
            "the numbers 1 to n on one line",
            "1 to n on one line",
            "all integers from 1 up to n",
        ),
        held_out_task="all numbers from 1 to n",
        body="print(*range(1,n+1))",
        mistakes=("print(*range(n))", "print(*range(1,n))", "print(*range(n+1))", "print(range(1,n+1))"),
        answer=lambda n: spaced(range(1, n + 1)),
        draw=_small,
        edges=lambda: [(1,), (2,), (10,)],
    ),
    Family(
        name="times_table",
        shape=INTEGER,
        tasks=(
            "the first n multiples of {k}",
            "{k} times each of 1 to n",
            "the multiples of {k} from {k} to n times {k}",
            "the {k} times table up to n times {k}",
        ),
        held_out_task="{k} times each number from 1 to n",
        body="print(*[i*{k} for i in range(1,n+1)])",
        mistakes=(
            "print(*[i*{k} for i in range(n)])",
            "print(*[i*{k} for i in range(1,n)])",
            "print(*[i+{k} for i in range(1,n+1)])",
            "print(*range(1,n+1))",
        ),
        answer=lambda n, k: spaced(range(k, n * k + 1, k)),
        seen=one_each(2, 3, 4, 6, 7, 9),
        held_out=one_each(5, 8),
        draw=lambda rng, k: (rng.randint(2, 12),),
        edges=lambda k: [(1,), (2,), (10,)],
    ),
    Family(
        name="divisors",
        shape=INTEGER,
        tasks=(
            "how many divisors n has",
            "the number of divisors of n",
            "the count of divisors of n",
            "how many integers from 1 to n divide n",
        ),
        held_out_task="the count of integers from 1 to n that divide n",
        body="print(sum(n%i==0 for i in range(1,n+1)))",
        mistakes=(
            "print(sum(n%i==0 for i in range(1,n)))",
            "print(sum(n%i==0 for i in range(2,n+1)))",
            "print(sum(n%i for i in range(1,n+1)))",
            "print(sum(i for i in range(1,n+1) if n%i==0))",
        ),
        answer=_divisor_count,
        draw=lambda rng: (rng.randint(4, 100),),
        edges=lambda: [(1,), (2,), (12,), (36,), (13,)],
    ),
    Family(
        name="running_sums",
        shape=LIST,
        tasks=(
            "the running sums, one a line",
            "the sum so far after each integer, one a line",
            "the running total after each integer, one a line",
            "each running sum on a line",
        ),
        held_out_task="each running total, one a line",
        body="t=0\nfor x in a:\n t+=x\n print(t)",
        mistakes=(
            "t=0\nfor x in a:\n t+=x\nprint(t)",
            "t=0\nfor x in a:\n t=x\n print(t)",
            "t=1\nfor x in a:\n t+=x\n print(t)",
            "t=0\nfor x in a:\n print(t)\n t+=x",
        ),
        answer=lambda a: "\n".join(str(sum(a[: i + 1])) for i in range(len(a))),
    ),
    Family(
        name="floor_walk",
        shape=LIST,
        tasks=(
            "the running sum of a, kept from going below 0",
            "the sum of a, set to 0 each time it is below 0",
            "the total, but 0 each time it would be negative",
            "the sum so far at the end, never below 0",
        ),
        held_out_task="the total at the end, never below 0",
        body="t=0\nfor x in a:t=max(0,t+x)\nprint(t)",
        mistakes=(
            "t=0\nfor x in a:t=t+x\nprint(t)",
            "t=0\nfor x in a:t=t+x\nprint(max(0,t))",
            "t=0\nfor x in a:t=max(t,t+x)\nprint(t)",
            "t=0\nfor x in a:t=max(0,x)\nprint(t)",
        ),
        answer=_floor_walk,
        draw=lambda rng: ([rng.randint(-12, 12) for _ in range(rng.randint(3, 8))],),
        edges=lambda: [([-4],), ([6],), ([-5, 3, 4],), ([8, -10, 1, 3],), ([5, -2, 1],)],
    ),
    Family(
        name="rows_sum",
        shape=ROWS,
        tasks=(
            "the sum of the n integers",
            "the total of the n integers",
            "the n integers added",
            "the sum of all integers after n",
        ),
        held_out_task="the total of all n integers",
        body="print(sum(a))",
        mistakes=("print(sum(a)+n)", "print(sum(a[1:]))", "print(len(a))", "print(a[0])"),
        answer=lambda a: -sum(-value for value in a),
    ),
)
