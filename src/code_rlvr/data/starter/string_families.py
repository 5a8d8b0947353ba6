"""Starter families on one word: its letters, their count and their order."""

from __future__ import annotations

from random import Random

from code_rlvr.data.starter.family import Arguments, Family, one_each
from code_rlvr.data.starter.shapes import LETTERS, WORD, word


def with_letter(rng: Random, *letters: str) -> Arguments:
    """Draw a word in which the given letters are frequent."""
    return (word(rng, 3, 8, "".join(letters) * 4 + "aeonstr"),)


def longer_or_shorter(rng: Random, k: int) -> Arguments:
    """Draw a word that is mostly longer than `k`, without a letter twice."""
    return ("".join(rng.sample(LETTERS, rng.randint(max(1, k - 1), k + 6))),)


def _half_palindromes(rng: Random) -> Arguments:
    half, middle = word(rng, 1, 4, "abcde"), rng.choice(["", "x"])
    back = half[::-1]
    kind = rng.randrange(3)
    if kind == 0:
        return (half + middle + back,)
    return (half + middle + "yz" + back if kind == 1 else word(rng, 2, 7, "abc"),)


def _moves(rng: Random) -> Arguments:
    return (word(rng, 1, 9, rng.choice(["LR", "LLR", "LRR"])),)


STRING_FAMILIES = (
    Family(
        name="reverse_word",
        shape=WORD,
        tasks=("s reversed", "s backwards", "the reverse of s", "the letters of s in reverse order"),
        held_out_task="s in reverse order",
        body="print(s[::-1])",
        mistakes=("print(s)", "print(s[:-1])", "print(sorted(s))", "print(s[-1])"),
        answer=lambda s: "".join(reversed(s)),
        edges=lambda: [("a",), ("ab",), ("abca",)],
    ),
    Family(
        name="first_k",
        shape=WORD,
        tasks=(
            "the first {k} letters of s",
            "the first {k} letters",
            "s cut to {k} letters",
            "the start of s, {k} letters",
        ),
        held_out_task="the start of s, the first {k} letters",
        body="print(s[:{k}])",
        mistakes=("print(s[{k}:])", "print(s[:{k}-1])", "print(s[{k}])", "print(s[-{k}:])"),
        answer=lambda s, k: "".join(letter for i, letter in enumerate(s) if i < k),
        seen=one_each(2, 3, 5, 6, 8),
        held_out=one_each(4, 7),
        draw=longer_or_shorter,
        edges=lambda k: [("a",), ("abcdefghiklmn"[:k],), ("abcdefghiklmn"[: k + 1],)],
    ),
    Family(
        name="count_letter",
        shape=WORD,
        tasks=(
            'how many times the letter "{k}" is in s',
            'the number of letters "{k}" in s',
            'the count of "{k}" in s',
            'how many letters of s are "{k}"',
        ),
        held_out_task='the number of times "{k}" is in s',
        body='print(s.count("{k}"))',
        mistakes=(
            "print(len(s))",
            'print("{k}" in s)',
            'print(s.find("{k}"))',
            'print(len(s)-s.count("{k}"))',
        ),
        answer=lambda s, k: len([letter for letter in s if letter == k]),
        seen=one_each("a", "o", "s", "t", "n", "l", "m", "p", "b", "d", "u"),
        held_out=tuple((k,) for k in "eri"),
        draw=with_letter,
        edges=lambda k: [(k,), (k * 3,), (f"xy{k}z",), ("qz",)],
    ),
    Family(
        name="replace_letter",
        shape=WORD,
        tasks=(
            's with every "{k}" replaced by "{m}"',
            's with "{m}" in place of "{k}"',
            's with each "{k}" made "{m}"',
            's with "{k}" replaced by "{m}"',
        ),
        held_out_task='s with "{m}" in place of every "{k}"',
        body='print(s.replace("{k}","{m}"))',
        mistakes=(
            'print(s.replace("{m}","{k}"))',
            'print(s.replace("{k}",""))',
            'print(s.replace("{k}","{m}",1))',
            "print(s)",
        ),
        answer=lambda s, k, m: "".join(m if letter == k else letter for letter in s),
        seen=tuple((k, m) for k in "aeot" for m in "snro" if k != m and (k, m) not in {("e", "n"), ("o", "r")}),
        held_out=(("e", "n"), ("o", "r"), ("a", "t"), ("s", "o")),
        draw=with_letter,
        edges=lambda k, m: [(k,), (m,), (k + m + k,), (f"x{k}{k}y{m}",)],
    ),
    Family(
        name="palindrome",
        shape=WORD,
        tasks=(
            "YES if s is a palindrome, otherwise NO",
            "YES if s is its own reverse, else NO",
            "whether s is a palindrome, as YES or NO",
            "YES if s reversed is s and NO if not",
        ),
        held_out_task="whether s is its own reverse, as YES or NO",
        body='print("YES" if s==s[::-1] else "NO")',
        mistakes=(
            'print("NO" if s==s[::-1] else "YES")',
            'print("YES" if s[0]==s[-1] else "NO")',
            'print("YES" if s==s[::1] else "NO")',
            'print("YES" if len(s)%2==0 else "NO")',
        ),
        answer=lambda s: "YES" if all(s[i] == s[len(s) - 1 - i] for i in range(len(s))) else "NO",
        draw=_half_palindromes,
        edges=lambda: [("a",), ("ab",), ("ba",), ("abba",), ("abca",)],
    ),
    Family(
        name="vowels",
        shape=WORD,
        tasks=(
            "the number of vowels in s",
            "how many vowels s has",
            "the count of vowels in s",
            "how many letters of s are vowels",
        ),
        held_out_task="the number of letters of s that are vowels",
        body='print(sum(c in "aeiou" for c in s))',
        mistakes=(
            'print(sum(c in "aeio" for c in s))',
            'print(sum(c not in "aeiou" for c in s))',
            'print(sum(c in "aeou" for c in s))',
            'print(len(set(s)&set("aeiou")))',
            'print(s.count("a"))',
        ),
        answer=lambda s: len([letter for letter in s if letter in ("a", "e", "i", "o", "u")]),
        draw=lambda rng: (word(rng, 3, 9, "aeiou" + LETTERS),),
        edges=lambda: [("bcd",), ("aeiou",), ("uu",), ("baobei",)],
    ),
    Family(
        name="robot",
        shape=WORD,
        tasks=(
            "the place after moves s from 0, R is +1 and L is -1",
            "the end of moves s from 0, R is +1, L is -1",
            "the sum of s where R is +1 and L is -1",
            "the total of s if R is +1 and L is -1",
        ),
        held_out_task="the end of s from 0 if R is +1 and L is -1",
        body='p=0\nfor c in s:p+=1 if c=="R" else -1\nprint(p)',
        mistakes=(
            'p=0\nfor c in s:p+=1 if c=="L" else -1\nprint(p)',
            'p=0\nfor c in s:p+=1 if c=="R" else 0\nprint(p)',
            'p=1\nfor c in s:p+=1 if c=="R" else -1\nprint(p)',
            'p=0\nfor c in s:p=1 if c=="R" else -1\nprint(p)',
        ),
        answer=lambda s: s.count("R") - s.count("L"),
        draw=_moves,
        edges=lambda: [("R",), ("L",), ("LR",), ("RRRL",)],
    ),
)
