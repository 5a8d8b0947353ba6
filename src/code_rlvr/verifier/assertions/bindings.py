"""What names stand for at one point of the tests' source, as far as that is certain.

Covered: plain data, calls of the solution, the solution itself; forgetting what a statement may have changed.
Not covered: what is done with it (`cases`).
"""

from __future__ import annotations

import ast
import copy
import functools
from collections.abc import Mapping
from typing import Any

from code_rlvr.verifier.assertions.arithmetic import NotPlain
from code_rlvr.verifier.assertions.evaluator import evaluate
from code_rlvr.verifier.assertions.syntax import Function, asserts, bound_names, is_raises, loaded_names

# What `evaluate` raises for an expression that has no value.
RAISED = (
    NotPlain, ArithmeticError, LookupError, TypeError, ValueError, AttributeError, RecursionError, MemoryError,
)  # fmt: skip
RETURNED = "<returned>"  # no identifier, so nothing in the source can mean it
NO_VALUE = object()
_IMMUTABLE = (bool, int, float, complex, str, bytes, range, type(None))


class Names:
    """What names stand for at one point of a body.

    Attributes:
        bound: Literals, calls of the solution, and the solution itself, by name.
        hidden: Names that stand for something that is not known.
        functions: Names that mean the solution unless they are bound or hidden.
        captured: Names that a function of the tests uses: it may change what they stand for, whenever it is called.
        affected: Whether something was done whose effect is in no name: a call for its effect, `sys.stdin = …`.
    """

    def __init__(
        self, bound: dict[str, ast.expr], hidden: set[str], functions: Mapping[str, str], captured: set[str]
    ) -> None:
        self.bound = bound
        self.hidden = hidden
        self.functions = functions
        self.captured = captured
        self.affected = False

    def is_literal(self, name: str) -> bool:
        """Whether it stands for plain data."""
        return _is_literal(self.bound[name])

    def bind(self, name: str, value: ast.expr, bound: Mapping[str, ast.expr]) -> None:
        """Let a name stand for an expression, if that is plain data, a call of the solution or the solution.

        Args:
            name: The name.
            value: The expression.
            bound: What names in it stand for.
        """
        rest: ast.AST = value
        if loaded_names(value):  # else it is data, maybe a great deal, in which nothing is put or called
            value = substituted(value, bound)
            rest = CallFinder(self.functions).visit(copy.deepcopy(value))
        called = isinstance(rest, ast.Name) and rest.id == RETURNED
        meant = isinstance(value, ast.Name) and value.id in self.functions
        method = isinstance(value, ast.Attribute) and is_instance(value.value, self.functions)
        certain = called or meant or method or value_of(value) is not NO_VALUE
        shared = name in self.captured and _is_literal(value) and not is_immutable(value)
        if self.hidden.intersection(loaded_names(value)) or not certain or shared:
            self.hide({name})
        else:
            self.bound[name] = value
            self.hidden.discard(name)

    def assign(self, target: ast.Name, value: ast.expr, unused: set[str]) -> None:
        """Note an assignment.

        Args:
            target: What is assigned to.
            value: What is.
            unused: Names that nothing uses any more.
        """
        changeable = self._changeable(value)
        self.bind(target.id, value, self.bound)
        if changeable - unused or (changeable and not isinstance(value, ast.Call)):
            self.hide({target.id})  # two names of one object
        self.hide(changeable - {target.id})

    def forget(self, statement: ast.stmt) -> None:
        """Note a statement that may do anything to the names in it."""
        self.affected = self.affected or _has_effect(statement, self.functions)
        self.hide(self._changeable(statement) | bound_names(statement))

    def hide(self, names: set[str]) -> None:
        """Let names stand for what is not known."""
        for name in names:
            self.bound.pop(name, None)
        self.hidden |= names

    def _changeable(self, node: ast.AST) -> set[str]:
        names = {name for name in loaded_names(node) if name in self.bound}
        return {name for name in names if not _is_solution(self.bound[name]) and not is_immutable(self.bound[name])}


def _has_effect(statement: ast.stmt, functions: Mapping[str, str]) -> bool:
    """Whether it calls the solution and drops what is returned, other than to see it raise, or sets an attribute."""
    if isinstance(statement, Function | ast.ClassDef | ast.Try):
        return False
    if isinstance(statement, ast.With) and any(is_raises(item.context_expr) for item in statement.items):
        return False
    if isinstance(statement, ast.Expr):
        call = statement.value
        return (
            isinstance(call, ast.Call)
            and not asserts(call)
            and not functions.keys().isdisjoint(loaded_names(call.func))
        )
    parts = [*ast.iter_child_nodes(statement)]
    if any(isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Store) for part in parts):
        return True
    return any(isinstance(part, ast.stmt) and _has_effect(part, functions) for part in parts)


def _is_solution(value: ast.expr) -> bool:
    return not isinstance(value, ast.Call) and value_of(value) is NO_VALUE


def value_of(node: ast.expr) -> Any:
    """The value of a literal; `NO_VALUE` if it is none."""
    try:
        return evaluate(node, {})
    except RAISED:
        return NO_VALUE


@functools.lru_cache(maxsize=1024)  # by identity; large ones are asked about again for every assertion
def _is_literal(node: ast.expr) -> bool:
    return value_of(node) is not NO_VALUE


@functools.lru_cache(maxsize=1024)
def is_immutable(node: ast.expr) -> bool:
    """Whether it is a literal that nothing can change."""
    value = value_of(node)
    parts = [value]
    while parts and all(isinstance(part, tuple | frozenset) for part in parts):
        parts = [item for part in parts for item in part if not isinstance(item, _IMMUTABLE)]
    return all(isinstance(part, _IMMUTABLE) for part in parts) and value is not NO_VALUE


def is_instance(node: ast.expr, functions: Mapping[str, str]) -> bool:
    """Whether it is `Solution()`."""
    plain = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.args and not node.keywords
    return plain and node.func.id in functions and node.func.id[:1].isupper()  # type: ignore[attr-defined]


class CallFinder(ast.NodeTransformer):
    """Replaces calls of the solution by the value returned, and keeps them."""

    def __init__(self, functions: Mapping[str, str]) -> None:
        self._functions = functions
        self.found: list[ast.expr] = []

    def visit_Call(self, node: ast.Call) -> ast.AST:
        function = node.func
        called = isinstance(function, ast.Name) and function.id in self._functions
        method = isinstance(function, ast.Attribute) and is_instance(function.value, self._functions)
        if not called and not method:
            return self.generic_visit(node)
        self.found.append(node)
        return ast.copy_location(ast.Name(RETURNED, ast.Load()), node)


class _Substitution(ast.NodeTransformer):
    def __init__(self, bound: Mapping[str, ast.expr]) -> None:
        self._bound = bound

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return self._bound.get(node.id, node) if isinstance(node.ctx, ast.Load) else node


def substituted(node: ast.expr, bound: Mapping[str, ast.expr]) -> ast.expr:
    """A copy of an expression in which bound names are what they stand for."""
    result = _Substitution(bound).visit(copy.deepcopy(node))
    assert isinstance(result, ast.expr)
    return result
