"""Reference solutions, as a row may have them: a text, a list of texts, or a list of labelled programs.

A program in a code block, as SYNTHETIC-1 has them, is taken out of it.

Covered: the keys under which they stand.  Not covered: whether they pass (`audit`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from code_rlvr.data.sources.columns import unfit
from code_rlvr.data.sources.source import Row
from code_rlvr.layouts import from_json_if_any
from code_rlvr.verifier.extract import extract_code

REFERENCE_KEYS = (
    *("solution", "solutions", "reference", "references", "canonical_solution"),
    "gold_standard_solution",
)

_OTHER_PYTHON = ("python2", "python 2", "py2", "pypy2", "pypy 2")


def read_references(row: Row) -> tuple[str, ...]:
    """The programs of a row that are said to pass, in order, each once.

    Args:
        row: Under `REFERENCE_KEYS` a text, a list of texts, or a list of {code, language?, verdict?}; of the last
            only accepted ones in Python 3 count.  A list may be written as JSON.

    Raises:
        DataError: There is something else.
    """
    found: dict[str, None] = {}
    for key in REFERENCE_KEYS:
        value = row.get(key)
        if isinstance(value, str):
            listed = from_json_if_any(value) if value.lstrip()[:1] == "[" else value
            value = listed if isinstance(listed, list) else [value]
        if value is not None and not isinstance(value, (list, tuple)):
            raise unfit(key, value, "a program, or a list of programs")
        for item in value or ():
            program = _accepted(item, key)
            if program.strip():
                found[program] = None
    return tuple(found)


def _accepted(item: Any, key: str) -> str:
    """The program of one item; "" if it is none that should pass here."""
    if item is None or isinstance(item, str):
        return _unfenced(item or "")
    if not isinstance(item, Mapping) or not isinstance(item.get("code"), str | None):
        raise unfit(key, item, "a program, or an object with its code")
    verdict, language = (str(item.get(name) or "").casefold() for name in ("verdict", "language"))
    is_python = language in ("", "python") or (language.startswith("py") and not language.startswith(_OTHER_PYTHON))
    return item.get("code") or "" if verdict in ("", "accepted") and is_python else ""


def _unfenced(text: str) -> str:
    return extract_code(text) or text if text.lstrip().startswith("```") else text
