"""Takes assertions apart: arguments go into the sandbox, a value comes out, and the rest is evaluated here.

`assert sorted(f([2, 1])) == [1, 2]` becomes the call `f([2, 1])` and a condition, `sorted(□) == [1, 2]`.
The condition is evaluated over plain data (`evaluator`), not by `eval`, nor where the program could see it.

| form | taken as |
|---|---|
| `assert f(x) == value`, `assert not f(x)`, `assert abs(f(x) - y) < 1e-6`, … | one test, in a process of its own |
| `def check(candidate): …` with `check(f)` or `entry_point` | its assertions, `candidate` meaning `f` |
| `def test_name(): …` | its assertions |
| `name = value` or `name = f(…)` before an assertion | put in where the name is used |
| `Solution().method(…)` | a call of the method |
| `from solution import f`, docstrings, `assert True` | nothing |
| everything else: loops, exceptions, several calls, arguments changed in place, objects, helpers | a `CheckerUnit` |

What a name stands for is put in only where it is certain: not after a statement that could have changed it.

Covered: which assertions can be taken apart, and that.
Not covered: the others, whose block becomes a checker, each of them one of its sites (`instrument`, `checker`).
"""

from __future__ import annotations

import ast
import threading
from dataclasses import dataclass
from typing import Any

import cachetools

from code_rlvr.errors import TestsFormatError
from code_rlvr.ground_truth import Tests
from code_rlvr.verifier.assertions.bindings import RAISED, RETURNED, CallFinder, Names, is_immutable, substituted
from code_rlvr.verifier.assertions.checker import CheckedCase
from code_rlvr.verifier.assertions.evaluator import evaluate, is_true, require_supported
from code_rlvr.verifier.assertions.instrument import make_checker, shortened
from code_rlvr.verifier.assertions.scope import Block, read_block
from code_rlvr.verifier.assertions.syntax import Function, as_call, bound_names, loaded_names, shadowed
from code_rlvr.verifier.guard.values import encode
from code_rlvr.verifier.program import Call

KEPT_CHARACTERS = 2_000_000
"""Source of tests that are kept taken apart; a character takes 30 to 70 bytes then, so 140 MB at most."""


@dataclass(frozen=True, slots=True)
class AssertCase:
    """One assertion: the call to make, and the condition that its value has to meet."""

    call: Call
    condition: ast.expr

    def holds(self, value: Any) -> bool:
        """Whether the assertion holds for a returned value; one that raises does not hold.

        Raises:
            OutOfReach: If the value is opaque, and the assertion asks more of it than may be asked.
        """
        try:
            return is_true(self.condition, {RETURNED: value})
        except RAISED:
            return False


def take_apart(tests: Tests) -> list[AssertCase | CheckedCase]:
    """The test cases in assert tests, in the order of the source.

    Raises:
        TestsFormatError: If a block has no assertion about the solution, or one that cannot be run.
    """
    try:
        return [*_take_apart(tests).cases]
    except RecursionError:
        raise TestsFormatError("an assertion is nested too deeply", field="asserts") from None


def solution_name(tests: Tests) -> str | None:
    """The function or class of the solution that tests call; None for stdio tests, which call none.

    Raises:
        TestsFormatError: As `take_apart`.
    """
    if tests.kind != "assert" or tests.entry_point is not None:
        return tests.fn_name or tests.entry_point
    case = take_apart(tests)[0]
    return (
        case.call.function if isinstance(case, AssertCase) else next(iter(case.unit.stubs["functions"].values()), None)
    )


@dataclass(frozen=True, slots=True)
class _TakenApart:
    """The cases of tests, and how long their source is."""

    cases: tuple[AssertCase | CheckedCase, ...]
    characters: int


# The same tests come again for every response to their problem, in every epoch; those of the same step often at once.
@cachetools.cached(
    cachetools.LRUCache(KEPT_CHARACTERS, getsizeof=lambda taken: taken.characters), condition=threading.Condition()
)
def _take_apart(tests: Tests) -> _TakenApart:
    cases: list[AssertCase | CheckedCase] = []
    for i, source in enumerate(tests.asserts):
        block = read_block(source, tests, f"asserts[{i}]")
        reader = _Reader(block)
        reader.read_body(block.tree.body, Names({}, block.hidden, block.functions, reader.captured))
        placed: list[tuple[tuple[int, int], AssertCase | CheckedCase]] = [*reader.cases]
        checker = make_checker(block, tests, reader.taken, needed=not reader.cases)
        if checker is not None:
            unit, places = checker
            placed += [(place, CheckedCase(unit, site)) for site, place in enumerate(places)]
        if not placed:
            raise TestsFormatError("no assertion calls the solution", field=block.where)
        cases += [case for _, case in sorted(placed, key=lambda item: item[0])]
    return _TakenApart(tuple(cases), sum(map(len, tests.asserts)))


class _Reader:
    """Walks statements in order, with what names stand for at that point."""

    def __init__(self, block: Block) -> None:
        self._block = block
        self._loads = loaded_names(block.tree)
        runners = [node for node in block.tree.body if isinstance(node, ast.FunctionDef) and node.name in block.runners]
        parts = [
            part for statement in block.tree.body for part in (statement.body if statement in runners else [statement])
        ]
        self.captured = {name for part in parts for name in _inner_names(part)}
        self.cases: list[tuple[tuple[int, int], AssertCase]] = []
        self.taken: list[ast.stmt] = []

    def read_body(self, body: list[ast.stmt], names: Names) -> None:
        """Read the statements of one body, with what names stand for before it."""
        inner = {name for part in body for name in _inner_names(part)}
        for i, statement in enumerate(body):
            if isinstance(statement, ast.Assert):
                if not self._take(statement, names, body[i + 1 :], inner):
                    names.forget(statement)
            elif isinstance(statement, ast.FunctionDef) and statement.name in self._block.runners:
                self._read_runner(statement, names)
            elif (
                isinstance(statement, ast.Assign)
                and isinstance(statement.targets[0], ast.Name)
                and not statement.targets[1:]
            ):
                used = loaded_names(statement.value)
                unused = {n for n in used if used.count(n) == 1 and _is_last_use(n, body[i + 1 :], inner)}
                names.assign(statement.targets[0], statement.value, unused)
            elif isinstance(statement, ast.Import | ast.ImportFrom):
                names.hide(shadowed(statement) - self._block.functions.keys())
            elif as_call(statement) not in [*self._block.runners.values()]:
                names.forget(statement)
            if _leaves(statement):
                return

    def _read_runner(self, function: ast.FunctionDef, names: Names) -> None:
        """Read a function that is run as tests; it sees what was bound once and for all, and its parameters."""
        if function.decorator_list:
            return
        stored = [
            n.id for n in ast.walk(self._block.tree) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)
        ]
        own = loaded_names(function)
        seen = {
            name: value
            for name, value in names.bound.items()
            if stored.count(name) == 1 and (is_immutable(value) or own.count(name) == self._loads.count(name))
        }
        parameters = [parameter.arg for parameter in function.args.args]
        call = self._block.runners[function.name]
        plain = not call.keywords and len(call.args) == len(parameters)
        hidden = (names.hidden | names.bound.keys() - seen.keys()) | bound_names(function.args)
        inside = Names(seen, hidden, names.functions, names.captured)
        if plain and not any(isinstance(argument, ast.Starred) for argument in call.args):
            for parameter, argument in zip(parameters, call.args, strict=True):
                inside.bind(parameter, argument, names.bound)
        inside.affected = names.affected
        self.read_body(function.body, inside)

    def _take(self, statement: ast.Assert, names: Names, rest: list[ast.stmt], inner: set[str]) -> bool:
        """Take one assertion apart, if that is possible."""
        used = loaded_names(statement.test)
        if names.hidden.intersection(used):
            return False
        literals = {name: value for name, value in names.bound.items() if names.is_literal(name)}
        others = {name: value for name, value in names.bound.items() if name not in literals}
        results = {name for name in used if isinstance(others.get(name), ast.Call)}
        for name in results:
            others[name] = ast.Name(RETURNED, ast.Load())
        finder = CallFinder(names.functions)
        condition = finder.visit(substituted(statement.test, others))
        finder.found += [names.bound[name] for name in results]
        if any(_makes_object(call) for call in finder.found):
            return False
        if not finder.found:
            return self._tests_nothing(statement, substituted(condition, literals))
        passed = {name for name in loaded_names(finder.found[0]) if name in literals}
        if names.affected or not all(_is_last_use(name, rest, inner) for name in results):
            return False
        changeable = [name for name in passed if not is_immutable(literals[name])]
        if any(used.count(name) > 1 or not _is_last_use(name, rest, inner) for name in changeable):
            return False
        condition = substituted(condition, literals)
        try:
            call = self._as_call(substituted(finder.found[0], literals))
            require_supported(condition, {RETURNED})
        except RAISED:
            return False
        if len(finder.found) > 1:
            return False
        self.cases.append(((statement.lineno, statement.col_offset), AssertCase(call, condition)))
        self.taken.append(statement)
        return True

    def _tests_nothing(self, statement: ast.Assert, test: ast.expr) -> bool:
        """Whether it is `assert True` in some form; one that never can hold is an error."""
        try:
            holds = bool(evaluate(test, {}))
        except RAISED:
            return False
        if not holds:
            raise TestsFormatError(f"never calls the solution: {shortened(statement)}", field=self._block.where)
        self.taken.append(statement)
        return True

    def _as_call(self, call: ast.expr) -> Call:
        assert isinstance(call, ast.Call)
        function = call.func
        if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Call):
            path = f"{self._path(function.value.func)}.{function.attr}"
        else:
            path = self._path(function)
        args: list[Any] = []
        for argument in call.args:
            starred = isinstance(argument, ast.Starred)
            value = evaluate(argument.value if isinstance(argument, ast.Starred) else argument, {})
            args += value if starred else [value]
        kwargs: dict[str, Any] = {}
        for keyword in call.keywords:
            value = evaluate(keyword.value, {})
            kwargs.update({keyword.arg: value} if keyword.arg is not None else value)
        encode((args, kwargs))  # as they will cross
        return Call(path, tuple(args), tuple(kwargs.items()))

    def _path(self, function: ast.expr) -> str:
        head, *rest = ast.unparse(function).split(".")
        return ".".join([self._block.functions.get(head, head), *rest])


def _makes_object(call: ast.expr) -> bool:
    """Whether a call is probably one of a class: what it gives is no plain data, and stays where the solution is."""
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id[:1].isupper()


def _is_last_use(name: str, rest: list[ast.stmt], inner: set[str]) -> bool:
    """Whether nothing later can see what the solution does to the value of a name."""
    if name in inner:
        return False
    for statement in rest:
        if name in loaded_names(statement):
            return False
        if isinstance(statement, ast.Assign) and name in {ast.unparse(target) for target in statement.targets}:
            return True
    return True


def _inner_names(statement: ast.stmt) -> set[str]:
    """The names that functions and classes in a statement use."""
    scopes = [n for n in ast.walk(statement) if isinstance(n, Function | ast.ClassDef | ast.Lambda)]
    return {name for scope in scopes for name in loaded_names(scope)}


def _leaves(statement: ast.stmt) -> bool:
    if isinstance(statement, Function | ast.ClassDef):
        return False
    return any(isinstance(node, ast.Return | ast.Raise) for node in ast.walk(statement))
