"""From judgements to scores, and compute_score as verl calls it."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from code_rlvr import (
    CaseJudgement,
    ConfigError,
    Judge,
    Judgement,
    RewardPolicy,
    Tests,
    TestsFormatError,
    Unjudged,
    Verdict,
    compute_score,
    score_response,
)
from code_rlvr.reward import METRIC_KEYS, metrics_of, shared_judge

PROMISED = (
    "score pass_rate format compiled accepted no_code compile_error runtime_error wrong_answer time_limit memory_limit "
    "output_limit tests_run judge_s"
)
FENCE = "`" * 3
DOUBLE = Tests.stdio(["1", "2", "3", "4"], ["2", "4", "6", "8"]).to_json()
LIMITS = {"cpu_s": 0.5, "wall_s": 3.0, "memory_mib": 128, "output_mib": 0.1, "timeouts_before_stop": 1}


def response(code: str) -> str:
    return f"Here you are.\n{FENCE}python\n{code}\n{FENCE}\n"


def judgement(passed: int, failed: Verdict = Verdict.WRONG_ANSWER, total: int = 4) -> Judgement:
    verdicts = [Verdict.ACCEPTED] * passed + [failed] * (total - passed)
    cases = tuple(CaseJudgement(verdict, 0.1, 0.1, 10.0) for verdict in verdicts)
    overall = Verdict.ACCEPTED if passed == total else failed
    return Judgement(overall, cases, total, 0.5)


def test_keys_are_the_promised_ones() -> None:
    assert " ".join(METRIC_KEYS) == PROMISED


@pytest.mark.parametrize("passed", range(5))
def test_pass_rate_is_the_share_of_tests_passed(passed: int) -> None:
    assert RewardPolicy().score(judgement(passed), True) == passed / 4


@pytest.mark.parametrize(("passed", "score"), [(0, 0.0), (3, 0.0), (4, 1.0)])
def test_binary_is_all_or_nothing(passed: int, score: float) -> None:
    assert RewardPolicy("binary").score(judgement(passed), True) == score


def test_tiered_pays_for_form_less_than_for_function() -> None:
    policy = RewardPolicy("tiered", format_weight=0.1, compile_weight=0.2, tests_weight=0.7)
    nothing = Judgement(Verdict.NO_CODE, (), 4, 0.0)
    broken = Judgement(Verdict.COMPILE_ERROR, (), 4, 0.0)
    assert policy.score(nothing, False) == 0
    assert policy.score(broken, True) == pytest.approx(0.1)
    assert policy.score(judgement(0), True) == pytest.approx(0.3)
    assert policy.score(judgement(2), False) == pytest.approx(0.55)
    assert policy.score(judgement(4), True) == pytest.approx(1.0)


@pytest.mark.parametrize(
    "weights", [(0.25, 0.25, 0.5), (0.5, 0.1, 0.4), (0.1, 0.1, 0.9), (-0.1, 0.2, 0.9), (float("nan"), 0, 1)]
)
def test_weights_that_pay_form_too_well_are_refused(weights: tuple[float, float, float]) -> None:
    with pytest.raises(ConfigError, match="weights"):
        RewardPolicy("tiered", *weights)


def test_unknown_policy_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ConfigError, match="pass_rate, binary, tiered"):
        RewardPolicy("best")  # type: ignore[arg-type]


def test_each_verdict_sets_one_flag() -> None:
    flags = METRIC_KEYS[4:12]
    for verdict in Verdict:
        metrics = metrics_of(judgement(4 if verdict is Verdict.ACCEPTED else 1, verdict), True, RewardPolicy())
        assert sum(metrics[flag] for flag in flags) == 1.0


PATHS: dict[str, tuple[str, Any, str]] = {
    "accepted": (response("print(2 * int(input()))"), DOUBLE, "accepted"),
    "partly right": (response("print(min(4, 2 * int(input())))"), DOUBLE, "wrong_answer"),
    "runtime error": (response("print(1 / 0)"), DOUBLE, "runtime_error"),
    "compile error": (response("print("), DOUBLE, "compile_error"),
    "no code": ("I cannot do this.", DOUBLE, "no_code"),
    "empty": ("", DOUBLE, "no_code"),
    "time": (response("while True: pass"), DOUBLE, "time_limit"),
    "memory": (response("held = bytearray(1 << 30)"), DOUBLE, "memory_limit"),
    "output": (response("print('x' * (1 << 20))"), DOUBLE, "output_limit"),
    "bare": ("print(2 * int(input()))", DOUBLE, "accepted"),
    "call": (response("def f(x):\n    return x"), {"fn_name": "f", "inputs": [[1]], "outputs": [[1]]}, "accepted"),
    "assertions": (response("def f(x):\n    return x"), {"asserts": "assert f(1) == 1"}, "accepted"),
}


@pytest.mark.parametrize("policy", ["pass_rate", "binary", "tiered"])
@pytest.mark.parametrize("path", PATHS)
def test_every_path_gives_the_same_keys_as_floats(path: str, policy: str) -> None:
    text, ground_truth, flag = PATHS[path]
    metrics = compute_score("source", text, ground_truth, {"split": "train"}, policy=policy, limits=LIMITS)
    assert tuple(metrics) == METRIC_KEYS
    assert {type(value) for value in metrics.values()} == {float}
    assert metrics[flag] == 1.0
    assert metrics["accepted"] == float(flag == "accepted")
    assert 0.0 <= metrics["score"] <= 1.0


def test_partly_right_program_gets_its_share() -> None:
    metrics = compute_score("source", PATHS["partly right"][0], DOUBLE)
    assert (metrics["score"], metrics["pass_rate"], metrics["tests_run"]) == (0.5, 0.5, 4.0)


def test_binary_stops_at_the_first_failure_and_pass_rate_does_not(judge: Judge) -> None:
    tests = Tests.parse(DOUBLE)
    text = response("print(0)")
    assert score_response(text, tests, judge, RewardPolicy("binary")).metrics["tests_run"] == 1.0
    assert score_response(text, tests, judge, RewardPolicy("pass_rate")).metrics["tests_run"] == 4.0


def test_sample_of_tests_is_the_same_for_every_response(judge: Judge) -> None:
    tests = Tests.stdio([str(n) for n in range(50)], ["even", "odd"] * 25)
    even = score_response(response("print('even')"), tests, judge, max_tests=7).metrics
    odd = score_response(response("print('odd')"), tests, judge, max_tests=7).metrics
    assert even["tests_run"] == odd["tests_run"] == 7.0
    assert even["score"] + odd["score"] == pytest.approx(1.0)
    assert 0 < even["score"] < 1


def test_policy_with_weights_is_given_as_a_mapping() -> None:
    weights = {"name": "tiered", "format_weight": 0.2, "compile_weight": 0.1, "tests_weight": 0.7}
    assert compute_score("x", response("print("), DOUBLE, policy=weights)["score"] == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("kwargs", "named"),
    [
        ({"polcy": "binary"}, "polcy"),
        ({"policy": "best"}, "best"),
        ({"policy": {"name": "tiered", "weight": 1}}, "weight"),
        ({"limits": {"cpu": 1}}, "cpu"),
        ({"limits": {"cpu_s": 0}}, "cpu_s"),
        ({"limits": {"cpu_s": "2"}}, "cpu_s"),
    ],
)
def test_wrong_settings_are_refused_by_name(kwargs: dict[str, Any], named: str) -> None:
    with pytest.raises(ConfigError, match=named):
        compute_score("x", response("print(1)"), DOUBLE, **kwargs)


def lines_of(folder: Path, step: int = 0) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / f"step_{step}.jsonl").read_text().splitlines()]


def test_each_sample_leaves_a_line(tmp_path: Path) -> None:
    extra = {"split": "train", "problem_id": "double-1", "global_steps": 12}
    code = "import sys\nprint('why', file=sys.stderr)\nprint(min(4, 2 * int(input())))"
    compute_score("starter", response(code), DOUBLE, extra, verdict_dir=str(tmp_path / "a" / "b"), keep_text=True)
    (line,) = lines_of(tmp_path / "a" / "b", 13)
    assert line["verdict"] == "WRONG_ANSWER"
    assert line["tests"] == ["ACCEPTED"] * 2 + ["WRONG_ANSWER"] * 2
    assert (line["step"], line["split"]) == (13, "train")  # written by the model after step 12, used in step 13
    assert (line["problem_id"], line["data_source"]) == ("double-1", "starter")
    assert (line["score"], line["pass_rate"], line["format"]) == (0.5, 0.5, 1.0)
    assert line["stderr"] == "why\n"
    assert line["response"] == response(code)
    assert len(line["response_sha256"]) == 16
    assert line["judge_s"] > 0


def test_line_of_a_validation_belongs_to_the_step_before_it(tmp_path: Path) -> None:
    extra = {"split": "validation", "global_steps": 12}
    compute_score("x", "", DOUBLE, extra, verdict_dir=str(tmp_path))
    assert [line["step"] for line in lines_of(tmp_path, 12)] == [12]


def test_lines_from_many_threads_do_not_mix(tmp_path: Path) -> None:
    def score(number: int) -> None:
        compute_score(
            "x", "no code " * number, DOUBLE, {"problem_id": number}, verdict_dir=str(tmp_path), keep_text=True
        )

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(score, range(200)))
    lines = lines_of(tmp_path)
    assert sorted(line["problem_id"] for line in lines) == [*range(200)]
    assert all(line["response"] == "no code " * line["problem_id"] for line in lines)


def test_malformed_tests_raise_and_leave_a_line(tmp_path: Path) -> None:
    for ground_truth in (None, "{}", {"inputs": [], "outputs": []}, {"asserts": "assert True"}):
        with pytest.raises(TestsFormatError):
            compute_score("x", response("print(1)"), ground_truth, verdict_dir=str(tmp_path))
    assert [line["verdict"] for line in lines_of(tmp_path)] == ["UNJUDGED"] * 4
    assert all(line["error"] for line in lines_of(tmp_path))


def test_fault_of_the_judge_raises_and_leaves_a_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compute_score("x", response("print(1)"), DOUBLE)  # the shared judge exists
    sandbox = shared_judge()._sandbox
    monkeypatch.setattr(sandbox, "_idle", [])  # and no other worker can be started
    monkeypatch.setattr(sandbox, "_interpreter", replace(sandbox._interpreter, executable="/bin/false"))
    with pytest.raises(Unjudged):
        compute_score("x", response("print(1)"), DOUBLE, {"problem_id": "p"}, verdict_dir=str(tmp_path))
    (line,) = lines_of(tmp_path)
    assert (line["verdict"], line["problem_id"]) == ("UNJUDGED", "p")
    assert "the guard process" in line["error"]
    assert "score" not in line


def test_malformed_tests_are_named_by_their_problem() -> None:
    with pytest.raises(TestsFormatError, match="problem p7: inputs: is empty"):
        compute_score("x", response("print(1)"), {"inputs": [], "outputs": []}, {"problem_id": "p7"})


def test_block_with_what_assertions_call_is_taken_before_a_demo() -> None:
    answer = response("def add(a, b):\n    return a + b") + response("import sys\nprint(add(1, int(input())))")
    assert compute_score("x", answer, {"asserts": "assert add(1, 2) == 3"})["score"] == 1.0
    assert compute_score("x", answer, {"asserts": "for i in range(3):\n    assert add(i, i) == 2 * i"})["score"] == 1.0
