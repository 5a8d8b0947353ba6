"""`code-rlvr eval` as a person runs it: a small model before and after, interrupted, gone on with, reported."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from code_rlvr.cli import main
from code_rlvr.data.hashes import hash_of
from code_rlvr.data.parquet import write_parquet
from code_rlvr.data.starter import build_starter, imperfect_corpus
from code_rlvr.evaluate.compare import Comparison
from code_rlvr.evaluate.scores import read_samples, read_scores
from code_rlvr.train.warmstart import WarmStartSettings, warm_start
from code_rlvr.types import Problem

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

COMMAND = [sys.executable, "-c", "from code_rlvr.cli import main; main()", "eval"]


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a model `before` that has hardly read anything, and `after` that has read more."""
    folder = tmp_path_factory.mktemp("models")
    corpus = imperfect_corpus(0, 2000)
    for name, steps in (("before", 20), ("after", 300)):
        settings = WarmStartSettings(hidden_size=64, layers=2, heads=2, intermediate_size=128, steps=steps)
        warm_start(folder / name, corpus, settings)
    return folder


@pytest.fixture
def run_folder(models: Path, tmp_path: Path) -> Path:
    """A run that was trained on starter problems and merged."""
    run = tmp_path / "runs" / "mine"
    train = run / "data" / "train.parquet"
    train.parent.mkdir(parents=True)
    write_parquet(train, build_starter(0, 50, 1, 1, 1).train, split="train", instruction="")
    settings = {"trainer": {}, "data": {"train_file": str(train), "max_response_tokens": 48}}
    (run / "config.json").write_text(json.dumps(settings))
    (run / "data.json").write_text(json.dumps({"train": {"file": train.name, "sha256": hash_of(train)}}))
    (run / "merged").symlink_to(models / "after")
    return run


def evaluate(*words: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*COMMAND, *map(str, words)], capture_output=True, text=True, timeout=300, cwd=cwd)


def number_file(folder: Path) -> Path:
    rows = [{"question": f"What is {i} + {i}?", "answer": f"#### {2 * i}"} for i in range(4)]
    file = folder / "numbers.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)))
    return file


def test_a_run_is_compared_with_its_first_model_and_feeds_the_report(
    run_folder: Path, models: Path, tmp_path: Path
) -> None:
    words = [run_folder, "--baseline", models / "before", "--limit", 44]
    words += ["--on", f"heldout,gsm8k={number_file(tmp_path)}"]
    shown = evaluate(*words, cwd=tmp_path)
    assert shown.returncode == 0, shown.stderr
    assert "heldout_greedy pass@1" in shown.stdout
    folder = run_folder / "eval"
    before, after = (read_scores(folder / stage / "heldout_greedy_first44.json") for stage in ("before", "after"))
    assert after.overall.pass_at["pass@1"] > before.overall.pass_at["pass@1"]
    assert (after.engine, after.max_new_tokens, after.overall.problems) == ("transformers", 48, 44)
    assert after.training_data is not None
    assert (after.training_data.checked, after.training_data.trained_on) == (True, ())
    assert before.training_data is not None
    assert not before.training_data.checked
    assert after.cost is not None
    assert after.cost.tokens == sum(
        one.tokens for one in read_samples(folder / "after" / "heldout_greedy.samples.jsonl")
    )
    comparison = Comparison.model_validate_json((folder / "heldout_greedy_first44.comparison.json").read_bytes())
    assert comparison.overall.change == pytest.approx(
        after.overall.pass_at["pass@1"] - before.overall.pass_at["pass@1"]
    )
    assert comparison.mcnemar_p is not None
    assert set(read_scores(folder / "after" / "gsm8k_greedy.json").overall.verdicts) <= {
        *("ACCEPTED", "WRONG_ANSWER", "NO_ANSWER"),
    }

    again = evaluate(*words, "--json", cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    results = json.loads(again.stdout)["results"]
    assert [one["name"] for one in results] == ["heldout_greedy", "gsm8k_greedy"]
    assert results[0]["after"]["overall"] == after.overall.model_dump(mode="json")

    report = subprocess.run(
        [*COMMAND[:-1], "report", str(run_folder)], capture_output=True, text=True, timeout=120, cwd=tmp_path
    )
    assert report.returncode == 0, report.stderr
    page = (run_folder / "report.html").read_text(encoding="utf-8")
    assert "Held-out problems, the first 44" in page
    assert f"{100 * after.overall.pass_at['pass@1']:.1f}" in page


class Interrupted:
    """An evaluation that gets a signal once some samples are on the disk."""

    def __init__(self, words: list[object], samples: Path, cwd: Path) -> None:
        self.samples = samples
        self._log = (cwd / "log").open("wb")
        self.process = subprocess.Popen([*COMMAND, *map(str, words)], cwd=cwd, stdout=self._log, stderr=self._log)

    def end(self, number: signal.Signals) -> int:
        deadline = time.monotonic() + 120
        while not self.samples.exists() or self.samples.read_bytes().count(b"\n") < 30:
            assert self.process.poll() is None, "it was done before it could be interrupted"
            assert time.monotonic() < deadline
            time.sleep(0.02)
        os.kill(self.process.pid, number)
        code = self.process.wait(timeout=30)
        self._log.close()
        return code


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGKILL, -signal.SIGKILL)])
def test_an_interrupted_evaluation_goes_on_and_keeps_every_sample(
    models: Path, tmp_path: Path, number: signal.Signals, code: int
) -> None:
    words: list[object] = [models / "after", "--on", "heldout", "--samples", 4, "--max-new-tokens", 48]
    words += ["--instruction", "", "--batch", 10, "--limit", 220]
    file = tmp_path / "out" / "after" / "heldout.samples.jsonl"
    started = Interrupted([*words, "--out", "out"], file, tmp_path)
    assert started.end(number) == code
    if number == signal.SIGINT:
        assert "the same command goes on where it stopped" in (tmp_path / "log").read_text()
    text = file.read_text(encoding="utf-8")
    kept = {one[0]: one[1] for one in _responses(text[: text.rfind("\n") + 1])}
    assert 0 < len(kept) < 880
    finished = evaluate(*words, "--out", "out", cwd=tmp_path)
    assert finished.returncode == 0, finished.stderr
    found = dict(_responses(file.read_text(encoding="utf-8")))
    assert len(found) == 880
    assert {key: found[key] for key in kept} == kept
    whole = evaluate(*words, "--out", "whole", cwd=tmp_path)
    assert whole.returncode == 0, whole.stderr
    one, other = (read_scores(tmp_path / name / "after" / "heldout_first220.json") for name in ("out", "whole"))
    assert one.model_copy(update={"cost": other.cost}) == other


def _responses(text: str) -> list[tuple[tuple[str, int], str]]:
    rows: list[dict[str, Any]] = [json.loads(line) for line in text.splitlines()]
    return [((row["problem_id"], row["sample"]), row["response"]) for row in rows]


def test_problems_that_were_trained_on_are_refused_until_it_is_said_otherwise(run_folder: Path, tmp_path: Path) -> None:
    starter = build_starter(0, 50, 1, 4, 1)
    mixed: list[Problem] = [*starter.train[:3], *starter.heldout[:4]]
    write_parquet(tmp_path / "mixed.parquet", mixed, split="validation", instruction="")
    words = [run_folder, "--on", "mixed=mixed.parquet"]
    refused = evaluate(*words, cwd=tmp_path)
    assert refused.returncode == 2
    assert "trained on 3 of the 7 problems of mixed" in refused.stderr
    assert "--allow-trained-on" in refused.stderr
    allowed = evaluate(*words, "--allow-trained-on", cwd=tmp_path)
    assert allowed.returncode == 0, allowed.stderr
    assert "was trained on 3 of these problems" in allowed.stdout
    check = read_scores(run_folder / "eval" / "after" / "mixed_greedy.json").training_data
    assert check is not None
    assert check.trained_on == tuple(one.problem_id for one in starter.train[:3])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--on", "heldout", "--samples", "2", "--temperature", "0"], "temperature 0 gives the same sample"),
        (["--on", "heldout", "--k", "2"], "pass@k is undefined above"),
        (["--on", "heldout", "--k", "one"], "write numbers with commas between"),
        (["--on", "heldout", "--engine", "vlm"], "'vlm' is not one of 'auto'"),
        (["--on", "heldout", "--from", "2024-08"], "add livecodebench to --on"),
        (["--on", "humanevl"], "did you mean humaneval?"),
        (["--on", "mine=absent.jsonl"], "absent.jsonl is no file or folder here"),
        (["--on", "heldout", "--baseline", "absent"], "absent is no folder here"),
    ],
)
def test_bad_input_is_exit_code_2_with_one_message(
    models: Path,
    tmp_path: Path,
    words: list[str],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["code-rlvr", "eval", str(models / "after"), *words])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "eval-results").exists()


def test_results_of_other_settings_are_not_written_over(models: Path, tmp_path: Path) -> None:
    words = [models / "after", "--on", "heldout", "--limit", 3, "--instruction", "", "--out", "out"]
    first: Callable[[], bytes] = (tmp_path / "out" / "after" / "heldout_greedy_first3.json").read_bytes
    assert evaluate(*words, "--max-new-tokens", 20, cwd=tmp_path).returncode == 0
    before = first()
    refused = evaluate(*words, "--max-new-tokens", 21, cwd=tmp_path)
    assert refused.returncode == 2
    assert refused.stderr.startswith("evaluating ")  # at once, before the imports
    assert "start it anew with --overwrite" in refused.stderr
    assert evaluate(*words, "--max-new-tokens", 20, "--temperature", 0.5, cwd=tmp_path).returncode == 0
    assert (tmp_path / "out" / "after" / "heldout_t0.5_first3.json").is_file()
    assert first() == before
    assert evaluate(*words, "--max-new-tokens", 21, "--overwrite", cwd=tmp_path).returncode == 0
    assert first() != before
