"""Benchmarks by name, file and folder: which rows count, how they are asked, what is refused."""

from __future__ import annotations

import functools
import io
import json
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from code_rlvr.data.hub import open_dataset
from code_rlvr.data.parquet import write_parquet
from code_rlvr.errors import ConfigError, DataError
from code_rlvr.evaluate import benchmarks
from code_rlvr.evaluate.benchmark import Numbers, Programming, limit_of
from code_rlvr.evaluate.benchmarks import Selection, load_benchmark, parse_words
from code_rlvr.evaluate.catalogue import Window, release_of
from code_rlvr.ground_truth import Tests
from code_rlvr.types import Problem
from tests.unit.hub_server import COMMIT, HubServer


def humaneval_row(number: int) -> dict[str, Any]:
    return {
        "task_id": f"HumanEval/{number}",
        "prompt": f'def plus(x):\n    """Add {number}."""\n',
        "canonical_solution": f"    return x + {number}\n",
        "test": f"def check(candidate):\n    assert candidate(1) == {number + 1}\n",
        "entry_point": "plus",
    }


def mbpp_row(number: int, **changes: Any) -> dict[str, Any]:
    return {
        "task_id": number,
        "text": f"Write a function to add {number}.",
        "code": f"def plus(x):\n    return x + {number}",
        "test_list": [f"assert plus(1) == {number + 1}", f"assert plus(2) == {number + 2}"],
        "test_setup_code": "",
        "challenge_test_list": [f"assert plus(-1) == {number}"],
        **changes,
    }


def livecodebench_row(name: str, day: str, difficulty: str = "easy") -> dict[str, Any]:
    cases = [{"input": "1\n", "output": "2\n", "testtype": "stdin"}]
    return {
        "question_title": name,
        "question_content": f"{name}: add one.",
        "question_id": name,
        "contest_date": f"{day}T00:00:00",
        "difficulty": difficulty,
        "starter_code": "",
        "public_test_cases": json.dumps(cases),
        "private_test_cases": json.dumps(cases),
        "metadata": "{}",
    }


def lines(file: Path, rows: list[dict[str, Any]]) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def load(name: str, path: Path | None, **selection: Any) -> Any:
    return load_benchmark(name, path, Selection(**selection))


def test_words_are_names_and_names_with_paths() -> None:
    assert parse_words(["humaneval, gsm8k=a/b.jsonl", "mine=x=y.jsonl"]) == {
        "humaneval": None,
        "gsm8k": Path("a/b.jsonl"),
        "mine": Path("x=y.jsonl"),
    }


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("humanevl", "did you mean humaneval?"),
        ("zzz", "known are heldout, humaneval, mbpp"),
        ("heldout,heldout", "names heldout twice"),
        ("mine=", "write NAME=PATH"),
        ("my name=file", "write NAME=PATH"),
        ("", "there is no benchmark ''"),
    ],
)
def test_a_wrong_word_is_refused_with_what_would_be_right(word: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message.replace("?", r"\?")):
        parse_words([word])


def test_a_path_without_a_name_is_told_how_to_get_one(tmp_path: Path) -> None:
    file = lines(tmp_path / "mine.jsonl", [])
    with pytest.raises(ConfigError, match=f"--on mine={file}"):
        parse_words([str(file)])


def test_humaneval_is_asked_as_training_asks(tmp_path: Path) -> None:
    found = load("humaneval", lines(tmp_path / "h.jsonl", [humaneval_row(i) for i in range(3)]))
    assert isinstance(found, Programming)
    assert [one.problem_id for one in found.problems] == ["HumanEval/0", "HumanEval/1", "HumanEval/2"]
    assert found.problems[1].statement == humaneval_row(1)["prompt"]
    assert set(found.groups.values()) == {"humaneval"}


def test_mbpp_is_its_test_problems_with_all_listed_tests_shown_and_no_others_judged(tmp_path: Path) -> None:
    found = load("mbpp", lines(tmp_path / "m.jsonl", [mbpp_row(i) for i in (1, 10, 11, 510, 511, 974)]))
    assert [one.problem_id for one in found.problems] == ["11", "510"]
    assert found.problems[0].statement == (
        "Write a function to add 11.\n\nYour code has to pass these tests:\nassert plus(1) == 12\nassert plus(2) == 13"
    )
    assert len(found.problems[0].tests.asserts) == 2


def test_sanitized_mbpp_is_read_from_its_own_columns(tmp_path: Path) -> None:
    row = {**mbpp_row(12), "prompt": "Add 12.", "test_imports": ["import math"], "source_file": "x"}
    del row["text"], row["challenge_test_list"], row["test_setup_code"]
    (problem,) = load("mbpp-sanitized", lines(tmp_path / "s.jsonl", [row])).problems
    assert problem.statement.startswith("Add 12.\n\nYour code has to pass these tests:\nassert plus(1) == 13")
    assert problem.tests.asserts[0].startswith("import math\n")


def test_livecodebench_has_a_window_and_groups_by_difficulty(tmp_path: Path) -> None:
    days = ["2024-07-31", "2024-08-01", "2025-02-28", "2025-03-01"]
    rows = [livecodebench_row(f"p{i}", day, ("easy", "hard")[i % 2]) for i, day in enumerate(days)]
    file = lines(tmp_path / "test.jsonl", rows)
    found = load("livecodebench", file, window=Window.parse("2024-08", "2025-02"))
    assert [one.problem_id for one in found.problems] == ["p1", "p2"]
    assert found.groups == {"p1": "hard", "p2": "easy"}
    assert found.about["window"] == "2024-08-01 to 2025-02-28"
    assert len(load("livecodebench", file)) == 4
    with pytest.raises(DataError, match="no problem in 2026-01-01 to the end"):
        load("livecodebench", file, window=Window.parse("2026-01", None))
    with pytest.raises(DataError, match="a window of dates needs LiveCodeBench's own rows"):
        load(
            "livecodebench",
            lines(tmp_path / "x.jsonl", [{**rows[0], "contest_date": None}]),
            window=Window.parse("2024-08", None),
        )


def test_livecodebench_of_a_release_leaves_newer_files_out(tmp_path: Path) -> None:
    for release in (1, 2, 3):
        name = f"test{release if release > 1 else ''}.jsonl"
        lines(tmp_path / name, [livecodebench_row(f"p{release}", "2024-01-01")])
    assert [one.problem_id for one in load("livecodebench", tmp_path, release=2).problems] == ["p1", "p2"]
    assert len(load("livecodebench", tmp_path)) == 3
    assert [release_of(name) for name in ("test.jsonl", "test6.jsonl", "x/test2.jsonl.gz", "train.jsonl")] == [
        1,
        6,
        2,
        None,
    ]


@pytest.mark.parametrize(
    ("first", "last", "inside", "outside"),
    [
        ("2024-08", None, date(2024, 8, 1), date(2024, 7, 31)),
        (None, "2024-02", date(2024, 2, 29), date(2024, 3, 1)),
        ("2024-08-15", "2024-08-15", date(2024, 8, 15), date(2024, 8, 16)),
    ],
)
def test_a_month_is_all_of_it(first: str | None, last: str | None, inside: date, outside: date) -> None:
    window = Window.parse(first, last)
    assert inside in window
    assert outside not in window


@pytest.mark.parametrize(
    "words", [("2024", None), ("2024-13", None), (None, "2024-02-30"), ("soon", None), ("2025-01", "2024-01")]
)
def test_what_is_no_window_is_refused(words: tuple[str | None, str | None]) -> None:
    with pytest.raises(ConfigError, match=r"write it as 2024-08|exchange --from and --to"):
        Window.parse(*words)


def test_gsm8k_is_numbers(tmp_path: Path) -> None:
    rows = [{"question": f"What is {i} + 1?", "answer": f"It is.\n#### {i + 1}"} for i in range(3)]
    found = load("gsm8k", lines(tmp_path / "g.jsonl", rows), limit=2)
    assert isinstance(found, Numbers)
    assert [(one.problem_id, one.answer) for one in found.problems] == [("gsm8k/0", 1), ("gsm8k/1", 2)]
    with pytest.raises(DataError, match=r"g\.jsonl:1: there is no answer that is a number"):
        load("gsm8k", lines(tmp_path / "g.jsonl", [{"question": "What?", "answer": "no idea"}]))


@pytest.mark.parametrize(("limit", "cut_to"), [(None, None), (2, 2), (3, None), (500, None)])
def test_a_set_is_called_cut_only_where_there_are_more_problems(tmp_path: Path, limit: int | None, cut_to: int) -> None:
    questions = [{"question": f"What is {i} + 1?", "answer": f"#### {i + 1}"} for i in range(3)]
    sets = {"gsm8k": questions, "humaneval": [humaneval_row(i) for i in range(3)]}
    for name, rows in sets.items():
        found = load(name, lines(tmp_path / f"{name}.jsonl", rows), limit=limit)
        assert len(found) == min(3, limit or 3)
        assert limit_of(found) == cut_to


def test_own_problems_are_grouped_by_their_source(tmp_path: Path) -> None:
    tests = {"inputs": ["1\n"], "outputs": ["2\n"]}
    rows = [{"id": f"p{i}", "statement": f"Add {i}.", "tests": tests, "data_source": "ab"[i % 2]} for i in range(4)]
    found = load("mine", lines(tmp_path / "mine.jsonl", rows), limit=3)
    assert found.groups == {"p0": "a", "p1": "b", "p2": "a"}


def test_a_prepared_folder_is_its_validation_problems(tmp_path: Path) -> None:
    tests = Tests.stdio(["1\n"], ["2\n"])
    for split in ("train", "validation"):
        write_parquet(tmp_path / f"{split}.parquet", [Problem(split, f"Of {split}.", tests, "x")], split=split)
    (problem,) = load("mine", tmp_path).problems
    assert (problem.problem_id, problem.statement) == ("validation", "Of validation.")


def test_ids_of_several_sources_may_be_equal_and_others_not(tmp_path: Path) -> None:
    row = {"id": "1", "statement": "Add.", "tests": {"inputs": ["1\n"], "outputs": ["2\n"]}}
    found = load("mine", lines(tmp_path / "a.jsonl", [{**row, "data_source": "a"}, {**row, "data_source": "b"}]))
    assert [one.problem_id for one in found.problems] == ["1", "b/1"]
    with pytest.raises(DataError, match=r"a\.jsonl:3: the id 1 stands there twice"):
        load("mine", lines(tmp_path / "a.jsonl", [row, row, row]))


def test_rows_that_cannot_be_judged_by_are_left_out_and_counted(tmp_path: Path) -> None:
    row = {"statement": "Add.", "tests": {"inputs": ["1\n"], "outputs": ["2\n"]}}
    rows = [row, {**row, "tests": {"inputs": ["1\n"], "outputs": []}}, {**row, "tests": None}]
    found = load("mine", lines(tmp_path / "mine.jsonl", rows))
    assert len(found) == 1
    assert (found.about["left out: malformed_tests"], found.about["left out: no_tests"]) == (1, 1)
    with pytest.raises(DataError, match=r"no problem to evaluate on \(1 no_tests\)"):
        load("mine", lines(tmp_path / "mine.jsonl", rows[2:]))


@pytest.mark.parametrize("files", [[], ["a.jsonl", "b.jsonl"]])
def test_a_folder_without_exactly_one_file_of_problems_is_refused(tmp_path: Path, files: list[str]) -> None:
    for name in files:
        lines(tmp_path / name, [])
    with pytest.raises(DataError, match=r"give the folder that does|name the one to evaluate on"):
        load("mine", tmp_path)
    with pytest.raises(DataError, match="no file or folder here"):
        load("mine", tmp_path / "absent")


def test_heldout_problems_are_those_of_the_starter_set() -> None:
    found = load("heldout", None, limit=7)
    assert len(found) == 7
    assert found.problems[0].problem_id == "starter-heldout-0-00000"
    assert found.groups["starter-heldout-0-00000"] in ("combination", "paraphrase", "parameter")


def parquet_bytes(rows: list[dict[str, Any]]) -> bytes:
    stream = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), stream)
    return stream.getvalue()


@pytest.fixture(scope="module")
def hub() -> Iterator[HubServer]:
    wrong = b"not to be read"
    question = {"question": "What is 1 + 1?", "answer": "#### 2"}
    datasets = {
        "openai/openai_humaneval": {"openai_humaneval/test-00000-of-00001.parquet": parquet_bytes([humaneval_row(0)])},
        "google-research-datasets/mbpp": {
            "full/test-00000-of-00001.parquet": parquet_bytes([mbpp_row(11), mbpp_row(12)]),
            "full/train-00000-of-00001.parquet": wrong,
            "sanitized/test-00000-of-00001.parquet": parquet_bytes([mbpp_row(12)]),
        },
        "livecodebench/code_generation_lite": {
            "test.jsonl": json.dumps(livecodebench_row("a", "2024-01-01")).encode(),
            "test2.jsonl": json.dumps(livecodebench_row("b", "2024-09-01")).encode(),
        },
        "openai/gsm8k": {
            "main/test-00000-of-00001.parquet": parquet_bytes([question]),
            "main/train-00000-of-00001.parquet": wrong,
            "socratic/test-00000-of-00001.parquet": wrong,
        },
    }
    with HubServer(datasets).running() as server:
        yield server


def test_every_benchmark_is_read_from_the_hub_and_fetched_once(
    hub: HubServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("huggingface_hub")
    monkeypatch.setattr(benchmarks, "open_dataset", functools.partial(open_dataset, endpoint=hub.endpoint))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    sizes = {"humaneval": 1, "mbpp": 2, "mbpp-sanitized": 1, "livecodebench": 2, "gsm8k": 1}
    assert {name: len(load(name, None)) for name in sizes} == sizes
    sent = hub.sent
    assert load("livecodebench", None).about["content"] == f"commit:{COMMIT}"
    assert len(load("livecodebench", None, release=1)) == 1
    assert hub.sent == sent
