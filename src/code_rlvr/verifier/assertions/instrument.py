"""Makes a checker of a block of tests: its own statements, which tell how they ended.

    x = [3, 1]                   with __statement__(0):
    f(x)                             x = [3, 1]
    assert x == [1, 3]           with __statement__(1):
                                     f(x)
                                 with __statement__(2):
                                     with __site__(0):
                                         assert x == [1, 3]

Each assertion is one *site*, however often it is executed: `assert`, `raise AssertionError`, `with pytest.raises(E):`,
a call such as `np.testing.assert_allclose(…)`.  A statement without one that uses a helper of the tests which asserts
is a site as a whole; so is each `test_` method of a class.

Covered: the program of a checker.  Not covered: what it does when it runs (`guard.recorder`).
"""

from __future__ import annotations

import ast
from collections.abc import Collection
from dataclasses import dataclass

from code_rlvr.errors import TestsFormatError
from code_rlvr.ground_truth import Tests
from code_rlvr.parsing import parse
from code_rlvr.verifier.assertions.checker import CheckerUnit
from code_rlvr.verifier.assertions.scope import EXECUTING, Block, parse_prelude
from code_rlvr.verifier.assertions.syntax import (
    Function,
    as_call,
    asserting,
    asserts,
    holds_assertion,
    is_raises,
    last_name,
    loaded_names,
    raises_assertion,
)

MAX_TEXT = 120
Place = tuple[int, int]


@dataclass(slots=True)
class _Site:
    place: Place
    statement: int
    text: str


def make_checker(
    block: Block, tests: Tests, taken: Collection[ast.stmt], needed: bool
) -> tuple[CheckerUnit, list[Place]] | None:
    """The checker of a block, and where in the source each of its sites is; None if nothing is left to check.

    What is left checks nothing if it never uses the solution.

    Args:
        block: The block; its tree is used up.
        tests: What it is of.
        taken: Assertions that are judged in another way, or assert nothing.
        needed: Whether the block has no others.

    Raises:
        TestsFormatError: If a needed checker checks nothing, or one cannot be made.
    """
    maker = _Maker(block, tests, taken)
    body = maker.statements(block.tree.body)
    if not maker.sites:
        return None
    executing = EXECUTING.intersection(loaded_names(parse_prelude(tests.prelude)))
    if executing:
        raise TestsFormatError(f"a prelude that uses {min(executing)} cannot go into a checker", field="prelude")
    if not {*block.functions, *block.owners} & {name for statement in body for name in loaded_names(statement)}:
        if not needed:
            return None
        raise TestsFormatError(f"never calls the solution: {maker.sites[0].text}", field=block.where)
    head = [parse(line).body[0] for line in dict.fromkeys(block.imports)]
    program = ast.Module([*maker.future, *head, _run("__begin__(globals())"), *body, _run("__finish__()")], [])
    unit = CheckerUnit(
        ast.unparse(ast.fix_missing_locations(program)),
        {"functions": block.functions, "exceptions": block.exceptions, "modules": block.modules},
        tuple(site.statement for site in maker.sites),
        tuple(site.text for site in maker.sites),
    )
    return unit, [site.place for site in maker.sites]


def _run(source: str) -> ast.stmt:
    return parse(source).body[0]


def _with(call: str, body: list[ast.stmt]) -> ast.With:
    return ast.With([ast.withitem(parse(call, mode="eval").body)], body)


def shortened(node: ast.AST) -> str:
    """A piece of source in one line."""
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= MAX_TEXT else text[: MAX_TEXT - 1] + "…"


class _Maker:
    """Wraps statements, and numbers them and their sites."""

    def __init__(self, block: Block, tests: Tests, taken: Collection[ast.stmt]) -> None:
        self._block = block
        self._taken = {id(statement) for statement in taken}
        self.helpers = asserting([*parse_prelude(tests.prelude).body, *block.tree.body]) - block.runners.keys()
        self._count = 0
        self.sites: list[_Site] = []
        self.future: list[ast.stmt] = []

    def statements(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """A body whose statements tell how they ended."""
        return [new for statement in body for new in self._statement(statement)]

    def site(self, node: ast.stmt | ast.expr) -> int:
        """The number of a new site in the statement at hand."""
        self.sites.append(_Site((node.lineno, node.col_offset), self._count, shortened(node)))
        return len(self.sites) - 1

    def _statement(self, statement: ast.stmt) -> list[ast.stmt]:
        if id(statement) in self._taken or _says_nothing(statement):
            return []
        if isinstance(statement, ast.ImportFrom) and statement.module == "__future__":
            self.future.append(statement)
            return []
        if isinstance(statement, ast.AsyncFunctionDef) and holds_assertion(statement):
            raise TestsFormatError(f"asynchronous tests are not supported: {statement.name}", field=self._block.where)
        if isinstance(statement, ast.FunctionDef) and statement.name in self._block.runners:
            statement.body = self.statements(statement.body) or [ast.Pass()]
            return [statement]
        if isinstance(statement, ast.Global | ast.Nonlocal):
            return [statement]
        before = len(self.sites)
        if not isinstance(statement, Function | ast.ClassDef):
            statement = _SiteMaker(self).visit(statement)
            if len(self.sites) == before and self.helpers.intersection(loaded_names(statement)):
                self.site(statement)
                return [self._wrapped(statement, of_helper=True)]
        wrapped = self._wrapped(statement)
        return [wrapped, *self._test_class(statement)] if isinstance(statement, ast.ClassDef) else [wrapped]

    def _wrapped(self, statement: ast.stmt, of_helper: bool = False) -> ast.stmt:
        index, self._count = self._count, self._count + 1
        return _with(f"__statement__({index}, True)" if of_helper else f"__statement__({index})", [statement])

    def _test_class(self, kind: ast.ClassDef) -> list[ast.stmt]:
        """What runs the test methods of a class."""
        is_case = any(last_name(base).endswith("TestCase") for base in kind.bases)
        if not is_case and not kind.name.startswith("Test"):
            return []
        methods: list[str] = []
        for method in kind.body:
            if isinstance(method, ast.FunctionDef) and method.name.startswith("test"):
                self.site(method)
                self.sites[-1].text = f"{kind.name}.{method.name}"
                methods.append(f"{method.name!r}: {self._count}")
                self._count += 1
        return [_run(f"__run_class__({kind.name}, {{{', '.join(methods)}}})")] if methods else []


class _SiteMaker(ast.NodeTransformer):
    """Wraps the assertions in one statement."""

    def __init__(self, maker: _Maker) -> None:
        self._maker = maker
        self._expected = False

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        return node

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        always = isinstance(node.test, ast.Constant) and bool(node.test.value)
        return node if always else self._site(node)

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        return self._site(node, goes_on=False) if raises_assertion(node) else node

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        if not isinstance(node.value, ast.Call):
            return node
        helps = self._maker.helpers.intersection(loaded_names(node))
        return self._site(node) if helps or asserts(node.value) else node

    def visit_Try(self, node: ast.Try) -> ast.AST:
        before = self._expected
        self._expected = before or any(_names_exception(handler) for handler in node.handlers)
        node.body = [self.visit(statement) for statement in node.body]
        self._expected = before
        for part in [*node.handlers, *node.orelse, *node.finalbody]:
            self.visit(part)
        return node

    def visit_With(self, node: ast.With) -> ast.AST:
        expected = [item.context_expr for item in node.items if is_raises(item.context_expr)]
        if not expected:
            return self.generic_visit(node)
        number, before = self._maker.site(expected[0]), self._expected
        if not any("AssertionError" in loaded_names(expression) for expression in expected):
            self._expected = True
            node = self.generic_visit(node)  # type: ignore[assignment]
            self._expected = before
        return ast.copy_location(_with(f"__site__({number})", [node]), node)

    def _site(self, node: ast.stmt, goes_on: bool = True) -> ast.AST:
        call = f"__site__({self._maker.site(node)}, {self._expected}, {goes_on})"
        return ast.copy_location(_with(call, [node]), node)


def _names_exception(handler: ast.ExceptHandler) -> bool:
    """Whether a handler is for one exception, and not for whatever may come."""
    caught = (
        set()
        if handler.type is None
        else {last_name(part) for part in ast.walk(handler.type) if isinstance(part, ast.expr)}
    )
    return bool(caught - {"", "Exception", "BaseException", "AssertionError"})


def _says_nothing(statement: ast.stmt) -> bool:
    call = as_call(statement)
    if call is not None:
        return ast.unparse(call.func) in ("unittest.main", "pytest.main")
    return isinstance(statement, ast.Pass) or (
        isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    )
