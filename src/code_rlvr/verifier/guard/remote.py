"""What stands for an object of the solution in a checker.

What a `Remote` is asked goes to the solution, with one exception: it never learns what it is compared or computed
with, unless that is an object of its own.  An object whose `__eq__`, `__contains__` or `__sub__` would please any
test equals no plain value, contains what it yields, and subtracts nothing.

An object of a class that the tests name may be told plain data to compute with, since `V(1, 2) * 2` has no answer
without; and what it may contain, if it yields nothing.  It is not compared with such, nor told to subtract it: that
is how tests ask whether something is close to what they expect.

Covered: calls, attributes, operators, iteration.  Not covered: how a call is made (`stubs`).  Standard library only.
"""

from __future__ import annotations

import types

TYPE_CHECKING = False  # importing typing costs 8 ms
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from .stubs import Caller

MAX_CHUNK = 1024  # items of an iterator that are asked for at once, at last


class Remote:
    """Stands for something of the solution: a global by name, or an object by number."""

    def __init__(self, caller: Caller, kind: str, key: Any) -> None:
        object.__setattr__(self, "remote_", (caller, kind, key))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        caller, kind, key = self.remote_
        return caller.call(kind, key, args, kwargs)

    def __getattr__(self, name: str) -> Any:
        if name == "__name__" and self.remote_[1] == "name":
            return self.remote_[2].rpartition(".")[2]
        if name.startswith("__") and name.endswith("__") and name not in ("__name__", "__qualname__"):
            raise AttributeError(name)
        return self.remote_[0].operate("getattr", self, name)

    def __contains__(self, item: Any) -> bool:
        if isinstance(item, Remote):
            return bool(self.remote_[0].operate("contains", self, item))
        try:
            items = iter(self)
        except TypeError:
            if not isinstance(self, Computing):
                raise
            return bool(self.remote_[0].operate("contains", self, item))
        return any(item is mine or item == mine for mine in items)

    def __instancecheck__(self, value: Any) -> bool:
        return hasattr(type(value), "remote_") and bool(self.remote_[0].operate("isinstance", value, self))

    def __subclasscheck__(self, kind: Any) -> bool:
        return isinstance(kind, Remote) and bool(self.remote_[0].operate("issubclass", kind, self))

    def __exit__(self, *_: object) -> None:
        self.remote_[0].operate("exit", self)

    def __deepcopy__(self, memo: object) -> Any:
        return self.remote_[0].operate("deepcopy", self)

    remote_: Any = None


def _forward(name: str) -> Any:
    return lambda self, *operands: self.remote_[0].operate(name, self, *operands)


def _between_objects(name: str) -> Any:
    def method(self: Any, other: Any) -> Any:
        return self.remote_[0].operate(name, self, other) if isinstance(other, Remote) else NotImplemented

    return method


class Computing(Remote):
    """Stands for an object of a class that the tests name."""


def _with_plain_data(name: str, reflected: bool) -> Any:
    def method(self: Any, other: Any) -> Any:
        if not isinstance(other, Remote) and type(other).__module__ not in _PLAIN_HOMES:
            return NotImplemented
        return self.remote_[0].operate(name, *((other, self) if reflected else (self, other)))

    return method


_PLAIN_HOMES = ("builtins", "collections", "datetime", "decimal", "fractions")
for _name in (
    "setattr", "delattr", "len", "iter", "next", "str", "repr", "bool", "hash", "abs", "int", "float", "round",
    "index", "neg", "pos", "invert", "getitem", "setitem", "delitem", "enter", "reversed", "copy", "format",
):  # fmt: skip
    setattr(Remote, f"__{_name}__", _forward(_name))
for _name in (
    "eq", "ne", "lt", "le", "gt", "ge", "add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "pow",
    "and_", "or_", "xor", "lshift", "rshift",
):  # fmt: skip
    setattr(Remote, f"__{_name.rstrip('_')}__", _between_objects(_name))

for _name in (
    "add", "mul", "matmul", "truediv", "floordiv", "mod", "divmod", "pow", "and_", "or_", "xor", "lshift", "rshift",
):  # fmt: skip
    setattr(Computing, f"__{_name.rstrip('_')}__", _with_plain_data(_name, reflected=False))
    setattr(Computing, f"__r{_name.rstrip('_')}__", _with_plain_data(_name, reflected=True))


class Kept:
    """Mixed into a plain type: a value that is also an object of the solution, e.g. a namedtuple."""

    remote_: Any = None

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.remote_, name)


class SolutionModule(types.ModuleType):
    """What `import solution` gives."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self.__dict__["caller_"].stub(name)


def items_of(remote: Remote) -> Iterator[Any]:
    """The items of an iterator of the solution, asked for in growing chunks, so that an endless one is no problem."""
    count, ended = 1, False
    while not ended:
        items, ended = remote.remote_[0].operate("take", remote, count)
        yield from items
        count = min(2 * count, MAX_CHUNK)
