"""Reads a block of tests: which of its names mean the solution, and which of its functions are run as tests.

A name means the solution if it is the entry point, or imported from where a solution is, or a class of the tests'
prelude, or bound nowhere (neither in the block, nor in the prelude, nor a built-in, nor a module) and used as a
function, a class or an argument is.  Another name that is bound nowhere is a fault of the tests.

A function of the block is *run as tests*, statement by statement, if it holds assertions and is called once, by a
statement of its own; `def test_name()` is even if nothing calls it; and so is `def check(candidate)` if there is no
other assertion.  Other functions that hold assertions are helpers.

Covered: names and functions.  Not covered: assertions themselves (`cases`, `instrument`).
"""

from __future__ import annotations

import ast
import builtins
import symtable
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from code_rlvr.errors import TestsFormatError
from code_rlvr.ground_truth import Tests
from code_rlvr.parsing import parse
from code_rlvr.verifier.assertions.syntax import (
    RAISES,
    as_call,
    asserting,
    bound_names,
    holds_assertion,
    last_name,
    leaves_function,
    loaded_names,
    shadowed,
    simplified,
)

_SOLUTION_MODULES = ("solution", "main", "submission", "answer", "candidate", "program", "your_module", "my_module")
_LIBRARIES = ("numpy", "pandas", "scipy", "sympy", "torch", "pytest", "hypothesis", "networkx", "sklearn")
# What tests use without importing it.
_IMPORTS = {
    "np": "import numpy as np",
    **{name: f"from collections import {name}" for name in ("Counter", "OrderedDict", "defaultdict", "deque")},
    **{name: f"from math import {name}" for name in ("isclose", "inf", "nan", "pi")},
}
_FIXTURES = {"capsys", "capfd", "caplog", "monkeypatch", "request", "tmp_path", "tmpdir", "mocker", "benchmark"}
# What happens in one process, while the solution is in another.
_OUT_OF_REACH = {"open", "tempfile", "shutil", "pathlib", "patch", "mock_open", "monkeypatch"}
# What decides whether a test is run or counts; by whom it is called.
_SKIPS = {"skip", "skipif", "skipIf", "skipUnless", "skipTest", "SkipTest", "importorskip", "xfail", "expectedFailure"}
_SKIPPERS = ("pytest", "mark", "unittest", "self")
# With one of these a checker might run what a solution returned; eval and exec are watched when they are called.
EXECUTING = {"builtins", "compile", "pickle", "marshal", "dill", "shelve", "importlib", "__import__", "subprocess"}
_PROVIDED = {*dir(builtins), "__name__", "__file__", "__doc__", "pytest"}


@dataclass(slots=True)
class Block:
    """One block of tests, read.

    Attributes:
        tree: The block, its functions' annotations removed, `if __name__ == "__main__"` resolved, calls of what is
            run as tests added.
        where: The field that it is from, for messages.
        functions: Names that mean something of the solution, with its path there.
        exceptions: Names of exception classes of the solution, with what they are called there.
        modules: Names under which the solution is imported.
        owners: What the block calls these modules.
        imports: Statements that bind what the block uses without importing it.
        runners: Functions that are run as tests, each with its call.
        hidden: Names that do not mean what they usually do.
    """

    tree: ast.Module
    where: str
    functions: dict[str, str] = field(default_factory=dict)
    exceptions: dict[str, str] = field(default_factory=dict)
    modules: list[str] = field(default_factory=lambda: ["solution"])
    owners: set[str] = field(default_factory=set)
    imports: list[str] = field(default_factory=list)
    runners: dict[str, ast.Call] = field(default_factory=dict)
    hidden: set[str] = field(default_factory=set)


def read_block(source: str, tests: Tests, where: str) -> Block:
    """Read one block.

    Raises:
        TestsFormatError: If a name is bound nowhere, or a checker is defined and there is nothing to call it with.
    """
    tree = simplified(parse(source))
    block = Block(tree, where)
    prelude = parse_prelude(tests.prelude)
    if leaves_function(tree):
        raise TestsFormatError("is not Python: return, yield or await outside of a function", field=where)
    for name in sorted((_OUT_OF_REACH | EXECUTING).intersection([*loaded_names(tree), *bound_names(tree)])):
        raise TestsFormatError(f"tests that use {name} are not supported", field=where)
    for name in _skipping(tree):
        raise TestsFormatError(f"tests that use {name} are not supported: whether they count is open", field=where)
    if "asyncio" in loaded_names(tree) or any(_imports_from(node, "asyncio") for node in ast.walk(tree)):
        raise TestsFormatError("asynchronous tests are not supported: asyncio", field=where)
    _find_runners(block, tests.entry_point, prelude)
    try:
        ast.fix_missing_locations(tree)
        table = symtable.symtable(ast.unparse(tree), "<tests>", "exec")
    except (SyntaxError, ValueError, RecursionError) as error:  # what the parser lets through
        raise TestsFormatError(f"is not Python: {error}", field=where) from None
    bound = {symbol.get_name() for symbol in table.get_symbols() if symbol.is_assigned() or symbol.is_imported()}
    _read_imports(block, tests.entry_point)
    _name_solution(block, tests.entry_point, prelude, bound, _global_names(table))
    block.hidden |= shadowed(prelude) | {
        name for node in ast.walk(tree) if isinstance(node, ast.Global | ast.Nonlocal) for name in node.names
    }
    block.hidden -= block.functions.keys()
    return block


def parse_prelude(prelude: str | None) -> ast.Module:
    """The prelude's tree; an empty one if it is not Python, which the sandbox will say."""
    try:
        return parse(prelude or "")
    except (SyntaxError, ValueError, RecursionError):
        return ast.Module([], [])


def _skipping(tree: ast.Module) -> list[str]:
    """What a block uses of `_SKIPS`."""
    used = [n for n in ast.walk(tree) if isinstance(n, ast.Attribute) and last_name(n.value) in _SKIPPERS]
    imports = [n for n in ast.walk(tree) if _imports_from(n, "pytest", "unittest") and isinstance(n, ast.ImportFrom)]
    named = [*(node.attr for node in used), *(alias.name for node in imports for alias in node.names)]
    return [name for name in named if name in _SKIPS]


def _imports_from(node: ast.AST, *modules: str) -> bool:
    return isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] in modules


def _global_names(table: symtable.SymbolTable) -> set[str]:
    names = {
        symbol.get_name()
        for symbol in table.get_symbols()
        if symbol.is_referenced() and (symbol.is_global() or table.get_type() == "module")
    }
    return names.union(*map(_global_names, table.get_children()))


def _read_imports(block: Block, entry: str | None) -> None:
    """Find where the block imports the solution from; relative imports are such."""
    for node in ast.walk(block.tree):
        if isinstance(node, ast.ImportFrom):
            names = {alias.name for alias in node.names}
            if node.level:
                node.module, node.level = node.module or "solution", 0
                block.modules.append(node.module)
            module = node.module or ""
            if _is_solution(module, {entry} & names) or module in block.modules:
                block.modules.append(module)
                block.functions.update((alias.asname or alias.name, alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            solutions = [alias for alias in node.names if _is_solution(alias.name, set())]
            block.modules += [alias.name for alias in solutions]
            block.owners |= {alias.asname or alias.name for alias in solutions}
    block.modules = sorted(set(block.modules))
    block.functions.pop("*", None)


def _is_solution(module: str, imported: set[str | None]) -> bool:
    root = module.partition(".")[0]
    known = root in sys.stdlib_module_names or root in _LIBRARIES
    return not known and (root in _SOLUTION_MODULES or bool(imported))


def _name_solution(block: Block, entry: str | None, prelude: ast.Module, bound: set[str], used: set[str]) -> None:
    head = (entry or "").partition(".")[0]
    if head and head not in bound:
        block.functions[head] = head
    roles = _roles(block.tree)
    made = {n.name for n in prelude.body if isinstance(n, ast.ClassDef) and not any(map(_is_exception, n.bases))}
    block.functions.update((name, name) for name in made & used - bound)
    unbound = used - bound - bound_names(prelude) - _PROVIDED
    block.exceptions = {
        name: block.functions.get(name, name) for name in block.functions.keys() | unbound if name in roles["except"]
    }
    block.exceptions.update((name, name) for name in _caught_attributes(block))
    unbound -= block.functions.keys() | block.exceptions.keys()
    for name in sorted(unbound):
        if name in _IMPORTS:
            block.imports.append(_IMPORTS[name])
        elif name in sys.stdlib_module_names and name in roles["owner"] and name not in roles["called"]:
            block.imports.append(f"import {name}")
        elif any(name in names for names in roles.values()):
            block.functions[name] = name
        else:
            raise TestsFormatError(f"the name {name} is bound nowhere", field=block.where)
    for name in block.exceptions:
        block.functions.pop(name, None)


def _caught_attributes(block: Block) -> set[str]:
    """`E` of `except solution.E`."""
    caught = [node.type for node in ast.walk(block.tree) if isinstance(node, ast.ExceptHandler) and node.type]
    parts = [part for expression in caught for part in ast.walk(expression)]
    return {part.attr for part in parts if isinstance(part, ast.Attribute) and ast.unparse(part.value) in block.owners}


def _is_exception(base: ast.expr) -> bool:
    return ast.unparse(base).endswith(("Error", "Exception", "Warning"))


def _roles(tree: ast.AST) -> dict[str, set[str]]:
    """The names that are used as a function, as the owner of an attribute, as an argument, as an exception class."""
    roles: dict[str, set[str]] = {"called": set(), "owner": set(), "argument": set(), "except": set()}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            roles["called"] |= _names([node.func])
            arguments = [*node.args, *(keyword.value for keyword in node.keywords)]
            roles["argument"] |= _names(arguments)
            if last_name(node.func) in RAISES:
                roles["except"] |= _names(node.args[:1])
        elif isinstance(node, ast.Attribute):
            roles["owner"] |= _names([node.value])
        elif isinstance(node, ast.ExceptHandler) and node.type is not None:
            roles["except"] |= _names([node.type])
    return roles


def _names(nodes: Iterable[ast.expr]) -> set[str]:
    """The names among expressions, and in tuples and lists of them."""
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.Tuple | ast.List):
            found |= _names(node.elts)
    return found


def _find_runners(block: Block, entry: str | None, prelude: ast.Module) -> None:
    body = block.tree.body
    fixtures = _FIXTURES | {f.name for f in body if isinstance(f, ast.FunctionDef) and f.decorator_list}
    loads = Counter(loaded_names(block.tree))
    called = {name: call for call in map(as_call, body) if call is not None and (name := last_name(call.func))}
    waiting: list[ast.FunctionDef] = []
    helpers = asserting([*prelude.body, *body])
    for function in [node for node in body if isinstance(node, ast.FunctionDef) and node.name in helpers]:
        name, parameters = function.name, function.args.args[: -len(function.args.defaults) or None]
        if name in called and loads[name] == 1 and isinstance(called[name].func, ast.Name):
            block.runners[name] = called[name]
        elif not loads[name] and name.startswith("test") and (not parameters or function.decorator_list):
            block.runners[name] = _add_call(block.tree, function, [])
        elif not loads[name] and len(parameters) == 1 and parameters[0].arg not in fixtures:
            waiting.append(function)
        elif not loads[name] and name.startswith("test"):
            raise TestsFormatError(f"fixtures are not supported: {name}", field=block.where)
    others = any(as_call(node) or not isinstance(node, ast.FunctionDef) for node in body if _may_fail(node, helpers))
    if not waiting or ((others or block.runners) and not any(f.name.startswith("test") for f in waiting)):
        return
    if entry is None:
        raise TestsFormatError("a checker is defined but not called; give entry_point", field="entry_point")
    owner, _, method = entry.partition(".")
    for function in waiting:
        target = parse(f"{owner}().{method}" if method else owner, mode="eval").body
        block.runners[function.name] = _add_call(block.tree, function, [target])


def _may_fail(statement: ast.stmt, helpers: set[str]) -> bool:
    return holds_assertion(statement) or not helpers.isdisjoint(loaded_names(statement))


def _add_call(tree: ast.Module, function: ast.FunctionDef, arguments: list[ast.expr]) -> ast.Call:
    call = ast.Call(ast.Name(function.name, ast.Load()), arguments, [])
    tree.body.append(ast.copy_location(ast.Expr(call), function))
    ast.fix_missing_locations(tree)
    return call
