"""Takes the program out of a model's response; the same for training, validation and evaluation.

| response | program |
|---|---|
| `<think>…</think>` | what stands outside of it; nothing, if it is never closed |
| one fence: ```` ```python ````, `py`, `python3`, no language, `~~~`; indented or not | its content |
| a fence that is never closed | what follows it, and `fenced` is false: the answer was cut |
| several fences | the last of the best: it parses, then it defines the entry point or reads standard input, |
|  | then it defines anything, then it uses no name that it lacks; so a demo at the end is passed over |
| fences in other languages | left aside, unless there are no others and the content parses as Python |
| no fence | the whole response, if it parses as Python and does more than name things; `fenced` is false |
| nothing of these | None: NO_CODE |

Covered: choosing.  Not covered: repairing; a program that does not compile is a COMPILE_ERROR later on.
"""

from __future__ import annotations

import ast
import builtins
import re
import textwrap
import warnings
from dataclasses import dataclass

MAX_PARSED_CHARS = 200_000  # longer text is taken or left without parsing it

_THOUGHT = re.compile(r"<think>.*?</think>", re.DOTALL)
_OPENING = re.compile(r"(?P<before>.*?)(?P<fence>`{3,}|~{3,})[ \t]*\{?\.?(?P<language>[\w+#.-]*)\}?(?P<rest>[^`~]*)$")
_INLINE = re.compile(r"`{3,}(?:python|py)\d?[ \t]+(?P<code>[^`\n]+?)[ \t]*`{3,}")
_PYTHON = re.compile(r"(?:py|python)[\d.]*", re.IGNORECASE)
_READS_STDIN = re.compile(r"\binput\s*\(|\bstdin\b|\bopen\(\s*0\b|\bos\.read\(\s*0\b|\bfileinput\b|/dev/stdin")
_FILENAME = "<model response>"
_QUIET = ("ignore", None, Warning, re.compile(re.escape(_FILENAME)), 0)


@dataclass(frozen=True, slots=True)
class Extraction:
    """The program in a response.

    Args:
        code: The program, or None if there is none.
        fenced: Whether it stood in a fence that was closed.
    """

    code: str | None
    fenced: bool


@dataclass(frozen=True, slots=True)
class _Block:
    code: str
    language: str
    closed: bool


def extract_code(response: str, entry_point: str | None = None) -> str | None:
    """The program in a model's response, or None.

    Args:
        response: What the model wrote.
        entry_point: The function that the tests call, where there is one.
    """
    return extract(response, entry_point).code


def extract(response: str, entry_point: str | None = None) -> Extraction:
    """The program in a model's response, and whether it was formatted as asked.

    Args:
        response: What the model wrote.
        entry_point: The function that the tests call, where there is one.
    """
    answer = _without_thoughts(response.replace("\r\n", "\n"))
    blocks = _blocks(answer)
    python = [block for block in blocks if not block.language or _PYTHON.fullmatch(block.language)]
    candidates = python or [block for block in blocks if _parsed(block.code) is not None]
    if candidates:
        best = candidates[0]
        if len(candidates) > 1:
            _, _, best = max((_rank(block, entry_point), i, block) for i, block in enumerate(candidates))
        return Extraction(best.code, best.closed)
    if blocks or not _does_something(answer):
        return Extraction(None, False)
    return Extraction(answer, False)


def _without_thoughts(response: str) -> str:
    response = _THOUGHT.sub("", response)
    response = response.rpartition("</think>")[2]  # a chat template may have written the opening tag
    return response.partition("<think>")[0]


def _opening(line: str) -> re.Match[str] | None:
    """A line that opens a fence; one in mid-sentence has to end the line, or any mention would open it."""
    found = _OPENING.match(line)
    if found and found["before"].strip(" \t>*-+0123456789.)") and found["rest"].strip():
        return None
    return found


def _blocks(text: str) -> list[_Block]:
    blocks: list[_Block] = []
    opening: re.Match[str] | None = None
    body: list[str] = []
    for line in text.split("\n"):
        if opening is None:
            opening = _opening(line)
            body = []
            continue
        fence = opening["fence"]
        content = line.rstrip()
        ends = content.lstrip().startswith(fence) and not content.strip().strip(fence[0])
        glued = fence[0] == "`" and content.endswith(fence) and not ends
        if not (ends or glued):
            body.append(line)
            continue
        if glued:
            body.append(content.removesuffix(fence))
        blocks.append(_Block(_dedented(body, opening["before"]), opening["language"], closed=True))
        opening = None
    if opening is not None:
        blocks.append(_Block(_dedented(body, opening["before"]), opening["language"], closed=False))
    blocks = [block for block in blocks if block.code.strip()]
    return blocks or [_Block(found["code"], "", closed=True) for found in _INLINE.finditer(text)]


def _dedented(lines: list[str], before: str) -> str:
    """A fence's content without the indentation that the fence itself has, e.g. as part of a list."""
    body = "\n".join(lines)
    if before and not before.strip(" \t>*-+0123456789."):
        return textwrap.dedent(body)
    return body


def _rank(block: _Block, entry_point: str | None) -> tuple[bool, bool, bool, bool]:
    tree = _parsed(block.code)
    if tree is None:
        return False, bool(_READS_STDIN.search(block.code)), False, False
    defined = {node.name for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    wanted = entry_point and entry_point.rpartition(".")[2]
    solves = wanted in defined if wanted else bool(_READS_STDIN.search(block.code))
    return True, solves, bool(defined), not _missing_names(tree)


def _missing_names(tree: ast.Module) -> set[str]:
    """Names that are read somewhere and bound nowhere: a sign of a demo that counts on another block."""
    read: set[str] = set()
    bound: set[str] = set(dir(builtins))
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            (read if isinstance(node.ctx, ast.Load) else bound).add(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            bound.add(node.name)
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
        elif isinstance(node, ast.alias):
            bound.add((node.asname or node.name).partition(".")[0])
        elif isinstance(node, ast.ExceptHandler) and node.name:
            bound.add(node.name)
    return set() if "*" in bound else read - bound


def _does_something(text: str) -> bool:
    """Whether text without a fence is a program: prose seldom parses, a lone word or number does nothing."""
    tree = _parsed(text)
    return tree is not None and any(
        not isinstance(node, ast.Expr) or isinstance(node.value, (ast.Call, ast.Await, ast.NamedExpr))
        for node in tree.body
    )


def _parsed(code: str) -> ast.Module | None:
    if len(code) > MAX_PARSED_CHARS:
        return None
    if _QUIET not in warnings.filters:  # e.g. about "\d" in a model's text; catch_warnings is not thread-safe
        warnings.filters.insert(0, _QUIET)  # type: ignore[attr-defined]
        warnings._filters_mutated()  # type: ignore[attr-defined]
    try:
        return ast.parse(code, filename=_FILENAME)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
