"""The server's answers, asked without a socket: judgements, refusals, bounds, and what never goes back."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import pytest

from code_rlvr import ConfigError, Judge, Limits, Unjudged
from code_rlvr.reward import METRIC_KEYS

httpx = pytest.importorskip("httpx", reason="needs the serve extra")
pytest.importorskip("starlette", reason="needs the serve extra")

from code_rlvr.serve.address import read_token  # noqa: E402  after the skips
from code_rlvr.serve.admission import Admission, Busy, Capacity  # noqa: E402
from code_rlvr.serve.app import JudgeApp  # noqa: E402
from code_rlvr.serve.requests import Bounds, read_judge, read_score  # noqa: E402
from code_rlvr.serve.service import Service  # noqa: E402

DOUBLE = {"inputs": ["1", "2"], "outputs": ["2", "4"]}
SECRET = "the-expected-answer-31337"
BOUNDS = Bounds(Limits(cpu_s=1, wall_s=3), Limits(cpu_s=2, memory_mib=512, deadline_s=120))
Answered = TypeVar("Answered")


class SlowJudge:
    """Stands in for a judge where a test has to decide when it is done."""

    limits = Limits()

    def __init__(self) -> None:
        self.go_on = threading.Event()
        self.begun = 0

    def judge(self, *_: Any, **__: Any) -> Any:
        self.begun += 1
        assert self.go_on.wait(20)
        raise Unjudged("the planted fault")

    def close(self, wait: bool = True) -> None:
        self.go_on.set()


@contextmanager
def app_of(judge: Any, token: str = "", **capacity: int) -> Iterator[JudgeApp]:
    bounded = Capacity(**{"programs": 8, **capacity})
    service = Service(judge, 2, BOUNDS, bounded.items)
    try:
        yield JudgeApp(service, Admission(bounded), token, ["seccomp"])
    finally:
        service.cancel_waiting()
        service._threads.shutdown()


def using(app: JudgeApp, work: Callable[[Any], Awaitable[Answered]]) -> Answered:
    async def main() -> Answered:
        transport = httpx.ASGITransport(app.asgi, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://judge") as client:
            return await work(client)

    return asyncio.run(main())


def post(app: JudgeApp, path: str, asked: Any, **headers: str) -> Any:
    body = asked if isinstance(asked, bytes) else json.dumps(asked).encode()
    sent = {"content-type": "application/json", **headers}
    return using(app, lambda client: client.post(path, content=body, headers=sent))


def test_a_program_is_judged_and_an_answer_has_every_field(judge: Judge) -> None:
    with app_of(judge) as app:
        answer = post(app, "/v1/judge", {"code": "print(2 * int(input()))", "tests": DOUBLE})
    assert answer.status_code == 200
    assert set(answer.json()) == {
        "verdict", "accepted", "test_pass_rate", "tests_passed", "tests_total", "judge_s", "message", "cases",
        "clamped",
    }  # fmt: skip
    assert answer.json()["accepted"] is True
    assert len(answer.json()["cases"]) == 2


def test_a_response_is_judged_by_the_program_in_it(judge: Judge) -> None:
    response = "Here:\n```python\nprint(2 * int(input()))\n```\n"
    with app_of(judge) as app:
        answer = post(app, "/v1/judge", {"response": response, "tests": json.dumps(DOUBLE)}).json()
        nothing = post(app, "/v1/judge", {"response": "I cannot.", "tests": DOUBLE}).json()
    assert (answer["verdict"], answer["format"]) == ("ACCEPTED", 1.0)
    assert (nothing["verdict"], nothing["format"]) == ("NO_CODE", 0.0)


@pytest.mark.parametrize("policy", ["pass_rate", "binary", {"name": "tiered"}])
def test_a_score_has_the_keys_of_compute_score(judge: Judge, policy: Any) -> None:
    asked = {
        "data_source": "x",
        "solution_str": "```python\nprint(2)\n```",
        "ground_truth": DOUBLE,
        "extra_info": {"index": 1},
        "policy": policy,
    }
    with app_of(judge) as app:
        metrics = post(app, "/v1/score", asked).json()
    assert tuple(metrics) == METRIC_KEYS
    assert metrics["wrong_answer"] == 1.0
    assert metrics["tests_run"] == 2.0


def test_many_are_answered_in_order_one_a_line_and_a_bad_one_spoils_no_other(judge: Judge) -> None:
    items = [{"code": f"print({n} * int(input()))", "tests": DOUBLE} for n in (1, 2, 3)]
    items.insert(1, {"code": "", "tests": {"inputs": [], "outputs": []}})
    with app_of(judge) as app:
        answer = post(app, "/v1/judge_many", {"items": items, "stop_at_first_failure": True})
        assert app.admission.programs == app.admission.pending_bytes == 0
    lines = [json.loads(line) for line in answer.text.splitlines()]
    assert [line.get("verdict") for line in lines] == ["WRONG_ANSWER", None, "ACCEPTED", "WRONG_ANSWER"]
    assert lines[1]["error"]["type"] == "TestsFormatError"
    assert len(lines[0]["cases"]) == 1


PROBES = [
    "print(input())",
    "import sys\nsys.exit(open('/proc/self/environ').read())",
    "def f(*args): raise ValueError(args)",
    "print(",
    "def f(x): return x",
]


@pytest.mark.parametrize("code", PROBES)
@pytest.mark.parametrize(
    "tests",
    [
        {"inputs": ["1"], "outputs": [SECRET]},
        {"fn_name": "f", "inputs": [[1]], "outputs": [SECRET]},
        {"asserts": f"assert f(1) == {SECRET!r}"},
        {"asserts": f"for _ in range(1):\n    assert f(1) == {SECRET!r}"},
        {"asserts": f"for _ in range(1):\n    assert {SECRET!r} in f(1), {SECRET!r}"},
    ],
    ids=["stdio", "call", "assert", "checker", "checker with a message"],
)
def test_expected_answers_never_go_back(judge: Judge, tests: dict[str, Any], code: str) -> None:
    with app_of(judge) as app:
        answer = post(app, "/v1/judge", {"code": code, "tests": tests})
    assert answer.status_code == 200
    assert SECRET not in answer.text
    assert not answer.json()["accepted"]


MALFORMED: list[tuple[Any, str]] = [
    (b"{", "not JSON"),
    (b"\xff\xfe", "not JSON"),
    (b"[" * 100_000, "not JSON"),
    (b"[]", "JSON object"),
    ({"code": "x"}, "ground_truth"),
    ({"tests": DOUBLE}, "either code"),
    ({"code": "x", "response": "x", "tests": DOUBLE}, "either code"),
    ({"code": 3, "tests": DOUBLE}, "has to be a text"),
    ({"response": None, "tests": DOUBLE}, "has to be a text"),
    ({"code": "x", "tests": {"inputs": ["1"], "outputs": ["1", "2"]}}, "2 outputs for 1 inputs"),
    ({"code": "x", "tests": DOUBLE, "limit": {}}, "unknown key 'limit'"),
    ({"code": "x", "tests": DOUBLE, "limits": {"cpu": 1}}, "knows no 'cpu'"),
    ({"code": "x", "tests": DOUBLE, "limits": {"cpu_s": -1}}, "cpu_s"),
    ({"code": "x", "tests": DOUBLE, "limits": {"cpu_s": 10**400}}, "beyond reason"),
    ({"code": "x", "tests": DOUBLE, "limits": [1]}, "has to be an object"),
    ({"code": "x", "tests": DOUBLE, "max_tests": 0}, "max_tests"),
    ({"code": "x", "tests": DOUBLE, "max_tests": True}, "max_tests"),
    ({"code": "x", "tests": DOUBLE, "stop_at_first_failure": "no"}, "true or false"),
    ({"code": "x", "tests": {"inputs": [""] * 10_001, "outputs": [""] * 10_001}}, "10,000 tests"),
]


@pytest.mark.parametrize(("asked", "named"), MALFORMED, ids=[named for _, named in MALFORMED])
def test_what_cannot_be_judged_is_422_with_the_reason(judge: Judge, asked: Any, named: str) -> None:
    with app_of(judge) as app:
        answer = post(app, "/v1/judge", asked)
    assert answer.status_code == 422, answer.text
    assert named in answer.json()["error"]["message"] or named == answer.json()["error"]["field"]


@pytest.mark.parametrize("key", ["verdict_dir", "python", "isolation", "workers", "keep_text", "judge_url"])
def test_a_client_cannot_name_files_or_weaken_the_sandbox(judge: Judge, key: str) -> None:
    with app_of(judge) as app:
        answer = post(app, "/v1/score", {"solution_str": "x", "ground_truth": DOUBLE, key: "process"})
    assert answer.status_code == 422


def test_limits_are_clamped_to_the_servers_maximum_and_it_is_told() -> None:
    asked = {"code": "x", "tests": DOUBLE, "limits": {"cpu_s": 60, "memory_mib": 256, "wall_s": 900}}
    read = read_judge(json.dumps(asked).encode(), BOUNDS)
    assert (read.limits.cpu_s, read.limits.memory_mib, read.limits.wall_s) == (2, 256, 14)
    assert set(read.clamped) == {"cpu_s", "wall_s"}
    own = {"solution_str": "x", "ground_truth": {**DOUBLE, "time_limit_s": 50, "memory_limit_mib": 9999}}
    score = read_score(json.dumps(own).encode(), BOUNDS)
    assert (score.tests.time_limit_s, score.tests.memory_limit_mib) == (2, 512)
    assert set(score.clamped) == {"time_limit_s", "memory_limit_mib"}
    within = read_judge(json.dumps({"code": "x", "tests": DOUBLE}).encode(), BOUNDS)
    assert (within.clamped, within.limits) == ((), BOUNDS.default)


def test_a_default_above_the_maximum_is_refused() -> None:
    with pytest.raises(ConfigError, match="cpu_s = 3"):
        Bounds(Limits(cpu_s=3), Limits(cpu_s=2))


def test_a_fault_of_the_judge_is_503_and_no_verdict() -> None:
    judge = SlowJudge()
    judge.go_on.set()
    with app_of(judge) as app:
        answer = post(app, "/v1/judge", {"code": "x", "tests": DOUBLE})
        score = post(app, "/v1/score", {"solution_str": "x", "ground_truth": DOUBLE})
        many = post(app, "/v1/judge_many", {"items": [{"code": "x", "tests": DOUBLE}]})
    for refused in (answer, score):
        assert refused.status_code == 503
        assert refused.json()["error"]["type"] == "Unjudged"
        assert not {"verdict", "score"} & set(refused.json())
    assert json.loads(many.text)["error"]["type"] == "Unjudged"
    assert not app.admission.verdicts
    assert app.admission.refused["Unjudged"] == 3


def test_beyond_its_capacity_a_server_says_come_again_and_recovers() -> None:
    judge = SlowJudge()
    asked = {"code": "x", "tests": DOUBLE}

    async def crowd(client: Any) -> list[Any]:
        first = [asyncio.ensure_future(client.post("/v1/judge", json=asked)) for _ in range(4)]
        while judge.begun < 2:
            await asyncio.sleep(0.01)
        refused = await client.post("/v1/judge", json=asked)
        batch = await client.post("/v1/judge_many", json={"items": [asked] * 9})
        judge.go_on.set()
        return [refused, batch, *await asyncio.gather(*first), await client.post("/v1/judge", json=asked)]

    with app_of(judge, programs=4) as app:
        refused, batch, *answered = using(app, crowd)
        assert app.admission.programs == app.admission.pending_bytes == 0
    for busy in (refused, batch):
        assert busy.status_code == 429
        assert int(busy.headers["retry-after"]) >= 1
    assert [answer.status_code for answer in answered] == [503] * 5  # the planted fault, and no more "come again"


def test_more_items_than_a_request_may_have_are_refused_with_the_number(judge: Judge) -> None:
    with app_of(judge, items=2) as app:
        answer = post(app, "/v1/judge_many", {"items": [{"code": None, "tests": DOUBLE}] * 3})
    assert answer.status_code == 422
    assert "up to 2" in answer.text


def test_a_body_beyond_the_bound_is_413_whether_its_length_is_told_or_not(judge: Judge) -> None:
    async def chunks() -> AsyncIterator[bytes]:
        for _ in range(100):
            yield b"x" * 1000

    with app_of(judge, body_bytes=50_000) as app:
        told = post(app, "/v1/judge", b"x" * 50_001)
        headers = {"content-type": "application/json"}
        untold = using(app, lambda client: client.post("/v1/judge", content=chunks(), headers=headers))
        assert app.admission.pending_bytes == 0
    assert (told.status_code, untold.status_code) == (413, 413)


def test_bodies_of_all_clients_together_are_bounded() -> None:
    admission = Admission(Capacity(programs=10, pending_bytes=1000))
    with admission.ticket() as ticket:
        ticket.charge(programs=1, size=900)
        with admission.ticket() as other, pytest.raises(Busy):
            other.charge(programs=1, size=101)
        assert admission.pending_bytes == 900
    assert (admission.programs, admission.pending_bytes) == (0, 0)


@pytest.mark.parametrize("path", ["/v1/judge", "/v1/judge_many", "/v1/score", "/metrics"])
@pytest.mark.parametrize("given", ["", "Bearer", "Bearer wrong", "Basic right-token-of-16", "Bearer right-token-of-1"])
def test_without_the_right_token_nothing_is_done(path: str, given: str) -> None:
    judge = SlowJudge()
    with app_of(judge, token="right-token-of-16") as app:
        headers = {"authorization": given, "content-type": "application/json"}
        method = "GET" if path == "/metrics" else "POST"
        answer = using(app, lambda client: client.request(method, path, headers=headers, content=b"{}"))
    assert answer.status_code == 401
    assert judge.begun == 0
    assert "right" not in answer.text


def test_the_right_token_is_let_in_and_health_needs_none(judge: Judge) -> None:
    with app_of(judge, token="right-token-of-16") as app:
        asked = {"code": "print(1)", "tests": DOUBLE}
        answer = post(app, "/v1/judge", asked, authorization="Bearer right-token-of-16")
        health = using(app, lambda client: client.get("/health"))
    assert answer.status_code == 200
    assert health.json()["ready"] is True
    assert "right" not in health.text


def test_a_page_in_a_browser_cannot_have_programs_run(judge: Judge) -> None:
    asked = {"code": "print(1)", "tests": DOUBLE}
    with app_of(judge) as app:
        for kind in ("text/plain", "application/x-www-form-urlencoded", ""):
            assert post(app, "/v1/judge", asked, **{"content-type": kind}).status_code == 415


def test_metrics_count_what_was_judged_and_what_was_refused(judge: Judge) -> None:
    with app_of(judge) as app:
        post(app, "/v1/judge", {"code": "print(1)", "tests": DOUBLE})
        post(app, "/v1/judge", b"{")
        text = using(app, lambda client: client.get("/metrics")).text
    assert 'code_rlvr_verdicts_total{verdict="WRONG_ANSWER"} 1' in text
    assert 'code_rlvr_refused_total{reason="UsageError"} 1' in text
    assert 'code_rlvr_programs{state="waiting"} 0' in text


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1"])
def test_an_address_that_others_reach_needs_a_token(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CODE_RLVR_TOKEN", raising=False)
    with pytest.raises(ConfigError, match="CODE_RLVR_TOKEN"):
        read_token(None, host)
    monkeypatch.setenv("CODE_RLVR_TOKEN", "0123456789abcdef")
    assert read_token(None, host) == "0123456789abcdef"


@pytest.mark.parametrize("content", ["", "short", "\n0123456789abcdef"])
def test_a_token_that_is_none_is_refused_on_any_address(content: str, tmp_path: Path) -> None:
    (tmp_path / "token").write_text(content)
    with pytest.raises(ConfigError, match="16 ASCII characters"):
        read_token(tmp_path / "token", "127.0.0.1")
    with pytest.raises(ConfigError, match="cannot read a token"):
        read_token(tmp_path / "absent", "127.0.0.1")
