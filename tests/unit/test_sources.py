"""Every source: it is recognised, reads its own schema, and meets any other row with an error that says what to do."""

from __future__ import annotations

import contextlib
import copy
import gzip
import io
import json
import os
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from code_rlvr.data.parquet import write_parquet
from code_rlvr.data.sources import SOURCES, Drop, Reason, detect, get_source
from code_rlvr.errors import ConfigError, DataError, TestsFormatError
from code_rlvr.ground_truth import Tests
from code_rlvr.types import Problem
from tests.unit.sources_rows import APPS, CODECONTESTS, EURUS, ROWS, TACO

EVERY_ROW = [(name, row) for name, rows in ROWS.items() for row in rows]
EVERY_CODE_ROW = [(name, row) for name, row in EVERY_ROW if row.get("ability") != "math"]


def read(name: str, row: dict[str, Any]) -> Problem:
    problem = SOURCES[name].read(row)
    assert isinstance(problem, Problem), problem
    return problem


def dropped(name: str, row: dict[str, Any]) -> Reason:
    drop = SOURCES[name].read(row)
    assert isinstance(drop, Drop), drop
    assert drop.detail
    return drop.reason


def through_parquet(row: dict[str, Any]) -> dict[str, Any]:
    stream = io.BytesIO()
    pq.write_table(pa.Table.from_pylist([row]), stream)
    (found,) = pq.read_table(stream).to_pylist()
    return dict(found)


def test_each_source_has_rows_here() -> None:
    assert list(ROWS) == list(SOURCES)


@pytest.mark.parametrize(("name", "row"), EVERY_ROW)
def test_a_first_row_tells_its_layout(name: str, row: dict[str, Any]) -> None:
    assert detect(row).name == name
    assert SOURCES[name].marks <= row.keys()


@pytest.mark.parametrize(("name", "row"), EVERY_CODE_ROW)
def test_a_row_becomes_a_problem_with_a_statement_tests_and_a_group(name: str, row: dict[str, Any]) -> None:
    problem = read(name, row)
    assert problem.statement.strip()
    assert Tests.parse(problem.tests.to_json()) == problem.tests
    assert problem.data_source
    assert all(isinstance(program, str) and program.strip() for program in problem.references)


@pytest.mark.parametrize(("name", "row"), EVERY_CODE_ROW)
def test_nothing_is_read_but_the_columns_that_the_source_names(name: str, row: dict[str, Any]) -> None:
    known = {key: value for key, value in row.items() if key in SOURCES[name].columns}
    assert read(name, known) == read(name, row)


@pytest.mark.parametrize(("name", "row"), EVERY_ROW)
def test_the_glance_columns_are_enough_to_tell_code(name: str, row: dict[str, Any]) -> None:
    source = SOURCES[name]
    if source.is_code is not None:
        assert set(source.glance) <= set(source.columns)
        is_code = source.is_code({key: row.get(key) for key in source.glance})
        assert is_code == isinstance(source.read(row), Problem)
        assert source.is_code({key: [1] for key in source.glance}) in (True, False)


@pytest.mark.parametrize(("name", "row"), EVERY_CODE_ROW)
def test_parquet_gives_the_same_problem_as_json(name: str, row: dict[str, Any]) -> None:
    assert read(name, through_parquet(row)) == read(name, row)
    assert detect(through_parquet(row)).name == name


@pytest.mark.parametrize(("name", "row"), EVERY_CODE_ROW)
def test_a_row_is_not_changed_by_reading_it(name: str, row: dict[str, Any]) -> None:
    before = copy.deepcopy(row)
    read(name, row)
    assert row == before


@pytest.mark.parametrize(
    ("name", "key"),
    [
        *((name, "prompt") for name in ("eurus", "verl", "humaneval", "asserts")),
        *((name, "reward_model") for name in ("eurus", "verl")),
        *((name, key) for name in ("apps", "taco") for key in ("question", "input_output")),
        *(("codecontests", key) for key in ("description", "public_tests")),
        *(("codeforces", key) for key in ("description", "official_tests")),
        ("leetcode", "test"),
        *(("humaneval", key) for key in ("test", "entry_point")),
        *(("livecodebench", key) for key in ("question_content", "public_test_cases", "private_test_cases")),
        ("mbpp", "test_list"),
        ("asserts", "tests"),
    ],
)
def test_a_missing_column_is_named_with_a_remedy(name: str, key: str) -> None:
    row = {other: value for other, value in ROWS[name][0].items() if other != key}
    with pytest.raises(DataError, match=rf"column '{key}' is missing.*; .+"):
        SOURCES[name].read(row)


def test_a_plain_row_without_any_statement_names_the_columns_that_would_do() -> None:
    with pytest.raises(DataError, match=r"statement, prompt, question, problem.*plain=FILE"):
        SOURCES["plain"].read({"tests": {"inputs": [""], "outputs": [""]}})


STATEMENT_KEYS = {
    "apps": "question",
    "taco": "question",
    "codecontests": "description",
    "codeforces": "description",
    "humaneval": "prompt",
    "mbpp": "text",
    "livecodebench": "question_content",
    "verifiable": "problem_statement",
    "asserts": "prompt",
    "plain": "prompt",
}


@pytest.mark.parametrize(("name", "key"), STATEMENT_KEYS.items())
@pytest.mark.parametrize("blank", [None, "", " \n"])
def test_a_blank_statement_is_dropped_as_such(name: str, key: str, blank: str | None) -> None:
    assert dropped(name, {**ROWS[name][0], key: blank}) is Reason.NO_STATEMENT


@pytest.mark.parametrize("name", ["eurus", "verl"])
@pytest.mark.parametrize("chat", [None, [], [{"role": "user", "content": None}], [{"role": "user", "content": " "}]])
def test_a_chat_that_says_nothing_is_dropped_as_such(name: str, chat: Any) -> None:
    assert dropped(name, {**ROWS[name][0], "prompt": chat}) is Reason.NO_STATEMENT


@pytest.mark.parametrize(
    ("name", "emptied"),
    [
        *(("eurus", {"reward_model": {"ground_truth": truth}}) for truth in (None, "", "null")),
        *(("verl", {"reward_model": {"ground_truth": truth}}) for truth in (None, "", "null")),
        ("verl", {"reward_model": None}),
        ("verl", {"reward_model": {"ground_truth": {"inputs": None, "outputs": None, "fn_name": None}}}),
        *((name, {"input_output": text}) for name in ("apps", "taco") for text in ("", None, "{}")),
        *((name, {"input_output": '{"inputs": [], "outputs": []}'}) for name in ("apps", "taco")),
        ("codecontests", {key: {"input": [], "output": []} for key in CODECONTESTS if key.endswith("_tests")}),
        ("codeforces", {"official_tests": []}),
        ("humaneval", {"test": ""}),
        ("leetcode", {"test": ""}),
        ("verifiable", {"verification_info": {"ground_truth": "4"}}),
        ("mbpp", {"test_list": [], "challenge_test_list": None}),
        ("livecodebench", {"public_test_cases": "[]", "private_test_cases": ""}),
        ("asserts", {"tests": []}),
        ("asserts", {"tests": " "}),
        ("plain", {"tests": None}),
        ("plain", {"tests": {}}),
        ("plain", {"tests": {"inputs": [], "outputs": []}}),
    ],
)  # fmt: skip
def test_a_row_without_tests_is_dropped_as_such(name: str, emptied: dict[str, Any]) -> None:
    assert dropped(name, {**ROWS[name][0], **emptied}) is Reason.NO_TESTS


@pytest.mark.parametrize(
    ("name", "broken"),
    [
        ("eurus", {"reward_model": {"ground_truth": '{"inputs": ["1"]}'}}),
        ("verl", {"reward_model": {"ground_truth": "four"}}),
        ("verl", {"reward_model": {"ground_truth": '{"answer": "4"}'}}),
        ("apps", {"input_output": "{"}),
        ("taco", {"input_output": '{"inputs": ["1"], "outputs": []}'}),
        ("codecontests", {"public_tests": {"input": ["1"], "output": []}}),
        ("codeforces", {"official_tests": [{"input": "1"}]}),
        ("humaneval", {"test": "def ("}),
        ("leetcode", {"test": "def ("}),
        ("verifiable", {"verification_info": "{"}),
        ("humaneval", {"prompt": "Write it."}),
        ("humaneval", {"entry_point": "another"}),
        ("mbpp", {"test_list": ["assert ("]}),
        ("livecodebench", {"public_test_cases": "[1]"}),
        ("asserts", {"tests": ["assert ("]}),
        ("plain", {"tests": {"answer": "4"}}),
        ("plain", {"kind": "call"}),
        ("plain", {"compare": "roughly"}),
    ],
)
def test_malformed_tests_are_an_error_and_not_a_drop(name: str, broken: dict[str, Any]) -> None:
    with pytest.raises(TestsFormatError):
        SOURCES[name].read({**ROWS[name][0], **broken})


def test_a_row_of_no_known_layout_names_the_sources_and_the_remedy() -> None:
    with pytest.raises(DataError, match=r"colour.*plain=FILE.*eurus, verl, apps") as caught:
        detect({"colour": "red", "size": 4})
    assert all(name in str(caught.value) for name in SOURCES)


def test_a_row_of_two_layouts_names_both() -> None:
    with pytest.raises(DataError, match=r"apps or taco.*plain=FILE"):
        detect({**APPS, **TACO})


def test_what_prepare_wrote_is_of_verls_layout_and_not_of_eurus(tmp_path: Path) -> None:
    problem = read("eurus", EURUS)
    write_parquet(tmp_path / "train.parquet", [problem], split="train")
    (row,) = pq.read_table(tmp_path / "train.parquet").to_pylist()
    assert detect(row).name == "verl"


@pytest.mark.parametrize(("name", "row"), EVERY_CODE_ROW)
def test_a_set_that_is_prepared_twice_stays_the_same(tmp_path: Path, name: str, row: dict[str, Any]) -> None:
    problem = replace(read(name, row), problem_id="some/id")  # `prepare` gives one to what has none
    file = tmp_path / "train.parquet"
    write_parquet(file, [problem], split="train")
    (once,) = pq.read_table(file).to_pylist()
    again = read("verl", once)
    assert (again.statement, again.tests) == (problem.statement.strip(), problem.tests)
    write_parquet(file, [again], split="train")
    (twice,) = pq.read_table(file).to_pylist()
    assert twice == once


def test_a_misspelt_source_gets_the_nearest_one() -> None:
    assert get_source("taco") is SOURCES["taco"]
    with pytest.raises(ConfigError, match=r"'codecontest'; did you mean codecontests\?"):
        get_source("codecontest")
    with pytest.raises(ConfigError, match="known are eurus"):
        get_source("")


KEYS = sorted({key for _, row in EVERY_ROW for key in row}.union(*(source.columns for source in SOURCES.values())))
PARTS = [
    *("inputs", "outputs", "fn_name", "input", "output", "testtype", "metadata", "role", "content", "ground_truth"),
    *("tests", "asserts", "functional", "func_name", "code", "verdict", "language", "solution", "seconds", "index"),
]
TEXTS = [
    *("user", "stdin", "functional", "assert f(1)", "def f(x):\n    pass", "f", "[]", "{}", '{"inputs": [1]}', '["a"]'),
    *("[{}]", "code", "math", "call", "float tolerance: absolute 1, relative 2", "AAAA"),
]
SCALARS = st.one_of(
    *(st.none(), st.booleans(), st.integers(-(10**20), 10**20), st.floats()),
    *(st.text(max_size=8), st.sampled_from(TEXTS)),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(PARTS) | st.text(max_size=3), inner, max_size=4)
    ),
    max_leaves=8,
)


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(row=st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=8), texts=st.booleans())
@example(row={"prompt": [{"role": "user", "content": [{"type": "image"}]}], "reward_model": {}}, texts=False)
def test_any_row_of_json_is_read_dropped_or_refused_by_every_source(row: dict[str, Any], texts: bool) -> None:
    if texts:
        row = {key: value if isinstance(value, str) else json.dumps(value) for key, value in row.items()}
    for source in SOURCES.values():
        assert source.is_code is None or source.is_code(row) in (True, False)
        with contextlib.suppress(DataError, TestsFormatError):
            assert isinstance(source.read(row), (Problem, Drop))
    with contextlib.suppress(DataError):
        assert detect(row).name in SOURCES


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    named=st.sampled_from(EVERY_CODE_ROW),
    changes=st.dictionaries(st.sampled_from(KEYS), VALUES, min_size=1, max_size=2),
    inside=st.booleans(),
)
def test_a_good_row_with_something_strange_in_it_is_read_dropped_or_refused(
    named: tuple[str, dict[str, Any]], changes: dict[str, Any], inside: bool
) -> None:
    name, row = named
    values = list(changes.values())
    if inside:
        parts = [key for key, value in row.items() if isinstance(value, dict)]
        changes = {key: dict.fromkeys(row[key], values[0]) for key in parts}
    else:
        changes |= {list(row)[len(repr(values)) % len(row)]: values[0]}
    with contextlib.suppress(DataError, TestsFormatError):
        assert isinstance(SOURCES[name].read({**row, **changes}), (Problem, Drop))


FOLDER = os.environ.get("CODE_RLVR_ORACLE")
ORACLE: dict[str, tuple[int, dict[Reason, int]]] = {  # file: problems, and drops by reason
    "codecontests_graph": (231, {}),
    "gsm8k_test": (0, {Reason.NOT_CODE: 1319}),
    "humaneval": (164, {}),
    "mbpp": (974, {}),
    "mbppplus": (377, {}),
    "quixbugs": (28, {Reason.NEEDS_CHECKER: 3}),
    "sandboxfusion_assert_samples": (70, {Reason.MALFORMED_TESTS: 1}),  # one of its tests is not Python
    "sandboxfusion_code_contests": (20, {}),
    "livecodebench_samples": (3, {Reason.NO_STATEMENT: 400}),
    "verl_rllm_reward_samples": (0, {Reason.NO_STATEMENT: 12}),
    "stdio_kattis_contests": (115, {Reason.NO_STATEMENT: 4}),
    "stdio_kattis_needs_checker": (0, {Reason.NEEDS_CHECKER: 42}),
}
with_oracle = pytest.mark.skipif(not FOLDER, reason="CODE_RLVR_ORACLE names no folder of problems with known verdicts")


def oracle_rows(name: str) -> list[dict[str, Any]]:
    with gzip.open(Path(FOLDER or "") / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


@with_oracle
@pytest.mark.parametrize(("name", "expected"), ORACLE.items())
def test_files_from_outside_are_plain_rows(name: str, expected: tuple[int, dict[Reason, int]]) -> None:
    rows = oracle_rows(name)
    outcomes: list[Problem | Drop] = []
    for row in rows:
        assert detect(row).name == "plain"
        try:
            outcomes.append(SOURCES["plain"].read(row))
        except TestsFormatError as error:
            outcomes.append(Drop(Reason.MALFORMED_TESTS, str(error)))
    problems = [outcome for outcome in outcomes if isinstance(outcome, Problem)]
    drops = Counter(outcome.reason for outcome in outcomes if isinstance(outcome, Drop))
    assert (len(problems), drops) == expected
    for row, problem in zip(rows, outcomes, strict=True):
        if isinstance(problem, Problem):
            assert problem.problem_id == row["id"]
            assert problem.data_source == row["id"].split("/")[0]
            accepted = [s["code"] for s in row["solutions"] if s["verdict"] == "accepted"]
            assert list(problem.references) == list(dict.fromkeys(accepted))
