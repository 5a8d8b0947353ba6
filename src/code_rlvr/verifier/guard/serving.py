"""The solution's side of a dialogue: answers a checker's calls.

Covered: calls, operators, references to objects, arguments changed in place, iterators taken a few items at a time,
standard input and output that the checker has redirected, functions of the tests that are called back.
Not covered: frames (`frames`).  Standard library only.
"""

from __future__ import annotations

import builtins
import copy
import io
import operator
import os
import sys

from .array import numpy_array
from .decoding import Decoder
from .frames import MAX_FRAME_BYTES, describe_exception, find_function, receive, send
from .values import Encoder, encode

TYPE_CHECKING = False  # importing typing costs 8 ms
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_PLAIN_HOMES = ("builtins", "collections", "datetime", "decimal", "fractions", "numpy")
_ITERATOR_HOMES = ("builtins", "itertools")
_BINARY = (
    "add sub mul matmul truediv floordiv mod pow and_ or_ xor lshift rshift eq ne lt le gt ge contains getitem delitem"
)
OPERATORS: dict[str, Callable[..., Any]] = {
    **{name: getattr(operator, name) for name in [*_BINARY.split(), "setitem", "neg", "pos", "invert", "index"]},
    **{
        kind.__name__: kind
        for kind in (getattr, setattr, delattr, len, iter, next, str, repr, bool, hash, abs, int, float, round)
    },
    **{kind.__name__: kind for kind in (reversed, isinstance, issubclass, format, divmod)},
    "enter": lambda manager: type(manager).__enter__(manager),
    "exit": lambda manager: type(manager).__exit__(manager, None, None, None),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
}


class Server:
    """The solution's namespace, and the objects of it that the checker knows.

    Args:
        fd: The solution's end of the socket.
        namespace: The globals that the solution's source left.
    """

    def __init__(self, fd: int, namespace: dict[str, Any]) -> None:
        self._fd = fd
        self.namespace = namespace
        self.objects: list[Any] = []
        self.handles: dict[int, int] = {}  # by id; `objects` keeps them alive
        self._late: dict[int, BaseException] = {}  # what an iterator raised after items that were sent

    def answer(self, frame: bytes) -> bytes:
        """The frame that answers one of the checker's."""
        decoder = _RequestDecoder(self)
        kind, name, args, kwargs, feed, capture = decoder.value(frame[1:])
        encoder = _AnswerEncoder(self, decoder.containers)
        before = encoder.all_contents()
        streams = sys.stdin, sys.stdout
        sys.stdin = streams[0] if feed is None else io.StringIO(feed)
        printed = io.StringIO()
        sys.stdout = printed if capture else streams[1]
        try:
            outcome, body = "value", self._result(encoder, kind, name, args, kwargs)
            after = encoder.all_contents()
        except BaseException as error:  # noqa: BLE001  whatever a solution raises is its answer
            outcome, body = "raised", encode(describe_exception(error))
            after = _contents_or_none(encoder) or before
        unread = None if feed is None else sys.stdin.read()
        sys.stdin, sys.stdout = streams
        changed = [f"[{i}, {new}]" for i, (old, new) in enumerate(zip(before, after)) if new != old]  # noqa: B905
        shown = printed.getvalue() if capture else None
        reply = f'["{outcome}", {body}, [{", ".join(changed)}], {encode(shown)}, {encode(unread)}]'
        if len(reply) > MAX_FRAME_BYTES:
            too_long = ValueError(f"the answer of {len(reply)} bytes is too long to leave the sandbox")
            reply = f'["raised", {encode(describe_exception(too_long))}, [], null, null]'
        return reply.encode("ascii")

    def _result(self, encoder: _AnswerEncoder, kind: str, name: Any, args: Any, kwargs: Any) -> str:
        if kind == "operator" and name == "take":
            return self._take(encoder, *args)
        function = self.find(kind, name)
        result = function(*args, **kwargs)
        made = isinstance(function, type) and type(result).__module__ not in _PLAIN_HOMES
        return encoder.reference(result) if made and not isinstance(result, _KEPT) else encoder.text(result)

    def find(self, kind: str, name: Any) -> Any:
        """What a request names."""
        if kind == "operator":
            return OPERATORS[name]
        return self.objects[name] if kind == "object" else find_function(self.namespace, name)

    def _take(self, encoder: _AnswerEncoder, iterator: Any, count: int) -> str:
        """The next items as text, each as it is when it comes, and whether these were the last."""
        if id(iterator) in self._late:
            raise self._late.pop(id(iterator))
        items: list[str] = []
        try:
            while len(items) < count:
                items.append(encoder.text(next(iterator)))
        except StopIteration:
            return f"[[{', '.join(items)}], true]"
        except BaseException as error:  # whatever a solution raises is its answer
            if not items:
                raise
            self._late[id(iterator)] = error
        return f"[[{', '.join(items)}], false]"

    def call_back(self, number: int, args: Any, kwargs: Any) -> Any:
        """Call a function of the tests, and meanwhile answer what that calls."""
        body = _AnswerEncoder(self, []).text([number, args, kwargs])
        send(self._fd, f'["callback", {body}, [], null, null]'.encode("ascii"))
        while True:
            frame = receive(self._fd)
            if frame is None:
                os._exit(1)
            if frame[1:11] == b'["returned':
                return _RequestDecoder(self).value(frame[1:])[1]
            if frame[1:8] == b'["threw':
                names, arguments, *_ = _RequestDecoder(self).value(frame[1:])[1]
                raise getattr(builtins, next(name for name in names if hasattr(builtins, name)))(*arguments)
            send(self._fd, self.answer(frame))


def _contents_or_none(encoder: _AnswerEncoder) -> list[str] | None:
    try:
        return encoder.all_contents()
    except Exception:  # noqa: BLE001  what a solution left in its arguments cannot be read
        return None


# An instance of a subclass of these crosses as its base, and as a reference too: an Enum of texts, a namedtuple.
_BARE: dict[type, Callable[[Any], Any]] = {
    str: str.__str__,
    int: int.__int__,
    float: float.__float__,
    tuple: lambda value: tuple(tuple.__iter__(value)),
}
_KEPT = tuple(_BARE)


class _AnswerEncoder(Encoder):
    def __init__(self, server: Server, containers: list[Any]) -> None:
        self._server = server
        self._containers = containers
        self._numbers = {id(container): i for i, container in enumerate(containers)}
        self._opened: Any = None

    def all_contents(self) -> list[str]:
        """What each container in the arguments holds, other ones in it by number."""
        return [self._contents(container) for container in self._containers]

    def _contents(self, container: Any) -> str:
        self._opened = container
        return self.text(container)

    def reference(self, value: Any) -> str:
        """A reference to an object that stays here."""
        handle = self._server.handles.setdefault(id(value), len(self._server.objects))
        if handle == len(self._server.objects):
            self._server.objects.append(value)
        kind = type(value)
        iterator = hasattr(kind, "__next__") and kind.__module__ in _ITERATOR_HOMES
        return f'{{"object": [{handle}, {encode(kind.__name__)}, {encode(iterator)}]}}'

    def refer(self, value: Any) -> str | None:
        if value is self._opened:
            self._opened = None
            return None
        if id(value) in self._numbers:
            return f'{{"arg": {self._numbers[id(value)]}}}'
        kind = type(value)
        if isinstance(value, _KEPT) and kind.__module__ not in _PLAIN_HOMES:
            plain: Any = next(bare(value) for base, bare in _BARE.items() if isinstance(value, base))
            return f'{{"kept": [{self.reference(value)}, {self.text(plain)}]}}'
        return None

    def other(self, value: Any, depth: int) -> str:
        if hasattr(type(value), "__next__"):
            return self.reference(value)
        try:
            return super().other(value, depth)
        except TypeError:
            return self.reference(value)


class _RequestDecoder(Decoder):
    def __init__(self, server: Server) -> None:
        self._server = server
        self.containers: list[Any] = []

    def made(self, value: Any) -> None:
        self.containers.append(value)

    def array(self, dtype: str, shape: list[int], items: list[Any]) -> Any:
        return numpy_array(dtype, shape, items)

    def resolve(self, tag: str, body: Any) -> Any:
        if tag == "callback":
            number = int(body)
            return lambda *args, **kwargs: self._server.call_back(number, args, kwargs)
        if tag == "arg":
            return self.containers[body]
        return getattr(builtins, body) if tag == "builtin" else self._server.find(tag, body)
