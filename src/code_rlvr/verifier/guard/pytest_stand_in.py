"""As much of pytest as assertions about programs use, in a checker where pytest is not installed.

Covered: `raises`, `approx`, `fail`, `mark.parametrize`.  Not covered: fixtures, plugins; other marks do nothing.
"""

from __future__ import annotations

import numbers
import re
import sys
import types
from collections import deque

from .raised import HungUp, Unsupported
from .remote import Remote

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
            same = isinstance(got, dict) and got.keys() == want.keys()
            return same and all(self._close(got[key], want[key]) for key in want)
        if _is_array(got) and isinstance(want, numbers.Number):  # each item is to be close
            return got.size > 0 and all(self._close(item, want) for item in got.ravel().tolist())
        if _is_array(got) or _is_array(want):
            return _shape(got) == _shape(want) and self._all_close(_plain(got), _plain(want))
        if isinstance(want, _SEQUENCES):
            return isinstance(got, _SEQUENCES) and self._all_close(got, want)
        return self._close_number(got, want)

    def _all_close(self, got: Any, want: Any) -> bool:
        if not isinstance(want, _SEQUENCES):  # an array without dimensions
            return self._close_number(got, want)
        got, want = [*got], [*want]
        return len(got) == len(want) and all(self._close(*pair) for pair in zip(got, want))  # noqa: B905  equally long

    def _close_number(self, got: Any, want: Any) -> bool:
        if got == want:
            return True
        if isinstance(want, bool) or got is True or not all(isinstance(side, numbers.Number) for side in (got, want)):
            return False
        if want != want:
            return self._nan_ok and isinstance(want, float) and isinstance(got, float) and got != got
        relative = self._rel if self._rel is not None else 1e-6 if self._abs is None else 0.0
        tolerance = max(1e-12 if self._abs is None else self._abs, relative * abs(want))
        return bool(abs(want) != float("inf") and abs(got - want) <= tolerance)


# What may be close to something.  Nothing else is asked how long it is or what is in it: it may be the solution's.
_SEQUENCES = (list, tuple, deque, range)


def _is_array(value: Any) -> bool:
    return "numpy" in sys.modules and isinstance(value, sys.modules["numpy"].ndarray)


def _plain(value: Any) -> Any:
    return value.tolist() if _is_array(value) else value


def _shape(value: Any) -> tuple[int, ...]:
    """That of an array; of a list, what it would be as an array if its items are alike."""
    if _is_array(value):
        return tuple(value.shape)
    if not isinstance(value, _SEQUENCES):
        return ()
    return (len(value), *_shape(value[0])) if value else (0,)


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
