r"""The number that a text ends up with, as an exact value.

Looked for in this order: the last mark (`#### 18`, `\boxed{18}`), the last phrase (`the answer is 18`, `A: 18`), the
last number.  After a mark or a phrase the number behind the last `=` of the line counts, else the first.

| written | read as |
|---|---|
| `1,234.50`, `1{,}234.50`, `1 234.50` with a space that does not break, `$1,234.50`, `\$1,234.50` | 1234.5 |
| `-3`, `−3`, `-$3`, `$-3` | -3 |
| `3/4`, `\frac{3}{4}`, `¾`, `2 1/2` | 3/4, 3/4, 3/4, 5/2 |
| `50%`, `5kg`, `18 dollars.`, `**18**` | 50, 5, 18, 18: a sign or a unit behind the number does not count |

Covered: the above, in texts of any length.  Not covered: numbers in words ("three", "2 million"), powers of ten.

Source: the mark `####` is that of GSM8K (Cobbe et al. 2021, arXiv:2110.14168), as is comparing without commas.
"""

from __future__ import annotations

import re
from collections import deque
from fractions import Fraction

MAX_DIGITS = 300
"""Longer numbers are none: they come from a model that repeats itself."""
LAST_MARKS = 20
"""So many marks and phrases are looked at, from the end: one that is the answer is among them."""

_SAME = str.maketrans(
    {
        "−": "-",
        "\u2013": "-",
        "\u2011": "-",
        "\u2044": "/",
        "½": " 1/2",
        "¼": " 1/4",
        "¾": " 3/4",
        "⅓": " 1/3",
        "⅔": " 2/3",
    }
)
_CALCULATION = re.compile(r"<<[^<>\n]*(?:>>|$)", re.MULTILINE)  # GSM8K's notes beside a result
_FRACTION = re.compile(r"\\[dt]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}")
_THOUSANDS = re.compile("(?<=\\d)(?:\\{,\\}|\\\\,|\\\\!|[\u00a0\u2009\u202f])(?=\\d{3}(?!\\d))")

_PLAIN = r"(?:\d{1,3}(?:,\d{3})+(?!\d)|\d{1,2}(?:,\d{2})+,\d{3}(?!\d)|\d+)(?:\.\d+)?|\.\d+"
_NUMBER = re.compile(
    rf"(?P<sign>(?<![\w.)])-\s?)?(?:\\?[$€£¥]\s?(?P<inner>-)?)?(?<![\w.])(?P<first>{_PLAIN})"
    rf"(?:\s?/\s?(?P<below>\d+)(?![\d./])|\s(?P<above>\d+)/(?P<under>\d+)(?![\d./]))?"
)
_MARK = re.compile(r"####(?P<hash>[^\n]*)|\\boxed\s*\{")
_BEFORE = r"[\s*_=:~≈$€£¥\\(\[]*"
# A headline of that level ("#### Step 2", "#### 2. The total") is no answer.
_HASH_ANSWER = re.compile(
    rf"{_BEFORE}(?:(?:the\s+)?(?:final\s+)?answer(?:\s+is)?{_BEFORE}|[a-z]{{1,12}}\s*={_BEFORE})?-?{_BEFORE}[.\d]"
    r"(?!\d?[.)]\s+[A-Za-z])",
    re.IGNORECASE,
)
_PHRASE = re.compile(
    r"(?:\b(?:final\s+)?answer(?:\s+is)?\s*[:=]?|^\s*A:|\banswer\b[^.\n\d]{0,40}\bis\b)(?P<rest>[^\n]*)",
    re.IGNORECASE | re.MULTILINE,
)


def final_number(text: str) -> Fraction | None:
    """The number that a text gives as its answer; None if it holds none.

    Args:
        text: A response, or a reference that ends in `#### 18`.
    """
    text = _plain(text)
    phrases = [found["rest"] for found in deque(_PHRASE.finditer(text), maxlen=LAST_MARKS)]
    for part in (*reversed(_marked(text)), *reversed(phrases)):
        number = _number_of(part)
        if number is not None:
            return number
    numbers = _numbers(text)
    return numbers[-1] if numbers else None


def has_mark(text: str) -> bool:
    r"""Whether a text gives a number behind `####` or in `\boxed{}`."""
    return any(_number_of(part) is not None for part in _marked(_plain(text)))


def _plain(text: str) -> str:
    text = _THOUSANDS.sub("", text).translate(_SAME)
    text = _CALCULATION.sub("", text)
    return _FRACTION.sub(r" \1/\2 ", text)


def _marked(text: str) -> list[str]:
    parts = []
    for mark in deque(_MARK.finditer(text), maxlen=LAST_MARKS):
        if mark["hash"] is None:
            parts.append(_in_braces(text, mark.end()))
        elif _HASH_ANSWER.match(mark["hash"]) or "\\boxed" in mark["hash"]:
            parts.append(mark["hash"])
    return parts


def _in_braces(text: str, start: int) -> str:
    depth = 1
    for at in range(start, min(len(text), start + MAX_DIGITS)):
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        if depth == 0:
            return text[start:at]
    return text[start : start + MAX_DIGITS]


def _number_of(part: str) -> Fraction | None:
    behind = _numbers(part.rpartition("=")[2])
    numbers = behind or _numbers(part)
    return numbers[0] if numbers else None


def _numbers(text: str) -> list[Fraction]:
    found = (_value(match) for match in _NUMBER.finditer(text))
    return [value for value in found if value is not None]


def _value(match: re.Match[str]) -> Fraction | None:
    first, below, above, under = match.group("first", "below", "above", "under")
    if len(match[0]) > MAX_DIGITS:
        return None
    value = Fraction(first.replace(",", ""))
    if below is not None:
        value = value / int(below) if int(below) else value
    elif under is not None and int(under):
        value += Fraction(int(above), int(under))
    return -value if match["sign"] or match["inner"] else value
