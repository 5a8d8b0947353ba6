"""Programs with known verdicts, from outside of this project: right ones pass, wrong ones do not.

Reads gzip'd JSONL, one problem a line (`id, kind, tests, checker, time_limit_s, solutions[{verdict, language, code}]`),
from the folder that the environment variable CODE_RLVR_ORACLE names; skipped without it.
"""

from __future__ import annotations

import gzip
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from code_rlvr import Judge, Judgement, Limits, Tests, TestsFormatError
from code_rlvr.verifier.asserts import take_apart

FOLDER = os.environ.get("CODE_RLVR_ORACLE")
KEYS = {
    "stdio": ("inputs", "outputs"),
    "call": ("fn_name", "inputs", "outputs"),
    "assert": ("asserts", "entry_point", "prelude"),
}
# Right programs that no comparison of output or values can see to be right.
EXCEPTIONS = {
    "quixbugs/flatten": "returns a generator",
    "quixbugs/kheapsort": "returns a generator",
    "quixbugs/sqrt": "any value within the tolerance that the call names is right",
    "codecontests_graph/1325_d_ehab_the_xorcist_11372": "several right answers",
    "codecontests_graph/487_c_prefix_product_sequence_2443": "several right answers",
    "codecontests_graph/923_c_perfect_security_7561": "one line where several were expected",
    "codecontests_graph/288_c_polo_the_penguin_and_xor_operation_9826": "several lines where one was expected",
}
FILES = ["quixbugs", "humaneval", "mbpp", "codecontests_graph", "stdio_kattis_contests"]

pytestmark = [
    pytest.mark.skipif(not FOLDER, reason="CODE_RLVR_ORACLE names no folder of problems with known verdicts"),
    pytest.mark.slow,
    pytest.mark.timeout(900),
]


def read_tests(row: dict[str, Any], kattis: bool) -> Tests:
    layout = {key: row["tests"][key] for key in KEYS[row["kind"]] if row["tests"].get(key) is not None}
    if row["time_limit_s"]:
        layout["time_limit_s"] = 3 * row["time_limit_s"]  # the limits were measured on another machine
    if kattis:
        checker = row["checker"] or ""
        layout.update(compare="float" if checker else "tokens", case_sensitive="case_sensitive" in checker)
        for option, keys in (
            ("float_relative_tolerance", ["rel_tol"]),
            ("float_absolute_tolerance", ["abs_tol"]),
            ("float_tolerance", ["rel_tol", "abs_tol"]),
        ):
            if found := re.search(option + r"\s+(\S+)", checker):
                layout.update(dict.fromkeys(keys, float(found[1])))
    return Tests.parse(layout)


def labelled(name: str, share: int) -> Iterator[tuple[str, str, str, Tests]]:
    """Every `share`th problem: (problem, label, program, tests)."""
    with gzip.open(Path(FOLDER or "") / f"{name}.jsonl.gz", "rt", encoding="utf-8") as rows:
        for row in [json.loads(line) for line in rows][::share]:
            tests = read_tests(row, "kattis" in name)
            try:
                if tests.kind == "assert":
                    take_apart(tests)
            except TestsFormatError:
                continue
            for solution in row["solutions"]:
                robust = solution.get("tle_robust", True)
                if solution["language"].startswith("py") and robust and row["id"] not in EXCEPTIONS:
                    yield row["id"], solution["verdict"], solution["code"], tests


@pytest.mark.parametrize("name", FILES)
def test_known_verdicts_are_found_again(name: str) -> None:
    share = int(os.environ.get("CODE_RLVR_ORACLE_SHARE", "10"))
    rows = list(labelled(name, share))
    assert rows
    with Judge(limits=Limits(cpu_s=5, memory_mib=2048)) as judge:
        outcomes = list(judge.judge_many([row[2:] for row in rows], stop_at_first_failure=True))
    surprises = [
        (problem, label, outcome.verdict.value if isinstance(outcome, Judgement) else str(outcome))
        for (problem, label, *_), outcome in zip(rows, outcomes, strict=True)
        if not isinstance(outcome, Judgement) or outcome.accepted != (label == "accepted")
    ]
    assert not surprises
