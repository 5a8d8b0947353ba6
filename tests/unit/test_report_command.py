"""The command `report` as a person meets it: what it takes, what it writes, what it says when it cannot."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from code_rlvr.errors import DataError
from code_rlvr.health import HealthThresholds
from code_rlvr.report.as_json import to_json
from code_rlvr.report.as_text import show_states, to_text
from code_rlvr.report.compare import render_comparison
from code_rlvr.report.inputs import input_files
from code_rlvr.report.run_state import RunState, read_state
from code_rlvr.report.sources import MAX_SOURCES, find_sources, require
from code_rlvr.runs import RunFolder
from tests.synthetic_run import make_run

COMMAND = [sys.executable, "-c", "from code_rlvr.cli import main; main()", "report"]
HOSTILE = "\x1b]0;owned\x07\x1b[31m[bold]red[/bold]\u202e</script>"


def report(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*COMMAND, *words], capture_output=True, text=True, timeout=60, cwd=cwd)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    return make_run(tmp_path_factory.mktemp("runs") / "first", steps=30, heldout=120)


def state_of(*words: str, thresholds: HealthThresholds | None = None) -> RunState:
    return read_state(find_sources(words)[0], thresholds or HealthThresholds())


def write_metrics(file: Path, values: list[float], name: str = "critic/score/mean") -> Path:
    lines = [json.dumps({"step": step, "data": {name: value}}) for step, value in enumerate(values, start=1)]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return file


def test_a_run_becomes_a_page_in_its_folder_and_several_a_comparison(run: RunFolder, tmp_path: Path) -> None:
    one = report(str(run.path), cwd=tmp_path)
    assert one.returncode == 0, one.stderr
    assert one.stdout.strip() == str(run.report)
    assert "first" in run.report.read_text(encoding="utf-8")
    write_metrics(tmp_path / "other.jsonl", [0.1, 0.2])
    both = report(str(run.path), "plain=other.jsonl", cwd=tmp_path)
    assert both.stdout.strip() == "comparison.html", both.stderr
    assert "Comparison of 2 training runs" in (tmp_path / "comparison.html").read_text(encoding="utf-8")


def test_a_plain_metrics_file_of_any_name_becomes_a_page_beside_it(tmp_path: Path) -> None:
    write_metrics(tmp_path / "verl.log.txt", [0.1, 0.2, 0.3])
    shown = report("verl.log.txt", cwd=tmp_path)
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout.strip() == "verl.log.report.html"
    assert (tmp_path / "verl.log.report.html").read_text(encoding="utf-8").startswith("<!doctype html>")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["runs/frist"], "runs/frist does not exist; did you mean runs/first?"),
        (["elsewhere"], "elsewhere does not exist; --watch waits for a run still to come"),
        (["what?"], "what? does not exist; --watch waits for a run still to come"),
        (["text.md?"], "text.md? does not exist; did you mean text.md?"),
        (
            ["runs"],
            "runs is not the folder of a run: there is neither metrics.jsonl nor config.json in it; did you mean",
        ),
        (["empty.jsonl"], "empty.jsonl holds no line of metrics"),
        (["text.md"], "trainer.logger=[console,file]"),
        (["runs/first", "other/first"], "give one another name: second=other/first"),
        (["runs/first", "again=runs/first"], "was given twice"),
        (["runs/first", "--json", "--text"], "exclude each other"),
        (["runs/first", "--watch", "--out", "page.html"], "--watch writes no file"),
        (["runs/first", "--port", "1234"], "--port is of use with --watch only; add --watch or leave it out"),
        (["runs/first", "--host", "::1", "--port", "1", "--text"], "--host and --port are of use with --watch only"),
        (["runs/first", "--set", "health.kl_hihg=1"], "did you mean health.kl_high?"),
        (["runs/first", "--set", "health.patience=0"], "health.patience"),
        (["runs/first", "--config", "absent.toml"], "absent.toml"),
        (["runs/first", "--out", "absent/page.html"], "cannot write absent/page.html"),
    ],
)
def test_what_cannot_be_used_is_exit_code_2_with_the_remedy(words: list[str], message: str, tmp_path: Path) -> None:
    for folder in ("runs/first", "other/first"):
        (tmp_path / folder).mkdir(parents=True)
        write_metrics(tmp_path / folder / "metrics.jsonl", [0.1])
    (tmp_path / "empty.jsonl").touch()
    (tmp_path / "text.md").write_text("# no metrics\n", encoding="utf-8")
    shown = report(*words, cwd=tmp_path)
    assert shown.returncode == 2, shown.stdout
    assert message in shown.stderr
    assert "Traceback" not in shown.stderr
    assert not list(tmp_path.rglob("*.html"))


def test_more_runs_than_can_be_told_apart_are_refused() -> None:
    with pytest.raises(DataError, match="name 8 at most"):
        find_sources([f"runs/{number}" for number in range(MAX_SOURCES + 1)])


def test_a_path_with_an_equals_sign_is_a_path_if_it_is_there(tmp_path: Path) -> None:
    folder = tmp_path / "lr=1e-5"
    folder.mkdir()
    write_metrics(folder / "metrics.jsonl", [0.1])
    (named,) = find_sources([str(folder)])
    assert (named.name, named.path) == ("lr=1e-5", folder)
    (renamed,) = find_sources([f"slow={folder}"])
    assert (renamed.name, renamed.path) == ("slow", folder)
    require([named, renamed])


def test_a_run_that_broke_off_before_its_first_step_is_reported_with_its_loss(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "config.json").write_text("{}", encoding="utf-8")
    shown = report("run", "--json", cwd=tmp_path)
    assert shown.returncode == 0
    assert "run has no metrics: training did not finish its first step. run/logs says why" in shown.stderr
    assert any("metrics.jsonl" in loss for loss in json.loads(shown.stdout)["runs"][0]["losses"])


def test_json_has_what_the_page_has(run: RunFolder) -> None:
    tree = json.loads(to_json([state_of(str(run.path))]))
    (one,) = tree["runs"]
    assert (one["name"], one["kind"], one["steps"], one["planned_steps"]) == ("first", "run", 30, 30)
    assert one["headline"].startswith("Held-out Pass@1 (T = 1) rose from")
    score = one["metrics"]["reward/score"]
    assert (score["unit"], score["direction"], score["points"]) == ("reward", "higher is better", 30)
    assert (score["first_step"], score["last_step"]) == (1, 30)
    assert score["lowest"] <= score["mean_of_first_tenth"] <= score["mean_of_last_tenth"] <= score["highest"]
    assert sum(stage["share"] for stage in one["step_time"].values()) == pytest.approx(1)
    heldout = next(row for row in one["evaluations"] if row["decoding"] == "greedy" and not row["is_group"])
    assert heldout["before"]["low"] < heldout["before"]["pass_at_1"] < heldout["before"]["high"]
    assert heldout["change"]["value"] == pytest.approx(heldout["after"]["pass_at_1"] - heldout["before"]["pass_at_1"])
    assert one["losses"] == []
    assert tree["differences"] == []


def test_json_of_several_runs_names_what_differs(run: RunFolder, tmp_path: Path) -> None:
    other = make_run(tmp_path / "second", steps=3, evaluated=False)
    config = json.loads(other.config.read_text(encoding="utf-8"))
    config["algorithm"]["kl_coef"] = 0.05
    other.config.write_text(json.dumps(config), encoding="utf-8")
    states = [read_state(one, HealthThresholds()) for one in find_sources([str(run.path), str(other.path)])]
    found = {one["setting"]: one["values"] for one in json.loads(to_json(states))["differences"]}
    assert found["algorithm.kl_coef"] == {"first": 0.001, "second": 0.05}
    assert found["trainer.steps"] == {"first": 30, "second": 3}
    assert "algorithm.estimator" not in found
    assert "name" not in found


def test_numbers_that_json_has_no_word_for_are_null(tmp_path: Path) -> None:
    (tmp_path / "plain.jsonl").write_text(
        '{"step": 1, "data": {"actor/loss": NaN}}\n{"step": 2, "data": {"actor/loss": Infinity}}\n'
        '{"step": 3, "data": {"actor/loss": 0.5}}\n{"step": 3, "da',
        encoding="utf-8",
    )
    state = state_of(str(tmp_path / "plain.jsonl"))
    loss = json.loads(to_json([state]), parse_constant=pytest.fail)["runs"][0]["metrics"]["actor/loss"]
    assert (loss["first"], loss["last"], loss["highest"], loss["points"]) == (None, 0.5, 0.5, 3)
    assert any("1 of 4 lines cannot be read (line 4)" in one for one in state.losses)


def sick_run(folder: Path) -> Path:
    """A score that never leaves zero: a planted fault that a rule has to find."""
    lines = []
    for step in range(1, 61):
        data = {"reward/score": 0.0, "reward/pass_rate": 0.0, "reward/accepted": 0.0, "critic/score/mean": 0.0}
        lines.append(json.dumps({"step": step, "data": data}))
    folder.write_text("\n".join(lines), encoding="utf-8")
    return folder


def test_findings_are_told_with_evidence_and_remedies_in_every_form(tmp_path: Path) -> None:
    state = state_of(str(sick_run(tmp_path / "stuck.jsonl")))
    finding = next(one for one in state.health.findings if one.rule == "stuck_at_zero")
    text = " ".join(to_text([state]).split())
    for words in (finding.title, finding.evidence, *finding.causes, *finding.tries):
        assert " ".join(words.split()) in text.replace("- ", "")
    told: list[dict[str, Any]] = json.loads(to_json([state]))["runs"][0]["findings"]
    assert [(one["rule"], one["level"]) for one in told] == [
        (one.rule, one.level.value) for one in state.health.findings
    ]
    assert told[0]["tries"]


def test_thresholds_reach_the_rules_from_a_file_and_from_words(tmp_path: Path) -> None:
    sick_run(tmp_path / "stuck.jsonl")
    (tmp_path / "patient.toml").write_text("[health]\npatience = 500\n", encoding="utf-8")

    def rules(*words: str) -> set[str]:
        shown = report("stuck.jsonl", "--json", *words, cwd=tmp_path)
        assert shown.returncode == 0, shown.stderr
        return {one["rule"] for one in json.loads(shown.stdout)["runs"][0]["findings"]}

    assert "stuck_at_zero" in rules()
    assert "stuck_at_zero" not in rules("--config", "patient.toml")
    assert "stuck_at_zero" in rules("--config", "patient.toml", "--set", "health.patience=15")


def test_text_of_several_runs_names_the_runs_of_each_value(tmp_path: Path) -> None:
    for name, rate in (("one", 1e-5), ("two", 1e-6), ("three", 1e-5)):
        (tmp_path / name).mkdir()
        write_metrics(tmp_path / name / "metrics.jsonl", [0.1])
        (tmp_path / name / "config.json").write_text(json.dumps({"actor": {"lr": rate}}), encoding="utf-8")
    text = to_text([state_of(str(tmp_path / name)) for name in ("one", "two", "three")])
    assert text.endswith("  actor.lr\n      1e-05  one, three\n      1e-06  two\n")


def test_text_fits_80_columns_and_has_no_codes_for_a_terminal(run: RunFolder, tmp_path: Path) -> None:
    shown = report(str(run.path), "--text", cwd=tmp_path)
    assert shown.returncode == 0, shown.stderr
    assert max(map(len, shown.stdout.splitlines())) <= 80
    assert "\x1b" not in shown.stdout
    for expected in ("step 30 of 30", "rose from", "Time of a step", "generate", "Held-out problems", "Entropy"):
        assert expected in shown.stdout
    out = report(str(run.path), "--text", "--out", "state.txt", cwd=tmp_path)
    assert out.stdout == ""
    assert (tmp_path / "state.txt").read_text(encoding="utf-8") == shown.stdout


def test_foreign_text_does_nothing_to_a_terminal(tmp_path: Path) -> None:
    file = write_metrics(tmp_path / "plain.jsonl", [0.1, 0.2])
    with file.open("a", encoding="utf-8") as lines:
        names = [f"val-core/{HOSTILE}/acc/mean@1"]
        lines.write("".join(json.dumps({"step": s, "data": dict.fromkeys(names, 0.5)}) + "\n" for s in (3, 4)))
    run, other = (make_run(tmp_path / name, steps=3, evaluated=False) for name in ("run", "other"))
    for known in input_files(run).values():
        if known.suffix == ".json" and known.exists():
            known.write_text(json.dumps(make_hostile(json.loads(known.read_text(encoding="utf-8")))), encoding="utf-8")
    config = json.loads(run.config.read_text(encoding="utf-8"))
    for number, health in enumerate((HOSTILE, {HOSTILE: 1}, {"kl_high": HOSTILE})):
        run.config.write_text(json.dumps({**config, "health": health, HOSTILE: number}), encoding="utf-8")
        check_terminal([state_of(f"{HOSTILE}={run.path}"), state_of(f"{HOSTILE}2={file}"), state_of(str(other.path))])
    state = state_of(f"{HOSTILE}={file}")
    assert "[bold]red[/bold]" in to_text([state])


def make_hostile(tree: Any) -> Any:
    """The same with hostile text in place of every value, and one more setting of a hostile name."""
    if isinstance(tree, dict):
        return {**{key: make_hostile(value) for key, value in tree.items()}, HOSTILE: HOSTILE}
    return HOSTILE


def check_terminal(states: list[RunState]) -> None:
    console = Console(force_terminal=True, width=80, record=True, highlight=False)
    with console.capture() as printed:
        show_states(states, console)
    assert printed.get().count("owned") > 10
    for code in ("\x1b]0;", "\x07", "\u202e"):
        assert code not in printed.get()
        assert code not in render_comparison(states)
