"""Where the tests of a row stand: every usual key, judged with a right and a wrong program, and what else is said."""

from __future__ import annotations

import json
from typing import Any

import pytest

from code_rlvr import Judge
from code_rlvr.data.sources import Drop, Reason, detect, find_tests
from code_rlvr.errors import DataError, TestsFormatError
from code_rlvr.ground_truth import Tests
from code_rlvr.types import Problem
from tests.unit.sources_rows import (
    ACECODE,
    CODEFORCES,
    DEEPCODER,
    HUMANEVAL,
    KODCODE,
    LEETCODE,
    OPEN_R1,
    ROWS,
    SYNTHETIC,
)

CASE = {"input": "2", "output": "4"}
LISTS = {"inputs": ["2"], "outputs": ["4"]}
CALL = Tests.call("f", [[2]], [4])
STDIO = Tests.stdio(["2"], ["4"])
ASSERTION = "assert f(2) == 4"


def read(row: dict[str, Any]) -> Problem:
    problem = detect(row).read(row)
    assert isinstance(problem, Problem), problem
    return problem


def dropped(row: dict[str, Any]) -> Drop:
    drop = detect(row).read(row)
    assert isinstance(drop, Drop), drop
    return drop


@pytest.mark.parametrize(
    "named",
    [{"fn_name": "f"}, {"entry_point": "f"}, {"metadata": {"func_name": "f"}}, {"metadata": '{"func_name": "f"}'}],
)
@pytest.mark.parametrize(
    "tests",
    [
        {"tests": [CASE]},
        {"tests": json.dumps([CASE])},
        {"test_cases": [CASE]},
        {"tests": LISTS},
        {"ground_truth": LISTS},
        {"ground_truth": json.dumps(LISTS)},
        {"ground_truth": [CASE]},
        {"reward_model": {"ground_truth": json.dumps(LISTS)}},
        {"tests": {"inputs": [[2]], "outputs": [4]}},
        LISTS,
        CASE,
    ],
)
def test_a_function_that_is_named_beside_the_tests_is_what_they_call(
    tests: dict[str, Any], named: dict[str, Any]
) -> None:
    assert find_tests({**tests, **named}) == CALL
    assert find_tests({"statement": "Double it.", **tests, **named}) == CALL


def test_prepare_and_verify_agree_on_a_name_in_a_row_of_verl() -> None:
    row = {"prompt": [{"role": "user", "content": "Double it."}], "reward_model": {"ground_truth": LISTS}}
    assert read(row).tests == find_tests(row) == STDIO
    assert read({**row, "fn_name": "f"}).tests == find_tests({**row, "fn_name": "f"}) == CALL


def test_an_empty_ground_truth_gives_way_to_what_else_holds_tests() -> None:
    for empty in (None, "", [], {}, "[]", {"inputs": None}, {"inputs": [], "outputs": []}):
        assert find_tests({"ground_truth": empty, "tests": [CASE]}) == STDIO
        assert find_tests({"tests": empty, "test_cases": [CASE]}) == STDIO
    assert find_tests({"ground_truth": "", **LISTS}) == STDIO


def test_a_function_that_is_named_among_the_tests_is_what_they_call() -> None:
    for named in ({"fn_name": "f"}, {"entry_point": "f"}):
        assert find_tests({"tests": {**LISTS, **named}}) == CALL
        assert find_tests({"tests": [{**CASE, "fn_name": "f"}]}) == CALL


def test_a_name_beside_assertions_does_not_make_calls_of_them() -> None:
    truth = {"assert_case": [ASSERTION], "inputs": [""], "outputs": [None]}  # as verl's sandbox_fusion has them
    chat = [{"role": "user", "content": "Double it."}]
    row = {"prompt": chat, "reward_model": {"ground_truth": json.dumps(truth)}, "fn_name": "f"}
    for tests in (read(row).tests, find_tests(row)):
        assert tests is not None
        assert (tests.kind, tests.asserts) == ("assert", (ASSERTION,))


@pytest.mark.parametrize("name", [None, ""])
def test_an_empty_name_names_no_function(name: str | None) -> None:
    row = {"tests": [CASE], "fn_name": name, "entry_point": name, "metadata": {"func_name": name}}
    assert find_tests(row) == STDIO


@pytest.mark.parametrize(
    "row",
    [
        {"tests": [{**CASE, "testtype": "stdin"}], "fn_name": "f"},
        {"tests": [{**CASE, "type": "stdin_stdout"}], "entry_point": "f"},
        {"tests": LISTS, "kind": "stdio", "fn_name": "f"},
        {"tests": [CASE], "kind": "stdio", "metadata": {"func_name": "f"}},
    ],
)
def test_a_row_or_a_case_that_says_stdio_is_stdio_whatever_it_names(row: dict[str, Any]) -> None:
    assert find_tests(row) == STDIO


def test_a_name_beside_tests_that_are_no_json_is_malformed_and_not_stdio() -> None:
    with pytest.raises(TestsFormatError, match="not one JSON value a line"):
        find_tests({"tests": [{"input": "two", "output": "4"}], "fn_name": "f"})
    with pytest.raises(TestsFormatError, match="has to be the name of a function"):
        find_tests({"tests": LISTS, "fn_name": "f()"})


@pytest.mark.parametrize("key", ["prompt", "question", "problem", "statement"])
@pytest.mark.parametrize("several", [False, True])
def test_input_and_output_in_the_row_are_one_test_or_several(key: str, several: bool) -> None:
    row = {key: "Double it.", "input": ["2", "3"], "output": ["4", "6"]} if several else {key: "Double it.", **CASE}
    assert read(row).tests == (Tests.stdio(["2", "3"], ["4", "6"]) if several else STDIO)


def test_input_and_output_of_unequal_length_are_malformed() -> None:
    with pytest.raises(TestsFormatError, match="1 outputs for 2 inputs"):
        find_tests({"input": ["2", "3"], "output": ["4"]})
    with pytest.raises(TestsFormatError, match="outputs"):
        find_tests({"input": "2"})


@pytest.mark.parametrize("key", ["tests", "ground_truth", "test_cases"])
@pytest.mark.parametrize("given", [[CASE], LISTS])
def test_json_in_json_is_read_as_json(key: str, given: Any) -> None:
    row = {"prompt": "Double it.", key: json.dumps(json.dumps(given))}
    assert read(row).tests == find_tests(row) == STDIO


@pytest.mark.parametrize(
    "row",
    [
        {"test_cases": [ASSERTION]},
        {"test_cases": json.dumps([ASSERTION])},
        {"test": ASSERTION},
        {"tests": ASSERTION},
        {"ground_truth": [ASSERTION]},
        {"ground_truth": "def f(n):\n    return 2 * n", "test": ASSERTION},
        {"ground_truth": {}, "test_cases": [ASSERTION]},
    ],
)
def test_assertions_may_stand_under_any_name_of_tests(row: dict[str, Any]) -> None:
    tests = find_tests(row)
    assert tests is not None
    assert (tests.kind, tests.asserts) == ("assert", (ASSERTION,))


def test_cases_that_are_texts_of_json_are_read() -> None:
    assert find_tests({"test_cases": [json.dumps(CASE)]}) == STDIO


@pytest.mark.parametrize("row", [row for rows in ROWS.values() for row in rows if row.get("ability") != "math"])
def test_verify_reads_the_same_tests_as_prepare(row: dict[str, Any]) -> None:
    assert find_tests(row) == read(row).tests


RIGHT, WRONG = "def f(n):\n    return 2 * n", "def f(n):\n    return n"
PRINTS, PRINTS_WRONG = "print(2 * int(input()))", "print(int(input()))"
METHOD = "class Solution:\n    def {}(self, {}):\n        return {}"
JUDGED: list[tuple[dict[str, Any], str, str]] = [
    ({"problem_id": "a", "fn_name": "f", "tests": [CASE]}, RIGHT, WRONG),
    ({"prompt": "Double it.", **CASE}, PRINTS, PRINTS_WRONG),
    (DEEPCODER, METHOD.format("inc", "n", "n + 1"), METHOD.format("inc", "n", "n")),
    (KODCODE, KODCODE["solution"], WRONG.replace("f(", "twice(")),
    (ACECODE, RIGHT.replace("f(", "twice("), WRONG.replace("f(", "twice(")),
    (OPEN_R1, PRINTS, PRINTS_WRONG),
    (SYNTHETIC, RIGHT.replace("f(", "twice("), WRONG.replace("f(", "twice(")),
    (CODEFORCES, PRINTS, PRINTS_WRONG),
    (LEETCODE, METHOD.format("double", "nums", "[2 * n for n in nums]"), METHOD.format("double", "nums", "nums")),
    (HUMANEVAL, "def unshift(s):\n    return s[-1:] + s[:-1]", "def unshift(s):\n    return s"),
]


@pytest.mark.parametrize(("row", "right", "wrong"), JUDGED)
def test_right_programs_pass_and_wrong_ones_do_not(judge: Judge, row: dict[str, Any], right: str, wrong: str) -> None:
    tests = find_tests(row)
    assert tests is not None
    assert judge.judge(right, tests).accepted
    assert not judge.judge(wrong, tests).accepted


# what data sets say beside the tests


def test_starter_code_is_shown_to_functions_and_not_to_programs() -> None:
    assert read(DEEPCODER).statement.startswith("Add one to a number.\n\nStart from this code:\n```python\nclass Sol")
    cases = json.dumps([{**CASE, "testtype": "stdin"}])
    assert read({**DEEPCODER, "tests": cases}).statement == "Add one to a number."


def test_the_declaration_of_kodcode_is_shown_unless_the_statement_has_it() -> None:
    assert "```python\ndef twice(n):\n```" in read(KODCODE).statement
    question = "Complete it:\ndef twice(n):\n    ..."
    assert read({**KODCODE, "question": question}).statement == question


def test_the_sections_of_codeforces_become_one_statement() -> None:
    problem = read({**CODEFORCES, "note": "Easy."})
    sections = ["Print twice the number.", "## Input\nA number.", "## Output\nIts double."]
    assert problem.statement == "\n\n".join([*sections, "## Example\n```\n2\n```\n```\n4\n```", "## Note\nEasy."])
    assert (problem.problem_id, problem.tests.time_limit_s, problem.tests.memory_limit_mib) == ("1/A", 3, 256)


@pytest.mark.parametrize(
    ("changes", "detail"),
    [
        ({"generated_checker": "import sys"}, "generated_checker: import sys"),
        ({"interaction_format": "Ask."}, "interactive"),
        ({"input_mode": "file"}, "'file'"),
    ],
)
def test_a_problem_of_codeforces_that_needs_more_than_a_comparison_is_left_out(
    changes: dict[str, Any], detail: str
) -> None:
    drop = dropped({**CODEFORCES, **changes})
    assert drop.reason is Reason.NEEDS_CHECKER
    assert detail in drop.detail
    with pytest.raises(TestsFormatError, match="checkers are not supported"):
        find_tests({**CODEFORCES, **changes})


def test_a_reference_in_a_code_block_is_taken_out_of_it() -> None:
    problem = read(SYNTHETIC)
    assert problem.references == ("def twice(n):\n    return 2 * n",)
    assert problem.statement == "Write a function `twice` that doubles a number."


def test_other_tasks_and_languages_of_synthetic_1_are_no_code_for_us() -> None:
    math = {**SYNTHETIC, "task_type": "verifiable_math", "verification_info": "{'ground_truth': '4'}"}
    assert dropped(math).reason is Reason.NOT_CODE
    rust = {**OPEN_R1, "verification_info": {**OPEN_R1["verification_info"], "language": "rust"}}
    assert dropped(rust).reason is Reason.NOT_CODE
    assert "rust" in dropped(rust).detail


def test_python_that_is_no_literal_is_malformed_and_not_run() -> None:
    with pytest.raises(TestsFormatError, match="neither JSON nor a value of Python"):
        find_tests({**SYNTHETIC, "verification_info": "{[]: 1}"})
    with pytest.raises(TestsFormatError, match="neither JSON nor a value of Python"):
        find_tests({**SYNTHETIC, "verification_info": "__import__('os').putenv('CODE_RLVR', 'ran')"})


# messages


def test_a_row_without_tests_is_told_which_keys_would_do() -> None:
    said = (
        r"tests are read from ground_truth, tests, test_cases, test, .*input and output.*; this row has answer, prompt"
    )
    with pytest.raises(DataError, match=said):
        detect({"prompt": "Double it.", "answer": "4"})
    drop = detect({"prompt": "Double it.", "tests": {}}).read({"prompt": "Double it.", "tests": {}})
    assert isinstance(drop, Drop)
    assert drop.reason is Reason.NO_TESTS
    assert drop.detail.startswith("no tests in tests; tests are read from ground_truth, ")


@pytest.mark.parametrize("checker", ["check.cpp", ["check.py"]])
def test_verify_names_a_checker_that_is_not_here(checker: Any) -> None:
    with pytest.raises(TestsFormatError, match=r"checker: .*check.*: checkers are not supported"):
        find_tests({"tests": LISTS, "checker": checker})
    tolerance = {"tests": LISTS, "checker": "float_tolerance 1e-4"}
    tests = find_tests(tolerance)
    assert tests is not None
    assert tests.compare == "float"
