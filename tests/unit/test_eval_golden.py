"""Right solutions through the whole evaluation give exactly 1, wrong ones exactly 0.

The large sets are read from the folder that the environment variable CODE_RLVR_ORACLE names; `benchmarks/oracle.py`
says what it holds.
"""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

from code_rlvr.evaluate.benchmark import Benchmark, Programming
from code_rlvr.evaluate.benchmarks import Selection, load_benchmark
from code_rlvr.evaluate.engine import Generated
from code_rlvr.evaluate.generate import EvaluationSettings, evaluate_task
from code_rlvr.evaluate.gsm8k import grade_number, read_number_problem
from code_rlvr.evaluate.scores import Scores
from code_rlvr.types import Limits, Verdict
from code_rlvr.verifier.judge import Judge

FOLDER = os.environ.get("CODE_RLVR_ORACLE")
needs_oracle = [
    pytest.mark.skipif(not FOLDER, reason="CODE_RLVR_ORACLE names no folder of problems with known verdicts"),
    pytest.mark.slow,
    pytest.mark.timeout(600),
]
GREEDY = EvaluationSettings(samples=1, temperature=0.0, max_new_tokens=4096)


class Recitation:
    """An engine that knows one response to each chat.

    Args:
        responses: By the user's message.
    """

    identity = "recitation"

    def __init__(self, responses: Mapping[str, str]) -> None:
        self._responses = responses

    def generate(self, chats: Sequence[Any], sampling: object, seeds: Sequence[int]) -> list[Generated]:
        return [Generated(text, 1, False) for text in (self._responses[chat[-1]["content"]] for chat in chats)]


@pytest.fixture(scope="module")
def patient_judge():
    with Judge(limits=Limits(cpu_s=5, memory_mib=1024, timeouts_before_stop=1)) as judge:
        yield judge


def recite(benchmark: Benchmark, judge: Judge, responses: Mapping[str, str], folder: Path) -> Scores:
    """Evaluate a model that answers each problem, by its id, with a known response."""
    task = benchmark.task(judge, None)
    known = {question.chat[-1]["content"]: responses[question.problem_id] for question in task.questions}
    return evaluate_task(Recitation(known), "recitation", task, GREEDY, folder / "samples.jsonl")


def fenced(code: str) -> str:
    return f"Let me write it.\n\n```python\n{code}\n```\nThat is all."


def references(benchmark: Benchmark) -> dict[str, str]:
    assert isinstance(benchmark, Programming)
    return {one.problem_id: fenced(one.references[0]) for one in benchmark.problems}


CORE = {
    "humaneval": (
        {
            "task_id": "HumanEval/0",
            "prompt": 'def poly(xs):\n    return sum(xs)\n\n\ndef twice(xs):\n    """Twice the sum."""\n',
            "canonical_solution": "    return 2 * poly(xs)\n",
            "test": "def check(candidate):\n    assert candidate([1, 2]) == 2 * poly([1, 2])\n",
            "entry_point": "twice",
        },
        "def twice(xs):\n    return 2 * len(xs)",
    ),
    "mbpp": (
        {
            "task_id": 11,
            "text": "Write a function to square a number.",
            "code": "def square(x):\n    return x * x",
            "test_list": ["assert square(2) == 4", "assert square(3) == 9"],
            "test_setup_code": "",
            "challenge_test_list": [],
        },
        "def square(x):\n    return 2 * x",
    ),
    "mbpp-sanitized": (
        {
            "source_file": "a notebook",
            "task_id": 20,
            "prompt": "Write a python function to square a number.",
            "code": "def square(x):\n    return x * x",
            "test_imports": ["import math"],
            "test_list": ["assert math.isclose(square(2), 4)", "assert square(3) == 9"],
        },
        "def square(x):\n    return 2 * x",
    ),
    "livecodebench": (
        {
            "question_content": "Read a number and print the next one.",
            "question_id": "next",
            "contest_date": "2024-09-01T00:00:00",
            "difficulty": "easy",
            "starter_code": "",
            "metadata": "{}",
            "public_test_cases": json.dumps([{"input": "1\n", "output": "2\n", "testtype": "stdin"}]),
            "private_test_cases": json.dumps([{"input": "5\n", "output": "6\n", "testtype": "stdin"}]),
            "solutions": ["print(int(input()) + 1)"],
        },
        "print(2)",
    ),
}


@pytest.mark.parametrize("name", CORE)
def test_a_right_program_is_worth_one_and_a_wrong_one_nothing(name: str, judge: Judge, tmp_path: Path) -> None:
    row, wrong = CORE[name]
    file = tmp_path / "test.jsonl"
    file.write_text(json.dumps(row))
    benchmark = load_benchmark(name, file, Selection())
    assert isinstance(benchmark, Programming)
    (problem,) = benchmark.problems
    right = problem.references[0] if problem.references else row["solutions"][0]
    for code, share in ((right, 1.0), (wrong, 0.0)):
        scores = recite(benchmark, judge, {problem.problem_id: fenced(code)}, tmp_path / str(share))
        assert scores.overall.pass_at == {"pass@1": share}


def test_the_held_out_problems_are_all_solved_by_their_references(judge: Judge, tmp_path: Path) -> None:
    benchmark = load_benchmark("heldout", None, Selection(limit=220))
    scores = recite(benchmark, judge, references(benchmark), tmp_path)
    assert scores.overall.pass_at == {"pass@1": 1.0}
    assert (scores.overall.problems, scores.unjudged, scores.format) == (220, 0, 1.0)


def oracle_rows(name: str) -> list[dict[str, Any]]:
    with gzip.open(Path(FOLDER or "") / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def oracle_programs(name: str, chosen: Callable[[str], bool]) -> dict[str, str]:
    """For each problem the first program whose label is wanted."""
    found = {}
    for row in oracle_rows(name):
        programs = [one["code"] for one in row["solutions"] if chosen(one["verdict"])]
        if programs:
            found[row["id"]] = fenced(programs[0])
    return found


SANITIZED = "sanitized-mbpp.json"  # as MBPP's authors publish it: a list, 257 of whose 427 problems are test problems


def sanitized_rows() -> list[dict[str, Any]]:
    """MBPP's problems in the layout of the sanitized file, those of MBPP+, which are among the sanitized ones."""
    chosen = {row["id"].rpartition("/")[2] for row in oracle_rows("mbppplus")}
    rows = [(row["id"].rpartition("/")[2], row) for row in oracle_rows("mbpp")]
    return [
        {
            "source_file": "",
            "task_id": int(number),
            "prompt": row["prompt"],
            "code": row["solutions"][0]["code"],
            "test_imports": [],
            "test_list": row["tests"]["test_list"],
        }
        for number, row in rows
        if number in chosen
    ]


class TestAgainstTheOracle:
    pytestmark = needs_oracle

    @pytest.mark.parametrize(("name", "size"), [("humaneval", 164), ("mbpp", 500)])
    def test_canonical_solutions_are_worth_exactly_one(
        self, name: str, size: int, patient_judge: Judge, tmp_path: Path
    ) -> None:
        benchmark = load_benchmark(name, Path(FOLDER or "") / f"{name}.jsonl.gz", Selection())
        programs = oracle_programs(name, lambda label: label == "accepted")
        scores = recite(benchmark, patient_judge, programs, tmp_path)
        assert (scores.overall.problems, scores.overall.samples, scores.unjudged) == (size, size, 0)
        assert [name for name, one in scores.problems.items() if not one.accepted] == []
        assert scores.overall.pass_at == {"pass@1": 1.0}

    def test_planted_bugs_are_worth_exactly_nothing(self, patient_judge: Judge, tmp_path: Path) -> None:
        benchmark = load_benchmark("humaneval", Path(FOLDER or "") / "humaneval.jsonl.gz", Selection())
        programs = oracle_programs("humaneval", lambda label: label != "accepted")
        scores = recite(benchmark, patient_judge, programs, tmp_path)
        assert (scores.overall.problems, scores.unjudged) == (164, 0)
        assert [name for name, one in scores.problems.items() if one.accepted] == []
        assert scores.overall.pass_at == {"pass@1": 0.0}

    def test_a_program_for_another_problem_is_worth_nothing(self, patient_judge: Judge, tmp_path: Path) -> None:
        benchmark = load_benchmark("mbpp", Path(FOLDER or "") / "mbpp.jsonl.gz", Selection())
        programs = {name: fenced("def nothing_of_the_kind():\n    return None") for name in references(benchmark)}
        scores = recite(benchmark, patient_judge, programs, tmp_path)
        assert scores.overall.pass_at == {"pass@1": 0.0}

    def test_rows_of_the_sanitized_layout_are_worth_exactly_one(self, patient_judge: Judge, tmp_path: Path) -> None:
        file = tmp_path / "rows.jsonl"
        file.write_text("\n".join(map(json.dumps, sanitized_rows())))
        self.check_sanitized(file, 223, patient_judge, tmp_path)

    @pytest.mark.skipif(not (Path(FOLDER or "") / SANITIZED).is_file(), reason=f"{SANITIZED} is not in that folder")
    def test_the_sanitized_file_is_worth_exactly_one(self, patient_judge: Judge, tmp_path: Path) -> None:
        self.check_sanitized(Path(FOLDER or "") / SANITIZED, 257, patient_judge, tmp_path)

    def check_sanitized(self, file: Path, size: int, judge: Judge, folder: Path) -> None:
        """Its references give exactly 1, each with the reference of another problem exactly 0."""
        benchmark = load_benchmark("mbpp-sanitized", file, Selection())
        right = references(benchmark)
        wrong = dict(zip(right, [*list(right.values())[1:], fenced("pass")], strict=True))
        scores = recite(benchmark, judge, right, folder / "right")
        assert [name for name, one in scores.problems.items() if not one.accepted] == []
        assert (len(benchmark), scores.overall.pass_at, scores.unjudged) == (size, {"pass@1": 1.0}, 0)
        assert recite(benchmark, judge, wrong, folder / "wrong").overall.pass_at == {"pass@1": 0.0}

    def test_numbers_are_graded_as_they_are_labelled(self) -> None:
        disagreements = []
        for row in oracle_rows("gsm8k_test"):
            problem = read_number_problem(row, row["id"])
            for one in row["solutions"]:
                right = grade_number(one["code"], problem.answer).verdict is Verdict.ACCEPTED
                if right != (one["verdict"] == "accepted"):
                    disagreements.append((row["id"], one["origin"], one["code"][-80:]))
        assert disagreements == []

    def test_gold_answers_are_worth_exactly_one(self, patient_judge: Judge, tmp_path: Path) -> None:
        benchmark = load_benchmark("gsm8k", Path(FOLDER or "") / "gsm8k_test.jsonl.gz", Selection())
        gold = {row["id"]: row["solutions"][0]["code"] for row in oracle_rows("gsm8k_test")}
        scores = recite(benchmark, patient_judge, gold, tmp_path)
        assert (scores.overall.problems, scores.format) == (1319, 1.0)
        assert scores.overall.pass_at == {"pass@1": 1.0}
