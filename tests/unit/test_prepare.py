"""Preparing a set: every row is accounted for, the same input gives the same bytes, nothing is half-written."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rich.console import Console

from code_rlvr import Tests
from code_rlvr.data import rows
from code_rlvr.data.prepare import run
from code_rlvr.data.prepare.inputs import split_of
from code_rlvr.data.prepare.run import Prepared, PrepareSettings, prepare
from code_rlvr.data.prepare.scan import content_id
from code_rlvr.errors import CodeRlvrError, DataError, ModelError
from code_rlvr.types import Problem
from tests.unit.statements import statement

ENDING = "\n\nWrite Python code to solve the problem. Present the code in \n```python\nYour code\n```\nat the end."
TESTS = {"inputs": ["1\n", "2\n"], "outputs": ["1", "2"]}


def eurus(text: str, tests: Any = TESTS, ability: str = "code") -> dict[str, Any]:
    return {
        "data_source": "taco" if ability == "code" else "numina_olympiads",
        "prompt": [
            {"content": "When tackling complex reasoning tasks, you have access to [ASSESS].", "role": "system"},
            {"content": text + ENDING, "role": "user"},
        ],
        "ability": ability,
        "reward_model": {"ground_truth": tests if tests is None else json.dumps(tests), "style": "rule"},
        "extra_info": {"index": 0, "split": "dummy"},
    }


def write(file: Path, given: list[dict[str, Any]]) -> str:
    pq.write_table(pa.Table.from_pylist(given), file, row_group_size=7)
    return str(file)


def prepared(out: Path, *sources: str, **settings: Any) -> Prepared:
    return prepare(PrepareSettings(sources, out, **settings), Console(file=io.StringIO()))


def outcomes(result: Prepared, split: str = "train") -> dict[str, int]:
    return {name: number for name, number in result.manifest["outcomes"][split].items() if number}


def lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def problems_in(file: Path) -> list[dict[str, Any]]:
    return list(pq.read_table(file).to_pylist())


PLANTED = {
    "plain": [eurus(statement(i)) for i in range(20)],
    "not_code": [eurus("What is 1 + 1?", tests=2, ability="math"), eurus("And 2 + 2?", tests=4, ability="math")],
    "no_tests": [eurus(statement(100), tests=None)],
    "malformed_tests": [eurus(statement(101), tests={"inputs": ["1"], "outputs": []})],
    "no_statement": [eurus("  \n")],
    "tests_too_large": [eurus(statement(102), tests={"inputs": ["x" * 300_000], "outputs": ["1"]})],
    "overlong": [eurus(" ".join(statement(i) for i in range(200, 240)))],
    "duplicate": [eurus(statement(3).upper() + "  "), eurus(statement(4))],
    "near_duplicate": [eurus(statement(5) + " Have fun.")],
    "in_validation": [eurus(statement(50)), eurus(statement(51) + " Have fun.")],
    "in_benchmark": [eurus("Consider this. " + statement(70) + " " + statement(103)[:60])],
}


@pytest.fixture
def given(tmp_path: Path) -> dict[str, Any]:
    """Sources with a known number of rows for each reason to be dropped."""
    everything = [row for kind in PLANTED.values() for row in kind]
    benchmark = tmp_path / "benchmark.jsonl"
    benchmark.write_text(json.dumps({"task_id": "B/1", "statement": statement(70), "tests": TESTS}))
    return {
        "sources": (write(tmp_path / "train.parquet", everything),),
        "validation": (write(tmp_path / "validation.parquet", [eurus(statement(50 + i)) for i in range(5)]),),
        "benchmarks": (str(benchmark),),
    }


def test_each_planted_row_is_counted_under_its_own_reason(given: dict[str, Any], tmp_path: Path) -> None:
    result = prepared(tmp_path / "out", *given.pop("sources"), **given)
    counted = outcomes(result)
    assert counted.pop("rows") == sum(map(len, PLANTED.values()))
    assert counted.pop("train") == len(PLANTED["plain"])
    assert counted == {name: len(them) for name, them in PLANTED.items() if name != "plain"}
    assert outcomes(result, "validation") == {"rows": 5, "validation": 5}


def test_there_is_a_line_for_each_row_of_code_that_says_why(given: dict[str, Any], tmp_path: Path) -> None:
    prepared(tmp_path / "out", *given.pop("sources"), **given)
    by_outcome: dict[str, list[dict[str, Any]]] = {}
    for line in lines(tmp_path / "out" / "rows.jsonl"):
        by_outcome.setdefault(line["outcome"], []).append(line)
    assert "not_code" not in by_outcome
    assert len(by_outcome["train"]) == 20
    assert by_outcome["malformed_tests"][0]["detail"] == "outputs: is empty: no test, no score"
    assert by_outcome["malformed_tests"][0]["place"].endswith("train.parquet: row 24")
    assert by_outcome["near_duplicate"][0]["detail"].endswith("train.parquet: row 6")
    assert by_outcome["in_validation"][0]["detail"].endswith("validation.parquet: row 1")
    assert "B/1" in by_outcome["in_benchmark"][0]["detail"]
    assert "tokens, 512 allowed" in by_outcome["overlong"][0]["detail"]


def test_what_the_model_sees_is_the_bare_statement_with_our_instruction(given: dict[str, Any], tmp_path: Path) -> None:
    prepared(tmp_path / "out", *given.pop("sources"), **given)
    row = problems_in(tmp_path / "out" / "train.parquet")[2]
    (message,) = row["prompt"]
    assert message["role"] == "user"
    assert message["content"].startswith(statement(2) + "\n\nWrite a Python 3 program")
    assert "ASSESS" not in message["content"]
    assert "Your code" not in message["content"]
    assert row["ability"] == "code"
    assert row["data_source"] == "taco"
    assert Tests.parse(row["reward_model"]["ground_truth"]) == Tests.stdio(["1\n", "2\n"], ["1", "2"])
    assert row["extra_info"]["index"] == 2
    assert row["extra_info"]["split"] == "train"


def test_the_same_input_gives_the_same_bytes_and_another_seed_another_sample(
    given: dict[str, Any], tmp_path: Path
) -> None:
    sources = given.pop("sources")
    for name, seed in (("one", 1), ("two", 1), ("three", 2)):
        prepared(tmp_path / name, *sources, **given, train_size=10, seed=seed)
    names = sorted(file.name for file in (tmp_path / "one").iterdir())
    assert names == ["manifest.json", "rows.jsonl", "solutions.jsonl", "train.parquet", "validation.parquet"]
    for name in names:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    assert (tmp_path / "one" / "train.parquet").read_bytes() != (tmp_path / "three" / "train.parquet").read_bytes()


def test_a_sample_stays_when_other_rows_come(tmp_path: Path) -> None:
    few = write(tmp_path / "few.parquet", [eurus(statement(i)) for i in range(20)])
    more = write(tmp_path / "more.parquet", [eurus(statement(i)) for i in range(19, -1, -1)])
    ids = []
    for name, source in (("a", few), ("b", more)):
        prepared(tmp_path / name, source, train_size=5, validation_size=3)
        ids.append({row["extra_info"]["problem_id"] for row in problems_in(tmp_path / name / "train.parquet")})
    assert ids[0] == ids[1]


def test_without_rows_for_validation_a_tenth_is_set_aside(tmp_path: Path) -> None:
    source = write(tmp_path / "x.parquet", [eurus(statement(i)) for i in range(30)])
    result = prepared(tmp_path / "out", source)
    assert outcomes(result) == {"rows": 30, "train": 27, "validation": 3}
    assert len(problems_in(tmp_path / "out" / "validation.parquet")) == 3


def test_a_prepared_set_can_be_prepared_again_and_stays_the_same(given: dict[str, Any], tmp_path: Path) -> None:
    first = prepared(tmp_path / "out", *given.pop("sources"), **given)
    again = prepared(tmp_path / "again", str(tmp_path / "out"))
    assert outcomes(again) == {"rows": 20, "train": 20}
    assert first.manifest["files"]["train.parquet"] == again.manifest["files"]["train.parquet"]


def test_too_many_tests_become_a_sample_and_solutions_come_along(tmp_path: Path) -> None:
    many = {"inputs": [f"{i}" for i in range(90)], "outputs": [f"{i}" for i in range(90)]}
    row = {"id": "mine/1", "statement": statement(1), "tests": many, "solutions": ["print(input())", "print(1)"]}
    (tmp_path / "x.jsonl").write_text(json.dumps(row))
    prepared(tmp_path / "out", str(tmp_path / "x.jsonl"), max_tests=8)
    (kept,) = problems_in(tmp_path / "out" / "train.parquet")
    assert len(Tests.parse(kept["reward_model"]["ground_truth"]).inputs) == 8
    problem_id = kept["extra_info"]["problem_id"]
    assert lines(tmp_path / "out" / "solutions.jsonl") == [
        {"problem_id": problem_id, "code": code, "verdict": "accepted"} for code in row["solutions"]
    ]
    (line,) = lines(tmp_path / "out" / "rows.jsonl")
    assert (line["row_id"], line["tests_given"], line["tests_kept"]) == ("mine/1", 90, 8)


def test_ids_come_from_the_content_alone() -> None:
    tests = Tests.stdio(["1"], ["1"])
    one = Problem("a", "Print 1.", tests, "My source!")
    assert content_id(one) == content_id(Problem("b", "Print 1.", tests, "My source!"))
    assert content_id(one) != content_id(Problem("a", "Print 2.", tests, "My source!"))
    assert content_id(one).startswith("my_source-")


def test_assertions_that_assert_nothing_are_malformed_here_and_not_in_training(tmp_path: Path) -> None:
    row = {"statement": statement(1), "tests": ["assert True"], "entry_point": "f"}
    good = {"statement": statement(2), "tests": ["assert f(1) == 2"], "entry_point": "f"}
    (tmp_path / "x.jsonl").write_text(json.dumps(row) + "\n" + json.dumps(good))
    result = prepared(tmp_path / "out", str(tmp_path / "x.jsonl"))
    assert outcomes(result) == {"rows": 2, "train": 1, "malformed_tests": 1}


def test_halves_of_characters_in_statements_do_no_harm(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text(json.dumps({"statement": statement(1) + " \ud800", "tests": TESTS}))
    prepared(tmp_path / "out", str(tmp_path / "x.jsonl"))
    (row,) = problems_in(tmp_path / "out" / "train.parquet")
    assert " ?" in row["prompt"][0]["content"]


def test_a_broken_off_call_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = write(tmp_path / "x.parquet", [eurus(statement(i)) for i in range(21)])
    read: list[int] = []
    row_group = rows.DataFile._row_group

    def interrupted(self: rows.DataFile, parquet: Any, source: Any, number: int, first: int) -> Any:
        if number == 2 and 2 not in read:
            read.append(number)
            raise KeyboardInterrupt
        read.append(number)
        return row_group(self, parquet, source, number, first)

    monkeypatch.setattr(rows.DataFile, "_row_group", interrupted)
    with pytest.raises(KeyboardInterrupt):
        prepared(tmp_path / "out", source)
    assert [path.name for path in (tmp_path / "out").iterdir()] == [".unfinished"]
    prepared(tmp_path / "out", source)
    assert read == [0, 1, 2, 2]
    prepared(tmp_path / "whole", source)
    for file in (tmp_path / "whole").iterdir():
        assert file.read_bytes() == (tmp_path / "out" / file.name).read_bytes()
    assert not (tmp_path / "out" / ".unfinished").exists()


def test_what_was_read_for_other_settings_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = write(tmp_path / "x.parquet", [eurus(statement(i)) for i in range(21)])

    def fail(*given: Any) -> Any:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(run, "select", fail)
        with pytest.raises(KeyboardInterrupt):
            prepared(tmp_path / "out", source, max_tests=1)
    prepared(tmp_path / "out", source, max_tests=2)
    row = problems_in(tmp_path / "out" / "train.parquet")[0]
    assert len(Tests.parse(row["reward_model"]["ground_truth"]).inputs) == 2


def test_a_set_that_is_there_stays_unless_it_may_be_replaced(tmp_path: Path) -> None:
    source = write(tmp_path / "x.parquet", [eurus(statement(i)) for i in range(21)])
    prepared(tmp_path / "out", source)
    before = (tmp_path / "out" / "train.parquet").read_bytes()
    with pytest.raises(DataError, match="--overwrite"):
        prepared(tmp_path / "out", source, seed=1, train_size=5)
    assert (tmp_path / "out" / "train.parquet").read_bytes() == before
    prepared(tmp_path / "out", source, seed=1, train_size=5, overwrite=True)
    assert len(problems_in(tmp_path / "out" / "train.parquet")) == 5


def _bad_inputs(folder: Path) -> dict[str, tuple[str, str]]:
    without = [{key: value for key, value in eurus(statement(1)).items() if key != "reward_model"}]
    as_text = [{**eurus(statement(1)), "prompt": "Print 1."}]
    (folder / "rows.jsonl").write_text(json.dumps({"statement": statement(1), "tests": TESTS}) + "\n{")
    (folder / "strange.jsonl").write_text(json.dumps({"x": 1}))
    (folder / "broken.parquet").write_bytes(b"PAR1 and nothing else")
    (folder / "only_test").mkdir()
    (folder / "only_test" / "test.jsonl").write_text("{}")
    (folder / "math.jsonl").write_text(json.dumps(eurus("What is 1 + 1?", tests=2, ability="math")))
    (folder / "empty").mkdir()
    return {
        "column": (f"eurus={write(folder / 'without.parquet', without)}", "no column reward_model"),
        "a plain string": (f"eurus={write(folder / 'as_text.parquet', as_text)}", "row 1: .*prompt"),
        "line": (str(folder / "rows.jsonl"), "rows.jsonl:2 is not JSON"),
        "layout": (str(folder / "strange.jsonl"), "strange.jsonl: the layout cannot be told"),
        "parquet": (str(folder / "broken.parquet"), "cannot read .*broken.parquet"),
        "split": (str(folder / "only_test"), "no file for training"),
        "nothing left": (str(folder / "math.jsonl"), "no row became a problem for training: 1 not about code"),
        "folder": (str(folder / "empty"), "holds none of"),
        "nothing": ("no-such-thing", "no file or folder here"),
        "a path": ("no-such-folder/train.parquet", "no file or folder here"),
        "emptiness": (" ", "a source is empty"),
        "unknown layout": (f"tako={folder / 'rows.jsonl'}", "did you mean taco"),
    }


@pytest.mark.parametrize(
    "kind",
    [
        "column", "a plain string", "line", "layout", "parquet", "split", "nothing left", "folder", "nothing",
        "a path", "emptiness", "unknown layout",
    ],
)  # fmt: skip
def test_bad_input_is_one_message_and_nothing_is_half_written(tmp_path: Path, kind: str) -> None:
    source, said = _bad_inputs(tmp_path)[kind]
    with pytest.raises(CodeRlvrError, match=said):
        prepared(tmp_path / "out", source)
    assert {path.name for path in (tmp_path / "out").glob("*")} <= {".unfinished"}


def test_a_tokenizer_that_cannot_be_loaded_is_one_message(tmp_path: Path) -> None:
    source = write(tmp_path / "x.parquet", [eurus(statement(1))])
    with pytest.raises(ModelError, match="cannot load the tokenizer"):
        prepared(tmp_path / "out", source, model=str(tmp_path / "no model"))


def test_a_benchmark_counts_whether_or_not_its_tests_do(tmp_path: Path) -> None:
    source = write(tmp_path / "x.parquet", [eurus(statement(i)) for i in range(20)])
    rows = [
        {"id": "b/0", "statement": statement(0), "tests": None},
        {"id": "b/1", "statement": statement(1), "tests": {"inputs": ["1"], "outputs": []}},
        {"id": "b/2", "statement": statement(2), "tests": {"inputs": [], "outputs": []}},
        {"id": "b/3", "statement": " ", "tests": TESTS},
    ]
    (tmp_path / "b.jsonl").write_text("\n".join(map(json.dumps, rows)))
    result = prepared(tmp_path / "out", source, benchmarks=(str(tmp_path / "b.jsonl"),))
    assert outcomes(result)["in_benchmark"] == 3
    assert result.manifest["benchmarks"]["unreadable"] == 1
    details = [one["detail"] for one in lines(tmp_path / "out" / "rows.jsonl") if one["outcome"] == "in_benchmark"]
    assert ["b/0" in details[0], "b/1" in details[1], "b/2" in details[2]] == [True] * 3


@pytest.mark.parametrize("layout", ["", "plain="])
def test_a_chat_that_is_written_as_json_is_a_chat(tmp_path: Path, layout: str) -> None:
    given = [eurus(statement(i)) for i in range(3)]
    source = write(tmp_path / "x.parquet", [{**row, "prompt": json.dumps(row["prompt"])} for row in given])
    prepared(tmp_path / "out", layout + source)
    row = problems_in(tmp_path / "out" / "train.parquet")[0]
    assert row["prompt"][0]["content"].startswith("Problem ")


def test_files_of_a_folder_that_are_not_read_are_said(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    for name in ("my_training_data", "val", "data", "test"):
        row = {"statement": statement(len(name)), "tests": TESTS}
        (folder / f"{name}.jsonl").write_text(json.dumps(row))
    pq.write_table(pa.Table.from_pylist([eurus("x")]).slice(0, 0), folder / "train-1.parquet")
    shown = io.StringIO()
    prepare(PrepareSettings((str(folder),), tmp_path / "out"), Console(file=shown, width=200))
    said = [line for line in shown.getvalue().splitlines() if "left out" in line]
    assert [Path(line.split()[2]).name for line in said] == ["data.jsonl", "test.jsonl", "train-1.parquet"]


def test_the_same_files_elsewhere_give_the_same_bytes(tmp_path: Path) -> None:
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
        source = write(tmp_path / name / "x.parquet", [eurus(statement(i)) for i in range(20)])
        prepared(tmp_path / name / "out", source)
    for file in (tmp_path / "here" / "out").iterdir():
        assert file.read_bytes() == (tmp_path / "there" / "out" / file.name).read_bytes(), file.name


@pytest.mark.parametrize(
    ("path", "split"),
    [
        ("data/train-00000-of-00002.parquet", "train"),
        ("default/validation/0000.parquet", "validation"),
        ("train/test.jsonl", "test"),
        ("my_training_data.parquet", "train"),
        ("VAL.jsonl", "validation"),
        ("constraints.jsonl", None),
    ],
)
def test_the_split_is_what_the_name_says_before_its_folders(path: str, split: str | None) -> None:
    assert split_of(path) == split


def test_two_calls_do_not_share_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = write(tmp_path / "x.parquet", [eurus(statement(i)) for i in range(20)])
    select = run.select

    def meanwhile(*given: Any) -> Any:
        with pytest.raises(DataError, match="another call is preparing"):
            prepared(tmp_path / "out", source, seed=1)
        return select(*given)

    with monkeypatch.context() as patched:
        patched.setattr(run, "select", meanwhile)
        prepared(tmp_path / "out", source)
    assert len(problems_in(tmp_path / "out" / "train.parquet")) == 18


def test_a_set_is_not_written_into_its_own_source(tmp_path: Path) -> None:
    write(tmp_path / "train.parquet", [eurus(statement(i)) for i in range(20)])
    for out in (tmp_path, tmp_path / "out"):
        with pytest.raises(DataError, match="lies in the source"):
            prepared(out, str(tmp_path))


def test_a_few_problems_still_have_one_for_validation(tmp_path: Path) -> None:
    source = write(tmp_path / "x.parquet", [eurus(statement(i)) for i in range(4)])
    assert outcomes(prepared(tmp_path / "out", source)) == {"rows": 4, "train": 3, "validation": 1}


def test_where_no_problem_is_left_the_first_reasons_are_shown(tmp_path: Path) -> None:
    rows = [{"id": "m/1", "statement": statement(1), "tests": {"inputs": ["1"], "outputs": []}}]
    (tmp_path / "x.jsonl").write_text("\n".join(map(json.dumps, rows)))
    with pytest.raises(DataError, match=r"1 tests that cannot be used\n  x\.jsonl:1: malformed_tests: outputs"):
        prepared(tmp_path / "out", str(tmp_path / "x.jsonl"))
    source = write(tmp_path / "y.parquet", [eurus(statement(i)) for i in range(4)])
    with pytest.raises(DataError, match="a smaller --validation-size"):
        prepared(tmp_path / "out", source, validation_size=10)


def test_a_row_that_is_dropped_keeps_its_name(tmp_path: Path) -> None:
    rows = [{"id": f"m/{i}", "statement": statement(i), "tests": TESTS if i else None} for i in range(3)]
    (tmp_path / "x.jsonl").write_text("\n".join(map(json.dumps, rows)))
    prepared(tmp_path / "out", str(tmp_path / "x.jsonl"))
    (gone,) = [one for one in lines(tmp_path / "out" / "rows.jsonl") if one["outcome"] == "no_tests"]
    assert gone["row_id"] == "m/0"
