"""As much of pytest as assertions about programs use, in a checker where pytest is not installed.

Covered: `raises`, `approx`, `fail`, `mark.parametrize`.  Not covered: fixtures, plugins; other marks do nothing.
"""

from __future__ import annotations

import re
import types

from .remote import Remote
from .stubs import HungUp, Unsupported

TYPE_CHECKING = False  # importing typing costs 8 ms
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class _Raises:
    """A context in which an exception is expected; afterwards, what is known of it."""

    value: Any = None
    type: Any = None

    def __init__(self, expected: Any, match: str | None) -> None:
        self._expected = expected if isinstance(expected, tuple) else (expected,)
        self._match = match

    def __enter__(self) -> _Raises:
        return self

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> bool:
        if error is None:
            raise AssertionError(f"did not raise {', '.join(map(_name, self._expected))}")
        if isinstance(error, (HungUp, Unsupported)) or not any(_is(error, expected) for expected in self._expected):
            return False
        self.value, self.type = error, type(error)
        if self._match is not None and not re.search(self._match, str(error)):
            raise AssertionError(f"raised {error!r}, which does not match {self._match!r}")
        return True

    def match(self, pattern: str) -> bool:
        """Whether the message matches; raises AssertionError if not."""
        if not re.search(pattern, str(self.value)):
            raise AssertionError(f"raised {self.value!r}, which does not match {pattern!r}")
        return True


def _name(expected: Any) -> str:
    return str(getattr(expected, "__name__", expected))


def _is(error: BaseException, expected: Any) -> bool:
    if isinstance(expected, Remote):
        return _name(expected) in [kind.__name__ for kind in type(error).__mro__]
    return isinstance(error, expected)


def raises(expected: Any, function: Any = None, *args: Any, match: str | None = None, **kwargs: Any) -> _Raises:
    """A context in which an exception is expected, or such a call of a function."""
    context = _Raises(expected, match)
    if function is not None:
        with context:
            function(*args, **kwargs)
    return context


def fail(reason: str = "", pytrace: bool = True, msg: str = "") -> None:
    """Fail the test."""
    raise AssertionError(reason or msg)


class approx:  # noqa: N801  pytest's name
    """A number, or a collection of such, to which what is close is equal."""

    __array_ufunc__ = None  # an array asks this object, and does not compare item by item
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, expected: Any, rel: float | None = None, abs: float | None = None, nan_ok: bool = False) -> None:
        self._expected = expected
        self._rel = rel
        self._abs = abs
        self._nan_ok = nan_ok

    def __eq__(self, actual: object) -> bool:
        return self._close(actual, self._expected)

    def __repr__(self) -> str:
        return f"approx({self._expected!r})"

    def _close(self, got: Any, want: Any) -> bool:
        if isinstance(want, dict):
            return (
                isinstance(got, dict) and got.keys() == want.keys() and all(self._close(got[k], want[k]) for k in want)
            )
        if hasattr(want, "__len__") and not isinstance(want, (str, bytes)):
            same = hasattr(got, "__len__") and not isinstance(got, (str, bytes, dict, set)) and len(got) == len(want)
            return same and all(self._close(*pair) for pair in zip(got, want))  # noqa: B905  equally long
        if got == want:
            return True
        if isinstance(want, bool) or not hasattr(want, "__abs__") or not hasattr(got, "__abs__") or got is True:
            return False
        if want != want:
            return self._nan_ok and bool(got != got)
        relative = self._rel if self._rel is not None else 1e-6 if self._abs is None else 0.0
        tolerance = max(1e-12 if self._abs is None else self._abs, relative * abs(want))
        return bool(abs(want) != float("inf") and abs(got - want) <= tolerance)


class _Mark:
    def __getattr__(self, name: str) -> Any:
        return lambda *args, **kwargs: args[0] if len(args) == 1 and callable(args[0]) else lambda function: function

    def parametrize(self, names: Any, rows: Any, **_: Any) -> Callable[[Any], Any]:
        """Call the test once for each row."""
        names = [name.strip() for name in names.split(",")] if isinstance(names, str) else [*names]

        def decorate(function: Any) -> Any:
            def run(*args: Any, **kwargs: Any) -> None:
                for row in rows:
                    values = getattr(row, "values_", row) if len(names) > 1 or hasattr(row, "values_") else (row,)
                    function(*args, **kwargs, **dict(zip(names, values)))  # noqa: B905  as the test says

            run.__name__ = function.__name__
            return run

        return decorate


class _Row:
    def __init__(self, *values: Any, **_: Any) -> None:
        self.values_ = values


module = types.ModuleType("pytest")
module.__dict__.update(raises=raises, approx=approx, fail=fail, mark=_Mark(), param=_Row)
