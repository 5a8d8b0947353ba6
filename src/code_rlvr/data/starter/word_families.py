"""Starter families on a line of words, or on two words: counts, order, dictionaries."""

from __future__ import annotations

from random import Random

from code_rlvr.data.starter.family import Arguments, Family
from code_rlvr.data.starter.shapes import TWO_WORDS, WORDS, spaced, word, words


def _anagrams_and_near(rng: Random) -> Arguments:
    first = word(rng, 3, 6, "abcde")
    second = "".join(rng.sample(first, len(first)))
    kind = rng.randrange(4)
    if kind == 0:
        second += rng.choice(first)
    if kind == 1:
        second = rng.choice("abcde") + second[1:]
    return (first, second)


def unequal_lengths(rng: Random) -> Arguments:
    """Draw words of which no two have the same length."""
    lengths = rng.sample(range(1, 9), rng.randint(2, 5))
    return ([word(rng, length, length) for length in lengths],)


def _repeated(rng: Random) -> Arguments:
    pool = words(rng, 2, 3)
    return ([rng.choice(pool) for _ in range(rng.randint(3, 6))],)


def _tally(values: list[str]) -> str:
    return "\n".join(f"{value} {values.count(value)}" for value in sorted(set(values)))


TALLY = "d={}\nfor x in w:d[x]=d.get(x,0)+1\n"

WORD_FAMILIES = (
    Family(
        name="word_count",
        shape=WORDS,
        tasks=(
            "how many words there are",
            "the number of words",
            "the count of words in w",
            "how many words w has",
        ),
        held_out_task="the number of words in w",
        body="print(len(w))",
        mistakes=("print(len(w[0]))", "print(len(w)-1)", "print(len(set(w)))", "print(sum(map(len,w)))"),
        answer=lambda w: sum(1 for _ in w),
        draw=_repeated,
        edges=lambda: [(["ok"],), (["b", "a", "b"],), (["no", "a", "tree", "no"],)],
    ),
    Family(
        name="longest_word",
        shape=WORDS,
        tasks=(
            "the longest word",
            "the word with the most letters",
            "the longest word of w",
            "the word of w with the most letters",
        ),
        held_out_task="the longest of the words",
        body="print(max(w,key=len))",
        mistakes=("print(max(w))", "print(min(w,key=len))", "print(len(max(w,key=len)))", "print(w[0])"),
        answer=lambda w: sorted(w, key=lambda text: -len(text))[0],
        draw=unequal_lengths,
        edges=lambda: [(["ok"],), (["a", "bcd", "zz"],), (["long", "z"],)],
    ),
    Family(
        name="reverse_words",
        shape=WORDS,
        tasks=(
            "the words in reverse order",
            "the words from last to first",
            "w reversed, word by word",
            "all words in reverse order",
        ),
        held_out_task="all words of w from last to first",
        body="print(*w[::-1])",
        mistakes=("print(*w)", "print(*sorted(w))", "print(w[::-1])", "print(*[x[::-1] for x in w])"),
        answer=lambda w: spaced(reversed(w)),
        edges=lambda: [(["ok"],), (["b", "a", "c"],), (["no", "a", "tree"],)],
    ),
    Family(
        name="first_letters",
        shape=WORDS,
        tasks=(
            "the first letter of every word, joined",
            "the first letters of the words, joined",
            "each first letter, joined",
            "the joined first letters of w",
        ),
        held_out_task="the first letter of each word, joined",
        body='print("".join(x[0] for x in w))',
        mistakes=(
            'print("".join(x[:2] for x in w))',
            'print(" ".join(x[0] for x in w))',
            'print("".join(x for x in w))',
            "print(w[0][0])",
        ),
        answer=lambda w: "".join(text[:1] for text in w),
        edges=lambda: [(["ok"],), (["bit", "cat", "a"],), (["no", "ax", "tree"],)],
    ),
    Family(
        name="tally",
        shape=WORDS,
        tasks=(
            "each word and its count, sorted, one a line",
            "every word in sorted order and its count, one a line",
            "the count of each word, sorted by word, one a line",
            "the sorted words, each with its count, one a line",
        ),
        held_out_task="every word and its count, sorted by word, one a line",
        body=TALLY + "for x in sorted(d):print(x,d[x])",
        mistakes=(
            TALLY + "for x in d:print(x,d[x])",
            TALLY + "for x in sorted(d):print(d[x])",
            "d={}\nfor x in w:d[x]=d.get(x,0)\nfor x in sorted(d):print(x,d[x])",
            TALLY + "for x in w:print(x,d[x])",
        ),
        answer=_tally,
        draw=_repeated,
        edges=lambda: [(["ok"],), (["b", "a", "b"],), (["e", "d", "c", "b", "a"],), (["a", "a"],)],
    ),
    Family(
        name="anagram",
        shape=TWO_WORDS,
        tasks=(
            "YES if s and t are anagrams, otherwise NO",
            "YES if s and t have the same letters, as often, else NO",
            "whether s is an anagram of t, as YES or NO",
            "YES if s is an anagram of t and NO if not",
        ),
        held_out_task="whether s and t are anagrams, as YES or NO",
        body='print("YES" if sorted(s)==sorted(t) else "NO")',
        mistakes=(
            'print("YES" if set(s)==set(t) else "NO")',
            'print("NO" if sorted(s)==sorted(t) else "YES")',
            'print("YES" if s==t else "NO")',
            'print("YES" if len(s)==len(t) else "NO")',
        ),
        answer=lambda s, t: "YES" if {c: s.count(c) for c in s} == {c: t.count(c) for c in t} else "NO",
        draw=_anagrams_and_near,
        edges=lambda: [("ba", "ab"), ("aab", "abb"), ("cd", "ab"), ("ab", "cd"), ("a", "aa")],
    ),
)
