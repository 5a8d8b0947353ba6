"""What each source makes of its data set's own habits."""

from __future__ import annotations

import base64
import gzip
import json
import os
import pickle
import zlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from code_rlvr import Judge
from code_rlvr.data.prompts import build_prompt
from code_rlvr.data.sources import SOURCES, Drop, Reason
from code_rlvr.data.sources.pickled_text import read_pickled_text
from code_rlvr.data.sources.statements import ENDINGS, without_endings
from code_rlvr.errors import DataError, TestsFormatError
from code_rlvr.ground_truth import Tests
from code_rlvr.types import Problem
from tests.unit.sources_rows import (
    APPS,
    ASSERTS,
    CODECONTESTS,
    EURUS,
    EURUS_ENDING,
    EURUS_MATH,
    HUMANEVAL,
    LIVECODEBENCH,
    LIVECODEBENCH_CALL,
    MBPP,
    MBPP_SANITIZED,
    PLAIN,
    TACO,
    VERL,
    pack,
)


def read(name: str, row: dict[str, Any], **changes: Any) -> Problem:
    problem = SOURCES[name].read({**row, **changes})
    assert isinstance(problem, Problem), problem
    return problem


def dropped(name: str, row: dict[str, Any], **changes: Any) -> Drop:
    drop = SOURCES[name].read({**row, **changes})
    assert isinstance(drop, Drop), drop
    return drop


def with_truth(truth: Any, **changes: Any) -> Problem:
    return read("verl", VERL, reward_model={"style": "rule", "ground_truth": truth}, **changes)


# statements


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("between", [" ", "\n", "", " \n\n "])
def test_known_endings_come_off_however_they_are_spaced(ending: str, between: str) -> None:
    told = between.join(ending.replace("{name}", "find_it").split())
    assert without_endings(f"Do it.\n\n{told}\n") == "Do it."


@pytest.mark.parametrize(
    "tests",
    [
        Tests.stdio(["1"], ["1"]),
        Tests.call("find_it", [[1]], [1]),
        Tests.assertions(["assert f(1)"]),
        Tests.assertions(["assert f(1)"], entry_point="Solution"),
    ],
)
def test_own_instructions_do_not_pile_up(tests: Tests) -> None:
    once = build_prompt("Do it.", tests)[0]["content"]
    assert without_endings(once) == "Do it."
    assert without_endings(build_prompt(once, tests)[0]["content"]) == "Do it."


def test_an_instruction_in_the_middle_stays() -> None:
    statement = f"Do it.{EURUS_ENDING}\n\nAnd then something else."
    assert without_endings(statement) == statement


@settings(deadline=None)
@given(st.text())
def test_nothing_but_white_space_comes_off_other_text(text: str) -> None:
    assert without_endings(text) == text.rstrip()


# eurus and verl


def test_eurus_loses_its_action_template_and_its_ending_and_has_no_id() -> None:
    problem = read("eurus", EURUS)
    assert (problem.statement, problem.problem_id, problem.data_source) == ("Print twice the number.", "", "taco")
    assert problem.tests == Tests.stdio(["2\n"], ["4\n"])


def test_mathematics_of_eurus_is_dropped_before_its_answer_is_read() -> None:
    assert dropped("eurus", EURUS_MATH).reason is Reason.NOT_CODE
    assert "math" in dropped("eurus", EURUS_MATH).detail


@pytest.mark.parametrize("data_source", ["taco", "codecontests", "apps", "codeforces"])
@pytest.mark.parametrize("ability", [None, ""])
def test_without_an_ability_the_data_source_tells_eurus_code(data_source: str, ability: str | None) -> None:
    assert read("eurus", EURUS, ability=ability, data_source=data_source).data_source == data_source
    assert dropped("eurus", EURUS, ability=ability, data_source="numina_olympiads").reason is Reason.NOT_CODE


def test_wrapped_outputs_lists_of_lines_and_integer_keys_of_eurus_are_read() -> None:
    def tests(layout: dict[str, Any]) -> Tests:
        return read("eurus", EURUS, reward_model={"style": "rule", "ground_truth": json.dumps(layout)}).tests

    wrapped = {"fn_name": "isMagic", "inputs": [[1237], [12]], "outputs": [[False], [True]]}
    assert tests(wrapped) == Tests.call("isMagic", [[1237], [12]], [False, True])
    assert tests({"inputs": [["1", "2"]], "outputs": [["3"]]}) == Tests.stdio(["1\n2"], ["3"])
    keyed = tests({"fn_name": "f", "inputs": [[{"1": 2}]], "outputs": [[{"2": 1}]]})
    assert keyed.inputs == ([{"1": 2}],)


def test_a_function_with_integer_keys_is_called_with_integers(judge: Judge) -> None:
    layout = {"fn_name": "swap", "inputs": [[{"1": 2}]], "outputs": [[{"2": 1}]]}
    tests = read("eurus", EURUS, reward_model={"ground_truth": json.dumps(layout)}).tests
    right = "def swap(d):\n    return {v: k for k, v in d.items() if isinstance(k, int)}"
    assert judge.judge(right, tests).accepted
    assert not judge.judge("def swap(d):\n    return d", tests).accepted


@pytest.mark.parametrize("name", ["eurus", "verl"])
def test_a_prompt_that_is_a_plain_text_is_refused_with_a_remedy(name: str) -> None:
    row = EURUS if name == "eurus" else VERL
    with pytest.raises(DataError, match=r"'prompt' is a plain text.*\"role\": \"user\".*plain=FILE"):
        SOURCES[name].read({**row, "prompt": "Print twice the number."})


@pytest.mark.parametrize(
    "chat",
    [
        *("[]", 4, [4], {"role": "user"}),
        [{"role": "system", "content": "Be brief."}],
        [{"role": "user", "content": [{"type": "image"}]}],
    ],
)
def test_a_prompt_that_is_no_chat_with_a_user_is_refused(chat: Any) -> None:
    with pytest.raises(DataError, match="'prompt'"):
        SOURCES["verl"].read({**VERL, "prompt": chat})


def test_the_statement_is_the_last_user_message() -> None:
    chat = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "An example."},
        {"role": "assistant", "content": "Its answer."},
        {"role": "user", "content": [{"type": "text", "text": "The"}, {"type": "text", "text": "question."}]},
    ]
    assert read("verl", VERL, prompt=chat).statement == "The\nquestion."


@pytest.mark.parametrize(
    ("info", "problem_id"),
    [
        ({"problem_id": "a/1", "index": 4}, "a/1"),
        ({"index": 0}, "0"),
        ({"problem_id": None, "index": 4}, "4"),
        ({}, ""),
        (None, ""),
    ],
)
def test_verl_rows_have_the_id_that_extra_info_gives(info: Any, problem_id: str) -> None:
    assert read("verl", VERL, extra_info=info).problem_id == problem_id


@pytest.mark.parametrize("ability", [None, "", "code", "Coding", "code_generation", "programming"])
def test_verl_rows_of_coding_are_code(ability: str | None) -> None:
    assert read("verl", VERL, ability=ability)


@pytest.mark.parametrize("ability", ["math", "MATH", "logic"])
def test_verl_rows_of_other_abilities_are_not(ability: str) -> None:
    assert dropped("verl", VERL, ability=ability).reason is Reason.NOT_CODE


def test_verl_rows_need_nothing_but_prompt_and_reward_model() -> None:
    row = {key: VERL[key] for key in ("prompt", "reward_model")}
    assert (read("verl", row).data_source, read("verl", row).problem_id) == ("verl", "")


def test_a_struct_that_parquet_filled_up_with_nulls_is_read() -> None:
    struct = {"inputs": ["2\n"], "outputs": ["4\n"], "fn_name": None, "asserts": None, "time_limit_s": None}
    assert with_truth(struct).tests == Tests.stdio(["2\n"], ["4\n"])


def test_tests_in_extra_info_count_where_the_ground_truth_is_a_solution() -> None:
    info = {"index": 1, "tests": ["assert twice(2) == 4"], "entry_point": "twice"}
    expected = Tests.assertions(["assert twice(2) == 4"], entry_point="twice")
    assert with_truth("def twice(n):\n    return 2 * n", extra_info=info).tests == expected
    assert with_truth("def twice(n):\n    assert n\n    return 2 * n", extra_info=info).tests == expected
    assert with_truth(None, extra_info=info).tests == expected
    assert with_truth({"inputs": None}, extra_info=info).tests == expected


@pytest.mark.parametrize("as_text", [False, True])
def test_forms_of_rllm_are_read(as_text: bool) -> None:
    def tests(truth: Any) -> Tests:
        return with_truth(json.dumps(truth) if as_text else truth).tests

    assert tests([{"input": "1", "output": "2"}]) == Tests.stdio(["1"], ["2"])
    stdin = [{"input": "1", "output": "2", "testtype": "stdin", "metadata": {"func_name": None}}]
    assert tests(stdin) == Tests.stdio(["1"], ["2"])
    call = {"input": "[1, 2]\n3", "output": "6", "testtype": "functional", "metadata": {"func_name": "add"}}
    assert tests([call]) == Tests.call("add", [[[1, 2], 3]], [6])
    source = "def check(candidate):\n    assert candidate(1) == 2\n\ncheck(Solution().add)"
    assert tests({"functional": source}).asserts == (source,)


def test_source_of_test_functions_is_assertions() -> None:
    source = "from solution import add\n\ndef test_add():\n    assert add(1) == 2\n"
    assert with_truth(source).tests.asserts == (source,)


@pytest.mark.parametrize(
    ("cases", "what"),
    [
        ([{"testtype": "stdin"}, {"testtype": "functional", "fn_name": "f"}], "mixes test types"),
        ([{"testtype": "functional", "fn_name": name} for name in "fg"], "mixes functions"),
        ([{"testtype": "interactive"}], "interactive"),
        ([{"testtype": "functional"}], "func_name"),
        ([{"testtype": "functional", "metadata": "{"}], "func_name"),
        ([{"output": None}], r"outputs\[0\]"),
    ],
)
def test_cases_that_are_not_alike_are_malformed(cases: list[dict[str, Any]], what: str) -> None:
    with pytest.raises(TestsFormatError, match=what):
        with_truth([{"input": "1", "output": "2", **case} for case in cases])


@pytest.mark.parametrize(
    "truth",
    [
        '{"fn_name": "f", "inputs": [[' + "[" * 900 + "]" * 900 + ']], "outputs": [0]}',
        '{"fn_name": "f", "inputs": [[' + "[" * 5000 + "]" * 5000 + ']], "outputs": [0]}',
        '{"inputs": ["1"], "outputs": ["1"], "time_limit_s": 1' + "0" * 400 + "}",
    ],
    ids=["deep", "deeper than JSON is read", "too long for a float"],
)
def test_values_beyond_reason_are_malformed(truth: str) -> None:
    with pytest.raises(TestsFormatError, match="ground_truth"):
        with_truth(truth)


@pytest.mark.parametrize("case", [{"input": "1"}, {"output": "1"}, {}, 1, None, "1"])
def test_a_case_without_input_or_output_is_malformed(case: Any) -> None:
    with pytest.raises(TestsFormatError, match="input and output"):
        with_truth([case])


# apps, taco, codecontests


def test_apps_shows_the_starter_code_of_functions() -> None:
    problem = read("apps", APPS)
    assert problem.statement.startswith("Return whether two words are anagrams.\n\n")
    assert "```python\n\ndef is_anagram(a, b):\n```" in problem.statement
    assert problem.tests == Tests.call("is_anagram", [["ab", "ba"], ["a", "b"]], [True, False])
    assert (problem.problem_id, problem.data_source, len(problem.references)) == ("2000", "apps", 1)


def test_starter_code_of_programs_that_read_input_is_not_shown() -> None:
    assert "class" not in read("taco", TACO, starter_code="class Solution: ...").statement


@pytest.mark.parametrize("solutions", ["", None, "[]"])
def test_apps_may_have_no_solutions(solutions: str | None) -> None:
    assert read("apps", APPS, solutions=solutions).references == ()


def test_taco_joins_lines_and_reads_limits() -> None:
    tests = read("taco", TACO).tests
    assert (tests.inputs, tests.outputs) == (("2\n", "3\n"), ("4", "6\n"))
    assert (tests.time_limit_s, tests.memory_limit_mib) == (6.0, 512)


@pytest.mark.parametrize("limit", [None, "", "unknown", "0 seconds"])
def test_a_limit_of_taco_that_says_nothing_is_none(limit: str | None) -> None:
    tests = read("taco", TACO, time_limit=limit, memory_limit=limit).tests
    assert (tests.time_limit_s, tests.memory_limit_mib) == (None, None)


@pytest.mark.parametrize("pictures", ["2", 2])
def test_a_statement_of_taco_that_needs_pictures_is_dropped(pictures: Any) -> None:
    drop = dropped("taco", TACO, picture_num=pictures)
    assert drop.reason is Reason.NO_STATEMENT
    assert "2 pictures" in drop.detail


@pytest.mark.parametrize("pictures", [None, "", "0", 0])
def test_a_statement_of_taco_without_pictures_is_kept(pictures: Any) -> None:
    assert read("taco", TACO, picture_num=pictures)


def test_codecontests_has_all_its_tests_limits_and_programs_in_python_3() -> None:
    problem = read("codecontests", CODECONTESTS)
    assert problem.tests.inputs == ("2\n", "3\n", "5\n")
    assert problem.tests.outputs == ("4\n", "6\n", "10\n")
    assert (problem.tests.time_limit_s, problem.tests.memory_limit_mib) == (4.5, 489)
    assert problem.references == ("print(2 * int(input()))",)
    assert problem.problem_id == "1_A. Double"


def test_codecontests_may_list_its_tests_as_pairs() -> None:
    pairs = {key: [{"input": "2\n", "output": "4\n"}] for key in ("public_tests", "private_tests")}
    tests = read("codecontests", CODECONTESTS, **pairs, generated_tests=[]).tests
    assert tests.inputs == ("2\n", "2\n")


def test_uneven_tests_of_one_column_are_not_evened_out_by_another() -> None:
    columns = {
        "private_tests": {"input": ["1", "2"], "output": ["1"]},
        "generated_tests": {"input": [], "output": ["2"]},
    }
    with pytest.raises(TestsFormatError, match="private_tests"):
        SOURCES["codecontests"].read({**CODECONTESTS, **columns})


@pytest.mark.parametrize("key", ["input_file", "output_file"])
def test_a_problem_with_files_is_dropped(key: str) -> None:
    drop = dropped("codecontests", CODECONTESTS, **{key: "data.txt"})
    assert drop.reason is Reason.NEEDS_CHECKER
    assert "data.txt" in drop.detail


def test_a_small_memory_limit_leaves_room_for_the_interpreter() -> None:
    assert read("codecontests", CODECONTESTS, memory_limit_bytes=1 << 24).tests.memory_limit_mib == 256


# humaneval, mbpp, asserts


def test_humaneval_provides_the_helpers_of_its_prompt(judge: Judge) -> None:
    problem = read("humaneval", HUMANEVAL)
    assert problem.statement == HUMANEVAL["prompt"]
    assert problem.tests.prelude == "import math\n\n\ndef shift(s: str):\n    return s[1:] + s[:1]\n\n"
    assert judge.judge("def unshift(s):\n    return s[-1:] + s[:-1]", problem.tests).accepted
    assert judge.judge(problem.references[0], problem.tests).accepted
    assert not judge.judge("def unshift(s):\n    return s", problem.tests).accepted


def test_humaneval_has_no_prelude_where_nothing_is_ahead_of_the_function() -> None:
    prompt = '\n\n@property\ndef unshift(s: str):\n    """Undo."""\n'
    assert read("humaneval", HUMANEVAL, prompt=prompt).tests.prelude is None


def test_humaneval_without_a_docstring_is_read_with_its_solution() -> None:
    assert read("humaneval", HUMANEVAL, prompt="import re\ndef unshift(s):\n").tests.prelude == "import re"


def test_mbpp_shows_its_first_test_and_no_other(judge: Judge) -> None:
    problem = read("mbpp", MBPP)
    assert problem.statement.endswith("\n\nYour code has to pass this test, among others:\nassert twice(2) == 4")
    assert "twice(3)" not in problem.statement
    assert problem.tests.asserts == ("assert twice(2) == 4", "assert twice(3) == 6", "assert twice(-1) == -2")
    assert (problem.tests.entry_point, problem.problem_id) == ("twice", "11")
    assert judge.judge(problem.references[0], problem.tests).accepted
    assert not judge.judge("def twice(n):\n    return 4", problem.tests).accepted


def test_sanitized_mbpp_imports_before_each_test(judge: Judge) -> None:
    problem = read("mbpp", MBPP_SANITIZED)
    assert problem.tests.asserts == ("import math\nassert math.isclose(half(3), 1.5)",)
    assert problem.tests.entry_point == "half"
    assert judge.judge(problem.references[0], problem.tests).accepted


def test_setup_of_mbpp_runs_with_each_test() -> None:
    row = {**MBPP, "test_setup_code": "n = Node(1)", "test_list": ["assert depth(n) == 1"], "challenge_test_list": []}
    row["code"] = "class Node: ...\ndef depth(n):\n    return 1"
    assert read("mbpp", row).tests == Tests.assertions(["n = Node(1)\nassert depth(n) == 1"], entry_point="depth")


def test_assertions_may_be_a_source_or_a_list() -> None:
    expected = Tests.assertions(ASSERTS["tests"], entry_point="twice")
    assert read("asserts", ASSERTS).tests == expected
    assert read("asserts", ASSERTS, tests=json.dumps(ASSERTS["tests"])).tests == expected
    joined = "\n".join(ASSERTS["tests"])
    assert read("asserts", ASSERTS, tests=joined).tests == Tests.assertions([joined], entry_point="twice")


def test_assertions_keep_the_options_and_names_beside_them() -> None:
    problem = read(
        "asserts", ASSERTS, time_limit_s=2, prelude="import math", task_id=4, data_source="mine", solution="x = 1"
    )
    assert (problem.tests.time_limit_s, problem.tests.prelude) == (2, "import math")
    assert (problem.problem_id, problem.data_source, problem.references) == ("4", "mine", ("x = 1",))


# livecodebench


def test_livecodebench_has_its_public_and_its_packed_tests() -> None:
    problem = read("livecodebench", LIVECODEBENCH)
    assert problem.tests == Tests.stdio(["2\n", "3\n"], ["4\n", "6\n"])
    assert (problem.problem_id, problem.statement) == ("abc301_a", "Print twice the number.")


def test_functional_tests_of_livecodebench_call_the_function_with_a_value_a_line() -> None:
    problem = read("livecodebench", LIVECODEBENCH_CALL)
    assert problem.tests == Tests.call("add", [[[1, 2], 3], [[], 1]], [6, 1])
    assert "class Solution:\n    def add(self" in problem.statement


def test_mixed_test_types_of_livecodebench_are_malformed() -> None:
    with pytest.raises(TestsFormatError, match="mixes test types"):
        SOURCES["livecodebench"].read({**LIVECODEBENCH_CALL, "private_test_cases": LIVECODEBENCH["private_test_cases"]})


@pytest.mark.parametrize("protocol", range(1, pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("text", ["", "ä" * 300, "x" * 70_000])
def test_a_pickled_text_is_read_in_every_protocol_but_the_first(text: str, protocol: int) -> None:
    packed = base64.b64encode(zlib.compress(pickle.dumps(text, protocol=protocol))).decode()
    assert read_pickled_text(packed, "tests") == text


class Cheat:
    def __reduce__(self) -> tuple[Any, ...]:
        return os.putenv, ("CODE_RLVR_UNPICKLED", "yes")


@pytest.mark.parametrize("value", [Cheat(), [Cheat()], ["text"], 4, b"bytes", {"a": "b"}, None])
def test_a_pickle_of_anything_else_is_refused_and_not_run(value: object) -> None:
    packed = base64.b64encode(zlib.compress(pickle.dumps(value))).decode()
    with pytest.raises(TestsFormatError, match="private_test_cases: is a pickle with the operation"):
        SOURCES["livecodebench"].read({**LIVECODEBENCH, "private_test_cases": packed})


def test_what_unpacks_to_too_much_is_not_read_any_further() -> None:
    packed = base64.b64encode(zlib.compress(b"x" * (2 << 20))).decode()
    assert len(packed) < 4096
    with pytest.raises(TestsFormatError, match="more than 1 MiB"):
        read_pickled_text(packed, "tests", max_mib=1)


def test_packed_tests_that_are_cut_short_are_malformed() -> None:
    whole = base64.b64decode(pack(["x" * 5000]))
    with pytest.raises(TestsFormatError, match="tests"):
        read_pickled_text(base64.b64encode(whole[:-6]).decode(), "tests")


@settings(deadline=None)
@given(st.binary(max_size=40), st.integers(0, 2))
def test_rubbish_is_malformed_at_every_layer(rubbish: bytes, layers: int) -> None:
    packed = rubbish if layers < 2 else zlib.compress(rubbish)
    text = base64.b64encode(packed).decode() if layers else rubbish.decode("latin-1")
    try:
        assert isinstance(read_pickled_text(text, "tests"), str)
    except TestsFormatError as error:
        assert error.field == "tests"  # noqa: PT017  rubbish may be right by chance


# plain


@pytest.mark.parametrize("key", ["statement", "prompt", "question", "problem"])
@pytest.mark.parametrize("said", ["Do it.", [{"role": "user", "content": "Do it."}]])
def test_a_plain_statement_has_one_of_four_names_and_is_text_or_chat(key: str, said: Any) -> None:
    assert read("plain", {key: said, "tests": {"inputs": ["1"], "outputs": ["2"]}}).statement == "Do it."


@pytest.mark.parametrize(
    "tests",
    [
        {"ground_truth": '{"inputs": ["2"], "outputs": ["4"]}'},
        {"ground_truth": {"inputs": ["2"], "outputs": ["4"]}},
        {"tests": {"inputs": ["2"], "outputs": ["4"]}},
        {"tests": '{"inputs": ["2"], "outputs": ["4"]}'},
        {"tests": [{"input": "2", "output": "4"}]},
        {"inputs": ["2"], "outputs": ["4"]},
        {"reward_model": {"ground_truth": '{"inputs": ["2"], "outputs": ["4"]}'}},
        {"tests": {"inputs": ["2"], "outputs": ["4"], "note": "by hand"}},
        {"tests": {"inputs": ["2"], "outputs": ["4"]}, "kind": "assert"},
    ],
)
def test_plain_tests_may_stand_in_many_places(tests: dict[str, Any]) -> None:
    assert read("plain", {"statement": "Do it.", **tests}).tests == Tests.stdio(["2"], ["4"])


@pytest.mark.parametrize("tests", ["assert f(1) == 2", ["assert f(1) == 2"], {"asserts": "assert f(1) == 2"}])
def test_plain_tests_may_be_assertions(tests: Any) -> None:
    row = {"statement": "Do it.", "tests": tests, "entry_point": "f", "prelude": "import math"}
    assert read("plain", row).tests.asserts == ("assert f(1) == 2",)
    if not isinstance(tests, dict):
        assert (read("plain", row).tests.entry_point, read("plain", row).tests.prelude) == ("f", "import math")


def test_options_among_the_tests_come_before_those_of_the_row() -> None:
    tests = {**PLAIN["tests"], "time_limit_s": 2, "compare": None}
    found = read("plain", PLAIN, tests=tests, time_limit_s=1, compare="exact", memory_limit_mib=64).tests
    assert (found.time_limit_s, found.compare, found.memory_limit_mib) == (2, "exact", 64)


@pytest.mark.parametrize(
    ("row", "name"),
    [
        ({"id": "mine/1", "source": "somebody"}, "mine"),
        ({"id": "mine/1", "data_source": "theirs"}, "theirs"),
        ({"id": "1", "source": "somebody"}, "somebody"),
        ({"id": 1, "source": "a long text about where it is from"}, "plain"),
        ({"id": "/1"}, "plain"),
        ({}, "plain"),
    ],
)
def test_a_plain_row_is_grouped_by_its_data_source_id_or_source(row: dict[str, Any], name: str) -> None:
    bare = {key: PLAIN[key] for key in ("prompt", "tests")}
    assert read("plain", {**bare, **row}).data_source == name


@pytest.mark.parametrize(
    ("key", "value", "programs"),
    [
        ("solution", "x = 1", ("x = 1",)),
        ("solutions", ["x = 1", "", "x = 2", "x = 1"], ("x = 1", "x = 2")),
        ("solutions", '["x = 1"]', ("x = 1",)),
        ("reference", "[print(1)]", ("[print(1)]",)),
        ("references", [{"code": "x = 1"}, {"code": "x = 2", "language": "Python"}], ("x = 1", "x = 2")),
        ("references", [{"code": "x = 1", "verdict": "ACCEPTED", "language": "pypy3"}], ("x = 1",)),
        ("references", [{"code": "x = 1", "verdict": "wrong_answer"}, {"code": "y", "language": "cpp"}], ()),
        ("references", [{"code": "print 1", "language": "python2"}, {"code": None}], ()),
        ("canonical_solution", None, ()),
    ],
)
def test_only_accepted_python_counts_as_a_reference(key: str, value: Any, programs: tuple[str, ...]) -> None:
    row = {"statement": "Do it.", "tests": PLAIN["tests"], key: value}
    assert read("plain", row).references == programs


@pytest.mark.parametrize("changes", [{"kind": "math"}, {"ability": "math"}])
def test_plain_rows_that_are_no_code_are_dropped(changes: dict[str, Any]) -> None:
    assert dropped("plain", PLAIN, **changes).reason is Reason.NOT_CODE


TOLERANCE = "float tolerance: absolute 1e-06, relative 1e-06 (either suffices); other tokens compared as text"


@pytest.mark.parametrize(
    ("checker", "options"),
    [
        (TOLERANCE, ("float", 1e-6, 1e-6, True)),
        ("float tolerance: absolute 1.001e-06, relative None (either suffices)", ("float", 0.0, 1.001e-6, True)),
        ("float tolerance: absolute None, relative 0.5", ("float", 0.5, 0.0, True)),
        ("float_tolerance 1e-4", ("float", 1e-4, 1e-4, False)),
        ("float_relative_tolerance 1e-4 case_sensitive", ("float", 1e-4, None, True)),
        ("case_sensitive", ("tokens", None, None, True)),
        (None, ("default", None, None, True)),
    ],
)
def test_a_checker_that_declares_a_tolerance_becomes_options(checker: str | None, options: tuple[Any, ...]) -> None:
    tests = read("plain", PLAIN, checker=checker).tests
    assert (tests.compare, tests.rel_tol, tests.abs_tol, tests.case_sensitive) == options


def test_a_row_of_kattis_is_compared_by_token_and_its_own_case_rule() -> None:
    tests = read("plain", PLAIN, checker=None, case_sensitive=False).tests
    assert (tests.compare, tests.case_sensitive) == ("tokens", False)
    assert read("plain", PLAIN, checker=None, case_sensitive=False, compare="exact").tests.compare == "exact"
    without = {key: value for key, value in PLAIN.items() if key != "checker"}
    assert read("plain", without, case_sensitive=False).tests.compare == "default"


@pytest.mark.parametrize("checker", ["package has a custom output validator", "space_change_sensitive", ["check.py"]])
def test_any_other_checker_is_needed_and_not_there(checker: Any) -> None:
    drop = dropped("plain", PLAIN, checker=checker)
    assert drop.reason is Reason.NEEDS_CHECKER
    assert str(checker) in drop.detail


FOLDER = os.environ.get("CODE_RLVR_ORACLE")


@pytest.mark.skipif(not FOLDER, reason="CODE_RLVR_ORACLE names no folder of problems with known verdicts")
def test_helpers_of_humaneval_need_not_be_repeated(judge: Judge) -> None:
    with gzip.open(Path(FOLDER or "") / "humaneval.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = {row["id"]: row for row in map(json.loads, lines)}
    for number in (32, 38, 50):
        row = rows[f"humaneval/{number}"]
        whole, entry_point = row["solutions"][0]["code"], row["tests"]["entry_point"]
        upstream = {
            "task_id": f"HumanEval/{number}",
            "prompt": row["prompt"],
            "canonical_solution": whole.removeprefix(row["prompt"]),
            "test": row["tests"]["asserts"].removesuffix(f"check({entry_point})\n"),
            "entry_point": entry_point,
        }
        problem = read("humaneval", upstream)
        assert problem.references == (whole,)
        alone = whole[whole.index(f"def {entry_point}") :]
        assert judge.judge(alone, problem.tests).accepted
        assert not judge.judge(f"def {entry_point}(x):\n    return x", problem.tests).accepted
