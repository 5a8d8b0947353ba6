"""Takes assertions apart: arguments go into the sandbox, a value comes out, and the rest is evaluated here.

`assert sorted(f([2, 1])) == [1, 2]` becomes the call `f([2, 1])` and a condition, `sorted(□) == [1, 2]`.
The condition is evaluated over plain data (`evaluator`), not by `eval`, nor where the program could see it.

| form | taken as |
|---|---|
| `assert f(x) == value`, `assert not f(x)`, `assert abs(f(x) - y) < 1e-6`, … | one test |
| `def check(candidate): …` with `check(f)` or `entry_point` | its assertions, `candidate` meaning `f` |
| `def test_name(): …` | its assertions |
| `name = value` or `name = f(…)` before an assertion | put in where the name is used |
| `Solution().method(…)` | a call of the method |
| `from solution import f`, docstrings, `assert True` | nothing |

Covered: assertions with exactly one call of the solution, whose arguments are plain data.
Not covered, and refused with `TestsFormatError`: loops, comprehensions, exceptions, several calls at once.
"""

from __future__ import annotations

import ast
import copy
import marshal
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from code_rlvr.errors import TestsFormatError
from code_rlvr.ground_truth import Tests
from code_rlvr.verifier.evaluator import FUNCTIONS, MODULES, NotPlain, evaluate, require_supported
from code_rlvr.verifier.program import Call

_IGNORED_MODULES = ("solution", "typing", "pytest", *MODULES)


@dataclass(frozen=True, slots=True)
class AssertCase:
    """One assertion: the call to make, and the condition that its value has to meet."""

    call: Call
    condition: ast.expr

    def holds(self, value: Any) -> bool:
        """Whether the assertion holds for a returned value; one that raises does not hold."""
        try:
            return bool(evaluate(self.condition, {_RETURNED: value}))
        except (
            NotPlain,
            ArithmeticError,
            LookupError,
            TypeError,
            ValueError,
            AttributeError,
            RecursionError,
            MemoryError,
        ):
            return False


_RETURNED = "<returned>"  # no identifier, so nothing in the source can mean it


def take_apart(tests: Tests) -> list[AssertCase]:
    """The test cases in assert tests.

    Raises:
        TestsFormatError: If an assertion has a form that is not supported; the message quotes it.
    """
    cases: list[AssertCase] = []
    for i, source in enumerate(tests.asserts):
        reader = _Reader(tests.entry_point, f"asserts[{i}]")
        reader.read(ast.parse(source).body, {})
        if reader.checkers and not reader.cases:
            if tests.entry_point is None:
                raise TestsFormatError("a checker is defined but not called; give entry_point", field="entry_point")
            for function in reader.checkers.values():
                reader.read_checker(function, _dotted(tests.entry_point))
        if not reader.cases:
            raise TestsFormatError("no assertion calls the solution", field=reader.field)
        cases += reader.cases
    return cases


def _dotted(path: str) -> ast.expr:
    return ast.parse(path, mode="eval").body


class _Reader:
    """Walks statements in order, with what names stand for at that point."""

    def __init__(self, entry_point: str | None, field: str) -> None:
        self.entry_point = entry_point
        self.field = field
        self.cases: list[AssertCase] = []
        self.checkers: dict[str, ast.FunctionDef] = {}

    def read(self, body: list[ast.stmt], bound: dict[str, ast.expr]) -> None:
        for statement in body:
            if isinstance(statement, ast.Assert):
                self._add(statement.test, bound)
            elif isinstance(statement, ast.FunctionDef):
                self._define(statement, bound)
            elif isinstance(statement, ast.Assign) and _is_name([*statement.targets]):
                bound[ast.unparse(statement.targets[0])] = _substituted(statement.value, bound)
            elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
                self._call_checker(statement, bound)
            elif not _means_nothing(statement):
                raise self._refused(statement)

    def read_checker(self, function: ast.FunctionDef, target: ast.expr) -> None:
        self.read(function.body, {function.args.args[0].arg: target})

    def _define(self, function: ast.FunctionDef, bound: dict[str, ast.expr]) -> None:
        if len(function.args.args) == 1 and not function.name.startswith("test"):
            self.checkers[function.name] = function
        elif function.args.args or not function.name.startswith("test") or function.decorator_list:
            raise self._refused(function)
        else:
            self.read(function.body, dict(bound))

    def _call_checker(self, statement: ast.Expr, bound: dict[str, ast.expr]) -> None:
        call = statement.value
        assert isinstance(call, ast.Call)
        name = call.func.id if isinstance(call.func, ast.Name) else ""
        if name in self.checkers and len(call.args) == 1 and not call.keywords:
            self.read_checker(self.checkers[name], _substituted(call.args[0], bound))
        elif not (name.startswith("test") and not call.args):  # test_x() below its definition, which was read
            raise self._refused(statement)

    def _add(self, test: ast.expr, bound: Mapping[str, ast.expr]) -> None:
        test = _substituted(test, bound)
        finder = _CallFinder(self.entry_point)
        condition = finder.visit(test)
        if not finder.found:
            if self._is_true(test):
                return  # "assert True" tests nothing
            raise TestsFormatError(f"never calls the solution: assert {ast.unparse(test)}", field=self.field)
        if len(finder.found) > 1:
            raise self._refused(test, "several calls in one assertion")
        try:
            require_supported(condition, {_RETURNED})
        except NotPlain as error:
            raise self._refused(test, f"{error} is not supported yet") from None
        self.cases.append(AssertCase(self._as_call(finder.found[0]), condition))

    def _is_true(self, test: ast.expr) -> bool:
        try:
            return bool(evaluate(test, {}))
        except (NotPlain, ArithmeticError, LookupError, TypeError, ValueError, AttributeError):
            return False

    def _as_call(self, call: ast.Call) -> Call:
        function = call.func
        if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Call):
            owner = function.value.func
            path = f"{ast.unparse(owner)}.{function.attr}"
        else:
            path = ast.unparse(function)
        try:
            args = tuple(evaluate(argument, {}) for argument in call.args)
            if any(keyword.arg is None for keyword in call.keywords):
                raise NotPlain("**")
            kwargs = tuple((str(keyword.arg), evaluate(keyword.value, {})) for keyword in call.keywords)
        except (NotPlain, ArithmeticError, LookupError, TypeError, ValueError, AttributeError) as error:
            raise self._refused(call, f"an argument is not plain data: {error}") from None
        try:
            marshal.dumps((args, kwargs))  # as they will cross
        except ValueError:
            raise self._refused(call, "an argument is not plain data") from None
        return Call(path, args, kwargs)

    def _refused(self, node: ast.AST, why: str = "this form is not supported yet") -> TestsFormatError:
        source = ast.unparse(node)
        source = source if len(source) <= 120 else source[:117] + "…"
        return TestsFormatError(f"{why}: {source}", field=self.field)


class _CallFinder(ast.NodeTransformer):
    """Replaces calls of the solution by the value returned, and keeps them."""

    def __init__(self, entry_point: str | None) -> None:
        self._entry = entry_point
        self.found: list[ast.Call] = []

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if not self._calls_solution(node.func):
            return self.generic_visit(node)
        self.found.append(node)
        return ast.copy_location(ast.Name(_RETURNED, ast.Load()), node)

    def _calls_solution(self, function: ast.expr) -> bool:
        if isinstance(function, ast.Name):
            return function.id == self._entry or function.id not in FUNCTIONS
        if isinstance(function, ast.Attribute):
            owner = function.value
            if isinstance(owner, ast.Call) and isinstance(owner.func, ast.Name):
                return owner.func.id not in FUNCTIONS and owner.func.id[:1].isupper() and not owner.args
        return False


class _Substitution(ast.NodeTransformer):
    def __init__(self, bound: Mapping[str, ast.expr]) -> None:
        self._bound = bound

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return self._bound.get(node.id, node) if isinstance(node.ctx, ast.Load) else node


def _substituted(node: ast.expr, bound: Mapping[str, ast.expr]) -> ast.expr:
    """A copy of an expression in which bound names are what they stand for."""
    result = _Substitution(bound).visit(copy.deepcopy(node))
    assert isinstance(result, ast.expr)
    return result


def _is_name(targets: list[ast.expr]) -> bool:
    return len(targets) == 1 and isinstance(targets[0], ast.Name)


def _means_nothing(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.ImportFrom):
        return (statement.module or "").partition(".")[0] in _IGNORED_MODULES
    if isinstance(statement, ast.Import):
        return all(alias.name.partition(".")[0] in _IGNORED_MODULES for alias in statement.names)
    return isinstance(statement, ast.Pass) or (
        isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    )
