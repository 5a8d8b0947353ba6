"""Every layout of tests is read into one type; anything malformed is refused with the field's name."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from code_rlvr import Tests, TestsFormatError

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def test_stdio_is_read_from_text_and_from_an_object() -> None:
    layout = {"inputs": ["1\n"], "outputs": ["2\n"]}
    tests = Tests.parse(json.dumps(layout))
    assert tests == Tests.parse(layout) == Tests.stdio(["1\n"], ["2\n"])
    assert (tests.kind, tests.inputs, tests.outputs) == ("stdio", ("1\n",), ("2\n",))


def test_lists_of_lines_are_joined() -> None:
    tests = Tests.parse({"inputs": [["1", "2"]], "outputs": [["3", "4"]]})
    assert (tests.inputs, tests.outputs) == (("1\n2",), ("3\n4",))


def test_line_ends_of_inputs_are_newlines() -> None:
    tests = Tests.parse({"inputs": ["1\r\n2\r\n"], "outputs": ["3\r\n"]})
    assert tests.inputs == ("1\n2\n",)


def test_text_that_was_encoded_twice_is_read() -> None:
    layout = {"inputs": ["1\n"], "outputs": ["2\n"]}
    assert Tests.parse(json.dumps(json.dumps(layout))) == Tests.parse(layout)


def test_assertions_may_stand_beside_inputs_and_outputs_that_say_nothing() -> None:
    layout = {"inputs": ["", ""], "outputs": [None, None], "assert_case": ["assert f(1) == 2", "assert f(2) == 3"]}
    assert Tests.parse(json.dumps(layout)) == Tests.assertions(layout["assert_case"])
    with pytest.raises(TestsFormatError, match="inputs"):
        Tests.parse({**layout, "inputs": ["1", ""]})


def test_outputs_of_calls_are_unwrapped_if_all_have_length_one() -> None:
    tests = Tests.parse({"fn_name": "isMagic", "inputs": [[1237], [12]], "outputs": [[0], [0]]})
    assert (tests.fn_name, tests.inputs, tests.outputs) == ("isMagic", ([1237], [12]), (0, 0))


def test_outputs_of_calls_stay_as_they_are_if_one_has_another_length() -> None:
    tests = Tests.parse({"fn_name": "f", "inputs": [[1], [2]], "outputs": [[0], [0, 1]]})
    assert tests.outputs == ([0], [0, 1])


def test_plain_outputs_that_are_lists_of_one_survive_the_canonical_text() -> None:
    tests = Tests.call("f", [[1], [2]], [[5], [6]])
    assert tests.outputs == ([5], [6])
    assert Tests.parse(tests.to_json()) == tests


def test_tuples_and_arrays_become_lists() -> None:
    np = pytest.importorskip("numpy")
    assert Tests.call("f", [(1, (2, 3))], [(4,)]).inputs == ([1, [2, 3]],)
    layout = {"inputs": np.array(["a"], dtype=object), "outputs": np.array(["b"], dtype=object)}
    assert Tests.parse(layout) == Tests.stdio(["a"], ["b"])


def test_assertions_are_read_from_all_their_places() -> None:
    source = "assert f(1) == 2"
    by_key = Tests.parse({"asserts": source, "entry_point": "f", "prelude": "import math"})
    assert (by_key.asserts, by_key.entry_point, by_key.prelude) == ((source,), "f", "import math")
    assert Tests.parse({"assert_case": [source]}) == Tests.assertions([source])
    for ground_truth in (None, "", "def f(x): return 2", "{}"):
        assert Tests.parse(ground_truth, {"tests": [source, source]}).asserts == (source, source)
    assert Tests.parse(None, {"tests": source, "entry_point": "f"}).entry_point == "f"


CASES = [{"input": "a", "output": "b"}, {"input": "c", "output": "d"}]


@pytest.mark.parametrize("cases", [CASES, {"test_cases": CASES}, [{**case, "testtype": "stdin"} for case in CASES]])
def test_lists_of_cases_are_read_as_prepare_reads_them(cases: Any) -> None:
    expected = Tests.stdio(["a", "c"], ["b", "d"])
    assert (
        Tests.parse(cases) == Tests.parse(json.dumps(cases)) == Tests.parse(json.dumps(json.dumps(cases))) == expected
    )


def test_cases_that_name_a_function_are_calls_of_it() -> None:
    case = {"input": "[1]\n2", "output": "3", "testtype": "functional", "metadata": {"func_name": "f"}}
    assert Tests.parse(json.dumps([case])) == Tests.call("f", [[[1], 2]], [3])


@pytest.mark.parametrize(
    "source", ["assert f(1) == 2", "from solution import f\n\ndef test_f():\n    assert f(1) == 2"]
)
def test_source_with_assertions_and_lists_of_it_are_tests(source: str) -> None:
    assert Tests.parse(source) == Tests.parse({"functional": source}) == Tests.parse({"asserts": source})
    assert Tests.parse([source, source]) == Tests.parse(json.dumps([source, source])) == Tests.assertions([source] * 2)


def test_solutions_in_place_of_tests_give_way_to_tests_beside_them() -> None:
    for solutions in (["def f(x): return 2"], "def f(x): return 2\n\nassert f(1) == 2"):
        assert Tests.parse(solutions, {"tests": "assert f(3) == 2"}) == Tests.parse({"asserts": "assert f(3) == 2"})


def test_tests_in_the_ground_truth_come_before_those_in_extra_info() -> None:
    assert Tests.parse({"inputs": ["a"], "outputs": ["b"]}, {"tests": "assert f()"}).kind == "stdio"


def test_options_stand_beside_any_form() -> None:
    options = {"time_limit_s": 2, "memory_limit_mib": 64, "compare": "float", "rel_tol": 0, "case_sensitive": False}
    tests = Tests.parse({"inputs": ["a"], "outputs": ["b"], **options, "abs_tol": None})
    assert (tests.time_limit_s, tests.memory_limit_mib, tests.compare) == (2, 64, "float")
    assert (tests.rel_tol, tests.abs_tol, tests.case_sensitive) == (0, None, False)
    assert Tests.parse(tests.to_json()) == tests


OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "time_limit_s": st.floats(0.01, 100),
        "memory_limit_mib": st.integers(1, 4096),
        "compare": st.sampled_from(["exact", "tokens", "float", "unordered_lines"]),
        "rel_tol": st.floats(0, 1),
        "abs_tol": st.floats(0, 1),
        "case_sensitive": st.booleans(),
    },
)


@given(st.lists(st.tuples(st.lists(JSON, max_size=3), JSON), min_size=1, max_size=4), OPTIONS)
def test_canonical_text_of_calls_is_read_back_as_it_was(cases: list[tuple[Any, Any]], options: dict[str, Any]) -> None:
    tests = Tests.call("f", [args for args, _ in cases], [output for _, output in cases], **options)
    assert Tests.parse(tests.to_json()) == tests
    assert Tests.parse(json.loads(tests.to_json())).to_json() == tests.to_json()


@given(st.lists(st.tuples(st.text(), st.text()), min_size=1, max_size=4), OPTIONS)
def test_canonical_text_of_stdio_is_read_back_as_it_was(cases: list[tuple[str, str]], options: dict[str, Any]) -> None:
    tests = Tests.stdio([given for given, _ in cases], [output for _, output in cases], **options)
    assert Tests.parse(tests.to_json()) == tests


def test_canonical_text_of_assertions_is_read_back_as_it_was() -> None:
    tests = Tests.assertions(["assert f(1)", "assert f(2)\nassert f(3)"], entry_point="f", prelude="x = 1")
    assert Tests.parse(tests.to_json()) == tests


@pytest.mark.parametrize(
    ("layout", "field"),
    [
        (None, "ground_truth"),
        ("null", "ground_truth"),
        ("", "ground_truth"),
        ("not JSON", "ground_truth"),
        ("[1]", "ground_truth[0]"),
        ("[]", "ground_truth"),
        ("def f(x): return 2", "ground_truth"),
        ([{"input": "a", "output": "b"}, {"input": "a"}], "ground_truth[1]"),
        ([{"input": "a", "output": "b", "testtype": "functional"}], "ground_truth[0]"),
        ("[" * 100_000, "ground_truth"),
        ({}, "ground_truth"),
        ({"reference": "x"}, "ground_truth"),
        ({"inputs": [], "outputs": []}, "inputs"),
        ({"inputs": ["a"], "outputs": []}, "outputs"),
        ({"inputs": ["a"]}, "outputs"),
        ({"inputs": ["a"], "outputs": None}, "outputs"),
        ({"inputs": "a", "outputs": ["a"]}, "inputs"),
        ({"inputs": ["a", "b"], "outputs": ["a"]}, "outputs"),
        ({"inputs": [1], "outputs": ["a"]}, "inputs[0]"),
        ({"inputs": ["a"], "outputs": [["a", 1]]}, "outputs[0]"),
        ({"inputs": ["a"], "outputs": ["a"], "checker": "x"}, "checker"),
        ({"inputs": ["a"], "outputs": ["a"], "asserts": "assert f()"}, "inputs"),
        ({"fn_name": "", "inputs": [[1]], "outputs": [1]}, "fn_name"),
        ({"fn_name": "f(); g", "inputs": [[1]], "outputs": [1]}, "fn_name"),
        ({"fn_name": "f", "inputs": [1], "outputs": [1]}, "inputs[0]"),
        ({"fn_name": "f", "inputs": [[{1: 2}]], "outputs": [1]}, "inputs[0]"),
        ({"fn_name": "f", "inputs": [[1]], "outputs": [{1, 2}]}, "outputs[0]"),
        ({"fn_name": "f", "inputs": [[1]], "outputs": [2**20_000]}, "outputs[0]"),
        ({"asserts": ["assert f()"]}, "asserts"),
        ({"asserts": "assert f("}, "asserts"),
        ({"assert_case": []}, "assert_case"),
        ({"asserts": "assert f()", "entry_point": 3}, "entry_point"),
        ({"asserts": "assert f()", "prelude": 3}, "prelude"),
        ({"asserts": "assert f()", "prelude": "def f("}, "prelude"),
        ({"inputs": ["\ud800"], "outputs": [""]}, "inputs[0]"),
        ({"inputs": ["a"], "outputs": ["a"], "compare": "fuzzy"}, "compare"),
        ({"inputs": ["a"], "outputs": ["a"], "time_limit_s": 0}, "time_limit_s"),
        ({"inputs": ["a"], "outputs": ["a"], "time_limit_s": "2"}, "time_limit_s"),
        ({"inputs": ["a"], "outputs": ["a"], "memory_limit_mib": True}, "memory_limit_mib"),
        ({"inputs": ["a"], "outputs": ["a"], "rel_tol": -1e-9}, "rel_tol"),
        ({"inputs": ["a"], "outputs": ["a"], "abs_tol": float("nan")}, "abs_tol"),
        ({"inputs": ["a"], "outputs": ["a"], "case_sensitive": "no"}, "case_sensitive"),
    ],
)
def test_malformed_tests_are_refused_with_the_name_of_the_field(layout: Any, field: str) -> None:
    with pytest.raises(TestsFormatError) as refused:
        Tests.parse(layout)
    assert refused.value.field == field
    assert field in str(refused.value)


def test_calls_of_livecodebench_are_read_from_lines_of_json() -> None:
    layout = {"fn_name": "f", "inputs": ['[5, 3]\n"a"', '[]\n"b"\n'], "outputs": ["[1]", "[[2]]"]}
    assert Tests.parse(layout) == Tests.call("f", [[[5, 3], "a"], [[], "b"]], [[1], [[2]]])


@pytest.mark.parametrize(
    ("inputs", "outputs", "field"),
    [
        (["[1"], ["1"], "inputs[0]"),
        (["1"], ["1\n2"], "outputs[0]"),
        (["1"], [1], "outputs[0]"),
        (["1", [1]], ["1", "2"], "inputs[0]"),
    ],
)
def test_malformed_calls_of_livecodebench_are_refused(inputs: list[Any], outputs: list[Any], field: str) -> None:
    with pytest.raises(TestsFormatError) as refused:
        Tests.parse({"fn_name": "f", "inputs": inputs, "outputs": outputs})
    assert refused.value.field == field


@pytest.mark.parametrize(
    "layout",
    [
        {"inputs": ["1"], "outputs": ["1"], "time_limit_s": 10**400},
        {"fn_name": "f", "inputs": [[json.loads("[" * 700 + "]" * 700)]], "outputs": [[1]]},
    ],
)
def test_what_no_float_holds_and_no_stack_walks_is_malformed(layout: dict[str, Any]) -> None:
    with pytest.raises(TestsFormatError, match="cannot be read"):
        Tests.parse(layout)
