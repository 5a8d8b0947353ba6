"""Questions about pieces of the tests' source, each answered by a look at its tree alone.

Covered: which names are used and bound, what can fail a test.
Not covered: what the names mean (`scope`).
"""

from __future__ import annotations

import ast

RAISES = ("raises", "assertRaises", "assertRaisesRegex")
Function = ast.FunctionDef | ast.AsyncFunctionDef


def holds_assertion(node: ast.AST) -> bool:
    """Whether there is anything in a piece of source that can fail a test."""
    return any(
        isinstance(part, ast.Assert) or raises_assertion(part) or (isinstance(part, ast.Call) and asserts(part))
        for part in ast.walk(node)
    )


def leaves_function(tree: ast.AST) -> bool:
    """Whether there is a `return`, `yield` or `await` that no function holds."""
    for part in ast.iter_child_nodes(tree):
        if isinstance(part, ast.Return | ast.Yield | ast.YieldFrom | ast.Await):
            return True
        if not isinstance(part, Function | ast.Lambda) and leaves_function(part):
            return True
    return False


def asserting(body: list[ast.stmt]) -> set[str]:
    """The functions and classes that assert, or use one that does."""
    defined = {node.name: node for node in body if isinstance(node, Function | ast.ClassDef)}
    found = {name for name, node in defined.items() if holds_assertion(node)}
    while True:
        more = {name for name, node in defined.items() if name not in found and found.intersection(loaded_names(node))}
        if not more:
            return found
        found |= more


def raises_assertion(node: ast.AST) -> bool:
    """Whether it is `raise AssertionError`."""
    if not isinstance(node, ast.Raise) or node.exc is None:
        return False
    raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
    return isinstance(raised, ast.Name) and raised.id == "AssertionError"


def asserts(call: ast.Call) -> bool:
    """Whether a call is an assertion by its name: `assertEqual`, `np.testing.assert_allclose`, `pytest.raises`."""
    name = last_name(call.func)
    owned = isinstance(call.func, ast.Attribute)
    return name in RAISES or (owned and (name == "fail" or (name.startswith("assert"))))


def is_raises(expression: ast.expr) -> bool:
    """Whether it is `pytest.raises(…)` or the like."""
    return isinstance(expression, ast.Call) and last_name(expression.func) in RAISES


def last_name(function: ast.expr) -> str:
    """`f` of `f` and of `a.b.f`; "" of anything else."""
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def as_call(statement: ast.stmt) -> ast.Call | None:
    """The call that a statement consists of."""
    return statement.value if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call) else None


def loaded_names(node: ast.AST) -> list[str]:
    """Every use of a name in a piece of source."""
    return [part.id for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load)]


def bound_names(tree: ast.AST) -> set[str]:
    """Every name that a piece of source binds or deletes, in whatever scope."""
    names: set[str | None] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            names.add(node.id)
        elif isinstance(node, Function | ast.ClassDef | ast.ExceptHandler | ast.MatchAs | ast.MatchStar):
            names.add(node.name)
        elif isinstance(node, ast.arg):
            names.add(node.arg)
        elif isinstance(node, ast.alias):
            names.add(node.asname or node.name.partition(".")[0])
        elif isinstance(node, ast.MatchMapping):
            names.add(node.rest)
    return {name for name in names if name is not None}


def shadowed(tree: ast.AST) -> set[str]:
    """The names that a piece of source binds to anything but what they mean everywhere."""
    names = bound_names(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module not in ("math", "cmath", "collections", "typing"):
            continue
        if isinstance(node, ast.Import | ast.ImportFrom):
            names -= {alias.name for alias in node.names if alias.asname is None}
    return names


def simplified(tree: ast.Module) -> ast.Module:
    """Without annotations, which may use names that nobody bound, and with `if __name__ == "__main__"` resolved."""
    result = _Simplifier().visit(tree)
    assert isinstance(result, ast.Module)
    return result


class _Simplifier(ast.NodeTransformer):
    def visit_If(self, node: ast.If) -> ast.AST | list[ast.stmt]:
        self.generic_visit(node)
        return node.body if ast.unparse(node.test).replace('"', "'") == "__name__ == '__main__'" else node

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.annotation = None
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        return self.generic_visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        for statement in node.body:  # a dataclass needs its annotations
            if isinstance(statement, ast.FunctionDef):
                self.visit(statement)
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if node.value is None:
            return ast.copy_location(ast.Pass(), node)
        return ast.copy_location(ast.Assign([node.target], node.value), node)
