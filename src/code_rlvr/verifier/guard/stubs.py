"""The checker's side of a dialogue: makes the calls of the solution.

Covered: calls, exceptions that the solution raised, arguments changed in place, functions called back.
Not covered: objects of the solution (`remote`), recording what assertions say (`recorder`).  Standard library only.
"""

from __future__ import annotations

import builtins
import sys
import types
from collections import deque

from .array import numpy_array
from .decoding import Decoder
from .frames import CALL, REPORT, describe_exception, receive, send
from .remote import Kept, Remote, items_of
from .values import Encoder, encode

TYPE_CHECKING = False  # importing typing costs 8 ms
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any


class HungUp(BaseException):
    """The solution's process ended, or the judge ended the run; nothing that a test may catch."""


class Unsupported(BaseException):
    """The tests do what a checker cannot; it is reported, and the checker ends.  Nothing that a test may catch."""


class Caller:
    """The checker's end of the dialogue.

    Args:
        fd: Its descriptor.
        exceptions: Names of exception classes of the solution.
    """

    def __init__(self, fd: int, exceptions: Iterable[str]) -> None:
        self._fd = fd
        self._streams = sys.stdin, sys.stdout
        self._remotes: dict[Any, Remote] = {}
        self._classes: dict[str, Any] = {}
        self._generators: dict[int, Any] = {}  # by handle
        self.remote_of: dict[int, Remote] = {}  # by id of a generator
        self.functions: list[Callable[..., Any]] = []
        self.exceptions = {name: type(name, (Exception,), {}) for name in exceptions}
        self.namespace: dict[str, Any] = {}
        self.called = False

    def stub(self, path: str) -> Remote:
        """What stands for a global of the solution."""
        return self._remotes.setdefault(path, Remote(self, "name", path))

    def report(self, *parts: Any) -> None:
        """Tell the judge something."""
        try:
            send(self._fd, REPORT + encode([*parts]).encode("ascii"))
        except OSError:
            raise HungUp from None

    def operate(self, name: str, *operands: Any) -> Any:
        """Apply an operator where the solution is."""
        return self.call("operator", name, operands, {})

    def call(self, kind: str, name: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Make a call where the solution is; raises what it raised."""
        self.called = True
        encoder = CallEncoder(self)
        stdin = None if sys.stdin is self._streams[0] else sys.stdin
        feed = None if stdin is None else stdin.read()
        self._send(encoder, [kind, name, args, kwargs, feed, sys.stdout is not self._streams[1]])
        while True:
            reply = receive(self._fd)
            if reply is None:
                raise HungUp
            try:
                outcome, body, changed, printed, unread = ReplyDecoder(self, encoder.containers).value(reply)
                _update(encoder.containers, changed)
                if outcome == "callback":
                    number, arguments, keywords = body
                    function, arguments, keywords = self.functions[number], tuple(arguments), dict(keywords)
                elif outcome == "raised":
                    raised = self._exception(*body)
                if isinstance(printed, str):
                    sys.stdout.write(printed)
                if stdin is not None and isinstance(unread, str):
                    stdin.seek(max(0, stdin.tell() - len(unread)))
            except (ValueError, TypeError, IndexError, AttributeError) as error:
                outcome, raised = "raised", RuntimeError(f"the program's answer cannot be read: {error}")
            if outcome == "callback":
                self._call_back(function, arguments, keywords)
                continue
            if outcome == "raised":
                raised.relayed = True  # type: ignore[attr-defined]
                raise raised
            return body

    def _call_back(self, function: Callable[..., Any], args: Any, kwargs: Any) -> None:
        try:
            answer = ["returned", function(*args, **kwargs)]
        except (HungUp, Unsupported):
            raise
        except BaseException as error:  # noqa: BLE001  the solution may want to catch it
            answer = ["threw", describe_exception(error)]
        self._send(CallEncoder(self), answer)

    def _send(self, encoder: CallEncoder, request: list[Any]) -> None:
        try:
            send(self._fd, CALL + encoder.text(request).encode("ascii"))
        except (TypeError, ValueError) as error:
            self.report("unsupported", f"an argument cannot reach the program: {error}")
            raise Unsupported(str(error)) from None
        except OSError:
            raise HungUp from None

    def _exception(self, names: Any, args: Any, message: Any, attributes: Any) -> BaseException:
        known: list[type[BaseException]] = []
        for name in filter(str.isidentifier, names):
            kind = self.exceptions.get(name) or self.namespace.get(name) or getattr(builtins, name, None)
            if (
                isinstance(kind, type)
                and issubclass(kind, BaseException)
                and not any(issubclass(k, kind) for k in known)
            ):
                known.append(kind)
        kind = known[0] if known and known[0].__name__ == names[0] else None
        if kind is None or len(known) > 1:
            kind = _derived(str(names[0]), known)
        try:
            error = kind(*args) if kind.__module__ == "builtins" else kind.__new__(kind)
        except Exception:  # noqa: BLE001  a built-in one that wants other arguments
            error = kind.__new__(kind)
        error.args = tuple(args)
        if str(error) != message:
            error = _derived(kind.__name__, [kind], __str__=lambda _: str(message))(*args)
        for name, value in attributes.items():
            if not name.startswith("__"):
                setattr(error, name, value)
        return error

    def remote(self, handle: Any, type_name: Any, iterator: Any) -> Any:
        """What stands for an object of the solution; for an unfinished iterator, a generator."""
        if type(handle) is not int or not isinstance(type_name, str) or not type_name.isidentifier():
            raise ValueError("not a reference")
        if handle not in self._remotes:
            kind = self._classes.setdefault(type_name, type(type_name, (Remote,), {}))
            self._remotes[handle] = kind(self, "object", handle)
        remote = self._remotes[handle]
        if not iterator:
            return remote
        if handle not in self._generators:
            self._generators[handle] = items_of(remote)
            self.remote_of[id(self._generators[handle])] = remote
        return self._generators[handle]

    def kept(self, remote: Any, value: Any) -> Any:
        """A value that is also an object of the solution: a namedtuple, an Enum of texts."""
        base = type(value)
        if not isinstance(remote, Remote) or base not in (str, int, float, tuple):
            raise ValueError("not a kept value")
        kept: Any = type(type(remote).__name__, (Kept, base), {})(value)
        kept.remote_ = remote
        return kept


def _derived(name: str, bases: list[Any], **members: Any) -> Any:
    try:
        return type(name, tuple(bases) or (Exception,), members)
    except TypeError:  # bases that do not go together
        return type(name, (bases[0],), members)


def _update(containers: list[Any], changed: Any) -> None:
    """Give containers their new contents, in place."""
    for number, new in changed:
        old = containers[number]
        if isinstance(old, (list, bytearray)) and isinstance(new, (list, bytearray)):
            old[:] = new
        elif isinstance(old, (dict, set)) and isinstance(new, type(old) if isinstance(old, set) else dict):
            old.clear()
            old.update(new)
        elif isinstance(old, deque) and isinstance(new, deque):
            old.clear()
            old.extend(new)
        else:
            raise ValueError("an argument became something else")


class CallEncoder(Encoder):
    """Arguments as text, references in them to what belongs to the solution; numbers their containers."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller
        self._numbers: dict[int, int] = {}
        self.containers: list[Any] = []

    def made(self, value: Any) -> None:
        self._numbers[id(value)] = len(self.containers)
        self.containers.append(value)

    def refer(self, value: Any) -> str | None:
        if id(value) in self._numbers:
            return f'{{"arg": {self._numbers[id(value)]}}}'
        remote = value.remote_ if isinstance(value, Kept) else self._caller.remote_of.get(id(value), value)
        if not isinstance(remote, Remote):
            return None
        _, kind, key = remote.remote_
        return f'{{"{kind}": {encode(key)}}}'

    def other(self, value: Any, depth: int) -> str:
        name = getattr(value, "__name__", None)
        if isinstance(value, (type, types.BuiltinFunctionType)) and getattr(builtins, str(name), None) is value:
            return f'{{"builtin": {encode(name)}}}'
        if callable(value) and not isinstance(value, type) and not hasattr(type(value), "__next__"):
            self._caller.functions.append(value)
            return f'{{"callback": {len(self._caller.functions) - 1}}}'
        return super().other(value, depth)


class ReplyDecoder(Decoder):
    """An answer of the solution: plain data, and references."""

    def __init__(self, caller: Caller, containers: list[Any]) -> None:
        self._caller = caller
        self._containers = containers

    def array(self, dtype: str, shape: list[int], items: list[Any]) -> Any:
        return numpy_array(dtype, shape, items)

    def resolve(self, tag: str, body: Any) -> Any:
        if tag == "object":
            return self._caller.remote(*body)
        if tag == "kept":
            return self._caller.kept(*map(self.build, body))
        if tag == "arg" and type(body) is int and 0 <= body < len(self._containers):
            return self._containers[body]
        return super().resolve(tag, body)
