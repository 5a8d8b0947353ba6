"""What an audit finds without running a program, what it says, and the set that it writes."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rich.console import Console

from code_rlvr import Problem, Tests
from code_rlvr.audit.result import AuditResult
from code_rlvr.audit.run import AuditSettings, audit
from code_rlvr.data.parquet import write_parquet
from code_rlvr.errors import DataError

QUIET = Console(file=io.StringIO())
STATEMENT = "Read a number and print its double."
SOUND = {"inputs": ["1\n", "2\n", "5\n"], "outputs": ["2\n", "4\n", "10\n"]}
CALL = {"fn_name": "double", "inputs": [[1], [2], [5]], "outputs": [2, 4, 10]}
HOSTILE = "</script><script>document.title='owned'</script><img src=x onerror=alert(1)>\x1b[31m\u202e"


def stdio(inputs: list[str], outputs: list[str], **options: Any) -> dict[str, Any]:
    return {"inputs": inputs, "outputs": outputs, **options}


def asserts(*sources: str, **options: Any) -> dict[str, Any]:
    return {"assert_case": list(sources), **options}


def row(problem_id: str, tests: Any, prompt: Any = None, **more: Any) -> dict[str, Any]:
    prompt = f"{STATEMENT} ({problem_id})" if prompt is None else prompt
    return {"problem_id": problem_id, "prompt": prompt, "ground_truth": tests, **more}


def write(file: Path, rows: list[Any]) -> Path:
    file.write_text("".join(json.dumps(one) + "\n" for one in rows), encoding="utf-8")
    return file


def look(path: Path, **settings: Any) -> AuditResult:
    return audit(path, AuditSettings(run=False, workers=1, **settings), QUIET)


def kinds(result: AuditResult) -> set[tuple[str, str]]:
    return {(placed.finding.severity, placed.finding.code) for placed in result.found}


@pytest.fixture
def found_in(tmp_path: Path) -> Callable[..., set[tuple[str, str]]]:
    """What is found in one problem with these tests and this prompt."""

    def find(tests: Any, prompt: Any = None) -> set[tuple[str, str]]:
        return kinds(look(write(tmp_path / "one.jsonl", [row("p", tests, prompt)])))

    return find


@pytest.mark.parametrize("tests", [SOUND, json.dumps(SOUND)])
def test_a_sound_problem_has_no_finding(found_in: Callable[..., set[tuple[str, str]]], tests: Any) -> None:
    assert found_in(tests) == set()


@pytest.mark.parametrize(
    ("tests", "expected"),
    [
        (None, ("defect", "tests_malformed")),
        ("no json", ("defect", "tests_malformed")),
        ({"inputs": ["1"], "outputs": []}, ("defect", "tests_malformed")),
        (asserts("x = 1"), ("defect", "tests_malformed")),
        (stdio(["1", "2", "3"], ["", " \n", ""]), ("defect", "empty_expectation")),
        (stdio(["1", "2", "3"], ["", "4", "6"]), ("suspect", "empty_expectation")),
        ({**CALL, "outputs": [None, None, None]}, ("defect", "empty_expectation")),
        ({**CALL, "outputs": [None, 4, 10]}, ("suspect", "empty_expectation")),
        (stdio(["1", "2", "3"], ["7", "7\n", " 7"]), ("defect", "constant_output")),
        (stdio(["1", "2", "3"], ["Yes", "YES", "yes"], case_sensitive=False), ("defect", "constant_output")),
        (asserts("assert f(1) == [2]", "assert [2] == f(5)", "assert f(4) == [2]"), ("defect", "constant_output")),
        (stdio([str(i) for i in range(20)], ["no"] * 19 + ["yes"]), ("suspect", "constant_output")),
        (stdio(["1", "1", "3"], ["2", "4", "6"]), ("defect", "contradictory_tests")),
        ({**CALL, "inputs": [[1], [1], [5]]}, ("defect", "contradictory_tests")),
        (asserts("assert f(1) == 2", "assert f(1) == 3", "assert f(4) == 8"), ("defect", "contradictory_tests")),
        (stdio(["1", "1", "3"], ["2", "2\n", "6"]), ("suspect", "duplicate_tests")),
        (asserts("assert f(1) == 2", "assert f(1) == 2", "assert f(4) == 8"), ("suspect", "duplicate_tests")),
        (stdio(["1", "3"], ["2", "6"]), ("suspect", "few_tests")),
        (stdio(["1", "2", "3"], ["1", "2", "3"]), ("defect", "trivial_program_passes")),
        (stdio(["1\n2", "2\n3", "4\n5"], ["1", "2", "4"]), ("defect", "trivial_program_passes")),
        (stdio(["1\n2", "2\n3\n4", "4"], ["2", "3", "1"]), ("defect", "trivial_program_passes")),
        (stdio([str(i) for i in range(20)], [*map(str, range(19)), "-"]), ("suspect", "trivial_program_passes")),
        ({**CALL, "outputs": [1, 2, 5]}, ("defect", "trivial_program_passes")),
        (asserts("assert f(1)", "assert f(2)", "assert f(3)"), ("defect", "trivial_program_passes")),
    ],
)
def test_each_fault_of_the_tests_is_found(
    found_in: Callable[..., set[tuple[str, str]]], tests: Any, expected: tuple[str, str]
) -> None:
    assert expected in found_in(tests, "Write f or double. " + STATEMENT)


@pytest.mark.parametrize(
    "tests",
    [
        stdio(["1", "1", "3"], ["2.0", "2.0000001", "6"]),
        asserts("assert f(1) in (2, 3)", "assert f(1) == 3", "assert f(4) == 8"),
        asserts("assert f(1) > 2", "assert f(1) < 1", "assert f(4) == 8"),
    ],
)
def test_tests_of_one_input_that_one_answer_can_pass_do_not_contradict(
    found_in: Callable[..., set[tuple[str, str]]], tests: Any
) -> None:
    assert ("defect", "contradictory_tests") not in found_in(tests, "Write f.")


def test_white_space_decides_where_the_comparison_is_exact(found_in: Callable[..., set[tuple[str, str]]]) -> None:
    tests = stdio(["1", "2", "3"], ["7", "7\n", "7 "], compare="exact")
    assert ("defect", "constant_output") not in found_in(tests)


def test_an_assertion_in_a_loop_is_not_few_tests(found_in: Callable[..., set[tuple[str, str]]]) -> None:
    assert found_in(asserts("for i in range(9):\n    assert double(i) == 2 * i"), "Write double.") == set()


@pytest.mark.parametrize(
    ("tests", "prompt", "expected"),
    [
        (SOUND, "As in ![the map](map.png), double it.", "image_in_statement"),
        (SOUND, "Double the number shown in the picture.", "image_in_statement"),
        (SOUND, " \n", "empty_statement"),
        (CALL, "Write a function that doubles.", "name_not_in_statement"),
        (CALL, "Write a function redouble_it.", "name_not_in_statement"),
        (SOUND, "If there are several solutions, print any of them.", "several_answers"),
    ],
)
def test_each_doubt_about_a_statement_is_found(
    found_in: Callable[..., set[tuple[str, str]]], tests: Any, prompt: str, expected: str
) -> None:
    assert found_in(tests, prompt) == {("suspect", expected)}


@pytest.mark.parametrize("prompt", [[], 7, ["text"], [{"role": "system", "content": "x"}], [{"role": "user"}]])
def test_a_prompt_that_is_no_chat_list_is_a_defect(found_in: Callable[..., set[tuple[str, str]]], prompt: Any) -> None:
    assert found_in(SOUND, prompt) == {("defect", "prompt_malformed")}


def test_a_name_may_stand_in_any_message(found_in: Callable[..., set[tuple[str, str]]]) -> None:
    chat = [{"role": "system", "content": "Name it `double`."}, {"role": "user", "content": "Write a function."}]
    assert found_in(CALL, chat) == set()


def test_our_own_instruction_is_no_statement(tmp_path: Path) -> None:
    problems = [Problem("p", "", Tests.parse(CALL), "mine")]
    write_parquet(tmp_path / "train.parquet", problems, split="train")
    assert kinds(look(tmp_path / "train.parquet")) == {("suspect", "empty_statement")}


def test_repeated_ids_and_statements_are_found_across_the_files_of_a_folder(tmp_path: Path) -> None:
    first, second = Problem("a", "Double it.", Tests.parse(SOUND), "s"), Problem("b", "Add.", Tests.parse(SOUND), "s")
    write_parquet(tmp_path / "train.parquet", [first, second], split="train")
    again = [Problem("a", "Another.", Tests.parse(SOUND), "s"), Problem("c", " double  IT.", Tests.parse(SOUND), "s")]
    write_parquet(tmp_path / "validation.parquet", again, split="validation")
    result = look(tmp_path)
    found = [(one.problem_id, one.finding.code) for one in result.found]
    assert found == [("a", "duplicate_id"), ("c", "duplicate_statement")]
    assert "the other file" in result.found[1].finding.evidence
    assert result.defective == {(1, 0)}


def test_the_sentence_and_the_json_agree(tmp_path: Path) -> None:
    rows = [row("good", SOUND), row("bad", None), row("few", stdio(["1", "2"], ["2", "4"]))]
    result = look(write(tmp_path / "set.jsonl", rows))
    assert result.conclusion() == "1 of 3 problems (33.3%) has a defect and 1 more is worth a look"
    summary = json.loads(json.dumps(result.to_json()))
    assert (summary["problems"], summary["defective"], summary["suspect"], result.exit_code) == (3, 1, 1, 1)
    assert summary["findings"][0] == {"code": "tests_malformed", "severity": "defect", "problems": 1}
    assert summary["found"][0]["place"].endswith("set.jsonl:2")
    assert summary["statistics"]["kinds"] == {"stdio": 2, "malformed": 1}
    assert summary["statistics"]["tests"]["p100"] == 3


def test_a_set_without_defects_exits_with_zero_and_suspects_change_nothing(tmp_path: Path) -> None:
    result = look(write(tmp_path / "set.jsonl", [row("few", stdio(["1", "2"], ["2", "4"]))]))
    assert (result.exit_code, result.suspects) == (0, 1)


def test_text_of_a_data_set_reaches_the_terminal_and_the_page_as_text(tmp_path: Path) -> None:
    pytest.importorskip("bokeh")
    from code_rlvr.audit.page import render_page

    rows = [row(HOSTILE, None, HOSTILE + "![", data_source=HOSTILE), row("b", {HOSTILE: 1})]
    result = look(write(tmp_path / "set.jsonl", rows))
    screen = io.StringIO()
    result.show(Console(file=screen, width=200))
    page = render_page(result)
    for text in (screen.getvalue(), page):
        assert "\x1b[31m" not in text
        assert "\u202e" not in text
    assert "<img src=x" not in page
    assert "<script>document" not in page
    assert "default-src &#39;none&#39;; script-src &#39;sha256-" in page
    assert 'class="bk' in page or "data-root-id" in page


def parquet_set(tmp_path: Path) -> Path:
    """A folder whose train.parquet has other columns, metadata, and a defect between two sound problems."""
    folder = tmp_path / "set"
    folder.mkdir()
    problems = [Problem(name, f"Double {name}.", Tests.parse(SOUND), "s") for name in ("a", "b", "c")]
    write_parquet(folder / "train.parquet", problems, split="train")
    table = pq.read_table(folder / "train.parquet")
    rows = table.to_pylist()
    rows[1]["reward_model"]["ground_truth"] = "broken"
    table = pa.Table.from_pylist(rows, table.schema)
    table = table.append_column("weight", pa.array([0.1, None, 3.0], pa.float32())).replace_schema_metadata({"k": "v"})
    pq.write_table(table, folder / "train.parquet", compression="zstd")
    (folder / "manifest.json").write_text('{"rules": {"seed": 3}, "files": {"rows.jsonl": {}}}')
    write(folder / "solutions.jsonl", [{"problem_id": name, "code": "pass"} for name in ("c", "b", "a", "c")])
    return folder


def test_a_folder_is_written_without_its_defects_and_otherwise_unchanged(tmp_path: Path) -> None:
    folder, out = parquet_set(tmp_path), tmp_path / "clean"
    result = look(folder, drop=out)
    assert (result.dropped_to, result.exit_code) == (out, 1)
    before, after = (pq.read_table(one / "train.parquet") for one in (folder, out))
    assert after.schema.equals(before.schema, check_metadata=True)
    assert after.equals(before.filter(pa.array([True, False, True])))
    assert pq.ParquetFile(out / "train.parquet").metadata.row_group(0).column(0).compression == "ZSTD"
    kept = [line for line in (folder / "solutions.jsonl").read_text().splitlines() if '"b"' not in line]
    assert (out / "solutions.jsonl").read_text().splitlines() == kept
    assert {one.name for one in tmp_path.iterdir()} == {"set", "clean"}
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["rules"] == {"seed": 3}
    assert manifest["cleaned"]["left_out"] == 1
    assert manifest["files"]["train.parquet"]["items"] == 2
    assert manifest["files"]["solutions.jsonl"]["items"] == 3
    assert manifest["files"].keys() == {"train.parquet", "solutions.jsonl"}
    assert look(out).exit_code == 0


def test_lines_of_jsonl_keep_their_bytes(tmp_path: Path) -> None:
    lines = [
        json.dumps(row("ä", SOUND), ensure_ascii=False),
        "",
        json.dumps(row("b", None)),
        json.dumps(row("c", SOUND)),
    ]
    file, out = tmp_path / "set.jsonl", tmp_path / "clean.jsonl"
    file.write_text("\n".join(lines), encoding="utf-8")
    look(file, drop=out)
    assert out.read_text(encoding="utf-8") == lines[0] + "\n" + lines[3]


def test_nothing_is_overwritten_unless_that_is_asked_for(tmp_path: Path) -> None:
    file, out = write(tmp_path / "set.jsonl", [row("a", SOUND), row("b", None)]), tmp_path / "out.jsonl"
    out.write_text("precious")
    with pytest.raises(DataError, match="exists"):
        look(file, drop=out)
    with pytest.raises(DataError, match="is what is audited"):
        look(file, drop=file, overwrite=True)
    with pytest.raises(DataError, match="no folder"):
        look(file, drop=tmp_path / "none" / "out.jsonl")
    with pytest.raises(DataError, match="is a folder"):
        look(file, drop=tmp_path, overwrite=True)
    assert out.read_text() == "precious"
    look(file, drop=out, overwrite=True)
    assert len(out.read_text().splitlines()) == 1


def test_a_folder_with_other_files_is_never_replaced(tmp_path: Path) -> None:
    folder, out = parquet_set(tmp_path), tmp_path / "clean"
    look(folder, drop=out)
    look(folder, drop=out, overwrite=True)
    (out / "thesis.tex").write_text("x")
    with pytest.raises(DataError, match=r"thesis\.tex"):
        look(folder, drop=out, overwrite=True)


def test_a_set_of_defects_only_is_not_written(tmp_path: Path) -> None:
    file = write(tmp_path / "set.jsonl", [row("b", None)])
    with pytest.raises(DataError, match="nothing to write"):
        look(file, drop=tmp_path / "out.jsonl")
    assert not (tmp_path / "out.jsonl").exists()


def test_solutions_without_a_problem_are_told(tmp_path: Path) -> None:
    file = write(tmp_path / "set.jsonl", [row("a", SOUND)])
    solutions = write(tmp_path / "s.jsonl", [{"problem_id": "z", "code": "pass"}])
    result = look(file, solutions=solutions)
    assert (result.unmatched, result.exit_code) == (["z"], 1)


def test_what_is_no_set_is_refused_with_its_place(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot read"):
        look(tmp_path / "none.jsonl")
    with pytest.raises(DataError, match=r"train\.parquet"):
        look(tmp_path)
    with pytest.raises(DataError, match="holds no problem"):
        look(write(tmp_path / "empty.jsonl", []))
    (tmp_path / "bad.jsonl").write_text(json.dumps(row("a", SOUND)) + "\n{")
    with pytest.raises(DataError, match=r"bad\.jsonl:2 is not JSON"):
        look(tmp_path / "bad.jsonl")
    with pytest.raises(DataError, match="problem_id is missing"):
        look(write(tmp_path / "noid.jsonl", [SOUND]))
    pq.write_table(pa.table({"prompt": ["x"]}), tmp_path / "p.parquet")
    with pytest.raises(DataError, match="no column reward_model"):
        look(tmp_path / "p.parquet")


@pytest.mark.parametrize(
    ("values", "words", "counts"),
    [
        ([1, 1, 3], ["0", "1", "2", "3"], [0, 2, 0, 1]),
        ([0, 0], ["0"], [2]),
    ],
)
def test_few_whole_numbers_have_a_bar_each(values: list[float], words: list[str], counts: list[int]) -> None:
    pytest.importorskip("bokeh")
    from code_rlvr.audit.plots import make_histogram

    histogram = make_histogram(values)
    assert (histogram.words, list(histogram.counts)) == (words, counts)


@pytest.mark.parametrize("values", [[0, 1, 10_000], [0.001, 0.5], [31, 50], [0.0, 0.25], [5_000.0]])
def test_every_value_is_in_a_bar(values: list[float]) -> None:
    pytest.importorskip("bokeh")
    from code_rlvr.audit.plots import make_histogram

    assert sum(make_histogram(values).counts) == len(values)
    assert sum(make_histogram([value / max(values) for value in values], share=True).counts) == len(values)
