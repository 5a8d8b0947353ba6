"""Rows of verl's format, whoever wrote them; Eurus-2-RL-Data is such a set with habits of its own.

Columns: `prompt` (a chat list), `reward_model` {style, `ground_truth`}, and, where they are there, `data_source`,
`ability` and `extra_info` {`problem_id`, `index`, `tests`, `entry_point`}.  The ground truth may be a text of JSON or
a struct, and may hold rLLM's forms (`layouts`); `extra_info.tests` counts where it holds no tests.  A function's name
may stand beside it (`row_tests`).

| | `eurus` | `verl` |
|---|---|---|
| code is what has | the ability "code"; without an ability, a data source of contests | an ability of coding, or none |
| problem id | none: its `extra_info.index` numbers nothing | `extra_info.problem_id`, or `extra_info.index` |

A row is Eurus's if it has the five columns, a system message, and an `extra_info` of split and index only.  That
system message asks for a format that other models do not know, and is left out, as any is.

Covered: telling code from mathematics before the tests are read.  Not covered: rows with pictures or tools.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from code_rlvr.data.sources.cases import read_tests
from code_rlvr.data.sources.columns import need, read_id, read_part, read_text, unfit
from code_rlvr.data.sources.row_tests import NAMES, function_named
from code_rlvr.data.sources.source import Drop, Reason, Row, Source
from code_rlvr.data.sources.statements import statement_of_chat
from code_rlvr.layouts import from_json_if_any
from code_rlvr.types import Problem

CONTESTS = frozenset({"taco", "codecontests", "apps", "codeforces"})

_COLUMNS = ("data_source", "prompt", "ability", "reward_model", "extra_info")


def is_coding(ability: object) -> bool:
    """Whether a row's `ability` is that of writing programs; one that is not given may be."""
    word = ability.strip().casefold() if isinstance(ability, str) else ""
    return not word or "cod" in word or "program" in word


def is_eurus_code(row: Row) -> bool:
    """Whether a row of Eurus-2-RL-Data is of its code part."""
    ability, data_source = row.get("ability"), row.get("data_source")
    return bool(ability == "code") if ability else isinstance(data_source, str) and data_source in CONTESTS


def is_eurus(row: Row) -> bool:
    """Whether a row of verl's format is from Eurus-2-RL-Data."""
    chat = row.get("prompt")
    first: Any = chat[0] if isinstance(chat, (list, tuple)) and chat else None
    info = from_json_if_any(row.get("extra_info"))
    has_system = isinstance(first, Mapping) and first.get("role") == "system"
    return has_system and isinstance(info, Mapping) and set(info) == {"split", "index"}


def _is_verl_code(row: Row) -> bool:
    return is_coding(row.get("ability"))


def _read_eurus(row: Row) -> Problem | Drop:
    if not is_eurus_code(row):
        return Drop(Reason.NOT_CODE, f"its ability is {row.get('ability')!r}")
    return _read(row, "", "eurus")


def _read_verl(row: Row) -> Problem | Drop:
    if not _is_verl_code(row):
        return Drop(Reason.NOT_CODE, f"its ability is {row.get('ability')!r}")
    problem_id = read_id(read_part(row, "extra_info"), "problem_id", "index")
    return _read(row, problem_id, "verl", function_named(row))


def _read(row: Row, problem_id: str, name: str, fn_name: object = None) -> Problem | Drop:
    need(row, "prompt", "it has to hold the chat list that the model is asked, as in verl's format")
    reward_model = need(row, "reward_model", "it has to hold the ground_truth, as in verl's format")
    reward_model = from_json_if_any(reward_model)
    if reward_model is not None and not isinstance(reward_model, Mapping):
        raise unfit("reward_model", reward_model, "an object with ground_truth")
    statement = statement_of_chat(row, "prompt")
    ground_truth = None if reward_model is None else reward_model.get("ground_truth")
    tests = read_tests(ground_truth, read_part(row, "extra_info"), fn_name=fn_name)
    if tests is None:
        return Drop(Reason.NO_TESTS, "its ground_truth is null or empty")
    if not statement.strip():
        return Drop(Reason.NO_STATEMENT, "its prompt says nothing")
    return Problem(problem_id, statement, tests, read_text(row, "data_source") or name)


EURUS = Source("eurus", _read_eurus, frozenset(_COLUMNS), _COLUMNS, is_eurus_code, ("ability", "data_source"))
VERL = Source(
    "verl",
    _read_verl,
    marks=frozenset({"prompt", "reward_model"}),
    columns=(*_COLUMNS, *NAMES),
    is_code=_is_verl_code,
    glance=("ability",),
)
