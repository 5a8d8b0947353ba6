"""The watch: when it renders, whom it answers, how it starts and ends."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from code_rlvr.errors import DataError
from code_rlvr.report import watch as watching
from code_rlvr.report.html import read_asset
from code_rlvr.report.sources import find_sources
from code_rlvr.report.watch import Watch, fingerprint
from code_rlvr.report.watch_server import Shown, WatchServer
from code_rlvr.serve.address import listening_socket

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
    for name in ("config.json", "versions.json", "verdicts/step_1.jsonl", "eval/after/heldout.json"):
        before = fingerprint(source)
        file = tmp_path / "run" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("{}", encoding="utf-8")
        assert fingerprint(source) != before, name
    before = fingerprint(source)
    (tmp_path / "run" / "report.html").write_text("made by another", encoding="utf-8")
    assert fingerprint(source) == before


@contextlib.contextmanager
def serving(shown: Shown, host: str = "127.0.0.1") -> Iterator[int]:
    with contextlib.closing(listening_socket(host, 0)) as listener:
        server = WatchServer(listener, host, shown)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield listener.getsockname()[1]
        finally:
            server.shutdown()
            thread.join(10)


def ask(port: int, path: str, *, host: str | None = None, method: str = "GET") -> tuple[int, bytes, dict[str, str]]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    with contextlib.closing(connection):
        connection.putrequest(method, path, skip_host=host is not None)
        if host is not None:
            connection.putheader("Host", host)
        connection.endheaders()
        answer = connection.getresponse()
        return answer.status, answer.read(), {name.lower(): value for name, value in answer.getheaders()}


def test_the_report_is_handed_out_as_it_is_and_the_version_changes_with_it() -> None:
    shown = Shown("run")
    shown.page("<p>ä report</p>")
    with serving(shown) as port:
        status, body, headers = ask(port, "/page?1")
        assert (status, body.decode()) == (200, "<p>ä report</p>")
        assert headers["cache-control"] == "no-store"
        assert headers["content-security-policy"] == "frame-ancestors 'self'"
        first = ask(port, "/version")[1]
        assert ask(port, "/version")[1] == first
        shown.page("<p>newer</p>")
        assert ask(port, "/version")[1] != first
        assert ask(port, "/page", method="HEAD")[:2] == (200, b"")
        assert ask(port, "/etc/passwd")[0] == 404
        assert ask(port, "/page", method="POST")[0] == 501


def test_a_site_whose_name_was_pointed_here_learns_nothing() -> None:
    shown = Shown("secret-run")
    shown.page("secret")
    with serving(shown) as port:
        for host in (
            "evil.example",
            f"evil.example:{port}",
            f"127.0.0.1.evil.example:{port}",
            "",
            "localhost.evil.example",
        ):
            for path in ("/", "/page", "/version"):
                status, body, _ = ask(port, path, host=host)
                assert status == 403, host
                assert b"secret" not in body
        for host in (
            f"127.0.0.1:{port}",
            "127.0.0.1",
            f"localhost:{port}",
            f"LOCALHOST:{port}",
            f"[::1]:{port}",
            "[::1]",
        ):
            assert ask(port, "/page", host=host)[0] == 200, host


def test_the_frame_allows_only_its_own_script_and_asks_only_its_own_server() -> None:
    frame = Shown("</title><script>alert(1)</script>").frame.decode()
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', frame)
    assert policy is not None
    rules = dict(rule.strip().split(" ", 1) for rule in policy[1].replace("&#39;", "'").split(";"))
    assert rules["default-src"] == "'none'"
    assert re.fullmatch(r"'sha256-[^' ]+'", rules["script-src"])
    assert (rules["connect-src"], rules["frame-src"]) == ("'self'", "'self'")
    assert frame.count("<script>") == 1
    assert read_asset("watch.js") in frame


def test_a_client_that_says_nothing_keeps_no_other_waiting() -> None:
    shown = Shown("run")
    with serving(shown) as port, socket.create_connection(("127.0.0.1", port)):
        assert ask(port, "/version")[0] == 200


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
