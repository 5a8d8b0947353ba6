"""How likely a block of code in a model's answer is the program that was asked for.

| rank | the block |
|---|---|
| 6 | solves, lacks no name, is no test of another program |
| 5 | defines the entry point, though it lacks a name or tests |
| 4 | defines a function or class, lacks no name, is no test |
| 3 | solves or defines in part; or does not parse, but looks like solving |
| 2 | does anything else, lacks no name, is no test; or is called Python and does not parse |
| 1 | does anything else; or has no language and does not parse |
| 0 | holds only comments, literals and names |

To solve is to define the entry point with a body, or, without one, to read standard input and write.

Covered: ranking one block.  Not covered: choosing among several (`extract`), running it.
"""

from __future__ import annotations

import ast
import builtins
import re

from code_rlvr.parsing import parsed
from code_rlvr.verifier.fences import Block
from code_rlvr.verifier.known_names import imports_for

_READS_STDIN = re.compile(r"\binput\s*\(|\bstdin\b|\bopen\(\s*0\b|\bos\.read\(\s*0\b|\bfileinput\b|/dev/stdin")
_READS_DESCRIPTOR = re.compile(r"\b(?:open|read|fdopen)\(\s*0\b|/dev/stdin")
_TESTS = re.compile(  # feeds standard input to itself
    r"\bimport (?:unittest|pytest)\b|[\"'](?:sys\.stdin|builtins\.input)[\"']"
    r"|\bstdin\s*=\s*(?:io\.)?(?:String|Bytes)IO\((?!.{0,80}(?:stdin|read|open))"
)
_WRITERS = {"print", "pprint", "stdout", "write", "writelines"}
_BUILTINS = {*dir(builtins), "__file__"}
_ACTS = (ast.Call, ast.Await, ast.NamedExpr, ast.ListComp)


def usefulness(block: Block, entry_point: str | None) -> int:
    """How likely a block is the answer, from 0, which is no program, to 6; by the module's table.

    Args:
        block: Code that a model wrote.
        entry_point: The function that the tests call, where there is one.
    """
    tree = parsed(block.code)
    if tree is None:
        name = re.escape(entry_point.rpartition(".")[2]) if entry_point else ""
        looks = re.search(rf"\b(?:def|class)\s+{name}\b", block.code) if name else _READS_STDIN.search(block.code)
        return 3 if looks else 1 + bool(block.language)
    if not does_something(tree):
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


def does_something(tree: ast.Module | None) -> bool:
    """Whether there is a program: prose seldom parses, and words, numbers and operators alone do nothing."""
    return tree is not None and any(
        not isinstance(node, ast.Expr) or any(isinstance(part, _ACTS) for part in ast.walk(node)) for node in tree.body
    )
