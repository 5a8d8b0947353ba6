"""Reads single columns of a row, and says what is wrong with one that does not fit.

Covered: texts, ids, programs and parts of a row, from whatever JSON or parquet gives.
Not covered: tests (`row_tests`), and the file and row number in messages, which the caller knows.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from code_rlvr.data.sources.source import Row
from code_rlvr.errors import DataError, TestsFormatError
from code_rlvr.layouts import from_json_if_any

ANOTHER_LAYOUT = "if the rows have another layout, name it before the file, as in plain=FILE"

ID_KEYS = ("problem_id", "id", "task_id", "question_id")


def need(row: Row, key: str, remedy: str = "") -> Any:
    """The value of a column that the layout requires; it may be null.

    Args:
        row: The row.
        key: The column's name.
        remedy: What to do if it is not there.

    Raises:
        DataError: It is not there.
    """
    if key not in row:
        there = ", ".join(sorted(map(str, row))) or "none"
        raise DataError(f"column {key!r} is missing; there are: {there}; {remedy or ANOTHER_LAYOUT}")
    return row[key]


def unfit(key: str, value: object, wanted: str) -> DataError:
    """The error for a column of the wrong type.

    Args:
        key: The column's name.
        value: What stands there.
        wanted: What should.
    """
    return DataError(f"column {key!r} has to be {wanted}, not {type(value).__name__}; {ANOTHER_LAYOUT}")


def read_text(row: Row, key: str) -> str:
    """A column of text; "" if it is null or not there.

    Raises:
        DataError: It is no text.
    """
    value = row.get(key)
    if value is not None and not isinstance(value, str):
        raise unfit(key, value, "a text")
    return value or ""


def read_part(row: Row, key: str) -> Mapping[str, Any]:
    """A column of named parts, which may be written as JSON; empty if it is null or not there.

    Raises:
        DataError: It is something else.
    """
    value = row.get(key)
    value = from_json_if_any(value) if isinstance(value, str) and value else value
    if value is None or value == "":
        return {}
    if not isinstance(value, Mapping):
        raise unfit(key, value, "an object with named parts")
    return value


def read_id(row: Row, *keys: str) -> str:
    """The first of some columns that names the row; "" if none does.

    Raises:
        DataError: It is neither a text nor an integer.
    """
    for key in keys:
        value = row.get(key)
        if value is not None and value != "":
            if isinstance(value, bool) or not isinstance(value, (str, int)):
                raise unfit(key, value, "a text or an integer that names the problem")
            return _digits(value, key) if isinstance(value, int) else value
    return ""


def name_of(row: Row) -> str:
    """What a row of any layout is called; "" if it has no name."""
    info = row.get("extra_info")
    for part in (row, info if isinstance(info, Mapping) else {}):
        for key in (*ID_KEYS, "name"):
            value = part.get(key)
            if isinstance(value, (str, int)) and not isinstance(value, bool) and value != "":
                return value[:200] if isinstance(value, str) else _digits(value, key)
    return ""


def read_texts(row: Row, key: str) -> tuple[str, ...]:
    """A column of several texts: a list, or a list written as JSON; blank ones are left out.

    Raises:
        DataError: It is something else.
    """
    value = row.get(key)
    value = from_json_if_any(value) if isinstance(value, str) and value.strip() else value
    if value is None or (isinstance(value, str) and not value.strip()):
        return ()
    if not isinstance(value, (list, tuple)) or not all(isinstance(text, str) for text in value):
        raise unfit(key, value, "a list of texts, or such a list in JSON")
    return tuple(text for text in value if text.strip())


def from_json(text: str, field: str) -> Any:
    """What a text of JSON holds.

    Args:
        text: The text.
        field: Its name, for the message.

    Raises:
        TestsFormatError: It is no JSON.
    """
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise TestsFormatError(f"is not JSON: {error}", field=field) from None


def _digits(number: int, key: str) -> str:
    try:
        return str(number)
    except ValueError:  # Python writes no more than 4,300 digits
        raise DataError(f"column {key!r} holds an integer too long for an id") from None
