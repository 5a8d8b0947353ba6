"""Verdicts of whole programs, as the judge puts them together."""

from __future__ import annotations

import asyncio

import pytest

from code_rlvr import ConfigError, Judge, Limits, Tests, Verdict

SUMS = Tests.stdio(["1 2", "3 4", "5 6"], ["3", "7", "11"])
ADD = "a, b = map(int, input().split())\n"


def test_verdict_is_that_of_the_first_test_that_failed(judge: Judge) -> None:
    source = ADD + "print(a + b if a == 1 else 0 if a == 3 else 1 // 0)"
    judgement = judge.judge(source, SUMS)
    verdicts = [case.verdict for case in judgement.cases]
    assert verdicts == [Verdict.ACCEPTED, Verdict.WRONG_ANSWER, Verdict.RUNTIME_ERROR]
    assert judgement.verdict is Verdict.WRONG_ANSWER
    assert judgement.test_pass_rate == pytest.approx(1 / 3)
    assert not judgement.accepted
    assert "ZeroDivisionError" in judgement.cases[2].stderr


def test_case_says_what_it_used(judge: Judge) -> None:
    judgement = judge.judge(ADD + "held = bytearray(50 << 20)\nprint(a + b)", SUMS)
    assert judgement.accepted
    for case in judgement.cases:
        assert 0 < case.cpu_s < 1
        assert case.wall_s > 0
        assert 50 < case.memory_mib < 100
    assert judgement.judge_s >= sum(case.wall_s for case in judgement.cases)


def test_stopping_early_counts_what_was_not_run_as_not_passed(judge: Judge) -> None:
    judgement = judge.judge("print(3)", SUMS, stop_at_first_failure=True)
    assert len(judgement.cases) == 2
    assert judgement.tests_total == 3
    assert judgement.test_pass_rate == pytest.approx(1 / 3)


def test_no_program_is_no_code_and_broken_program_is_compile_error(judge: Judge) -> None:
    nothing, broken = judge.judge(None, SUMS), judge.judge("print(", SUMS)
    assert (nothing.verdict, nothing.compiled, nothing.test_pass_rate) == (Verdict.NO_CODE, False, 0)
    assert (broken.verdict, broken.compiled, broken.test_pass_rate) == (Verdict.COMPILE_ERROR, False, 0)
    assert "never closed" in broken.message or "EOF" in broken.message


def test_limits_of_the_problem_come_before_the_judges(judge: Judge) -> None:
    slow = "import time\nwhile time.process_time() < 0.5: pass\nprint(1)"
    assert judge.judge(slow, Tests.stdio([""], ["1"])).accepted
    assert judge.judge(slow, Tests.stdio([""], ["1"], time_limit_s=0.2)).verdict is Verdict.TIME_LIMIT_EXCEEDED
    hungry = "held = bytearray(100 << 20)\nprint(1)"
    assert judge.judge(hungry, Tests.stdio([""], ["1"])).accepted
    tests = Tests.stdio([""], ["1"], memory_limit_mib=64)
    assert judge.judge(hungry, tests).verdict is Verdict.MEMORY_LIMIT_EXCEEDED


def test_judgement_is_the_same_awaited(judge: Judge) -> None:
    judgement = asyncio.run(judge.judge_async(ADD + "print(a + b)", SUMS))
    assert judgement.accepted


def test_integer_keys_of_json_objects_are_integers_for_the_program(judge: Judge) -> None:
    tests = Tests.call("f", [[{"1": "a", "-2": "b"}], [{"x": 1}], [{}]], ["a", None, None])
    assert judge.judge("def f(names): return names.get(1)", tests).accepted


def test_method_is_called_on_a_fresh_solution(judge: Judge) -> None:
    source = "class Solution:\n    n = 0\n    def f(self):\n        Solution.n += 1\n        return self.n"
    assert judge.judge(source, Tests.call("f", [[], []], [1, 1])).accepted
    assert judge.judge(source, Tests.call("Solution.f", [[]], [1])).accepted


def test_stdio_programs_get_no_names_that_python_would_not_give_them(judge: Judge) -> None:
    assert judge.judge("print(List)", Tests.stdio([""], [""])).verdict is Verdict.RUNTIME_ERROR


def test_assertion_tests_get_typing_names_and_the_prelude(judge: Judge) -> None:
    tests = Tests.assertions(["assert f([1]) == 1.0"], prelude="import math\nBASE = 0")
    assert judge.judge("def f(x: List[int]) -> Optional[float]:\n    return BASE + math.fsum(x)", tests).accepted
    assert not judge.judge("def f(x):\n    return heappop(x)", tests).accepted


def test_program_may_be_as_long_as_it_likes(judge: Judge) -> None:
    source = "print(input())\n" + "# a comment that is long\n" * 20_000
    assert judge.judge(source, Tests.stdio(["a" * 500_000], ["a" * 500_000])).accepted


def test_program_may_not_print_more_than_it_may(judge: Judge) -> None:
    for size, verdict in ((1 << 20, Verdict.ACCEPTED), ((1 << 20) + 1, Verdict.OUTPUT_LIMIT_EXCEEDED)):
        tests = Tests.stdio([""], ["x" * size])
        source = f"import sys\nsys.stdout.write('x' * {size})"
        assert judge.judge(source, tests, limits=Limits(output_mib=1)).verdict is verdict


def test_numpy_programs_run_within_the_memory_limit(judge: Judge) -> None:
    pytest.importorskip("numpy")
    source = "import numpy as np\nprint(int((np.ones((200, 200)) @ np.ones((200, 200))).sum()))"
    assert judge.judge(source, Tests.stdio([""], ["8000000"]), limits=Limits(memory_mib=256)).accepted


@pytest.mark.parametrize(
    "wrong", [{"cpu_s": 0}, {"wall_s": -1}, {"memory_mib": float("inf")}, {"deadline_s": None}, {"output_mib": True}]
)
def test_limits_that_limit_nothing_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        Limits(**wrong)  # type: ignore[arg-type]
