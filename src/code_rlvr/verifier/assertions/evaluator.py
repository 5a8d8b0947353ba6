"""Evaluates the expressions that occur in assertions, over plain data only.

Covered: literals, displays, operators, comparisons, subscripts, and a list of pure functions and methods.
An `Opaque` value may only be asked whether it is true and whether it is None, True or False.
Not covered, on purpose: all else.  Sizes are bounded (`arithmetic`), since a returned value may be chosen to hurt.
"""

from __future__ import annotations

import ast
import cmath
import math
import operator
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import Any

from code_rlvr.verifier.assertions import arithmetic
from code_rlvr.verifier.assertions.arithmetic import NotPlain
from code_rlvr.verifier.assertions.bounds import hashing, keyed
from code_rlvr.verifier.guard.opaque import Opaque


def evaluate(node: ast.expr, values: Mapping[str, Any]) -> Any:
    """The value of an expression.

    Args:
        node: A parsed expression.
        values: What names stand for.

    Raises:
        NotPlain: If the expression uses anything but plain data and the functions listed here.
        ArithmeticError, LookupError, TypeError, ValueError, AttributeError: As Python itself would; ValueError also for
            items that were made to collide (`bounds`).
        OutOfReach: If it is an opaque value, or asks more of one than may be asked.
    """
    rule = _RULES.get(type(node))
    if rule is None:
        raise NotPlain(f"{type(node).__name__} in {ast.unparse(node)}")
    value = rule(node, values)
    if isinstance(value, Opaque):
        raise value.out_of_reach()
    return value


def is_true(node: ast.expr, values: Mapping[str, Any]) -> bool:
    """Whether an expression is true, which may be an opaque value; raises as `evaluate`."""
    return bool(_or_opaque(node, values))


def _or_opaque(node: ast.expr, values: Mapping[str, Any]) -> Any:
    """As `evaluate`, but an opaque value is handed on: for who asks no more of it than may be asked."""
    return _RULES[type(node)](node, values) if isinstance(node, _PASSING_ON) else evaluate(node, values)


def require_supported(node: ast.expr, names: Collection[str]) -> None:
    """Check an expression without evaluating it, so that what is not supported is never taken for false.

    Args:
        node: A parsed expression.
        names: What will have a value.

    Raises:
        NotPlain: If `evaluate` would refuse it whatever the values are.
    """
    known = {attribute for attributes in _METHODS.values() for attribute in attributes}
    bound = {*names, *FUNCTIONS, *_CONSTANTS, *MODULES}
    for part in ast.walk(node):
        if isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name) and part.value.id in MODULES:
            if part.attr not in MODULES[part.value.id]:
                raise NotPlain(ast.unparse(part))
        elif isinstance(part, ast.Attribute) and part.attr not in known:
            raise NotPlain(f"the attribute {part.attr}")
        elif isinstance(part, ast.Call) and not all(map(_is_function, _called_by(part))):
            raise NotPlain(f"a call of a value in {ast.unparse(part)}")
        elif isinstance(part, ast.Name) and part.id not in bound:
            raise NotPlain(f"the name {part.id}")
        elif isinstance(part, ast.expr) and type(part) not in _RULES:
            raise NotPlain(type(part).__name__)
        elif isinstance(part, ast.Call | ast.BinOp | ast.Dict):
            _try(part, names)


def _try(node: ast.expr, names: Collection[str]) -> None:
    """Find out whether a part that depends on no value will be refused when it is evaluated."""
    formats = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) and isinstance(node.left, ast.Constant)
    if formats and isinstance(node.left.value, (str, bytes)):  # type: ignore[attr-defined]
        raise NotPlain("text formatting")
    if any(keyword.arg is None for keyword in getattr(node, "keywords", ())) or None in getattr(node, "keys", ()):
        raise NotPlain("**")
    if any(isinstance(part, ast.Name) and part.id in names for part in ast.walk(node)):
        return
    try:
        evaluate(node, {})
    except NotPlain:
        raise
    except (ArithmeticError, LookupError, TypeError, ValueError, AttributeError, RecursionError, MemoryError):
        return


def _called_by(call: ast.Call) -> list[ast.expr]:
    """What a call calls: its function, and functions that it passes on."""
    passed = call.args[:1] if isinstance(call.func, ast.Name) and call.func.id == "map" else []
    return [call.func, *passed, *(keyword.value for keyword in call.keywords if keyword.arg == "key")]


def _is_function(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) or (isinstance(node, ast.Name) and node.id in FUNCTIONS)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    function.__name__: function
    for function in (
        abs, all, any, bin, bool, chr, complex, dict, divmod, enumerate, float, frozenset, hex, int,
        isinstance, len, list, map, max, min, ord, repr, reversed, round, set, sorted, str, sum,
        tuple, type, zip, Counter,
    )
}  # fmt: skip
FUNCTIONS.update(range=arithmetic.bounded_range, divmod=arithmetic.quick(divmod), isclose=math.isclose)
FUNCTIONS.update(sum=arithmetic.total)
# What is called in place of these; `isinstance(□, set)` still means the type.
_BOUNDED: dict[type, Callable[..., Any]] = {
    **{function: hashing(function) for function in (set, frozenset, Counter)},
    dict: keyed(dict),
    str: arithmetic.text,
}
_MATH = ("ceil", "e", "fabs", "floor", "inf", "isclose", "isinf", "isnan", "nan", "pi", "sqrt", "tau")
MODULES: dict[str, dict[str, Any]] = {
    "math": {name: getattr(math, name) for name in _MATH},
    "cmath": {"isclose": cmath.isclose},
    "collections": {"Counter": Counter},
}
_METHODS: dict[type, tuple[str, ...]] = {
    str: (
        "count", "endswith", "isdigit", "join", "lower", "lstrip", "replace", "rstrip", "split", "splitlines",
        "startswith", "strip", "title", "upper",
    ),
    dict: ("get", "items", "keys", "values"),
    list: ("count", "index"),
    tuple: ("count", "index"),
    set: ("intersection", "issubset", "issuperset", "union"),
}  # fmt: skip
_GROWING: dict[str, Callable[..., str]] = {"join": arithmetic.join, "replace": arithmetic.replace}  # of texts
_NOTHING: tuple[str, ...] = ()
_CONSTANTS = {"inf": math.inf, "nan": math.nan, "pi": math.pi}
_OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: arithmetic.times, ast.Div: operator.truediv,
    ast.FloorDiv: arithmetic.quick(operator.floordiv), ast.Mod: arithmetic.quick(operator.mod),
    ast.Pow: arithmetic.power, ast.LShift: arithmetic.shift, ast.RShift: operator.rshift, ast.BitOr: operator.or_,
    ast.BitAnd: operator.and_, ast.BitXor: operator.xor, ast.UAdd: operator.pos, ast.USub: operator.neg,
    ast.Invert: operator.invert, ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt,
    ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Is: operator.is_, ast.IsNot: operator.is_not,
    ast.In: lambda item, items: item in items, ast.NotIn: lambda item, items: item not in items,
}  # fmt: skip


def _name(node: Any, values: Mapping[str, Any]) -> Any:
    for names in (values, FUNCTIONS, _CONSTANTS):
        if node.id in names:
            return names[node.id]
    raise NotPlain(f"the name {node.id}")


def _compare(node: Any, values: Mapping[str, Any]) -> Any:
    left = _or_opaque(node.left, values)
    for symbol, comparator in zip(node.ops, node.comparators, strict=True):
        right = _or_opaque(comparator, values)
        opaque, other = (left, right) if isinstance(left, Opaque) else (right, left)
        if isinstance(opaque, Opaque):
            holds = opaque.compare(type(symbol).__name__, other)
        else:
            holds = _OPERATORS[type(symbol)](left, right)
        if not holds:
            return False
        left = right
    return True


def _bool_op(node: Any, values: Mapping[str, Any]) -> Any:
    value = None
    for operand in node.values:
        value = _or_opaque(operand, values)
        if bool(value) is isinstance(node.op, ast.Or):
            break
    return value


def _unary(node: Any, values: Mapping[str, Any]) -> Any:
    if isinstance(node.op, ast.Not):
        return not is_true(node.operand, values)
    return _OPERATORS[type(node.op)](evaluate(node.operand, values))


def _binary(node: Any, values: Mapping[str, Any]) -> Any:
    left, right = evaluate(node.left, values), evaluate(node.right, values)
    if isinstance(node.op, ast.Mod) and isinstance(left, (str, bytes)):
        raise NotPlain("text formatting")  # "%9999999999d" would fill the memory
    return _OPERATORS[type(node.op)](left, right)


def _attribute(node: Any, values: Mapping[str, Any]) -> Any:
    if isinstance(node.value, ast.Name) and node.attr in MODULES.get(node.value.id, {}):
        return MODULES[node.value.id][node.attr]
    owner = evaluate(node.value, values)
    if node.attr not in _METHODS.get(type(owner), _NOTHING):
        raise AttributeError(f"{type(owner).__name__} has no attribute {node.attr} here")
    if node.attr in _GROWING:
        return partial(_GROWING[node.attr], owner)
    found = getattr(owner, node.attr)
    return hashing(found) if isinstance(owner, set) else found


def _call(node: Any, values: Mapping[str, Any]) -> Any:
    function = _bounded(evaluate(node.func, values))
    if not callable(function):
        raise NotPlain(f"a call of {ast.unparse(node.func)}")
    if any(keyword.arg is None for keyword in node.keywords):
        raise NotPlain("**")
    if function is bool and len(node.args) == 1 and not node.keywords:
        return is_true(node.args[0], values)
    arguments = [evaluate(argument, values) for argument in node.args]
    if function is map:
        arguments[:1] = map(_bounded, arguments[:1])
    keywords = {keyword.arg: evaluate(keyword.value, values) for keyword in node.keywords}
    if "key" in keywords:
        keywords["key"] = _bounded(keywords["key"])
    return function(*arguments, **keywords)


def _bounded(function: Any) -> Any:
    return _BOUNDED.get(function, function) if isinstance(function, type) else function


def _subscript(node: Any, values: Mapping[str, Any]) -> Any:
    return evaluate(node.value, values)[evaluate(node.slice, values)]


def _slice(node: Any, values: Mapping[str, Any]) -> slice:
    return slice(*(None if part is None else evaluate(part, values) for part in (node.lower, node.upper, node.step)))


def _dict(node: Any, values: Mapping[str, Any]) -> dict[Any, Any]:
    if None in node.keys:
        raise NotPlain("**")
    return {evaluate(k, values): evaluate(v, values) for k, v in zip(node.keys, node.values, strict=True)}


_PASSING_ON = (ast.Name, ast.BoolOp, ast.IfExp)  # what gives a value as it is
_RULES: dict[type[ast.AST], Callable[[Any, Mapping[str, Any]], Any]] = {
    ast.Constant: lambda node, values: node.value,
    ast.Name: _name,
    ast.List: lambda node, values: [evaluate(item, values) for item in node.elts],
    ast.Tuple: lambda node, values: tuple(evaluate(item, values) for item in node.elts),
    ast.Set: lambda node, values: _BOUNDED[set]([evaluate(item, values) for item in node.elts]),
    ast.Dict: _dict,
    ast.UnaryOp: _unary,
    ast.BinOp: _binary,
    ast.BoolOp: _bool_op,
    ast.Compare: _compare,
    ast.IfExp: lambda node, values: _or_opaque(node.body if is_true(node.test, values) else node.orelse, values),
    ast.Attribute: _attribute,
    ast.Call: _call,
    ast.Subscript: _subscript,
    ast.Slice: _slice,
}
