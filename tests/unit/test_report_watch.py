"""The watch: when it renders, what counts as a change, how it starts and ends."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from code_rlvr.errors import DataError
from code_rlvr.health import HealthThresholds
from code_rlvr.report import watch as watching
from code_rlvr.report.html import render_report
from code_rlvr.report.inputs import input_files
from code_rlvr.report.run_state import read_state
from code_rlvr.report.sources import find_sources
from code_rlvr.report.watch import Watch, fingerprint
from code_rlvr.report.watch_server import Shown
from tests.synthetic_run import make_run
from tests.unit.test_report_watch_server import ask

COMMAND = [sys.executable, "-c", "from code_rlvr.cli import main; main()", "report"]


def add_step(folder: Path, step: int, score: float = 0.5) -> None:
    folder.mkdir(exist_ok=True)
    with (folder / "metrics.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps({"step": step, "data": {"critic/score/mean": score}}) + "\n")


class Pages:
    """Counts how often a page is made, and can fail as a file does that is being replaced."""

    def __init__(self) -> None:
        self.made = 0
        self.broken = False

    def __call__(self) -> str:
        if self.broken:
            raise DataError("half written")
        self.made += 1
        return f"page {self.made}"


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A clock that only the test moves."""
    now = [1000.0]
    monkeypatch.setattr(watching, "time", SimpleNamespace(monotonic=lambda: now[0]))
    return now


def test_it_renders_when_the_run_has_changed_and_not_more_often_than_every_few_seconds(
    tmp_path: Path, clock: list[float]
) -> None:
    pages, shown = Pages(), Shown("run")
    one = Watch(find_sources([str(tmp_path / "run")]), pages, shown, lambda line: None)
    add_step(tmp_path / "run", 1)
    assert one.look()
    for _ in range(20):
        clock[0] += 1
        assert not one.look()
    add_step(tmp_path / "run", 2)
    assert one.look()
    add_step(tmp_path / "run", 3)
    clock[0] += watching.MIN_GAP_S - 0.1
    assert not one.look()
    clock[0] += 0.2
    assert one.look()
    assert pages.made == 3
    assert shown.current()[1] == b"page 3"


def test_it_rests_longer_after_a_rendering_that_took_long(tmp_path: Path, clock: list[float]) -> None:
    def slow() -> str:
        clock[0] += 10
        return "page"

    one = Watch(find_sources([str(tmp_path / "run")]), slow, Shown("run"), lambda line: None)
    add_step(tmp_path / "run", 1)
    assert one.look()
    add_step(tmp_path / "run", 2)
    clock[0] += 10 * watching.REST - 1
    assert not one.look()
    clock[0] += 2
    assert one.look()


def test_a_run_still_to_come_is_waited_for_and_said_once(tmp_path: Path) -> None:
    said: list[str] = []
    shown = Shown("run")
    one = Watch(find_sources([str(tmp_path / "run")]), Pages(), shown, said.append)
    assert not one.look()
    assert not one.look()
    assert said == [f"waiting: {tmp_path / 'run'} does not exist"]
    version, page = shown.current()
    assert b"Waiting for a run" in page
    assert str(tmp_path).encode() in page
    add_step(tmp_path / "run", 1)
    assert one.look()
    assert shown.current()[0] != version
    assert shown.current()[1] == b"page 1"


def test_what_was_shown_stays_when_a_rendering_fails_and_is_made_again_later(
    tmp_path: Path, clock: list[float]
) -> None:
    said: list[str] = []
    pages, shown = Pages(), Shown("run")
    one = Watch(find_sources([str(tmp_path / "run")]), pages, shown, said.append)
    add_step(tmp_path / "run", 1)
    one.look()
    before = shown.current()
    pages.broken = True
    add_step(tmp_path / "run", 2)
    clock[0] += 60
    one.look()
    assert shown.current() == before
    assert said == ["cannot be shown right now: half written"]
    pages.broken = False
    clock[0] += 60
    one.look()
    assert shown.current()[1] == b"page 2"


def test_every_file_that_the_report_is_made_from_counts_as_a_change(tmp_path: Path) -> None:
    add_step(tmp_path / "run", 1)
    (source,) = find_sources([str(tmp_path / "run")])
    run = source.run
    for file in (
        *input_files(run).values(),
        run.verdicts / "step_1.jsonl",
        run.eval / "before" / "heldout.json",
        run.eval / "after" / "heldout.json",
    ):
        before = fingerprint(source)
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("a", encoding="utf-8") as changed:
            changed.write("{}\n")
        assert fingerprint(source) != before, file
    before = fingerprint(source)
    (tmp_path / "run" / "report.html").write_text("made by another", encoding="utf-8")
    assert fingerprint(source) == before


READ_BY_A_REPORT = """
import pathlib, sys
read = set()
sys.addaudithook(lambda event, words: read.add(str(words[0])) if event == "open" else None)
from code_rlvr.report.html import build_report
from code_rlvr.runs import RunFolder
build_report(RunFolder(pathlib.Path(sys.argv[1])))
print("\\n".join(sorted(read)))
"""


def test_no_file_of_a_run_is_read_that_does_not_count_as_a_change(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", steps=3, heldout=40)
    run.merged.mkdir()
    run.merge_record.write_text('{"step": 3}', encoding="utf-8")
    run.manifest.write_text("{}", encoding="utf-8")
    read = subprocess.run(
        [sys.executable, "-c", READ_BY_A_REPORT, str(run.path)], capture_output=True, text=True, timeout=60, check=True
    ).stdout.splitlines()
    (source,) = find_sources([str(run.path)])
    counted = {name for name, *_ in fingerprint(source)} - {str(run.path)}
    of_run = {name for name in read if name.startswith(str(run.path)) and ".unfinished" not in name}
    assert {name for name in of_run if Path(name).suffix != ".parquet"} == counted
    assert str(run.start) in counted


def test_a_run_whose_files_are_moved_away_while_they_are_read_does_not_end_the_watch(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", steps=3, evaluated=False)
    (source,) = find_sources([str(run.path)])
    shown = Shown("run")

    def render() -> str:
        return render_report(read_state(source, HealthThresholds()))

    one = Watch([source], render, shown, lambda line: pytest.fail(line))
    for file in run.verdicts.iterdir():
        file.rename(tmp_path / file.name)
        file.symlink_to(tmp_path / "moved" / file.name)
    assert one.look()
    assert (
        b"verdicts: 4 files cannot be read (step_0.jsonl, step_1.jsonl, step_2.jsonl and others)." in shown.current()[1]
    )


def start(*words: str, cwd: Path) -> tuple[subprocess.Popen[str], int]:
    """Start a watch as a person does; return it and its port."""
    process = subprocess.Popen(
        [*COMMAND, *words, "--watch"], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=cwd
    )
    assert process.stderr is not None
    line = process.stderr.readline()
    found = re.search(r"http://[\d.]+:(\d+)", line)
    assert found, line
    return process, int(found[1])


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_serves_the_real_report_and_ends_cleanly(tmp_path: Path, number: int) -> None:
    add_step(tmp_path / "run", 1)
    process, port = start("run", "--port", "0", cwd=tmp_path)
    try:
        until = time.monotonic() + 30
        while b"Waiting" in (page := ask(port, "/page")[1]) and time.monotonic() < until:
            time.sleep(0.2)
        assert b"Training report" in page
        assert b"Content-Security-Policy" in page
    finally:
        os.kill(process.pid, number)
        out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (0, "")
    assert err == "stopped\n"


def test_a_port_in_use_is_one_message_with_the_remedy(tmp_path: Path) -> None:
    add_step(tmp_path / "run", 1)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        shown = subprocess.run(
            [*COMMAND, "run", "--watch", "--port", str(taken.getsockname()[1])],
            capture_output=True,
            text=True,
            timeout=60,
            cwd=tmp_path,
        )
    assert shown.returncode == 1
    assert "choose another with --port, 0 is any that is free" in shown.stderr
    assert "Traceback" not in shown.stderr


def test_listening_to_others_is_warned_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []

    def say(line: str) -> None:
        said.append(line)
        if line.startswith("watching"):
            threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()

    watching.watch(find_sources([str(tmp_path / "run")]), lambda: "", "0.0.0.0", 0, say)
    assert any(line.startswith("warning: everyone who reaches 0.0.0.0 can read this report") for line in said)
    said.clear()
    watching.watch(find_sources([str(tmp_path / "run")]), lambda: "", "127.0.0.1", 0, say)
    assert not any("warning" in line for line in said)


def test_a_file_that_has_not_changed_is_not_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add_step(tmp_path, 1)
    (source,) = find_sources([str(tmp_path / "metrics.jsonl")])
    one = Watch([source], Pages(), Shown("run"), lambda line: None)
    assert one.look()
    monkeypatch.setattr(type(source), "missing", lambda source: pytest.fail("read again"))
    assert not one.look()
