"""The command line as a person meets it: help, exit codes, messages on standard error."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = [sys.executable, "-c", "from code_rlvr.cli import main; main()"]


def run(*words: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*COMMAND, *words], capture_output=True, text=True, timeout=60, cwd=cwd)


COMMANDS = [
    "quickstart",
    "warmstart",
    "prepare",
    "audit",
    "verify",
    "serve",
    "doctor",
    "train",
    "merge",
    "eval",
    "report",
]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_a_help_with_an_example(command: str) -> None:
    shown = run(command, "--help")
    assert shown.returncode == 0
    assert f"code-rlvr {command}" in shown.stdout


def test_help_loads_no_heavy_library() -> None:
    source = "import code_rlvr.cli, sys; print([m for m in ('torch', 'ray', 'verl') if m in sys.modules])"
    shown = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, timeout=60)
    assert shown.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["train", "trainer.step=3"], "did you mean trainer.steps"),
        (["train", "--config", "absent.toml"], "absent.toml"),
        (["train"], "no model is named"),
        (["train", "--preset", "single-gpu-05b"], "did you mean single-gpu-0.5b?"),
        (["train", "--resume", "runs/absent"], "runs/absent/config.json"),
        (["prepare", "absent.jsonl", "--out", "set"], "absent.jsonl is no file or folder here"),
        (["audit", "absent.parquet"], "absent.parquet"),
        (["eval", "absent", "--on", "heldout"], "absent is no folder here"),
        (["eval", "absent"], "name benchmarks with --on"),
        (["eval", "absent", "--with", "evalscope", "--on", "humaneval"], "name benchmarks with --datasets"),
        (["merge", "runs/absent"], "has no checkpoint"),
        (["report", "runs/absent"], "runs/absent"),
    ],
)
def test_bad_input_is_exit_code_2_with_one_message(words: list[str], message: str, tmp_path: Path) -> None:
    shown = run(*words, cwd=tmp_path)
    assert shown.returncode == 2
    assert "error:" in shown.stderr
    assert message in shown.stderr
    assert "Traceback" not in shown.stderr


def test_a_resume_works_on_the_folder_that_was_named_from_any_directory(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    moved = tmp_path / "moved" / "my-run"
    moved.mkdir(parents=True)
    (moved / "config.json").write_text('{"name": "old-name", "runs_dir": "runs"}', encoding="utf-8")
    source = (
        "import sys, code_rlvr.train.launch as launch\n"
        "launch.train = lambda config, resume, skip, preset: sys.exit(f'resume={resume} {config.run.path}')\n"
        "from code_rlvr.cli import main; main()\n"
    )
    shown = subprocess.run(
        [sys.executable, "-c", source, "train", "--resume", str(moved)],
        capture_output=True,
        text=True,
        timeout=60,
        cwd=elsewhere,
    )
    assert shown.stderr.strip() == f"resume=True {moved}"


def test_problems_go_from_a_file_through_prepare_and_audit(tmp_path: Path) -> None:
    rows = [
        {
            "problem_id": f"times-{number}",
            "statement": f"Read a number and print {number} times that number.",
            "tests": {"inputs": [f"{i}\n" for i in range(4)], "outputs": [f"{number * i}\n" for i in range(4)]},
            "solutions": [f"print({number} * int(input()))"],
        }
        for number in range(2, 14)
    ]
    rows[3]["tests"]["outputs"] = ["7"] * 4  # type: ignore[index]
    (tmp_path / "mine.jsonl").write_text("\n".join(map(json.dumps, rows)))
    prepared = run("prepare", "mine.jsonl", "--out", "set", cwd=tmp_path)
    assert prepared.returncode == 0, prepared.stderr
    assert "next: code-rlvr audit set" in prepared.stdout
    verified = run("verify", "set", "set/solutions.jsonl", cwd=tmp_path)
    assert "11 of 12 accepted" in verified.stdout, verified.stderr
    audited = run("audit", "set", "--drop", "clean", "--html", "page.html", "--json", cwd=tmp_path)
    assert audited.returncode == 1, audited.stderr
    found = json.loads(audited.stdout)["findings"]
    assert {one["code"] for one in found if one["severity"] == "defect"} == {"constant_output", "reference_fails"}
    assert (tmp_path / "page.html").read_text().startswith("<!doctype html>")
    again = run("audit", "clean", cwd=tmp_path)
    assert again.returncode == 0, again.stdout
    assert "11 of 11 pass" in again.stdout
