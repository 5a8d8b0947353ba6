"""The client against servers that misbehave on purpose: whatever they do, it is a judgement or `Unjudged`, in time."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from code_rlvr import (
    CaseJudgement,
    ConfigError,
    Judgement,
    Limits,
    PreflightError,
    Tests,
    TestsFormatError,
    Unjudged,
    Verdict,
    compute_score,
)
from code_rlvr.remote_judge import RemoteJudge, shared_remote_judge
from code_rlvr.wire import STDERR_CHARS, judgement_from_json, judgement_to_json, package_version

pytest.importorskip("httpx", reason="needs the serve extra")

TESTS = Tests.stdio(["1", "2"], ["2", "4"])
HALF = Judgement(
    Verdict.WRONG_ANSWER,
    (CaseJudgement(Verdict.ACCEPTED, 0.1, 0.2, 9.5), CaseJudgement(Verdict.WRONG_ANSWER, 0.1, 0.2, 9.5, "why\ud800")),
    2,
    0.5,
)
Reply = tuple[int, Any] | Callable[[BaseHTTPRequestHandler], None]


def right() -> dict[str, Any]:
    return judgement_to_json(HALF) | {"clamped": []}


class Planted(ThreadingHTTPServer):
    """Replies from a list, the last one for ever; `asked` are the requests."""

    daemon_threads = True

    def __init__(self, replies: list[Reply]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.replies, self.asked = replies, list[dict[str, Any]]()
        self.headers_seen: list[Any] = []
        self.url = f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, request: Any, client_address: Any) -> None:  # clients that hang up are expected
        pass


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Planted

    def do_POST(self) -> None:
        self.server.asked.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
        self.server.headers_seen.append(self.headers)
        replies = self.server.replies
        reply = replies.pop(0) if len(replies) > 1 else replies[0]
        if callable(reply):
            reply(self)
            return
        self.answer(*reply)

    def do_GET(self) -> None:
        self.answer(200, {"version": package_version(), "api": 1, "workers": 2, "layers": ["seccomp"]})

    def answer(self, status: int, content: Any) -> None:
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(status)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def planted(*replies: Reply) -> Iterator[Planted]:
    server = Planted([*replies])
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def error(kind: str, message: str = "why", field: str | None = None) -> dict[str, Any]:
    return {"error": {"type": kind, "message": message, "field": field}}


def hang_up(handler: BaseHTTPRequestHandler) -> None:
    handler.connection.shutdown(socket.SHUT_RDWR)


def cut_off(handler: BaseHTTPRequestHandler) -> None:
    handler.wfile.write(b'HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{"verdict": "ACCEPTED"')
    hang_up(handler)


def say_nothing(handler: BaseHTTPRequestHandler) -> None:
    time.sleep(3)


def test_a_judgement_survives_the_wire() -> None:
    assert judgement_from_json(json.loads(json.dumps(right()))) == HALF


def test_an_answer_is_bounded_however_much_programs_write_to_stderr() -> None:
    case = CaseJudgement(Verdict.RUNTIME_ERROR, 0.1, 0.1, 9.0, "x" * 2000)
    answer = judgement_to_json(Judgement(Verdict.RUNTIME_ERROR, (case,) * 10_000, 10_000, 1.0))
    assert sum(len(case["stderr"]) for case in answer["cases"]) <= STDERR_CHARS
    assert len(answer["cases"]) == 10_000


def test_what_is_asked_is_what_was_given() -> None:
    with planted((200, right())) as server, RemoteJudge(server.url, limits=Limits(cpu_s=3)) as judge:
        judged = judge.judge("print(1)", TESTS, max_tests=5, stop_at_first_failure=True)
        judge.judge(None, TESTS, limits=Limits(cpu_s=1))
    assert judged == HALF
    first, second = server.asked
    assert Tests.parse(first["tests"]) == TESTS
    assert (first["code"], first["max_tests"], first["stop_at_first_failure"]) == ("print(1)", 5, True)
    assert (first["limits"]["cpu_s"], second["limits"]["cpu_s"], second["code"]) == (3, 1, None)


@pytest.mark.parametrize(
    "refusal",
    [(429, error("Busy")), (503, error("Stopping")), (503, b"Service Unavailable"), (502, b"<html>"), hang_up, cut_off],
    ids=["busy", "stopping", "too many connections", "proxy", "hangs up", "cut off"],
)
def test_a_server_that_cannot_answer_now_is_asked_again(refusal: Reply) -> None:
    with planted(refusal, refusal, (200, right())) as server, RemoteJudge(server.url) as judge:
        assert judge.judge("print(1)", TESTS) == HALF
    assert len(server.asked) == 3


CONTRADICTIONS: list[dict[str, Any]] = [
    {"verdict": "ACCEPTED"},
    {"tests_passed": 2},
    {"tests_total": 0, "cases": []},
    {"tests_total": 1},
    {"verdict": "GREAT"},
    {"cases": None},
    {"clamped": None, "judge_s": []},
]


@pytest.mark.parametrize(
    "reply",
    [
        *[(200, right() | wrong) for wrong in CONTRADICTIONS],
        (200, b"<html>signed in</html>"),
        (200, b""),
        (200, []),
        (204, b""),
        (302, b""),
        (404, b"no such page"),
        (413, error("HTTPError")),
        (422, error("UsageError")),
        (500, b"Internal Server Error"),
        (503, error("Unjudged")),
    ],
    ids=str,
)
def test_what_is_no_judgement_is_unjudged_at_once(reply: Reply) -> None:
    with planted(reply) as server, RemoteJudge(server.url) as judge, pytest.raises(Unjudged, match=server.url):
        judge.judge("print(1)", TESTS)
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    "reply",
    [say_nothing, hang_up, cut_off, (429, error("Busy")), (503, b"Service Unavailable")],
    ids=["says nothing", "hangs up", "cut off", "always busy", "no backend"],
)
def test_a_server_that_never_answers_is_unjudged_in_bounded_time(reply: Reply) -> None:
    started = time.monotonic()
    with (
        planted(reply) as server,
        RemoteJudge(server.url, timeout_s=1.0, unreachable_s=0.5) as judge,
        pytest.raises(Unjudged, match=server.url),
    ):
        judge.judge("print(1)", TESTS)
    assert time.monotonic() - started < 6


def test_a_server_that_is_gone_is_unjudged_in_bounded_time() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    started = time.monotonic()
    with RemoteJudge(f"http://127.0.0.1:{port}", unreachable_s=1.0) as judge:
        (outcome,) = judge.judge_many([("print(1)", TESTS)])
        assert isinstance(outcome, Unjudged)
    assert 0.9 < time.monotonic() - started < 10


def test_a_lower_limit_than_was_asked_for_gives_no_verdict() -> None:
    with planted((200, right() | {"clamped": ["cpu_s"]})) as server, RemoteJudge(server.url) as judge:
        with pytest.raises(Unjudged, match=r"less cpu_s.*--max-cpu-s"):
            judge.judge("print(1)", TESTS)
        with pytest.raises(PreflightError, match="--max-cpu-s"):
            judge.check()


def test_malformed_tests_are_malformed_here_too() -> None:
    refusal = error("TestsFormatError", "cannot be run", "asserts[0]")
    with (
        planted((422, refusal)) as server,
        RemoteJudge(server.url) as judge,
        pytest.raises(TestsFormatError, match="cannot be run") as caught,
    ):
        judge.judge("print(1)", TESTS)
    assert caught.value.field == "asserts[0]"


def test_the_token_comes_from_the_environment_and_shows_up_nowhere(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    monkeypatch.setenv("CODE_RLVR_TOKEN", "secret-of-sixteen")
    with planted((401, error("HTTPError"))) as server, RemoteJudge(server.url) as judge:
        with pytest.raises(ConfigError, match="CODE_RLVR_TOKEN") as caught:
            judge.judge("print(1)", TESTS)
        assert server.headers_seen[0]["authorization"] == "Bearer secret-of-sixteen"
        assert "secret" not in str(caught.value) + repr(judge) + repr(vars(judge)) + caplog.text


@pytest.mark.parametrize("url", ["judge:8377", "ftp://judge", "http://", "http://me:secret@judge", "http://judge?t=x"])
def test_a_url_that_is_none_or_holds_a_secret_is_refused(url: str) -> None:
    with pytest.raises(ConfigError, match="judging server"):
        RemoteJudge(url)


def test_proxies_of_the_environment_do_not_see_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    with planted((200, right())) as server, RemoteJudge(server.url) as judge:
        assert judge.judge("print(1)", TESTS) == HALF


def test_closing_ends_those_who_wait() -> None:
    outcomes: list[Exception] = []

    def ask(judge: RemoteJudge) -> None:
        try:
            judge.judge("print(1)", TESTS)
        except Unjudged as unjudged:
            outcomes.append(unjudged)

    with planted((429, error("Busy"))) as server:
        judge = RemoteJudge(server.url)
        threads = [threading.Thread(target=ask, args=(judge,)) for _ in range(4)]
        for thread in threads:
            thread.start()
        while not server.asked:
            time.sleep(0.01)
        judge.close()
        for thread in threads:
            thread.join(15)
    assert len(outcomes) == 4
    with pytest.raises(Unjudged, match="closed"):
        judge.judge("print(1)", TESTS)


def test_a_fork_does_not_use_its_parents_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    with planted((200, right())) as server, RemoteJudge(server.url) as judge:
        with monkeypatch.context() as child:
            child.setattr(os, "getpid", lambda: -1)
            with pytest.raises(Unjudged, match="forked"):
                judge.judge("print(1)", TESTS)
        assert judge.judge("print(1)", TESTS) == HALF


def test_an_event_loop_and_many_threads_share_one_judge() -> None:
    async def crowd(judge: RemoteJudge) -> list[Judgement]:
        return await asyncio.gather(*(judge.judge_async("print(1)", TESTS) for _ in range(100)))

    with planted((200, right())) as server, RemoteJudge(server.url, connections=8) as judge:
        assert asyncio.run(crowd(judge)) == [HALF] * 100
        assert [*judge.judge_many([("print(1)", TESTS)] * 300)] == [HALF] * 300


def test_a_check_names_the_remedy() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
    with RemoteJudge(url) as judge, pytest.raises(PreflightError, match="code-rlvr serve"):
        judge.check()
    with planted((200, right())) as server, RemoteJudge(server.url) as judge:
        with pytest.raises(PreflightError, match="a right program WRONG_ANSWER"):
            judge.check()
        server.replies[:] = [(401, error("HTTPError"))]
        with pytest.raises(PreflightError, match="CODE_RLVR_TOKEN"):
            judge.check()


def test_a_check_refuses_another_version(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("code_rlvr.remote_judge.package_version", lambda: "9.9.9")
    with (
        planted((200, right())) as server,
        RemoteJudge(server.url) as judge,
        pytest.raises(PreflightError, match=r"0\.1\.0, this is 9\.9\.9"),
    ):
        judge.check()


def test_a_score_from_a_server_is_that_of_its_judgement(tmp_path: Path) -> None:
    response = "```python\nprint(1)\n```"
    with planted((200, right())) as server:
        metrics = compute_score("x", response, TESTS.to_json(), judge_url=server.url, limits={"cpu_s": 2})
        assert shared_remote_judge(server.url) is shared_remote_judge(server.url)
        server.replies[:] = [(503, error("Unjudged"))]
        with pytest.raises(Unjudged):
            compute_score("x", response, TESTS.to_json(), judge_url=server.url, verdict_dir=str(tmp_path))
    assert (metrics["score"], metrics["wrong_answer"], metrics["judge_s"]) == (0.5, 1.0, 0.5)
    assert server.asked[0]["limits"]["cpu_s"] == 2
    (line,) = (tmp_path / "step_0.jsonl").read_text().splitlines()
    assert json.loads(line)["verdict"] == "UNJUDGED"
