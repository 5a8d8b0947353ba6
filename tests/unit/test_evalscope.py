"""EvalScope's rows and results are told from others', and its end is told in one message; none of it is needed here."""

from __future__ import annotations

import json
import sys
from fractions import Fraction
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

from code_rlvr.data.sources.statements import with_starter_code
from code_rlvr.errors import ConfigError, DataError, JudgeFault, ModelError, PreflightError
from code_rlvr.evaluate.benchmark import Numbers, Programming
from code_rlvr.evaluate.evalscope import PINNED_EVALSCOPE, served
from code_rlvr.evaluate.evalscope.job import Job, Judging, Piece
from code_rlvr.evaluate.evalscope.models import knows_system_role, require_plain_model
from code_rlvr.evaluate.evalscope.process import last_words, require_evalscope, run_job
from code_rlvr.evaluate.evalscope.results import Expected, read_records, read_report
from code_rlvr.evaluate.evalscope.rows import make_rows
from code_rlvr.evaluate.evalscope.run import parse_datasets
from code_rlvr.evaluate.gsm8k import NumberProblem
from code_rlvr.ground_truth import Tests
from code_rlvr.train.tokenizer import train_tokenizer
from code_rlvr.types import Problem, Verdict

PROMPT = 'def one() -> int:\n    """Give 1."""'
CHECK = "def check(candidate):\n    assert candidate() == 1"
HUMANEVAL = Problem(
    "h/0", PROMPT, Tests.assertions([CHECK], entry_point="one"), "humaneval", (PROMPT + "\n    return 1",)
)
STDIO = Problem("l/0", "Add one.", Tests.stdio(["1\n"], ["2\n"]), "livecodebench")
CALL = Problem(
    "l/1", with_starter_code("Sum.", "def add(a, b):\n    pass"), Tests.call("add", [[1, 2]], [3]), "livecodebench"
)


def programming(*problems: Problem) -> Programming:
    return Programming("some", problems, {one.problem_id: "group" for one in problems}, {})


# Rows


def test_a_humaneval_row_ends_its_prompt_with_a_line_break_so_that_an_answer_may_follow():
    row = make_rows("humaneval", programming(HUMANEVAL)).rows[0]
    assert row["prompt"] == PROMPT + "\n"
    assert row["canonical_solution"] == "    return 1"
    assert (row["entry_point"], row["test"]) == ("one", CHECK)


def test_the_tests_cross_with_the_row():
    for problem in (HUMANEVAL, STDIO, CALL):
        name = "humaneval" if problem is HUMANEVAL else "live_code_bench"
        assert Tests.parse(make_rows(name, programming(problem)).rows[0]["ground_truth"]) == problem.tests


def test_a_live_code_bench_row_has_statement_and_starter_code_apart():
    stdio, call = make_rows("live_code_bench", programming(STDIO, CALL)).rows
    assert (stdio["question_content"], stdio["starter_code"]) == ("Add one.", "")
    assert (call["question_content"], call["starter_code"]) == ("Sum.", "def add(a, b):\n    pass")
    assert json.loads(call["metadata"]) == {"func_name": "add"}
    assert json.loads(call["public_test_cases"]) == [{"input": "1\n2", "output": "3", "testtype": "functional"}]


def test_problems_that_the_benchmark_cannot_have_are_left_out_and_counted():
    bare = Problem("l/2", "Sum.", CALL.tests, "livecodebench")
    rows = make_rows("live_code_bench", programming(STDIO, bare, HUMANEVAL))
    assert rows.problem_ids == ("l/0",)
    assert sum(rows.left_out.values()) == 2


def test_a_benchmark_of_another_kind_is_refused():
    with pytest.raises(DataError, match="no problem for EvalScope's humaneval"):
        make_rows("humaneval", programming(STDIO))


@pytest.mark.parametrize(("answer", "written"), [(Fraction(18), "#### 18"), (Fraction(-5, 2), "#### -2.5")])
def test_a_gsm8k_row_has_its_number_behind_the_mark(answer, written):
    numbers = Numbers("gsm8k", (NumberProblem("g/0", "How many?", answer),), {})
    assert make_rows("gsm8k", numbers).rows[0]["answer"] == written


# What was asked for


def test_datasets_take_files():
    found = parse_datasets(["humaneval=a/b.jsonl,gsm8k", "live_code_bench"])
    assert found == {"humaneval": Path("a/b.jsonl"), "gsm8k": None, "live_code_bench": None}


@pytest.mark.parametrize("words", [["mmlu"], ["gsm8k,gsm8k"], ["humaneval="], [""]])
def test_other_datasets_are_refused(words):
    with pytest.raises(ConfigError, match="--datasets"):
        parse_datasets(words)


def test_a_model_with_code_of_its_own_is_refused(tmp_path):
    (tmp_path / "config.json").write_text('{"auto_map": {"AutoModel": "evil.Model"}}')
    with pytest.raises(ModelError, match="auto_map"):
        require_plain_model(tmp_path)


TEMPLATES = {
    "{% for m in messages %}{{ m['content'] }}{% endfor %}": True,
    "{% for m in messages if m['role'] != 'system' %}{{ m['content'] }}{% endfor %}": False,  # drops it
    "{% if messages[0]['role'] == 'system' %}{{ raise_exception('no') }}{% endif %}": False,
}


@pytest.mark.parametrize("template", TEMPLATES)
def test_a_system_message_has_to_reach_the_model(tmp_path, template):
    tokenizer = train_tokenizer(["some text to learn from"] * 10, 260, 64)
    tokenizer.chat_template = template
    tokenizer.save_pretrained(tmp_path)
    assert knows_system_role(tmp_path) == TEMPLATES[template]


# The interpreter


def interpreter(folder: Path, script: str) -> Path:
    file = folder / "python"
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)
    return file


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ("[null, true]", "not installed"),
        ('["1.0.0", true]', f"1.0.0, and {PINNED_EVALSCOPE} is what was tried"),
        (f'["{PINNED_EVALSCOPE}", false]', "not code-rlvr"),
        ("hello", "no Python that can be started"),
    ],
)
def test_an_interpreter_without_the_pinned_version_is_refused(tmp_path, told, said):
    with pytest.raises(PreflightError, match=said):
        require_evalscope(interpreter(tmp_path, f"echo '{told}'"))


def test_no_interpreter_at_all_is_refused(tmp_path):
    with pytest.raises(PreflightError, match="--evalscope-python"):
        require_evalscope(tmp_path / "missing")


def test_the_pinned_version_is_accepted(tmp_path):
    python = interpreter(tmp_path, f"echo '[\"{PINNED_EVALSCOPE}\", true]'")
    assert require_evalscope(python) == python


# The process


def a_job(folder: Path) -> Job:
    piece = Piece(benchmark="humaneval", rows=folder / "rows.jsonl", folder=folder / "work")
    return Job(
        model="m",
        pieces=(piece,),
        samples=1,
        temperature=0,
        top_p=1,
        max_new_tokens=8,
        seed=0,
        batch=1,
        judging=Judging.of(),
        failure=folder / "failure.json",
    )


def run(folder: Path, script: str, scored: list[int] | None = None) -> None:
    counts: list[int] = [] if scored is None else scored
    run_job(a_job(folder), folder / "job.json", interpreter(folder, script), folder / "log.txt", counts.append)


def test_a_crash_is_told_with_the_last_words_and_the_log(tmp_path):
    script = "printf 'Traceback:\\n  File x\\nValueError: no such thing\\n' >&2; exit 1"
    with pytest.raises(PreflightError, match=r"exit code 1\): ValueError: no such thing\. .*log\.txt"):
        run(tmp_path, script)


def test_a_killed_process_is_told_as_such(tmp_path):
    with pytest.raises(PreflightError, match=r"ended by signal 9.*it said nothing"):
        run(tmp_path, "kill -9 $$")


def test_our_own_errors_come_back_as_what_they_were(tmp_path):
    told = json.dumps({"kind": "JudgeFault", "message": "no seccomp"})
    with pytest.raises(JudgeFault, match="no seccomp"):
        run(tmp_path, f"echo '{told}' > {tmp_path}/failure.json; exit 3")


def test_an_old_failure_is_not_told_again(tmp_path):
    (tmp_path / "failure.json").write_text('{"kind": "JudgeFault", "message": "of yesterday"}')
    run(tmp_path, "exit 0")


def test_the_hubs_are_kept_away_and_caches_stay_in_the_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "0")
    run(tmp_path, "env > " + str(tmp_path / "seen"))
    seen = dict(line.split("=", 1) for line in (tmp_path / "seen").read_text().splitlines() if "=" in line)
    assert {seen[name] for name in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "HF_DATASETS_OFFLINE")} == {"1"}
    assert seen["MODELSCOPE_CACHE"].startswith(str(tmp_path))


def test_progress_counts_answers(tmp_path):
    scored: list[int] = []
    folder = tmp_path / "work/predictions/model"
    run(tmp_path, f"mkdir -p {folder}; printf '1\\n2\\n3\\n' > {folder}/code_rlvr_humaneval_default.jsonl", scored)
    assert scored[-1] == 3


def test_last_words_are_no_part_of_a_traceback(tmp_path):
    (tmp_path / "log").write_text("E: \x1b[31mwhy\n  File a\n    code\n\n\x1b[0m\n")
    assert last_words(tmp_path / "log") == "E: why"


# Results


def leave_results(folder: Path, scores: list[dict], figure: float) -> tuple[Piece, Expected]:
    """What EvalScope leaves: one sample of each of as many problems as there are scores."""
    piece = Piece(benchmark="humaneval", rows=folder / "rows.jsonl", folder=folder)
    for kind in ("predictions", "reviews", "reports"):
        (folder / kind / "model").mkdir(parents=True)
    outputs = [
        {
            "choices": [{"message": {"content": "```python\nprint(1)\n```"}, "stop_reason": "max_tokens"}],
            "usage": {"output_tokens": 7},
            "time": 20.0,
        }
        for _ in scores
    ]
    drawn = [{"index": i, "model_output": one} for i, one in enumerate(outputs)]
    reviewed = [{"index": i, "sample_score": {"score": one}} for i, one in enumerate(scores)]
    for kind, rows in (("predictions", drawn), ("reviews", reviewed)):
        text = "".join(json.dumps(row) + "\n" for row in reversed(rows))
        (folder / kind / "model/code_rlvr_humaneval_default.jsonl").write_text(text)
    metric = {"identity": {"name": "accuracy", "aggregation": "mean", "dimensions": {}}, "score": figure}
    (folder / "reports/model/code_rlvr_humaneval.json").write_text(json.dumps({"metrics": [metric]}))
    ids = tuple(f"p{i}" for i in range(len(scores)))
    return piece, Expected(ids, dict.fromkeys(ids, "group"), samples=1, seed=0, fingerprint="f", batch=4)


def a_score(number: int, verdict: str) -> dict:
    told = {
        "problem_id": f"p{number}",
        "verdict": verdict,
        "test_pass_rate": float(verdict == "ACCEPTED"),
        "judge_s": 0.5,
    }
    return {"value": {"acc": told["test_pass_rate"]}, "main_score_name": "acc", "metadata": told}


def test_samples_are_read_with_what_our_judge_said(tmp_path):
    piece, expected = leave_results(tmp_path, [a_score(0, "ACCEPTED"), a_score(1, "TIME_LIMIT_EXCEEDED")], 0.5)
    records = read_records(piece, expected)
    assert [record.verdict for record in records] == [Verdict.ACCEPTED, Verdict.TIME_LIMIT_EXCEEDED]
    assert [record.problem_id for record in records] == ["p0", "p1"]
    assert (records[0].tokens, records[0].truncated, records[0].fenced) == (7, True, True)
    assert records[0].generate_s == 5.0  # four were drawn at once
    assert read_report(piece, records)["evalscope mean accuracy"] == "0.5000"


def test_a_fault_of_the_judge_is_no_verdict_and_no_part_of_the_mean(tmp_path):
    fault = {"value": {}, "main_score_name": "acc", "metadata": {"problem_id": "p1", "fault": "the sandbox broke"}}
    piece, expected = leave_results(tmp_path, [a_score(0, "ACCEPTED"), fault], 1.0)
    records = read_records(piece, expected)
    assert (records[1].verdict, records[1].test_pass_rate, records[1].fault) == (None, None, "the sandbox broke")
    read_report(piece, records)


def test_a_report_that_its_samples_do_not_add_up_to_is_refused(tmp_path):
    piece, expected = leave_results(tmp_path, [a_score(0, "ACCEPTED"), a_score(1, "WRONG_ANSWER")], 1.0)
    with pytest.raises(DataError, match=r"reports .*1 of 2"):
        read_report(piece, read_records(piece, expected))


def test_samples_of_other_problems_are_refused(tmp_path):
    piece, expected = leave_results(tmp_path, [a_score(5, "ACCEPTED")], 1.0)
    with pytest.raises(DataError, match="other problems"):
        read_records(piece, expected)


def test_a_missing_sample_is_not_passed_over(tmp_path):
    piece, _ = leave_results(tmp_path, [a_score(0, "ACCEPTED")], 1.0)
    with pytest.raises(DataError, match="lacks sample 1"):
        read_records(piece, Expected(("p0", "p1"), {"p0": "", "p1": ""}, 1, 0, "f", batch=1))


def test_a_missing_file_is_told(tmp_path):
    piece = Piece(benchmark="gsm8k", rows=tmp_path / "rows.jsonl", folder=tmp_path)
    with pytest.raises(DataError, match="start anew"):
        read_records(piece, Expected(("p0",), {"p0": ""}, 1, 0, "f", batch=1))
    with pytest.raises(DataError, match="no report"):
        read_report(piece, [])


# A served model, with a stand-in for vLLM: a process that answers as its server does.

STAND_IN = """#!{python}
import http.server, sys
class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200 if self.path == "/health" else 404)
        self.end_headers()
words = sys.argv[1:]
assert words[0] == "serve" and words[words.index("--host") + 1] == "127.0.0.1"
{begin}
http.server.HTTPServer(("127.0.0.1", int(words[words.index("--port") + 1])), Answer).serve_forever()
"""


def stand_in(folder: Path, monkeypatch: pytest.MonkeyPatch, begin: str = "") -> None:
    file = folder / "vllm"
    file.write_text(STAND_IN.format(python=sys.executable, begin=begin))
    file.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(folder / "python"))


def test_a_served_model_is_there_once_it_answers_and_gone_afterwards(tmp_path, monkeypatch):
    import urllib.error
    import urllib.request

    stand_in(tmp_path, monkeypatch)
    with served.served_model(tmp_path, tmp_path / "log", 0) as url:
        assert url.startswith("http://127.0.0.1:")
        health = url.removesuffix("/v1") + "/health"
        urllib.request.urlopen(health, timeout=5).close()
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(health, timeout=5)


def test_a_server_that_ends_at_once_is_told(tmp_path, monkeypatch):
    stand_in(tmp_path, monkeypatch, "sys.exit(7)")
    with pytest.raises(PreflightError, match="exit code 7"), served.served_model(tmp_path, tmp_path / "log", 0):
        pass


def test_no_vllm_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    with pytest.raises(PreflightError, match="pip install"), served.served_model(tmp_path, tmp_path / "log", 0):
        pass
