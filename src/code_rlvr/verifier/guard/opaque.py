"""What a call returned, as text: a value (`values`), or as little as can be said of one that cannot leave the sandbox.

`assert re.match("a", x)` needs no match object in the judge, but only whether there is one.  Of a value that cannot
cross, e.g. an object, a module, a list of functions, these arrive, as `{"opaque": [why, truth, unlike_none]}`:

| part | what it is |
|---|---|
| why | the reason why it cannot cross, cut to `MAX_WHY` characters |
| truth | the program's own `bool(value)`, asked for once, where the program runs; null if that raised |
| unlike_none | whether its type's `==` is one of Python's own for which nothing equals None but None itself |

It is none of None, True and False, which would have crossed.  All that an `Opaque` may be used for, 2 or 0 may be used
for as well, with the same result; so a program that forges one could as well have returned these.

Covered: a whole answer to a call.  Not covered: opaque values in others, which do not exist: what holds a value that
cannot cross cannot cross itself; objects of which a checker asks more (`serving`).
"""

from __future__ import annotations

from .decoding import Decoder, require_buildable
from .values import encode

TYPE_CHECKING = False  # importing typing costs 8 ms
if TYPE_CHECKING:
    from typing import Any

MAX_WHY = 300
_TAG = "opaque"
_OWN_EQUALITIES: tuple[type, ...] = (object, list, tuple, dict, set, frozenset)


class OutOfReach(Exception):  # noqa: N818  says where the value is
    """More is asked of an opaque value than is known of it."""


class Opaque:
    """Stands in the judge for a value that could not leave the sandbox; equal to itself only.

    Args:
        why: Why it could not.
        truth: Whether it is true; None if the program could not say.
        unlike_none: Whether it certainly does not equal None.
    """

    def __init__(self, why: str, truth: bool | None, unlike_none: bool) -> None:
        self._why = why
        self._truth = truth
        self._unlike_none = unlike_none

    def __bool__(self) -> bool:
        """Whether it is true; raises `OutOfReach` if that is not known."""
        if self._truth is None:
            raise self.out_of_reach()
        return self._truth

    def compare(self, symbol: str, other: Any) -> bool:
        """Whether a comparison holds.

        Args:
            symbol: The name of its node in `ast`.
            other: What it is compared with, on whichever side.

        Raises:
            OutOfReach: If that is not known.
        """
        if symbol in ("Is", "IsNot") and (other is None or other is True or other is False):
            return symbol == "IsNot"
        if symbol in ("Eq", "NotEq") and other is None and self._unlike_none:
            return symbol == "NotEq"
        raise self.out_of_reach()

    def out_of_reach(self) -> OutOfReach:
        """The error that says why this is no value to compute with."""
        return OutOfReach(f"{self._why}; only whether it is true, or is None, may be asked of what the call returned")


def encode_answer(value: Any) -> str:
    """What a call returned, as ASCII text."""
    try:
        return encode(value)
    except (TypeError, ValueError) as error:
        why = str(error)
    truth: bool | None = None
    try:
        truth = bool(value)
    except MemoryError:  # an end of its own kind
        raise
    except Exception as error:  # noqa: BLE001  a program's own __bool__; the test may not ask for it
        why += f"; its truth value: {type(error).__name__}: {error}"
    kind = type(value)
    unlike_none = any(kind.__eq__ is own.__eq__ and kind.__ne__ is own.__ne__ for own in _OWN_EQUALITIES)
    return f'{{"{_TAG}": {encode([why[:MAX_WHY], truth, unlike_none])}}}'


def decode_answer(encoded: bytes) -> Any:
    """What a call returned: plain data, or an `Opaque`.

    Raises:
        TooLarge: If it has too many parts, whoever made it.
        ValueError: If it is anything that `encode_answer` did not make.
    """
    require_buildable(encoded)
    return _AnswerDecoder().value(encoded)


class _AnswerDecoder(Decoder):
    def whole(self, node: Any) -> Any:
        if not isinstance(node, dict) or [*node] != [_TAG]:
            return super().whole(node)
        why, truth, unlike_none = node[_TAG]
        known = (truth is None or type(truth) is bool) and type(unlike_none) is bool
        if not known or type(why) is not str or len(why) > MAX_WHY:
            raise ValueError("not an encoded value: an opaque value of something else")
        return Opaque(why.encode("ascii", "backslashreplace").decode(), truth, unlike_none)
