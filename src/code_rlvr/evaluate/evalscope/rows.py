"""Benchmarks as the files that EvalScope reads, one row a problem.

| benchmark | columns |
|---|---|
| `humaneval` | task_id, prompt, canonical_solution, test, entry_point |
| `live_code_bench` | question_id, question_content, starter_code, metadata, contest_date, `…_test_cases` |
| `gsm8k` | question, answer |

They are those of the data sets, so EvalScope by itself reads them too (`local_path`).  Beside them stand `problem_id`
and, for programs, `ground_truth`: the tests that our judge takes.

Covered: problems that the benchmark could have; others are counted by why they are left out.
Not covered: reading data sets (`evaluate.benchmarks`).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from code_rlvr.data.sources.statements import with_starter_code
from code_rlvr.errors import DataError
from code_rlvr.evaluate.benchmark import Benchmark, Numbers, Programming
from code_rlvr.evaluate.evalscope.job import BenchmarkName
from code_rlvr.evaluate.gsm8k import NumberProblem
from code_rlvr.types import Problem
from code_rlvr.whole_file import whole_file

Row = dict[str, Any]

# What stands around the starter code in a statement, found out from what puts it there.
_AHEAD, _BEHIND = with_starter_code("\0", "\1").removeprefix("\0").split("\1")
_NO_DATE = "1970-01-01"  # the column has to be there; dates are chosen by before


@dataclass(frozen=True, slots=True)
class Rows:
    """A benchmark for EvalScope.

    Args:
        problem_ids: In the order of the rows.
        rows: At least one.
        left_out: How many problems are not among them, by why.
    """

    problem_ids: tuple[str, ...]
    rows: tuple[Row, ...]
    left_out: dict[str, int]

    def write(self, file: Path) -> None:
        """Write them as JSONL, whole or not at all.

        Raises:
            DataError: It cannot be written.
        """
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            with whole_file(file) as unfinished:
                unfinished.write_text(self.to_text(), encoding="utf-8")
        except OSError as error:
            raise DataError(f"cannot write {file}: {error.strerror}; name another folder with --out") from None

    def to_text(self) -> str:
        """The content of the file."""
        return "".join(json.dumps(row) + "\n" for row in self.rows)


def make_rows(name: BenchmarkName, benchmark: Benchmark) -> Rows:
    """Turn a benchmark into rows.

    Args:
        name: As which of EvalScope's.
        benchmark: What was read.

    Raises:
        DataError: No problem of it can be one of that benchmark.
    """
    left_out: Counter[str] = Counter()
    rows: dict[str, Row] = {}
    if isinstance(benchmark, Numbers):
        rows = {one.problem_id: _gsm8k_row(one) for one in benchmark.problems}
    elif isinstance(benchmark, Programming):
        for problem in benchmark.problems:
            row = _MAKERS[name](problem)
            if isinstance(row, str):
                left_out[row] += 1
            else:
                own = {"problem_id": problem.problem_id, "ground_truth": problem.tests.to_json()}
                rows[problem.problem_id] = {**row, **own}
    if not rows:
        why = ", ".join(f"{count} {reason}" for reason, count in left_out.items())
        raise DataError(
            f"{benchmark.name} has no problem for EvalScope's {name} ({why}); give that data set's own rows"
        )
    return Rows(tuple(rows), tuple(rows.values()), dict(left_out))


def _humaneval_row(problem: Problem) -> Row | str:
    # A reader may have stripped the end, and EvalScope puts the answer right behind it.
    tests, prompt = problem.tests, problem.statement.rstrip() + "\n"
    if tests.kind != "assert" or not tests.entry_point:
        return "no assertions about one function"
    if f"def {tests.entry_point}" not in prompt:
        return "no such function in the prompt"
    reference = next(iter(problem.references), "")
    return {
        "task_id": problem.problem_id,
        "prompt": prompt,
        "canonical_solution": reference.removeprefix(prompt) if reference.startswith(prompt) else "",
        "test": "\n".join(tests.asserts),
        "entry_point": tests.entry_point,
    }


def _live_code_bench_row(problem: Problem) -> Row | str:
    tests = problem.tests
    question, marked, rest = problem.statement.rpartition(_AHEAD)
    starter = rest.removesuffix(_BEHIND) if marked else ""
    if tests.kind == "assert":
        return "assertions instead of inputs and outputs"
    if tests.kind == "call":
        if not starter:
            return "a function to write without code to start from"
        fed = ["\n".join(json.dumps(argument) for argument in arguments) for arguments in tests.inputs]
        expected, form = [json.dumps(output) for output in tests.outputs], "functional"
    else:
        fed, expected, form = list(tests.inputs), list(tests.outputs), "stdin"
    cases = [{"input": one, "output": other, "testtype": form} for one, other in zip(fed, expected, strict=True)]
    return {
        "question_id": problem.problem_id,
        "question_content": question if marked else problem.statement,
        "starter_code": starter,
        "public_test_cases": json.dumps(cases),
        "private_test_cases": "[]",
        "metadata": json.dumps({"func_name": tests.fn_name} if tests.fn_name else {}),
        "contest_date": _NO_DATE,
    }


def _gsm8k_row(problem: NumberProblem) -> Row:
    answer = problem.answer
    number = str(answer.numerator) if answer.denominator == 1 else str(float(answer))
    return {"question": problem.question, "answer": f"#### {number}", "problem_id": problem.problem_id}


_MAKERS: dict[str, Callable[[Problem], Row | str]] = {
    "humaneval": _humaneval_row,
    "live_code_bench": _live_code_bench_row,
}
