"""Finds the blocks of code in a model's answer, with fences as models write them.

| in the answer | block |
|---|---|
| one fence: ```` ```python ````, `py`, `python3`, `{.python}`, no language, `~~~`; indented or not | its content |
| a fence that is never closed | what follows, up to the next opening |
| a fence line inside of a string of the program | part of the program, if only so it parses |
| text, then a fence line that nothing opened, as where the prompt ended with the opening one | the text, if it parses |

Covered: reading fences, in time that grows with the answer's length.
Not covered: which block is the program (`extract`, `usefulness`).
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from code_rlvr.parsing import parsed

MAX_FENCE_LINES = 4  # inside of strings of one program

_LIST_MARKERS = " \t>*-+0123456789.)\ufeff\u200b\xa0"
_LANGUAGE = re.compile(r"[\w+#.-]*")
_ONLY_LANGUAGE = re.compile(r"[ \t]*\{?[\w+#.-]*\}?")
_PYTHON = re.compile(r"(?:ipython|python|pypy|py)[\d.]*", re.IGNORECASE)
_INLINE_PYTHON = re.compile(r"^(?:python|py)[\d.]*[ \t]+", re.IGNORECASE)


class Block(NamedTuple):
    """Code in an answer.

    Args:
        code: The content.
        language: As the fence names it; empty where it does not.
        closed: Whether it stood between two fence lines.
    """

    code: str
    language: str
    closed: bool


class _Fence(NamedTuple):
    marks: str
    language: str
    before: str


def blocks_of(answer: str) -> list[Block]:
    """The blocks of code in an answer, in their order; lines end in `\\n`."""
    lines = answer.split("\n")
    blocks = [*_blocks(lines)] or [*_inline_blocks(lines)]
    return [*_only_closed(lines), *blocks]


def is_python(language: str) -> bool:
    """Whether a fence's language is Python, or none."""
    return not language or _PYTHON.fullmatch(language) is not None


def _only_closed(lines: Sequence[str]) -> Iterator[Block]:
    """The text before the first fence line, where that line names no language and so may be a closing one."""
    for i, line in enumerate(lines):
        fence = _opening(line)
        if fence is not None:
            code = "\n".join([*lines[:i], fence.before]).strip("\ufeff \t\n")
            if not fence.language and code and parsed(code):
                yield Block(code, "", closed=False)
            return


def _opening(line: str) -> _Fence | None:
    """The fence that a line opens; one in mid-sentence has to end the line, or any mention would open it."""
    head = line.lstrip(_LIST_MARKERS)
    if head.startswith(("```", "~~~")):
        info = head.lstrip(head[0])
        before = line[: len(line) - len(head)]
        if head[0] == "`" and "`" in info:
            return None
    else:
        words, _, info = line.rstrip().rpartition("`")
        before = words.rstrip("`")
        if len(words) - len(before) < 2 or "```" in before or not _ONLY_LANGUAGE.fullmatch(info):
            return None
        head = words[len(before) :] + "`" + info
    language = _LANGUAGE.match(info.strip(" \t{}."))
    return _Fence(head[: len(head) - len(info)], language[0] if language else "", before)


def _blocks(lines: Sequence[str]) -> Iterator[Block]:
    i = 0
    while i < len(lines):
        fence = _opening(lines[i])
        i += 1
        if fence is None or fence.language.lower() in ("markdown", "md"):  # an answer that is fenced as a whole
            continue
        block, i = _block(lines, i, fence)
        if block.code.strip():
            yield block


def _block(lines: Sequence[str], start: int, fence: _Fence) -> tuple[Block, int]:
    """The block whose first line is `start`, and where to go on: at the next line, or at one that opens another."""
    first: tuple[Block, int] | None = None
    ends = 0
    for i in range(start, len(lines)):
        content = _unquoted(lines[i], fence).strip()
        begins = content.startswith(fence.marks)
        info = content.lstrip(fence.marks[0]) if begins else ""
        glued = fence.marks[0] == "`" and not begins and content.endswith(fence.marks)
        if not (glued or (begins and (not info or (fence.marks[0] == "`" and "`" not in info)))):
            continue
        last = [_unquoted(lines[i], fence).rstrip().rstrip("`")] if glued else []
        code = _dedented([_unquoted(line, fence) for line in lines[start:i]] + last, fence)
        opened = _opening(lines[i]) if info else None
        reopens = opened is not None and (_PYTHON.fullmatch(opened.language) or opened.language == info)
        found = Block(code, fence.language, closed=not reopens), i if reopens else i + 1
        in_string = is_python(fence.language) and ('"""' in code or "'''" in code) and not parsed(code)
        if not in_string:
            return found if first is None or parsed(code) else first
        first = first or found
        ends += 1
        if ends > MAX_FENCE_LINES:
            return first
    code = _dedented([_unquoted(line, fence) for line in lines[start:]], fence)
    return first or (Block(code, fence.language, closed=False), len(lines))


def _unquoted(line: str, fence: _Fence) -> str:
    return line.lstrip(" \t").removeprefix(">").removeprefix(" ") if ">" in fence.before else line


def _dedented(lines: list[str], fence: _Fence) -> str:
    """A fence's content without the indentation that the fence itself has, e.g. as part of a list."""
    body = "\n".join(lines)
    return textwrap.dedent(body) if fence.before and not fence.before.strip(_LIST_MARKERS) else body


def _inline_blocks(lines: Sequence[str]) -> Iterator[Block]:
    for line in lines:
        parts = re.split("`{3,}", line)
        if len(parts) == 3 and parts[1].strip():
            yield Block(_INLINE_PYTHON.sub("", parts[1]).strip(), "", closed=True)
