"""Takes the program out of a model's response; the same for training, validation and evaluation.

| response | program |
|---|---|
| `<think>…</think>`, `<thinking>`, several, with no opening or closing tag | what stands outside of it |
| one fence: ```` ```python ````, `py`, `python3`, `{.python}`, no language, `~~~`; indented or not | its content |
| a fence that is never closed | what follows, up to the next opening; `fenced` is false: the answer was cut |
| a fence line inside of a string of the program | part of the program, if only so it parses |
| several fences | one of them, never several joined: the last of the best |
| fences in other languages | left aside, unless there are no others and the content parses as Python |
| no fence | the whole response, if it parses as Python and does more than name things; `fenced` is false |
| nothing of these; only comments, literals or names in the fences | None: NO_CODE |

The best fence, from the best down: one that solves, lacks no name and is no test of another program; one that defines
the entry point; one that defines anything, lacks no name and is no test; one that solves or defines in part, or would
if it parsed; any that lacks no name; any other.  To solve is to define the entry point with a body, or, without one, to
read standard input and write.  docs/extraction.md says why and has examples of each line, which the tests read.

Covered: choosing, in time that grows with the response's length.
Not covered: repairing; a program that does not compile is a COMPILE_ERROR later on.
"""

from __future__ import annotations

import ast
import builtins
import re
import textwrap
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from code_rlvr.parsing import parse
from code_rlvr.verifier.known_names import imports_for

MAX_PARSED_CHARS = 200_000  # longer text is taken or left without parsing it
MAX_FENCE_LINES = 4  # inside of strings of one program

_THOUGHT = re.compile(r"<(/?)think(?:ing)?(?:[ \t][^<>\n]{0,200})?(?<!/)>", re.IGNORECASE)
_TAG_CONTEXT = 120  # characters before and after a tag in which it may be quoted
_QUOTED = re.compile(r"""(?<![^\W_])(?:[rbfuRBFU]{1,2})?(["']|(?<!`)`(?!`))(?:(?!\1).)*\1""")
_LIST_MARKERS = " \t>*-+0123456789.)\ufeff\u200b\xa0"
_LANGUAGE = re.compile(r"[\w+#.-]*")
_ONLY_LANGUAGE = re.compile(r"[ \t]*\{?[\w+#.-]*\}?")
_PYTHON = re.compile(r"(?:ipython|python|pypy|py)[\d.]*", re.IGNORECASE)
_INLINE_PYTHON = re.compile(r"^(?:python|py)[\d.]*[ \t]+", re.IGNORECASE)
_READS_STDIN = re.compile(r"\binput\s*\(|\bstdin\b|\bopen\(\s*0\b|\bos\.read\(\s*0\b|\bfileinput\b|/dev/stdin")
_READS_DESCRIPTOR = re.compile(r"\b(?:open|read|fdopen)\(\s*0\b|/dev/stdin")
_TESTS = re.compile(  # feeds standard input to itself
    r"\bimport (?:unittest|pytest)\b|[\"'](?:sys\.stdin|builtins\.input)[\"']"
    r"|\bstdin\s*=\s*(?:io\.)?(?:String|Bytes)IO\((?!.{0,80}(?:stdin|read|open))"
)
_WRITERS = {"print", "pprint", "stdout", "write", "writelines"}
_BUILTINS = {*dir(builtins), "__file__"}
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


class _Block(NamedTuple):
    code: str
    language: str
    closed: bool


class _Fence(NamedTuple):
    marks: str
    language: str
    before: str


def extract_code(response: str, entry_point: str | None = None) -> str | None:
    """The program in a model's response, or None; the arguments are those of `extract`."""
    return extract(response, entry_point).code


def extract(response: str, entry_point: str | None = None) -> Extraction:
    """The program in a model's response, and whether it was formatted as asked.

    Args:
        response: What the model wrote.
        entry_point: The function that the tests call, where there is one.
    """
    answer = _without_thoughts(response.replace("\r\n", "\n").replace("\r", "\n"))
    lines = answer.split("\n")
    blocks = [*_blocks(lines)] or [*_inline_blocks(lines)]
    if "~~~" not in answer or not blocks:  # Markdown does not parse, but for ~~~, which are operators
        for bare in (answer.strip("\ufeff \t\n"), textwrap.dedent(answer).strip()):
            if _does_something(_parsed(bare)):
                return Extraction(bare, False)
    best = _best([block for block in blocks if _is_python(block.language)], entry_point) or _best(
        [block for block in blocks if not _is_python(block.language) and _parsed(block.code)], entry_point
    )
    return Extraction(best.code, best.closed) if best else Extraction(None, False)


def _without_thoughts(response: str) -> str:
    kept: list[str] = []
    start, thinking = 0, False
    for tag in _THOUGHT.finditer(response):
        if _is_quoted(response, tag):  # a program or a sentence about such tags
            continue
        if tag[1]:
            if not thinking:  # a chat template may have written the opening tag
                kept.clear()
            start, thinking = tag.end(), False
        elif not thinking:
            kept.append(response[start : tag.start()])
            thinking = True
    return "".join(kept) if thinking else "".join([*kept, response[start:]])


def _is_quoted(text: str, tag: re.Match[str]) -> bool:
    before = text[max(0, tag.start() - _TAG_CONTEXT) : tag.start()].rpartition("\n")[2]
    after = text[tag.end() : tag.end() + _TAG_CONTEXT].partition("\n")[0]
    return any(quote.start() < len(before) < quote.end() for quote in _QUOTED.finditer(before + tag[0] + after))


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


def _blocks(lines: Sequence[str]) -> Iterator[_Block]:
    i = 0
    while i < len(lines):
        fence = _opening(lines[i])
        i += 1
        if fence is None or fence.language.lower() in ("markdown", "md"):  # an answer that is fenced as a whole
            continue
        block, i = _block(lines, i, fence)
        if block.code.strip():
            yield block


def _block(lines: Sequence[str], start: int, fence: _Fence) -> tuple[_Block, int]:
    """The block whose first line is `start`, and where to go on: at the next line, or at one that opens another."""
    first: tuple[_Block, int] | None = None
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
        found = _Block(code, fence.language, closed=not reopens), i if reopens else i + 1
        in_string = _is_python(fence.language) and ('"""' in code or "'''" in code) and not _parsed(code)
        if not in_string:
            return found if first is None or _parsed(code) else first
        first = first or found
        ends += 1
        if ends > MAX_FENCE_LINES:
            return first
    code = _dedented([_unquoted(line, fence) for line in lines[start:]], fence)
    return first or (_Block(code, fence.language, closed=False), len(lines))


def _unquoted(line: str, fence: _Fence) -> str:
    return line.lstrip(" \t").removeprefix(">").removeprefix(" ") if ">" in fence.before else line


def _dedented(lines: list[str], fence: _Fence) -> str:
    """A fence's content without the indentation that the fence itself has, e.g. as part of a list."""
    body = "\n".join(lines)
    return textwrap.dedent(body) if fence.before and not fence.before.strip(_LIST_MARKERS) else body


def _inline_blocks(lines: Sequence[str]) -> Iterator[_Block]:
    for line in lines:
        parts = re.split("`{3,}", line)
        if len(parts) == 3 and parts[1].strip():
            yield _Block(_INLINE_PYTHON.sub("", parts[1]).strip(), "", closed=True)


def _is_python(language: str) -> bool:
    return not language or _PYTHON.fullmatch(language) is not None


def _best(blocks: Sequence[_Block], entry_point: str | None) -> _Block | None:
    ranked = ((_usefulness(block, entry_point), i, block) for i, block in enumerate(blocks))
    useful, _, block = max(ranked, default=(0, 0, None), key=lambda item: item[:2])
    return block if useful else None


def _usefulness(block: _Block, entry_point: str | None) -> int:
    """From 0, which is no program, to 6, by the order in the module's docstring."""
    tree = _parsed(block.code)
    if tree is None:
        name = re.escape(entry_point.rpartition(".")[2]) if entry_point else ""
        looks = re.search(rf"\b(?:def|class)\s+{name}\b", block.code) if name else _READS_STDIN.search(block.code)
        return 3 if looks else 1 + bool(block.language)
    if not _does_something(tree):
        return 0
    names = _Names(tree)
    solves = _defines(tree, entry_point) if entry_point else names.read_and_write(block.code)
    provided = {name for name, _, _ in imports_for(block.code, "leetcode" if entry_point else "none")}
    whole = not (names.missing - provided or _TESTS.search(block.code))
    if solves and (whole or entry_point):
        return 6 if whole else 5
    return (4 if whole else 3) if names.defined else 3 if solves else 1 + whole


def _defines(tree: ast.Module, entry_point: str) -> bool:
    """Whether a function, a class or a variable of that name, or such a method of Solution, has a body."""
    owner, _, name = entry_point.rpartition(".")
    nodes: list[ast.AST] = [*tree.body]
    while nodes:
        node = nodes.pop()
        if isinstance(node, (ast.If, ast.Try, ast.With, ast.ExceptHandler)):
            nodes += ast.iter_child_nodes(node)
        elif isinstance(node, ast.ClassDef) and node.name == (owner or "Solution") and name != node.name:
            nodes += [item for item in node.body if not isinstance(item, ast.ClassDef)]
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            if node.name == name and any(not _is_stub(item) for item in node.body):
                return True
        elif isinstance(node, ast.Assign) and any(isinstance(to, ast.Name) and to.id == name for to in node.targets):
            return True
    return False


def _is_stub(node: ast.stmt) -> bool:
    match node:
        case ast.Raise(ast.Name(name) | ast.Call(ast.Name(name))):
            return name == "NotImplementedError"
    return isinstance(node, ast.Pass) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))


class _Names:
    """The names in a program, whatever their scopes; `missing` ones are bound nowhere, as in a demo."""

    def __init__(self, tree: ast.Module) -> None:
        read, bound, attributes, self.defined = (set[str]() for _ in range(4))
        for node in ast.walk(tree):
            if isinstance(node, ast.Name):
                (read if isinstance(node.ctx, ast.Load) else bound).add(node.id)
            elif isinstance(node, ast.Attribute):
                attributes.add(node.attr)
            elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                self.defined.add(node.name)
            elif isinstance(node, ast.alias):
                attributes.add(node.name)
                bound.add((node.asname or node.name).partition(".")[0])
            elif not isinstance(node, ast.keyword):  # arguments, caught exceptions, patterns
                found = (getattr(node, key, None) for key in ("arg", "name", "rest"))
                bound.update(name for name in found if isinstance(name, str))
        self.free, self.used = read - bound - self.defined, read | attributes
        self.missing = set() if "*" in bound else self.free - _BUILTINS

    def read_and_write(self, code: str) -> bool:
        reads = "input" in self.free or {"stdin", "fileinput"} & self.used or _READS_DESCRIPTOR.search(code)
        return bool(reads and _WRITERS & self.used)


def _does_something(tree: ast.Module | None) -> bool:
    """Whether there is a program: prose seldom parses, a lone word or number does nothing."""
    return tree is not None and any(
        not isinstance(node, ast.Expr) or isinstance(node.value, (ast.Call, ast.Await, ast.NamedExpr, ast.ListComp))
        for node in tree.body
    )


def _parsed(code: str) -> ast.Module | None:
    if _QUIET not in warnings.filters:  # e.g. about "\d" in a model's text; catch_warnings is not thread-safe
        warnings.filters.insert(0, _QUIET)  # type: ignore[attr-defined]
        warnings._filters_mutated()  # type: ignore[attr-defined]
    try:
        return parse(code, filename=_FILENAME) if len(code) <= MAX_PARSED_CHARS else None
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
