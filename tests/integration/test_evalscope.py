"""The real EvalScope asks, and our sandbox judges: right answers score 1, others 0, and nothing of them does harm.

`CODE_RLVR_EVALSCOPE_PYTHON` names the interpreter of an environment with EvalScope and code-rlvr; this one if unset.
`CODE_RLVR_ORACLE` names a folder of problems with known verdicts.
"""

from __future__ import annotations

import ast
import gzip
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from fractions import Fraction
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from rich.console import Console

from code_rlvr.data.sources.statements import with_starter_code
from code_rlvr.data.starter import imperfect_corpus
from code_rlvr.errors import ConfigError, PreflightError
from code_rlvr.evaluate.benchmark import Benchmark, Numbers, Programming
from code_rlvr.evaluate.benchmarks import Selection, load_benchmark
from code_rlvr.evaluate.evalscope.job import Job, Judging, Piece
from code_rlvr.evaluate.evalscope.models import knows_system_role
from code_rlvr.evaluate.evalscope.process import require_evalscope, run_job
from code_rlvr.evaluate.evalscope.results import Expected, read_records, read_report
from code_rlvr.evaluate.evalscope.rows import make_rows
from code_rlvr.evaluate.evalscope.run import run_evalscope
from code_rlvr.evaluate.gsm8k import NumberProblem
from code_rlvr.evaluate.run import EvalRequest
from code_rlvr.evaluate.scores import SampleRecord
from code_rlvr.ground_truth import Tests
from code_rlvr.train.warmstart import WarmStartSettings, warm_start
from code_rlvr.types import Limits, Problem, Verdict

PYTHON = Path(os.environ.get("CODE_RLVR_EVALSCOPE_PYTHON", sys.executable))
ORACLE = os.environ.get("CODE_RLVR_ORACLE")


def why_not() -> str:
    try:
        require_evalscope(PYTHON)
    except PreflightError as error:
        return str(error)
    return ""


pytestmark = [pytest.mark.skipif(bool(why_not()), reason=why_not()), pytest.mark.slow, pytest.mark.timeout(500)]


class Author(BaseHTTPRequestHandler):
    """An OpenAI-compatible server that knows an answer to each question, in turn for one asked again."""

    answers: dict[str, list[str]]

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        asked = "\n".join(str(message["content"]) for message in body["messages"])
        known = max((text for text in self.answers if text in asked), key=len)
        answer = self.answers[known].pop(0)
        choice = {"index": 0, "message": {"role": "assistant", "content": answer}, "finish_reason": "stop"}
        usage = {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}
        told = {"id": "1", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice], "usage": usage}
        content = json.dumps(told).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def url(request: pytest.FixtureRequest) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Author)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    server.server_close()


def a_job(folder: Path, url: str, pieces: tuple[Piece, ...], samples: int = 1) -> Job:
    return Job(
        model="m",
        api_url=url,
        pieces=pieces,
        samples=samples,
        temperature=0 if samples == 1 else 1,
        top_p=1,
        max_new_tokens=512,
        seed=0,
        batch=4,
        judging=Judging.of(workers=2, limits=Limits(cpu_s=2)),
        failure=folder / "failure.json",
    )


def evaluate(folder: Path, url: str, name: str, benchmark: Benchmark, samples: int = 1) -> list[SampleRecord]:
    rows = make_rows(name, benchmark)  # type: ignore[arg-type]
    piece = Piece(benchmark=name, rows=folder / "rows.jsonl", folder=folder / "work")  # type: ignore[arg-type]
    rows.write(piece.rows)
    job = a_job(folder, url, (piece,), samples)
    run_job(job, folder / "job.json", PYTHON, folder / "log.txt", lambda done: None)
    expected = Expected(rows.problem_ids, dict.fromkeys(rows.problem_ids, name), samples, 0, "f", batch=1)
    records = read_records(piece, expected)
    read_report(piece, records)  # its number is that of the samples, or it is refused
    return records


def fence(code: str) -> str:
    return f"Here it is:\n```python\n{code}\n```\nIt works."


# HumanEval


def functions(count: int) -> Programming:
    problems = [
        Problem(
            f"h/{i}",
            f'def give_{i}() -> int:\n    """Give {i}."""\n',
            Tests.assertions([f"def check(candidate):\n    assert candidate() == {i}"], entry_point=f"give_{i}"),
            "humaneval",
        )
        for i in range(count)
    ]
    return Programming("humaneval", tuple(problems), {}, {})


FORGED = """
import os, sys
frame = sys._getframe()
while frame:
    if "result" in frame.f_locals and hasattr(frame.f_locals["result"], "append"):
        frame.f_locals["result"].append("passed")
        os._exit(0)
    frame = frame.f_back
"""


def test_what_programs_do_is_judged_and_does_no_harm(url, tmp_path):
    mark = tmp_path / "written"
    programs = [
        ("def give_0():\n    return 0", Verdict.ACCEPTED),
        ("    return 1", Verdict.ACCEPTED),  # a body, as HumanEval's completions are
        ("def give_2():\n    return 7", Verdict.WRONG_ANSWER),
        ("def give_3():\n    while True: pass", Verdict.TIME_LIMIT_EXCEEDED),
        ("import os\nos._exit(0)", None),
        (f"def give_5():\n    open({str(mark)!r}, 'w').write('x')\n    return 5", None),
        (FORGED, None),  # what EvalScope's own check takes for right
        ("class Any(int):\n    def __eq__(self, other): return True\ndef give_7(): return Any()", None),
        ("def give_8(:", Verdict.COMPILE_ERROR),
    ]
    benchmark = functions(len(programs))
    Author.answers = {
        problem.statement: [fence(code)] for problem, (code, _) in zip(benchmark.problems, programs, strict=True)
    }
    records = evaluate(tmp_path, url, "humaneval", benchmark)
    for record, (code, verdict) in zip(records, programs, strict=True):
        assert record.verdict is not None, record.fault
        assert (record.verdict is Verdict.ACCEPTED) == (verdict is Verdict.ACCEPTED), code
        assert verdict in (None, record.verdict), code
    assert not mark.exists()


def test_several_samples_of_a_problem_stay_with_it(url, tmp_path):
    benchmark = functions(2)
    right, wrong = "def give_{0}(): return {0}", "def give_{0}(): return 9"
    Author.answers = {
        benchmark.problems[0].statement: [fence(right.format(0)), fence(right.format(0)), fence(wrong.format(0))],
        benchmark.problems[1].statement: [fence(wrong.format(1)), fence(wrong.format(1)), fence(wrong.format(1))],
    }
    records = evaluate(tmp_path, url, "humaneval", benchmark, samples=3)
    assert [record.sample for record in records] == [0, 1, 2] * 2
    assert sum(record.verdict is Verdict.ACCEPTED for record in records[:3]) == 2
    assert all(record.verdict is Verdict.WRONG_ANSWER for record in records[3:])


@pytest.mark.skipif(not ORACLE, reason="CODE_RLVR_ORACLE names no folder of problems with known verdicts")
def test_canonical_solutions_of_humaneval_score_one_and_its_bugs_zero(url, tmp_path):
    file = Path(ORACLE or "") / "humaneval.jsonl.gz"
    benchmark = load_benchmark("humaneval", file, Selection())
    assert isinstance(benchmark, Programming)
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        known = {row["id"]: row["solutions"] for row in map(json.loads, lines)}
    for right in (True, False):
        code = {
            name: next(one["code"] for one in given if (one["verdict"] == "accepted") == right)
            for name, given in known.items()
        }
        Author.answers = {one.statement: [fence(code[one.problem_id])] for one in benchmark.problems}
        (tmp_path / str(right)).mkdir()
        records = evaluate(tmp_path / str(right), url, "humaneval", benchmark)
        assert len(records) == 164
        assert [record.verdict is Verdict.ACCEPTED for record in records] == [right] * 164


# LiveCodeBench and GSM8K


def test_live_code_bench_is_judged_by_input_and_by_call(url, tmp_path):
    starter = with_starter_code("Sum two numbers.", "class Solution:\n    def add(self, a: int, b: int) -> int:")
    problems = (
        Problem("l/0", "Double a number.", Tests.stdio(["1\n", "4\n"], ["2\n", "8\n"]), "livecodebench"),
        Problem("l/1", "Halve a number.", Tests.stdio(["2\n"], ["1\n"]), "livecodebench"),
        Problem("l/2", starter, Tests.call("add", [[1, 2], [3, 4]], [3, 7]), "livecodebench"),
        Problem("l/3", "Say nothing.", Tests.stdio(["\n"], ["\n"]), "livecodebench"),
    )
    Author.answers = {
        "Double a number.": [fence("print(int(input()) * 2)")],
        "Halve a number.": [fence("print(input())")],
        "Sum two numbers.": [fence("class Solution:\n    def add(self, a, b):\n        return a + b")],
        "Say nothing.": ["I would not know."],
    }
    records = evaluate(tmp_path, url, "live_code_bench", Programming("livecodebench", problems, {}, {}))
    assert [record.verdict for record in records] == [
        Verdict.ACCEPTED,
        Verdict.WRONG_ANSWER,
        Verdict.ACCEPTED,
        Verdict.NO_CODE,
    ]
    assert "class Solution" in (tmp_path / "work/predictions/model/code_rlvr_live_code_bench_default.jsonl").read_text()


def test_gsm8k_is_scored_by_evalscope(url, tmp_path):
    problems = tuple(NumberProblem(f"g/{i}", f"How many, {i}?", Fraction(1200 + i)) for i in range(3))
    Author.answers = {
        "How many, 0?": ["It is \\boxed{1,200}."],
        "How many, 1?": ["It is \\boxed{7}."],
        "How many, 2?": ["I do not know."],
    }
    records = evaluate(tmp_path, url, "gsm8k", Numbers("gsm8k", problems, {}))
    assert [record.verdict is Verdict.ACCEPTED for record in records] == [True, False, False]


# Faults

FAULT = """
from types import SimpleNamespace
from code_rlvr.errors import Unjudged
from code_rlvr.evaluate.evalscope.adapters import JudgedHumanEval, register_benchmarks
from evalscope.api.registry import get_benchmark
class Broken:
    def judge(self, code, tests):
        raise Unjudged("the sandbox broke")
register_benchmarks(Broken())
known = {"problem_id": "h/0", "prompt": "", "ground_truth": '{"inputs": [""], "outputs": [""]}'}
score = get_benchmark("code_rlvr_humaneval").match_score("a", "a", "", SimpleNamespace(metadata=known))
print(score.value, score.status.is_usable, score.metadata["fault"])
"""


def test_a_fault_of_the_judge_is_left_out_of_evalscopes_figures_too():
    told = subprocess.run([PYTHON, "-c", FAULT], capture_output=True, text=True, check=True).stdout
    assert told.strip() == "{} False the sandbox broke"


SYSTEM = """
from pathlib import Path
from code_rlvr.evaluate.evalscope.adapters import register_benchmarks
from code_rlvr.evaluate.evalscope.job import Job
from code_rlvr.evaluate.evalscope.worker import task_settings
register_benchmarks(None)
job = Job.model_validate_json(Path({job!r}).read_bytes())
print([task_settings(job, piece)["dataset_args"]["code_rlvr_" + piece.benchmark] for piece in job.pieces])
"""


def test_without_a_system_role_the_system_message_goes_ahead_of_the_users(tmp_path):
    names = ("live_code_bench", "humaneval")
    pieces = tuple(Piece(benchmark=name, rows=tmp_path, folder=tmp_path) for name in names)  # type: ignore[arg-type]
    job = a_job(tmp_path, "http://127.0.0.1:9/v1", pieces).model_copy(update={"system_role": False})
    (tmp_path / "job.json").write_text(job.model_dump_json())
    script = SYSTEM.format(job=str(tmp_path / "job.json"))
    told = subprocess.run([PYTHON, "-c", script], capture_output=True, text=True, check=True).stdout
    contest, function = ast.literal_eval(told)
    assert contest["system_prompt"] is None
    assert contest["prompt_template"].startswith("You are an expert Python programmer")
    assert "{question_content}" in contest["prompt_template"]
    assert "prompt_template" not in function


def test_a_judge_that_cannot_be_set_up_ends_it_with_its_own_message(tmp_path):
    judging = Judging.of(python=tmp_path / "missing")
    job = a_job(tmp_path, "http://127.0.0.1:9/v1", ()).model_copy(update={"judging": judging})
    with pytest.raises(ConfigError, match="missing"):
        run_job(job, tmp_path / "job.json", PYTHON, tmp_path / "log.txt", lambda done: None)


# A model, before and after, without any network

HOOK = """
import sys
def watch(event, arguments, log={log!r}):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.sendto"):
        with open(log, "a") as stream:
            stream.write(f"{{event}} {{arguments[1:]}}\\n")
sys.addaudithook(watch)
"""


def plain_rows(file: Path) -> Path:
    rows = [
        {
            "id": f"h/{i}",
            "prompt": one.statement,
            "tests": {"asserts": one.tests.asserts[0], "entry_point": f"give_{i}"},
        }
        for i, one in enumerate(functions(8).problems)
    ]
    file.write_text("".join(json.dumps({**row, "kind": "assert"}) + "\n" for row in rows))
    return file


def test_a_tiny_model_is_evaluated_before_and_after_and_nothing_is_connected_to(tmp_path, monkeypatch):
    settings = WarmStartSettings(hidden_size=32, layers=1, heads=2, intermediate_size=64, steps=2, threads=1)
    for name in ("before", "after"):
        warm_start(tmp_path / name, imperfect_corpus(0, 50), settings)
    assert not knows_system_role(tmp_path / "before")
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    (hooks / "sitecustomize.py").write_text(HOOK.format(log=str(tmp_path / "connections")))
    monkeypatch.setenv("PYTHONPATH", str(hooks))
    connections = tmp_path / "connections"
    subprocess.run([PYTHON, "-c", "import socket; socket.socket().connect_ex(('127.0.0.1', 9))"], check=True)
    assert "socket.connect" in connections.read_text()  # or the hook would see nothing
    connections.unlink()
    request = EvalRequest(
        str(tmp_path / "after"),
        baseline=str(tmp_path / "before"),
        on=(f"humaneval={plain_rows(tmp_path / 'rows.jsonl')}",),
        selection=Selection(limit=5),
        engine="transformers",
        max_new_tokens=16,
        out=tmp_path / "out",
    )
    folder, (result,) = run_evalscope(request, PYTHON, Console(quiet=True))
    assert result.comparison is not None
    assert result.comparison.overall.problems == 5
    assert result.after.benchmark["evalscope mean accuracy"] == f"{result.after.overall.pass_at['pass@1']:.4f}"
    assert (folder / "before/evalscope-humaneval_greedy.json").is_file()
    assert not connections.exists(), connections.read_text()
    # All is there: the same command asks nobody again.
    monkeypatch.setattr("code_rlvr.evaluate.evalscope.run.run_job", lambda *given: pytest.fail("asked again"))
    assert run_evalscope(request, PYTHON, Console(quiet=True))[1][0].after == result.after
