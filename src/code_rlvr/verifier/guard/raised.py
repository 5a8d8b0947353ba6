"""Exceptions in a checker: those that the solution raised, and two of the checker's own.

An exception that is the solution's doing is *relayed*: it has an attribute of that name, with what it says.

Covered: making them, marking them, what they say.  Not covered: sending them (`frames`).  Standard library only.
"""

from __future__ import annotations

import builtins

TYPE_CHECKING = False  # importing typing costs 8 ms
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


class HungUp(BaseException):
    """The solution's process ended, or the judge ended the run; nothing that a test may catch."""


class Unsupported(BaseException):
    """The tests do what a checker cannot; it is reported, and the checker ends.  Nothing that a test may catch."""


def make_exception(
    own: Mapping[str, Any], namespace: Mapping[str, Any], names: Any, args: Any, message: Any, attributes: Any
) -> BaseException:
    """The exception that the solution raised, as far as the tests can know it.

    Args:
        own: Classes of the solution that the tests name.
        namespace: Where the tests run.
        names, args, message, attributes: As `frames.describe_exception` gives them.

    Raises:
        Exception: If these describe none.
    """
    known: list[type[BaseException]] = []
    for name in filter(str.isidentifier, names):
        kind = own.get(name) or namespace.get(name) or getattr(builtins, name, None)
        if isinstance(kind, type) and issubclass(kind, BaseException) and not any(issubclass(k, kind) for k in known):
            known.append(kind)
    kind = known[0] if known and known[0].__name__ == names[0] else None
    if kind is None or len(known) > 1:
        kind = _derived(str(names[0]), known)
    try:
        error = kind(*args) if kind.__module__ == "builtins" else kind.__new__(kind)
    except Exception:  # noqa: BLE001  a built-in one that wants other arguments
        error = kind.__new__(kind)
    error.args = tuple(args)
    if not isinstance(message, str):
        raise ValueError("a message that is no text")
    if str(error) != message:
        error = _derived(kind.__name__, [kind], __str__=lambda _: str(message))(*args)
    for name, value in attributes.items():
        if not name.startswith("__"):
            setattr(error, name, value)
    return relayed(error, message)


def relayed(error: BaseException, message: str | None = None) -> BaseException:
    """Mark an exception as the solution's doing; `message` is what it says."""
    error.relayed = str(error) if message is None else message  # type: ignore[attr-defined]
    return error


def plain_text(error: BaseException) -> str:
    """What an exception says, at a bounded length and fit to be written down; "" if it does not say."""
    try:
        text = getattr(error, "relayed", None)
        return (text if isinstance(text, str) else str(error))[:500].encode("utf-8", "backslashreplace").decode()
    except BaseException:  # noqa: BLE001  a __str__ of whoever made it
        return ""


def _derived(name: str, bases: list[Any], **members: Any) -> Any:
    try:
        return type(name, tuple(bases) or (Exception,), members)
    except TypeError:  # bases that do not go together
        return type(name, (bases[0],), members)
