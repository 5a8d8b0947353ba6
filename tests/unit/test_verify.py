"""`verify` as a program and as a person meet it: what it reads, what it writes, how it goes on, when it refuses."""

from __future__ import annotations

import fcntl
import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rich.console import Console
from typer.testing import CliRunner

from code_rlvr import Problem, Tests
from code_rlvr.cli import app
from code_rlvr.data.parquet import write_parquet
from code_rlvr.errors import Unjudged, UsageError
from code_rlvr.types import CaseJudgement, Judgement, Limits, Verdict
from code_rlvr.verify.inputs import read_problems, read_solutions
from code_rlvr.verify.run import VerifySettings, verify
from code_rlvr.verify.summary import Summary

DOUBLE = {"inputs": ["2\n", "5\n"], "outputs": ["4\n", "10\n"]}
RIGHT = "print(2 * int(input()))"
HALF = "input(); print(4)"
SQUARE = {"fn_name": "square", "inputs": [[3]], "outputs": [9]}
QUIET = Console(file=io.StringIO())
PROBLEMS = [{"problem_id": "double", "ground_truth": json.dumps(DOUBLE)}, {"id": 7, **SQUARE}]


def write(file: Path, rows: list[Any]) -> Path:
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return file


def lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def code(problem_id: str | int, text: str, **more: Any) -> dict[str, Any]:
    return {"problem_id": problem_id, "code": text, **more}


class FakeJudge:
    """Says what a program's text asks for: a verdict, a fault, or an interrupt; keeps what it was given."""

    seen: list[str | None] = []  # noqa: RUF012  reset by the fixture

    def __init__(self, workers: int | None, limits: Limits, **_: Any) -> None: ...

    def __enter__(self) -> FakeJudge:
        return self

    def __exit__(self, *_: object) -> None: ...

    def judge(self, code: str | None, tests: Tests) -> None: ...

    def judge_many(self, items: Any, **_: Any) -> Iterator[Judgement | Unjudged]:
        for text, _tests in items:
            self.seen.append(text)
            if text == "interrupt":
                raise KeyboardInterrupt
            if text == "fault":
                yield Unjudged("the guard died")
            else:
                verdict = Verdict(text or "NO_CODE")
                yield Judgement(verdict, (CaseJudgement(verdict, 0.01, 0.02, 9.0),), 1, 0.1)


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> type[FakeJudge]:
    monkeypatch.setattr("code_rlvr.verify.run.Judge", FakeJudge)
    FakeJudge.seen = []
    return FakeJudge


@pytest.fixture
def check(tmp_path: Path) -> Callable[..., Summary]:
    """Verify rows of solutions against PROBLEMS, or rows given as problems."""

    def run(solutions: list[Any], problems: list[Any] = PROBLEMS, **settings: Any) -> Summary:
        files = write(tmp_path / "problems.jsonl", problems), write(tmp_path / "solutions.jsonl", solutions)
        return verify(*files, VerifySettings(**{"limits": Limits(cpu_s=2), "workers": 2, **settings}), QUIET)

    return run


def test_right_and_wrong_programs_get_their_verdicts_one_a_line(check: Callable[..., Summary], tmp_path: Path) -> None:
    out = tmp_path / "verdicts.jsonl"
    answer = f"Here it is:\n```python\n{RIGHT}\n```\n"
    summary = check(
        [{"problem_id": "double", "response": answer}, code("double", HALF), code(7, "def square(x): return x / 0")],
        out=out,
    )
    first, second, third = lines(out)
    assert (first["problem_id"], first["index"], first["verdict"], first["format"]) == ("double", 0, "ACCEPTED", 1.0)
    assert (second["index"], second["verdict"], second["test_pass_rate"], second["format"]) == (
        1,
        "WRONG_ANSWER",
        0.5,
        None,
    )
    assert (third["problem_id"], third["index"], third["verdict"]) == ("7", 0, "RUNTIME_ERROR")
    assert "ZeroDivisionError" in third["cases"][0]["stderr"]
    assert {"verdict", "cpu_s", "wall_s", "memory_mib", "stderr"} == third["cases"][0].keys()
    assert (summary.all.accepted, summary.all.judged, summary.tests_run, summary.exit_code) == (1, 3, 5, 0)


def test_parquet_gives_the_same_problems_as_jsonl(tmp_path: Path) -> None:
    tests = Tests.parse(DOUBLE)
    write_parquet(tmp_path / "p", [Problem("double", "Double it.", tests, "mine")], split="train")
    (problem,) = read_problems(tmp_path / "p").values()
    assert (problem.problem_id, problem.tests, problem.data_source) == ("double", tests, "mine")


@pytest.mark.parametrize(
    "row",
    [
        {"ground_truth": DOUBLE},
        {"ground_truth": json.dumps(DOUBLE)},
        {"tests": DOUBLE},
        {"reward_model": {"style": "rule", "ground_truth": json.dumps(DOUBLE)}, "prompt": []},
        {**DOUBLE, "prompt": "Double it."},
    ],
)
def test_every_place_for_tests_is_read(row: dict[str, Any], tmp_path: Path) -> None:
    problems = read_problems(write(tmp_path / "p", [{"problem_id": "a", **row, "time_limit_s": 3}]))
    assert problems["a"].tests == Tests.parse({**DOUBLE, "time_limit_s": 3})


@pytest.mark.parametrize("key", ["problem_id", "id", "task_id", "question_id"])
def test_an_id_is_under_the_keys_that_prepare_reads(key: str, tmp_path: Path) -> None:
    assert list(read_problems(write(tmp_path / "p", [{key: "a/1", **DOUBLE}]))) == ["a/1"]


def test_a_function_named_in_the_row_is_called(check: Callable[..., Summary]) -> None:
    row = {"task_id": "a", "fn_name": "f", "tests": [{"input": "1", "output": "2"}]}
    right, wrong = code("a", "def f(n): return 2 * n"), code("a", "def f(n): return n")
    summary = check([{**right, "verdict": "accepted"}, {**wrong, "verdict": "wrong answer"}], [row])
    assert summary.contradictions == []


def test_assertions_as_text_or_list_are_read(tmp_path: Path) -> None:
    asserts = ["assert f(1) == 2"]
    rows = [{"id": 1, "tests": asserts}, {"id": 2, "tests": asserts[0]}, {"id": 3, "assert_case": asserts}]
    assert [p.tests.asserts for p in read_problems(write(tmp_path / "p", rows)).values()] == [tuple(asserts)] * 3


def test_a_fault_is_counted_apart_and_judged_again_by_the_next_call(
    fake: type[FakeJudge], check: Callable[..., Summary], tmp_path: Path
) -> None:
    out = tmp_path / "v"
    solutions = [code("double", "WRONG_ANSWER"), code("double", "fault")]
    summary = check(solutions, out=out)
    assert lines(out)[1] == {**lines(out)[1], "verdict": None, "fault": "the guard died"}
    assert (summary.all.judged, summary.all.unjudged, summary.exit_code) == (1, 1, 1)
    fake.seen = []
    assert check(solutions, out=out).kept == 1
    assert fake.seen == ["fault"]
    assert [line["verdict"] for line in lines(out)] == ["WRONG_ANSWER", None]


def test_a_second_call_goes_on_behind_a_torn_line(
    fake: type[FakeJudge], check: Callable[..., Summary], tmp_path: Path
) -> None:
    out = tmp_path / "v"
    solutions = [code("double", "ACCEPTED"), code("double", "WRONG_ANSWER"), code(7, "ACCEPTED")]
    check(solutions, out=out)
    whole = out.read_bytes()
    out.write_bytes(whole[:-20])
    fake.seen = []
    summary = check(solutions, out=out)
    assert fake.seen == ["ACCEPTED"]
    assert (summary.kept, summary.all.accepted, summary.all.judged) == (2, 2, 3)
    assert out.read_bytes() == whole


def test_an_interrupt_leaves_whole_lines_and_the_same_command_goes_on(
    fake: type[FakeJudge], check: Callable[..., Summary], tmp_path: Path
) -> None:
    out = tmp_path / "v"
    before = signal.getsignal(signal.SIGINT)
    try:
        with pytest.raises(KeyboardInterrupt):
            check([code("double", "ACCEPTED"), code("double", "interrupt")], out=out)
    finally:
        signal.signal(signal.SIGINT, before)
    assert [line["verdict"] for line in lines(out)] == ["ACCEPTED"]
    assert check([code("double", "ACCEPTED"), code("double", "NO_CODE")], out=out).kept == 1


@pytest.mark.usefixtures("fake")
def test_verdicts_of_other_programs_tests_or_limits_are_never_mixed_in(
    check: Callable[..., Summary], tmp_path: Path
) -> None:
    out = tmp_path / "v"
    check([code("double", "ACCEPTED")], out=out)
    before = out.read_bytes()
    for changed in (
        {"solutions": [code("double", "WRONG_ANSWER")]},
        {"max_tests": 1},
        {"limits": Limits(cpu_s=1)},
        {"problems": [{"id": "double", "inputs": ["1"], "outputs": ["2"]}]},
    ):
        with pytest.raises(UsageError, match="1 of its 1 verdicts are of other"):
            check(**{"solutions": [code("double", "ACCEPTED")], **changed}, out=out)
    assert out.read_bytes() == before
    check([code("double", "WRONG_ANSWER")], out=out, overwrite=True)
    assert [line["verdict"] for line in lines(out)] == ["WRONG_ANSWER"]


@pytest.mark.usefixtures("fake")
def test_labels_are_compared_and_a_contradiction_fails(check: Callable[..., Summary]) -> None:
    agreeing = [
        code("double", "ACCEPTED", verdict="accepted"),
        code("double", "TIME_LIMIT_EXCEEDED", verdict="Wrong answer"),
        code("double", "RUNTIME_ERROR", verdict="run_time_error"),
        code("double", "ACCEPTED"),
    ]
    assert check(agreeing).exit_code == 0
    summary = check([*agreeing, code(7, "ACCEPTED", verdict="wrong-answer"), code(7, "NO_CODE", verdict="ACCEPTED")])
    assert summary.exit_code == 1
    assert [(c["index"], c["label"], c["verdict"]) for c in summary.contradictions] == [
        (0, "WRONG_ANSWER", "ACCEPTED"),
        (1, "ACCEPTED", "NO_CODE"),
    ]
    assert summary.labels["WRONG_ANSWER"] == {"TIME_LIMIT_EXCEEDED": 1, "ACCEPTED": 1}


@pytest.mark.usefixtures("fake")
def test_solutions_are_read_no_further_than_the_judge_needs(
    monkeypatch: pytest.MonkeyPatch, check: Callable[..., Summary]
) -> None:
    ahead = []

    def watched(file: Path) -> Iterator[Any]:
        for number, solution in enumerate(read_solutions(file)):
            ahead.append(number - len(FakeJudge.seen))
            yield solution

    monkeypatch.setattr("code_rlvr.verify.run.read_solutions", watched)
    check([code("double", "ACCEPTED")] * 50)
    assert max(ahead[50:]) == 0  # the first 50 are the check before anything is judged


BAD_SOLUTIONS: list[tuple[list[Any], str]] = [
    ([], "holds no solution"),
    ([{"code": "x"}], "solutions.jsonl:1: problem_id is missing"),
    ([code("double", RIGHT), {"problem_id": "double"}], "solutions.jsonl:2 has neither response nor code"),
    ([code("double", RIGHT, response="x")], "has both response and code"),
    ([{"problem_id": "double", "code": 3}], "code has to be a text, not int"),
    (
        [code(name, RIGHT) for name in "abcda"],
        "5 of the solutions name a problem that is not in .*: a, b, c and 1 more",
    ),
    ([code("double", RIGHT, verdict="perfect")], "verdict 'perfect' is no known label"),
    (["text"], "solutions.jsonl:1 is a JSON str"),
]


@pytest.mark.usefixtures("fake")
@pytest.mark.parametrize(("solutions", "message"), BAD_SOLUTIONS)
def test_bad_solutions_are_refused_with_the_place(
    check: Callable[..., Summary], solutions: list[Any], message: str, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match=message):
        check(solutions, out=tmp_path / "v")
    assert FakeJudge.seen == []
    assert not (tmp_path / "v").exists()


BAD_PROBLEMS: list[tuple[list[Any], str]] = [
    ([], "holds no problem"),
    ([{**DOUBLE}], "problems.jsonl:1: problem_id is missing"),
    ([PROBLEMS[0], PROBLEMS[0]], "more than once: double; each problem"),
    ([{"id": 1, "prompt": "x"}], "holds no tests: tests are read from ground_truth, tests, .*this row has id, prompt"),
    ([{"id": 1, "ground_truth": None}], "holds no tests: no tests in ground_truth"),
    ([{"id": 1, **DOUBLE, "checker": "check.cpp"}], "problem 1: checker: check.cpp: checkers are not supported"),
    ([{"id": 1, "ground_truth": "{"}], "is not JSON"),
    ([{"id": 1, "inputs": ["1"], "outputs": []}], "problems.jsonl:1: problem 1: outputs: is empty"),
    ([{"id": i, "inputs": [], "outputs": []} for i in range(9)], "and 6 more problems"),
    ([{"id": "", **DOUBLE}], "problem_id is ''|id is ''"),
    ([{"id": 1, "asserts": "assert True == True"}], "no assertion calls"),
]


@pytest.mark.parametrize(("problems", "message"), BAD_PROBLEMS)
def test_bad_problems_are_refused_with_the_place(
    check: Callable[..., Summary], problems: list[Any], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        check([code("double", RIGHT)], problems)


def test_files_that_are_not_what_they_should_be_are_refused(tmp_path: Path) -> None:
    (tmp_path / "lines").write_bytes(b'{"id": 1}\n\xff\xfe\n')
    (tmp_path / "torn.parquet").write_bytes(b"PAR1 and then nothing")
    (tmp_path / "text.parquet").write_bytes(b"{}\n")
    (tmp_path / "table.csv").write_bytes(b"id,tests\n")
    (tmp_path / "list.json").write_text('[\n{"id": 1}\n]\n', encoding="utf-8-sig")
    pq.write_table(pa.table({"prompt": ["x"], "answer": ["y"]}), tmp_path / "columns.parquet")
    same = [{"reward_model": {"ground_truth": json.dumps(DOUBLE)}, "extra_info": {"index": 0}}] * 2
    pq.write_table(pa.Table.from_pylist(same), tmp_path / "ids.parquet")
    for name, message in {
        "absent": "No such file",
        ".": "holds neither train.parquet nor validation.parquet",
        "lines": "holds no tests|is not JSON",
        "torn.parquet": "cannot read",
        "text.parquet": "not a parquet file",
        "table.csv": "CSV is not read; write each row as one JSON object a line",
        "list.json": "list.json:1 is not JSON: .*; each line has to be one JSON object, not a list",
        "columns.parquet": "has no column reward_model and no column extra_info, only prompt, answer",
        "ids.parquet": "more than once",
    }.items():
        with pytest.raises(UsageError, match=message):
            read_problems(tmp_path / name)


@pytest.mark.usefixtures("fake")
def test_an_out_that_would_destroy_something_is_refused(check: Callable[..., Summary], tmp_path: Path) -> None:
    solutions = [code("double", "ACCEPTED")]
    for out, message in {
        tmp_path / "solutions.jsonl": "is one of the files to be read",
        tmp_path / "absent" / "v": "there is no folder",
        tmp_path: "is not a file",
        write(tmp_path / "notes", [{"a": 1}]): "notes:1 is not a verdict",
    }.items():
        with pytest.raises(UsageError, match=message):
            check(solutions, out=out)
    with pytest.raises(UsageError, match="--out names none"):
        check(solutions, overwrite=True)
    with (tmp_path / "busy").open("w") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with pytest.raises(UsageError, match="written by another process"):
            check(solutions, out=tmp_path / "busy")


@pytest.fixture
def invoke(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    monkeypatch.setattr("code_rlvr.verify.run.Judge", FakeJudge)
    problems = write(tmp_path / "p", [{**row, "data_source": f"source-{i}"} for i, row in enumerate(PROBLEMS)])

    def run(solutions: list[Any], *words: str) -> Any:
        return CliRunner().invoke(app, ["verify", str(problems), str(write(tmp_path / "s", solutions)), *words])

    return run


def test_json_is_all_that_standard_output_holds(invoke: Callable[..., Any]) -> None:
    shown = invoke([code("double", "ACCEPTED"), code(7, "fault")], "--json")
    found = json.loads(shown.stdout)
    assert shown.exit_code == 1
    assert (found["judged"], found["unjudged"], found["accepted_share"]) == (1, 1, 1.0)
    assert found["first_fault"] == "the guard died"
    assert found["by_data_source"]["source-1"]["accepted_share"] is None


def test_tables_name_verdicts_sources_and_contradictions(invoke: Callable[..., Any]) -> None:
    shown = invoke(
        [code("double", "ACCEPTED", verdict="wrong answer"), code(7, "TIME_LIMIT_EXCEEDED"), code(7, "fault")]
    )
    assert shown.exit_code == 1
    for words in ("time limit exceeded", "source-0", "50.0%", "1 unjudged", "labelled wrong answer, judged accepted"):
        assert words in shown.stdout


def test_limits_that_make_no_sense_are_refused_before_anything_is_read(invoke: Callable[..., Any]) -> None:
    shown = invoke([code("double", "ACCEPTED")], "--cpu-s", "0")
    assert "limits.cpu_s" in str(shown.exception)


@pytest.mark.timeout(120)
def test_ctrl_c_says_how_to_go_on(tmp_path: Path) -> None:
    problems = write(tmp_path / "p", PROBLEMS)
    solutions = write(tmp_path / "s", [code("double", RIGHT), *[code("double", "import time; time.sleep(2)")] * 50])
    out = tmp_path / "v"
    words = ["verify", str(problems), str(solutions), "--out", str(out), "--workers", "1"]
    command = [sys.executable, "-c", "from code_rlvr.cli import main; main()", *words]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env={**os.environ}) as process:
        deadline = time.monotonic() + 60
        while not (out.exists() and out.stat().st_size) and time.monotonic() < deadline:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "the same command goes on where it stopped" in said
    assert lines(out)[0]["verdict"] == "ACCEPTED"


@pytest.mark.timeout(120)
def test_the_example_of_the_manual_judges_as_labelled() -> None:
    folder = Path(__file__).parents[2] / "examples" / "verify"
    shown = CliRunner().invoke(
        app, ["verify", str(folder / "problems.jsonl"), str(folder / "solutions.jsonl"), "--json"]
    )
    assert shown.exit_code == 0, (shown.output, shown.exception)
    found = json.loads(shown.stdout)["verdicts"]
    assert found == {"ACCEPTED": 3, "WRONG_ANSWER": 1, "TIME_LIMIT_EXCEEDED": 1, "NO_CODE": 1}
