"""Rows with `verification_info`: PrimeIntellect/SYNTHETIC-1 and open-r1's verifiable-coding-problems-python.

Columns: `problem_statement` (open-r1) or `prompt` (SYNTHETIC-1), `verification_info` {`language`, `test_cases`},
`gold_standard_solution`, `problem_id`, `source`, `task_type`.  The info is an object, or a text of it in JSON or as
Python writes it; each case has `type` (stdin_stdout or function_call), `fn_name`, `input` and `output`.

Covered: code in Python.  Not covered: SYNTHETIC-1's other tasks, which are no code; other languages; the limits in
`metadata`, which are texts for people.
"""

from __future__ import annotations

from collections.abc import Mapping

from code_rlvr.data.sources.plain import PLAIN, read_plain
from code_rlvr.data.sources.source import Drop, Reason, Row, Source
from code_rlvr.data.sources.verl_rows import is_coding
from code_rlvr.layouts import from_json_if_any
from code_rlvr.types import Problem


def _is_code(row: Row) -> bool:
    return is_coding(row.get("task_type"))


def _read_verifiable(row: Row) -> Problem | Drop:
    if not _is_code(row):
        return Drop(Reason.NOT_CODE, f"its task_type is {row.get('task_type')!r}")
    info = from_json_if_any(row.get("verification_info"))
    language = info.get("language") if isinstance(info, Mapping) else None
    if language and not str(language).casefold().startswith("py"):
        return Drop(Reason.NOT_CODE, f"its programs are in {language!r}; only Python is judged")
    return read_plain(row)


VERIFIABLE = Source(
    "verifiable",
    _read_verifiable,
    marks=frozenset({"verification_info", "gold_standard_solution"}),
    columns=(*PLAIN.columns, "task_type"),
    is_code=_is_code,
    glance=("task_type",),
)
