"""The checker's side of a dialogue: makes the calls of the solution.

Covered: calls, exceptions that the solution raised, arguments changed in place, functions called back.
Not covered: objects of the solution (`remote`), recording what assertions say (`recorder`).  Standard library only.
"""

from __future__ import annotations

import builtins
import sys
import types
from _thread import RLock, allocate_lock
from collections import deque

from .array import numpy_array
from .decoding import Decoder
from .frames import CALL, MAX_FRAME_BYTES, REPORT, describe_exception, receive, send
from .raised import HungUp, Unsupported, make_exception, plain_text, relayed
from .remote import Computing, Kept, Remote, items_of
from .values import Encoder, encode

TYPE_CHECKING = False  # importing typing costs 8 ms
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any


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
        self._silent = False  # what asks the solution now gets an error
        self.failed_in_callback: Callable[[AssertionError], None] = lambda error: None
        self._answered = False
        self._calling = RLock()  # the tests may have threads
        self._writing = allocate_lock()

    def stub(self, path: str) -> Remote:
        """What stands for a global of the solution."""
        return self._remotes.setdefault(path, Remote(self, "name", path))

    def report(self, *parts: Any) -> None:
        """Tell the judge something."""
        self._write(REPORT + encode([*parts]).encode("ascii"))

    def _write(self, frame: bytes) -> None:
        try:
            with self._writing:
                send(self._fd, frame)
        except OSError:
            raise HungUp from None

    def operate(self, name: str, *operands: Any) -> Any:
        """Apply an operator where the solution is."""
        return self.call("operator", name, operands, {})

    def call(self, kind: str, name: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Make a call where the solution is; raises what it raised."""
        with self._calling:
            if self._silent:
                raise TypeError("the solution is not asked what an exception says")
            try:
                return self._call(kind, name, args, kwargs)
            except StopIteration as error:
                if name == "next" or not hasattr(error, "relayed") or self._is_named("StopIteration"):
                    raise
        # It would end an iterator of the tests, such as map(f, …), as if all were said.
        raise relayed(RuntimeError("the solution raised StopIteration"))

    def quietly(self, function: Callable[[BaseException], Any], error: BaseException) -> Any:
        """What a function says of an exception, while no object of the solution in it is asked anything."""
        with self._calling:
            before, self._silent = self._silent, True
            try:
                return function(error)
            finally:
                self._silent = before

    def _is_named(self, name: str) -> bool:
        """Whether the source of the tests that is running at the moment says a name."""
        frame = sys._getframe(1)
        while frame is not None:
            if frame.f_globals is self.namespace and name in frame.f_code.co_names:
                return True
            frame = frame.f_back  # type: ignore[assignment]
        return False

    def _call(self, kind: str, name: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        self.called = True
        encoder = CallEncoder(self)
        stdin = None if sys.stdin is self._streams[0] else sys.stdin
        feed = None if stdin is None else stdin.read()
        self._send(encoder, [kind, name, args, kwargs, feed, sys.stdout is not self._streams[1]])
        while True:
            reply = receive(self._fd)
            if reply is None:
                raise HungUp
            self._answered = True
            try:
                outcome, body, changed, printed, unread = ReplyDecoder(self, encoder.containers).value(reply)
                _update(encoder.containers, changed)
                if outcome == "callback":
                    number, arguments, keywords = body
                    function, arguments, keywords = self.functions[number], tuple(arguments), dict(keywords)
                elif outcome == "raised":
                    raised = make_exception(self.exceptions, self.namespace, *body)
                if isinstance(printed, str):
                    sys.stdout.write(printed)
                if stdin is not None and isinstance(unread, str):
                    stdin.seek(max(0, stdin.tell() - len(unread)))
            except (HungUp, Unsupported):
                raise
            except BaseException as error:  # noqa: BLE001  whatever it is, the solution brought it about
                outcome, raised = "raised", RuntimeError(f"the program's answer cannot be read: {plain_text(error)}")
                relayed(raised)
            if outcome == "callback":
                self._call_back(function, arguments, keywords)
                continue
            if outcome == "raised":
                raise raised
            return body

    def _call_back(self, function: Callable[..., Any], args: Any, kwargs: Any) -> None:
        try:
            answer = ["returned", function(*args, **kwargs)]
        except (HungUp, Unsupported):
            raise
        except BaseException as error:  # noqa: BLE001  the solution may want to catch it
            if isinstance(error, AssertionError) and not hasattr(error, "relayed"):
                self.failed_in_callback(error)  # and may not be the one to decide whether it counts
            answer = ["threw", self.quietly(describe_exception, error)]
        self._send(CallEncoder(self), answer)

    def _send(self, encoder: CallEncoder, request: list[Any]) -> None:
        try:
            frame = CALL + encoder.text(request).encode("ascii")
            if len(frame) > MAX_FRAME_BYTES:
                raise ValueError(f"values of {len(frame)} bytes are too long to cross")
        except (TypeError, ValueError, RecursionError, MemoryError) as error:
            if hasattr(error, "relayed"):  # out of an iterator among the arguments
                raise
            message = f"an argument cannot reach the program: {plain_text(error)}"
            if self._answered:  # then the tests may have it from there
                raise relayed(RuntimeError(message)) from None
            self.report("unsupported", message)
            raise Unsupported(message) from None
        self._write(frame)

    def remote(self, handle: Any, type_name: Any, iterator: Any) -> Any:
        """What stands for an object of the solution; for an unfinished iterator, a generator."""
        if type(handle) is not int or not isinstance(type_name, str) or not type_name.isidentifier():
            raise ValueError("not a reference")
        if handle not in self._remotes:
            named = type_name[:1].isupper() and type_name in self._remotes
            kind = self._classes.setdefault(type_name, type(type_name, (Computing if named else Remote,), {}))
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


# An instance of a class that the tests derive from one of these is more than what would arrive: it has names, methods.
_CROSS_AS_BASE = (str, int, float, complex, tuple, list, dict, set, frozenset, deque, bytes, bytearray)


def _base(value: Any) -> str:
    return next(kind.__name__ for kind in _CROSS_AS_BASE if isinstance(value, kind))


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
            if type(value).__module__ == "__main__" and isinstance(value, _CROSS_AS_BASE):
                raise TypeError(f"{type(value).__name__} is the tests' own, and would arrive as a plain {_base(value)}")
            return None
        _, kind, key = remote.remote_
        return f'{{"{kind}": {encode(key)}}}'

    def other(self, value: Any, depth: int) -> str:
        if isinstance(value, types.FunctionType):
            value = value.__dict__.get("watches", value)
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

    def whole(self, node: Any) -> Any:
        if isinstance(node, list) and node[:1] == ["raised"]:  # an exception is plain data: no object can answer for it
            return ["raised", *map(Decoder().build, node[1:2]), *map(self.build, node[2:])]
        return super().whole(node)

    def resolve(self, tag: str, body: Any) -> Any:
        if tag == "object":
            return self._caller.remote(*body)
        if tag == "kept":
            return self._caller.kept(*map(self.build, body))
        if tag == "arg" and type(body) is int and 0 <= body < len(self._containers):
            return self._containers[body]
        return super().resolve(tag, body)
