"""Statements: a problem's text without what was said about the form of the answer.

`prepare` puts its own instruction behind a statement (`data.prompts`).  What other data sets have put there, and
what an earlier `prepare` has, comes off first, so that instructions do not pile up.

Covered: the known endings; statements in chats; starter code.
Not covered: instructions in the middle of a statement or at its start, and endings that nobody has listed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from code_rlvr.data.prompts import ASSERT_INSTRUCTION, FUNCTION_INSTRUCTION, STDIN_INSTRUCTION
from code_rlvr.data.sources.columns import ANOTHER_LAYOUT, unfit
from code_rlvr.data.sources.source import Row
from code_rlvr.errors import DataError
from code_rlvr.layouts import from_json_if_any

# White space between the words may be any or none; {name} stands for a name.
ENDINGS = (
    STDIN_INSTRUCTION,
    FUNCTION_INSTRUCTION,
    ASSERT_INSTRUCTION,
    # Eurus-2-RL-Data, and what DeepCoder puts behind that
    "Write Python code to solve the problem. Present the code in ```python Your code ``` at the end.",
    "You need to think first then write the Python code.",
    # SYNTHETIC-1
    "Now solve the problem and return the code.",
    # LiveCodeBench's own prompts
    "### Answer: (use the provided format with backticks)",
    "### Format: Read the inputs from stdin solve the problem and write the answer to stdout (do not directly test on "
    "the sample inputs). Enclose your code within delimiters as follows. ```python # YOUR CODE HERE ```",
)

_STATEMENT_KEYS = (
    *("question_content", "question", "problem_description", "description", "problem_statement"),
    *("statement", "text", "prompt", "problem"),
)
_NAME = r"[^`\s]{1,200}"


def _pattern(ending: str) -> str:
    words = ending.replace("```", " ``` ").split()
    return r"\s*".join(re.escape(word).replace(r"\{name\}", _NAME) for word in words)


_ENDING = re.compile("(?:" + "|".join(_pattern(ending) for ending in ENDINGS) + r")\Z")
_LONGEST = 2 * max(map(len, ENDINGS)) + 200  # no need to look for the start of an ending before that


def without_endings(statement: str) -> str:
    """A statement without the instructions at its end that are known, and without white space there.

    Args:
        statement: The text, with any number of known endings.
    """
    statement = statement.rstrip()
    while found := _ENDING.search(statement, max(0, len(statement) - _LONGEST)):
        statement = statement[: found.start()].rstrip()
    return statement


def with_starter_code(statement: str, starter_code: str) -> str:
    """A statement that shows the code to start from, if there is any; a blank one stays blank.

    Args:
        statement: What the problem says.
        starter_code: The signature that the tests want, usually with an empty body.
    """
    if not starter_code.strip() or not statement.strip():
        return statement
    return f"{statement.rstrip()}\n\nStart from this code:\n```python\n{starter_code.rstrip()}\n```"


def statement_of_either(row: Row, key: str) -> str:
    """The statement in a column that holds a text or a chat list, without known endings.

    Raises:
        DataError: It is neither, or no message is the user's.
    """
    value = row[key]
    return without_endings(value) if isinstance(_chat(value), str) else statement_of_chat(row, key)


def any_statement(row: Row) -> str:
    """The statement of a row of any layout, tests or not; "" if none can be read."""
    for key in _STATEMENT_KEYS:
        if row.get(key) is not None:
            try:
                return statement_of_either(row, key)
            except DataError:
                return ""
    return ""


def statement_of_chat(row: Row, key: str) -> str:
    """The statement in a chat list: its last user message; system messages and examples before it are left out.

    Args:
        row: The row.
        key: The column of the chat.

    Returns:
        The text without known endings; "" if the column is null or has no message.

    Raises:
        DataError: It is no chat list, e.g. a plain text, or no message is the user's.
    """
    chat = _chat(row[key])
    if chat is None:
        return ""
    if isinstance(chat, str):
        raise DataError(
            f"column {key!r} is a plain text; it has to be a chat list such as "
            '[{"role": "user", "content": "…"}], because a text has no chat template applied to it: put the text '
            f"into one message; {ANOTHER_LAYOUT}"
        )
    if not isinstance(chat, (list, tuple)) or not all(isinstance(message, Mapping) for message in chat):
        raise unfit(key, chat, "a chat list of messages, each with role and content")
    said = [message for message in chat if message.get("role") == "user"]
    if chat and not said:
        raise DataError(f"column {key!r} has no message whose role is 'user'; the statement has to be in one")
    return without_endings(_content(said[-1].get("content"), key)) if said else ""


def _chat(value: Any) -> Any:
    """A chat that is written as JSON, read; anything else as it is."""
    found = from_json_if_any(value) if isinstance(value, str) and value.lstrip()[:1] == "[" else value
    is_chat = isinstance(found, list) and all(isinstance(one, Mapping) and "role" in one for one in found)
    return found if is_chat and found else value


def _content(content: Any, key: str) -> str:
    """The text of one message, whose content may be a list of parts."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, (list, tuple)) else [content]
    found = [part.get("text") if isinstance(part, Mapping) else part for part in parts]
    texts = [text for text in found if isinstance(text, str)]
    if len(texts) < len(found):
        raise DataError(f"column {key!r}: the content of a message has to be text, and nothing but text")
    return "\n".join(texts)
