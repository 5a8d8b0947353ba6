"""Reads the values that programs return: tagged JSON, in which nothing can be executed.

| value | encoded as |
|---|---|
| None, bool, str, int below 2⁶², finite float, list | itself in JSON |
| other int | `{"int": "<hex>"}`, so that no digit limit applies |
| nan, inf, -inf | `{"float": "<repr>"}` |
| complex, bytes | `{"complex": [re, im]}`, `{"bytes": "<hex>"}` |
| tuple, set, frozenset | `{"<type>": [item, …]}` |
| dict | `{"dict": [[key, value], …]}` |

Covered: decoding on the judge's side, where the text is hostile.  The other half is `guard.encode`.
Not covered: anything that is not plain data; a function that returns such a thing gets a RUNTIME_ERROR.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any


def decode(encoded: bytes) -> Any:
    """Turn what a program wrote as its return value into plain data.

    Raises:
        ValueError: If it is not in the encoding; only a program that forges its own answer writes such.
    """
    try:
        return _build(json.loads(encoded))
    except (KeyError, TypeError, RecursionError, OverflowError) as error:
        raise ValueError(f"not an encoded value: {error}") from None


def _build(node: Any) -> Any:
    if isinstance(node, list):
        return [_build(item) for item in node]
    if isinstance(node, dict):
        ((tag, body),) = node.items()
        return _BUILDERS[tag](body)
    return node


def _complex(body: Any) -> complex:
    real, imaginary = map(_build, body)
    return complex(real, imaginary)


_BUILDERS: dict[str, Callable[[Any], Any]] = {
    "int": lambda body: int(body, 16),
    "float": float,
    "complex": _complex,
    "bytes": bytes.fromhex,
    "tuple": lambda body: tuple(_build(body)),
    "set": lambda body: set(_build(body)),
    "frozenset": lambda body: frozenset(_build(body)),
    "dict": lambda body: {_build(key): _build(value) for key, value in body},
}
