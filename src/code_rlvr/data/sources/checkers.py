"""Checkers: what a row says of how its answers are to be compared.

`checker` says that a plain comparison does not do: a float tolerance becomes `compare`, `rel_tol` and `abs_tol`;
any other is code that is not here, as is any `generated_checker` (open-r1/codeforces).  A row that has `checker`, be
it null, and `case_sensitive` is of Kattis's format, whose comparison is by token and, without a tolerance, as text.

Covered: the above.  Not covered: running a checker.
"""

from __future__ import annotations

import re
from typing import Any

from code_rlvr.data.sources.source import Row

CHECKER_KEYS = ("checker", "generated_checker")

_FLOAT = r"(\d+(?:\.\d+)?(?:e[+-]?\d+)?)"
_TOLERANCES = re.compile(
    rf"float tolerance: absolute (?:{_FLOAT}|none), relative (?:{_FLOAT}|none)"
    r"(?: \(either suffices\))?(?:; other tokens compared as text)?",
    re.IGNORECASE,
)
_FLAG = re.compile(rf"(float_tolerance|float_relative_tolerance|float_absolute_tolerance)\s+{_FLOAT}|(case_sensitive)")
_FLAGS = re.compile(rf"\s*(?:(?:{_FLAG.pattern})(?:\s+|\Z))+")


def declared_comparison(row: Row) -> dict[str, Any] | None:
    """The options that a row's `checker` stands for; None if it is code that is not here."""
    if row.get("generated_checker"):
        return None
    checker = row.get("checker")
    if checker is None or checker == "":
        kattis = "checker" in row and isinstance(row.get("case_sensitive"), bool)
        return {"compare": "tokens"} if kattis else {}
    if not isinstance(checker, str):
        return None
    if found := _TOLERANCES.fullmatch(checker.strip()):
        absolute, relative = (float(number or 0) for number in found.groups())
        return {"compare": "float", "abs_tol": absolute, "rel_tol": relative}
    if not _FLAGS.fullmatch(checker):
        return None
    options: dict[str, Any] = {"compare": "tokens", "case_sensitive": False}
    for flag, number, sensitive in _FLAG.findall(checker):
        if sensitive:
            options["case_sensitive"] = True
            continue
        options["compare"] = "float"
        for name, tolerance in (("rel_tol", "float_relative_tolerance"), ("abs_tol", "float_absolute_tolerance")):
            if flag in (tolerance, "float_tolerance"):
                options[name] = float(number)
    return options


def missing_checker(row: Row) -> str:
    """The checker that a row needs and that is not here, for a message; "" if it needs none."""
    if declared_comparison(row) is not None:
        return ""
    key = "generated_checker" if row.get("generated_checker") else "checker"
    return f"{key}: {str(row[key])[:200]}"
