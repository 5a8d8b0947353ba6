"""Which model a word means, which run made it, and whether that was trained on the benchmark's problems."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from code_rlvr.data.hashes import hash_of
from code_rlvr.data.parquet import write_parquet
from code_rlvr.errors import DataError, ModelError
from code_rlvr.evaluate.benchmark import Programming
from code_rlvr.evaluate.model import find_model
from code_rlvr.evaluate.training_data import (
    Known,
    check_benchmarks,
    check_training_data,
    require_not_trained_on,
    training_instruction,
)
from code_rlvr.ground_truth import Tests
from code_rlvr.types import Problem


def model_folder(folder: Path, **config: Any) -> Path:
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps({"architectures": ["Qwen2ForCausalLM"], **config}))
    (folder / "model.safetensors").write_bytes(b"")
    (folder / "tokenizer.json").write_text("{}")
    (folder / "tokenizer_config.json").write_text('{"chat_template": "{{ messages }}"}')
    return folder


def problem(number: int, count: int = 4, **changes: Any) -> Problem:
    tests = Tests.stdio([f"{i}\n" for i in range(count)], [f"{i + number}\n" for i in range(count)])
    return Problem(
        **{"problem_id": f"p{number}", "statement": f"Add {number}.", "tests": tests, "data_source": "x"} | changes
    )


def trained_run(folder: Path, problems: list[Problem], instruction: str | None = None) -> Path:
    """A run with a merged model that was trained on these problems."""
    file = folder / "data" / "train.parquet"
    file.parent.mkdir(parents=True)
    write_parquet(file, problems, split="train", instruction=instruction)
    settings = {"trainer": {}, "data": {"train_file": str(file), "max_response_tokens": 77}}
    (folder / "config.json").write_text(json.dumps(settings))
    (folder / "data.json").write_text(json.dumps({"train": {"file": file.name, "sha256": hash_of(file)}}))
    model_folder(folder / "merged")
    return folder


def known(*problems: Problem) -> dict[str, Known]:
    return Programming("b", problems, {}, {}).known()


def test_a_run_means_its_merged_model(tmp_path: Path) -> None:
    run = trained_run(tmp_path / "runs" / "first", [problem(1)])
    for word in (run, run / "merged"):
        model = find_model(str(word))
        assert (model.folder, model.name) == (run / "merged", "first")
        assert model.run is not None
        assert model.run_setting("data.max_response_tokens") == 77
        assert model.run_setting("data.nothing.there") is None


def test_a_merged_folder_elsewhere_names_its_run(tmp_path: Path) -> None:
    run = trained_run(tmp_path / "runs" / "first", [problem(1)])
    copy = (run / "merged").rename(tmp_path / "copy")
    assert find_model(str(copy)).run is None
    (copy / "merge.json").write_text(json.dumps({"run": "first", "run_folder": str(run)}))
    found = find_model(str(copy)).run
    assert found is not None
    assert found.path == run


def test_a_run_that_is_not_merged_is_told_how(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"trainer": {}}')
    with pytest.raises(ModelError, match=f"code-rlvr merge {tmp_path}"):
        find_model(str(tmp_path))


def test_a_folder_that_lacks_something_is_refused_before_it_is_loaded(tmp_path: Path) -> None:
    folder = model_folder(tmp_path / "model")
    (folder / "model.safetensors").unlink()
    with pytest.raises(ModelError, match="no weights"):
        find_model(str(folder))


def test_what_is_nowhere_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs").mkdir()
    for word in ("nowhere", "runs/nowhere", "runs/no/where"):  # none of them is asked of the hub
        with pytest.raises(ModelError, match="no folder here, and no name on the hub"):
            find_model(word)


@pytest.mark.parametrize("instruction", [None, "", "Answer with a program."])
def test_problems_of_the_training_set_are_found_by_their_statements(tmp_path: Path, instruction: str | None) -> None:
    run = trained_run(tmp_path, [problem(1), problem(2)], instruction)
    (run / "data" / "manifest.json").write_text(json.dumps({"rules": {"instruction": instruction}}))
    model = find_model(str(run))
    few = Tests.stdio(["x"], ["y"])
    same = problem(7, statement="  ADD\n 1. ", tests=few)
    check = check_training_data(model, known(same, problem(3)))
    assert (check.checked, check.trained_on) == (True, ("p7",))
    with pytest.raises(DataError, match=r"trained on 1 of the 2 problems of mine: p7;.*--allow-trained-on"):
        require_not_trained_on("mine", 2, model, check)


def test_all_benchmarks_of_an_evaluation_are_looked_at_and_what_was_compared_is_said(tmp_path: Path) -> None:
    model = find_model(str(trained_run(tmp_path, [problem(1), problem(2)])))
    benchmarks = {"clean": known(problem(3)), "mine": known(problem(1))}
    told: list[str] = []
    with pytest.raises(DataError, match="trained on 1 of the 1 problem of mine"):
        check_benchmarks(model, benchmarks, False, told.append)
    checks = check_benchmarks(model, benchmarks, True, told.append)
    assert {name: check.trained_on for name, check in checks.items()} == {"clean": (), "mine": ("p1",)}
    assert len(told) == 1
    assert told[0].startswith(f"training data of {tmp_path}: compared with")


def test_problems_in_other_words_are_found_by_their_tests_if_there_are_enough(tmp_path: Path) -> None:
    model = find_model(str(trained_run(tmp_path, [problem(1), problem(2, count=2)])))
    check = check_training_data(
        model, known(problem(1, statement="Plus one."), problem(2, count=2, statement="Plus two."))
    )
    assert check.trained_on == ("p1",)


def test_all_forms_of_a_statement_are_looked_for(tmp_path: Path) -> None:
    model = find_model(str(trained_run(tmp_path, [problem(1)])))
    few = Tests.stdio(["x"], ["y"])
    asked = problem(1, statement="Add 1.\n\nYour code has to pass these tests:\nassert f(1) == 2", tests=few)
    assert not check_training_data(model, known(asked)).trained_on
    other = Programming("b", (asked,), {}, {}, {"p1": ("Add 1.",)})
    assert check_training_data(model, other.known()).trained_on == ("p1",)


def test_a_training_file_that_is_gone_or_another_is_not_checked(tmp_path: Path) -> None:
    run = trained_run(tmp_path, [problem(1)])
    model = find_model(str(run))
    write_parquet(run / "data" / "train.parquet", [problem(2)], split="train")
    check = check_training_data(model, known(problem(1)))
    assert (check.checked, check.trained_on) == (False, ())
    assert "not what it was" in check.note
    (run / "data" / "train.parquet").unlink()
    assert "is gone" in check_training_data(model, known(problem(1))).note
    require_not_trained_on("mine", 1, model, check)


def test_a_model_of_no_known_run_is_not_checked(tmp_path: Path) -> None:
    check = check_training_data(find_model(str(model_folder(tmp_path / "m"))), known(problem(1)))
    assert (check.checked, check.note) == (False, "not checked: the folder does not say which run made it")


def test_the_instruction_of_training_is_told_by_the_manifest_or_by_the_prompts(tmp_path: Path) -> None:
    default = find_model(str(trained_run(tmp_path / "a", [problem(1)])))
    bare = find_model(str(trained_run(tmp_path / "b", [problem(1)], "")))
    own = trained_run(tmp_path / "c", [problem(1)], "Just code.")
    (own / "data" / "manifest.json").write_text(json.dumps({"rules": {"instruction": "Just code."}}))
    assert training_instruction(default) is None
    assert training_instruction(bare) == ""
    assert training_instruction(find_model(str(own))) == "Just code."
