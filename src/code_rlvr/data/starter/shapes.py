"""The forms of input that the starter problems read, with their default inputs.

Covered: how each form is called, read, misread, rendered and drawn. Not covered: what is asked about it.
"""

from __future__ import annotations

from collections.abc import Iterable
from random import Random

from code_rlvr.data.starter.family import Arguments, Shape, Value

LETTERS = "abcdefghiklmnoprstu"


def numbers(rng: Random, shortest: int = 2, longest: int = 7, low: int = -20, high: int = 30) -> list[int]:
    """Draw a list of integers that often holds one of its values twice."""
    drawn = [rng.randint(low, high) for _ in range(rng.randint(shortest, longest))]
    if len(drawn) > 2 and rng.random() < 0.5:
        drawn[rng.randrange(len(drawn))] = rng.choice(drawn)
    return drawn


def word(rng: Random, shortest: int = 2, longest: int = 8, alphabet: str = LETTERS) -> str:
    """Draw a word of lower-case letters."""
    return "".join(rng.choice(alphabet) for _ in range(rng.randint(shortest, longest)))


def words(rng: Random, shortest: int = 2, longest: int = 6) -> list[str]:
    """Draw words that differ in length, in no order, and often hold one of them twice."""
    drawn = [word(rng, 1, 6) for _ in range(rng.randint(shortest, longest))]
    if len(drawn) > 2 and rng.random() < 0.5:
        drawn[rng.randrange(len(drawn))] = rng.choice(drawn)
    return drawn


def spaced(values: Iterable[object]) -> str:
    """Write values on one line."""
    return " ".join(map(str, values))


def _render_scalars(*values: object) -> str:
    return spaced(values) + "\n"


def _render_line(values: Iterable[object]) -> str:
    return spaced(values) + "\n"


def _render_line_and_one(values: Iterable[object], one: object) -> str:
    return f"{spaced(values)}\n{one}\n"


def _render_rows(values: list[object]) -> str:
    return "\n".join(map(str, [len(values), *values])) + "\n"


def _draw_integer(rng: Random, *values: Value) -> Arguments:
    return (rng.randint(-30, 60),)


def _draw_pair(rng: Random, *values: Value) -> Arguments:
    return (rng.randint(-30, 60), rng.randint(-30, 60))


def _draw_triple(rng: Random, *values: Value) -> Arguments:
    return (rng.randint(-30, 60), rng.randint(-30, 60), rng.randint(-30, 60))


def _draw_list(rng: Random, *values: Value) -> Arguments:
    return (numbers(rng),)


def _draw_list_and_one(rng: Random, *values: Value) -> Arguments:
    listed = [rng.randint(-5, 12) for _ in range(rng.randint(2, 5))]
    listed += [rng.choice(listed) for _ in range(rng.randint(1, 4))]
    rng.shuffle(listed)
    return (listed, rng.choice(listed))


def _draw_word(rng: Random, *values: Value) -> Arguments:
    return (word(rng),)


def _draw_words(rng: Random, *values: Value) -> Arguments:
    return (words(rng),)


def _draw_two_words(rng: Random, *values: Value) -> Arguments:
    return (word(rng), word(rng))


INTEGER = Shape(
    name="integer",
    nouns=("an integer n", "one integer n"),
    variables="n",
    reader="n=int(input())",
    misreads=("n=input()", "n=list(map(int,input().split()))"),
    render=_render_scalars,
    draw=_draw_integer,
    edges=lambda *_: [(0,), (1,), (-1,)],
)
PAIR = Shape(
    name="pair",
    nouns=("two integers a and b", "integers a and b"),
    variables="a,b",
    reader="a,b=map(int,input().split())",
    misreads=("a,b=input().split()", "a=int(input())\nb=int(input())"),
    render=_render_scalars,
    draw=_draw_pair,
    edges=lambda *_: [(0, 0), (9, 10), (-3, 2), (5, 5)],
)
TRIPLE = Shape(
    name="triple",
    nouns=("three integers a, b and c", "integers a, b and c"),
    variables="a,b,c",
    reader="a,b,c=map(int,input().split())",
    misreads=("a,b,c=input().split()", "a=int(input())\nb=int(input())\nc=int(input())"),
    render=_render_scalars,
    draw=_draw_triple,
    edges=lambda *_: [(0, 0, 0), (9, 10, -1), (4, 4, 2)],
)
LIST = Shape(
    name="list",
    nouns=("a list of integers a", "integers a on one line"),
    variables="a",
    reader="a=list(map(int,input().split()))",
    misreads=("a=input().split()", "a=list(map(int,input()))"),
    render=_render_line,
    draw=_draw_list,
    edges=lambda *_: [([7],), ([9, 10, -3],), ([4, 4, 1],), ([0, 0],)],
)
LIST_AND_ONE = Shape(
    name="list and one",
    nouns=("a list of integers a, then x", "integers a on one line, then x"),
    variables="a,x",
    reader="a=list(map(int,input().split()))\nx=int(input())",
    misreads=("a=list(map(int,input().split()))\nx=input()", "a=input().split()\nx=int(input())"),
    render=_render_line_and_one,
    draw=_draw_list_and_one,
    edges=lambda *_: [([3], 3), ([3], 4), ([12, 2, 12], 12), ([0, 1, 0, 10], 0)],
)
WORD = Shape(
    name="word",
    nouns=("a word s", "a string s"),
    variables="s",
    reader="s=input()",
    misreads=("s=input().split()", "n=int(input())\ns=input()"),
    render=_render_scalars,
    draw=_draw_word,
    edges=lambda *_: [("a",), ("aa",), ("abc",)],
)
WORDS = Shape(
    name="words",
    nouns=("a list of words w", "words w on one line"),
    variables="w",
    reader="w=input().split()",
    misreads=("w=input()", "w=[input()]"),
    render=_render_line,
    draw=_draw_words,
    edges=lambda *_: [(["ok"],), (["b", "a", "b"],), (["no", "a", "tree"],)],
)
TWO_WORDS = Shape(
    name="two words",
    nouns=("two words s and t", "words s and t"),
    variables="s,t",
    reader="s,t=input().split()",
    misreads=("s,t=input()", "s=input()\nt=input()"),
    render=_render_scalars,
    draw=_draw_two_words,
    edges=lambda *_: [("a", "a"), ("ab", "ba"), ("aab", "abb")],
)
ROWS = Shape(
    name="rows",
    nouns=("n, then n integers, one a line", "n and then n lines, an integer each"),
    variables="a",
    reader="n=int(input())\na=[int(input()) for i in range(n)]",
    misreads=("a=list(map(int,input().split()))", "n=int(input())\na=list(map(int,input().split()))"),
    render=_render_rows,
    draw=_draw_list,
    edges=lambda *_: [([7],), ([9, 10, -3],), ([4, 4, 1],), ([0, 0],)],
)
