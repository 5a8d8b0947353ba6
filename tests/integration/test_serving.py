"""`code-rlvr serve` as a process of its own: the verdicts of this machine's judge, and what is seen when it breaks."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from code_rlvr import Judge, Judgement, Limits, Tests, Unjudged, Verdict, compute_score
from code_rlvr.remote_judge import RemoteJudge
from tests.integration.judge_server import CLIENT, COMMAND, TOKEN, Served, httpx, metric, post, serving, wait_for
from tests.sandbox.processes import is_alive

pytestmark = pytest.mark.timeout(300)

LIMITS = Limits(cpu_s=1.0, wall_s=4.0, memory_mib=256, output_mib=1.0)
CASES = Path(__file__).parents[1] / "cases"
SUM = Tests.stdio(["1 2", "3 4"], ["3", "7"])
ADD = "print(sum(map(int, input().split())))"
MARK = "what-a-model-wrote-4711"


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    with serving("--workers", "2") as served:
        yield served


@pytest.fixture(scope="module")
def remote(served: Served) -> Iterator[RemoteJudge]:
    with RemoteJudge(served.url, token=TOKEN, limits=LIMITS) as judge:
        yield judge


def body_of(code: str | None, tests: Tests, **settings: Any) -> bytes:
    return json.dumps({"code": code, "tests": tests.to_json(), **settings}).encode()


def without_times(judgement: Judgement | Unjudged) -> Judgement:
    assert isinstance(judgement, Judgement)
    cases = tuple(replace(case, cpu_s=0, wall_s=0, memory_mib=0) for case in judgement.cases)
    return replace(judgement, cases=cases, judge_s=0)


def programs() -> list[tuple[str | None, Tests]]:
    items: list[tuple[str | None, Tests]] = [
        (program.read_bytes().decode(), Tests.parse((program.parent / "tests.json").read_text()))
        for program in sorted(CASES.glob("*/*.py"))
    ]
    asserts = Tests.assertions(["assert f(2) == 4", "assert f([1]) == [1, 1]"])
    items += [
        (None, SUM),
        ("def f(x): return 2 * x", asserts),
        ("def f(x): return x", asserts),
        ("print('\ud800')", SUM),
    ]
    return items


def test_every_program_gets_the_judgement_that_it_gets_here(judge: Judge, remote: RemoteJudge) -> None:
    items = programs()
    here = [*judge.judge_many(items, limits=LIMITS, stop_at_first_failure=True)]
    there = [*remote.judge_many(items, stop_at_first_failure=True)]
    assert len(items) > 60
    assert {outcome.verdict for outcome in here if isinstance(outcome, Judgement)} == set(Verdict)
    for (code, _), ours, theirs in zip(items, here, there, strict=True):
        assert without_times(ours) == without_times(theirs), code


def test_a_sample_of_tests_is_the_same_there_as_here(judge: Judge, remote: RemoteJudge) -> None:
    tests = Tests.stdio([str(n) for n in range(40)], ["even", "odd"] * 20)
    for size in (1, 7, 39):
        ours = judge.judge("print('even')", tests, max_tests=size, limits=LIMITS)
        assert without_times(ours) == without_times(remote.judge("print('even')", tests, max_tests=size))


def test_scores_are_those_of_this_machine(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CODE_RLVR_TOKEN", TOKEN)
    for code in ("print(3)", ADD, "print(", "1/0"):
        for policy in ("pass_rate", "binary", "tiered"):
            response = f"```python\n{code}\n```"
            asked = {"solution_str": response, "ground_truth": SUM.to_json(), "policy": policy}
            plain = post(served, json.dumps(asked).encode(), "/v1/score").json()
            ours = compute_score("x", response, SUM.to_json(), policy=policy)
            theirs = compute_score("x", response, SUM.to_json(), policy=policy, judge_url=served.url)
            assert [*plain] == [*ours] == [*theirs]
            for metrics in (plain, ours, theirs):
                metrics["judge_s"] = 0.0
            assert plain == ours == theirs


def test_a_check_finds_a_server_that_can_judge(remote: RemoteJudge) -> None:
    assert "2 workers" in remote.check()


def test_endless_programs_among_good_ones_do_not_touch_them(remote: RemoteJudge) -> None:
    tests = replace(SUM, time_limit_s=0.3)
    items = [("while True: pass" if n % 11 == 5 else ADD, tests) for n in range(220)]
    outcomes = [*remote.judge_many(items, limits=Limits(timeouts_before_stop=1))]
    verdicts = [outcome.verdict if isinstance(outcome, Judgement) else outcome for outcome in outcomes]
    for (code, _), verdict in zip(items, verdicts, strict=True):
        assert verdict is (Verdict.ACCEPTED if code == ADD else Verdict.TIME_LIMIT_EXCEEDED)


def test_clients_that_hang_hold_up_nobody(served: Served, remote: RemoteJudge) -> None:
    port = int(served.url.rpartition(":")[2])
    head = f"POST /v1/judge HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {TOKEN}\r\n"
    starts = [
        b"",
        b"POST /v1",
        head.encode(),
        (head + "content-type: application/json\r\ncontent-length: 99\r\n\r\n{").encode(),
    ]
    hanging = [socket.create_connection(("127.0.0.1", port)) for _ in range(40)]
    try:
        for number, client in enumerate(hanging):
            client.sendall(starts[number % len(starts)])
        started = time.monotonic()
        assert remote.judge(ADD, SUM).accepted
        assert time.monotonic() - started < 5
    finally:
        for client in hanging:
            client.close()


def test_garbage_and_oversized_bodies_leave_the_server_as_it_was(remote: RemoteJudge) -> None:
    with serving("--max-body-mib", "1") as served:
        for garbage in (b"\x00" * 1000, b"[" * 100_000, b'{"code": 1}', os.urandom(5000), b"", b'"' + b"\xff" * 99):
            assert post(served, garbage).status_code == 422
        assert post(served, b"x" * (3 << 20)).status_code == 413
        with socket.create_connection(("127.0.0.1", int(served.url.rpartition(":")[2]))) as client:
            client.sendall(os.urandom(3000) + b"\r\n\r\n")
            assert client.recv(100).startswith(b"HTTP/1.1 400")
        assert post(served, body_of(ADD, SUM)).json()["accepted"]


def test_a_killed_worker_changes_no_verdict(served: Served, remote: RemoteJudge) -> None:
    killed = 0
    items = [(f"import time\ntime.sleep(0.02)\n{ADD if n % 2 else 'print(0)'}", SUM) for n in range(60)]
    with ThreadPoolExecutor(1) as threads:
        judging = threads.submit(lambda: [*remote.judge_many(items)])
        while not judging.done() and killed < 3:
            time.sleep(0.3)
            for pid in served.family()[:1]:
                os.kill(pid, signal.SIGKILL)
                killed += 1
        outcomes = judging.result()
    assert killed == 3
    for number, outcome in enumerate(outcomes):
        assert isinstance(outcome, Judgement)
        assert outcome.accepted == bool(number % 2)


def test_more_than_a_server_takes_is_judged_later_and_never_wrongly() -> None:
    with serving("--workers", "2", "--max-queue", "4") as served:
        with RemoteJudge(served.url, token=TOKEN, connections=64) as judge:
            items = [(ADD if n % 3 else "print(0)", SUM) for n in range(100)]
            outcomes = [*judge.judge_many(items)]
        for (code, _), outcome in zip(items, outcomes, strict=True):
            assert isinstance(outcome, Judgement), outcome
            assert outcome.accepted == (code == ADD)
        with ThreadPoolExecutor(32) as threads:
            answers = [*threads.map(lambda _: post(served, body_of(ADD, SUM)), range(200))]
    statuses = {answer.status_code for answer in answers}
    assert statuses == {200, 429}, statuses
    assert all(answer.json()["accepted"] for answer in answers if answer.status_code == 200)
    assert all("verdict" not in answer.json() for answer in answers if answer.status_code == 429)


def test_a_client_that_leaves_takes_its_waiting_work_with_it() -> None:
    with serving("--workers", "1") as served:
        slow, started = body_of("import time\ntime.sleep(3)", Tests.stdio([""], [""])), time.monotonic()
        with ThreadPoolExecutor(6) as threads:
            asked = [threads.submit(post, served, slow, "/v1/judge", 1.0) for _ in range(6)]
            assert all(isinstance(future.exception(), httpx.ReadTimeout) for future in asked)
        wait_for(served, 'refused_total{reason="client left"}', 6)
        assert metric(served, "programs") == 0
        assert metric(served, "verdicts_total") == 0
    assert time.monotonic() - started < 15  # one ran and one was next; all six would take 18 s


def test_a_killed_server_gives_unjudged_in_bounded_time_and_leaves_no_process() -> None:
    with serving("--workers", "2") as served:
        family = served.family()
        assert family
        with (
            RemoteJudge(served.url, token=TOKEN, unreachable_s=2.0) as judge,
            ThreadPoolExecutor(8) as threads,
        ):
            asked = [threads.submit(judge.judge, "import time\ntime.sleep(3)", SUM) for _ in range(8)]
            wait_for(served, "programs", 8)
            started = time.monotonic()
            served.process.kill()
            assert all(isinstance(future.exception(), Unjudged) for future in asked)
            assert time.monotonic() - started < 15
        deadline = time.monotonic() + 10
        while any(map(is_alive, family)) and time.monotonic() < deadline:
            time.sleep(0.1)
        assert not any(map(is_alive, family))


def test_a_server_that_is_started_anew_is_found_again() -> None:
    with serving("--workers", "1") as first:
        port = first.url.rpartition(":")[2]
        with RemoteJudge(first.url, token=TOKEN) as judge, ThreadPoolExecutor(1) as threads:
            assert judge.judge(ADD, SUM).accepted
            assert first.stop() == 0
            asked = threads.submit(judge.judge, ADD, SUM)
            time.sleep(0.5)
            with serving("--workers", "1", "--port", port):
                assert asked.result().accepted


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_lets_running_programs_finish_and_refuses_the_waiting_ones(number: int) -> None:
    with serving("--workers", "1") as served:
        family = served.family()
        slow = body_of("import time\ntime.sleep(2)", Tests.stdio([""], [""]))
        with ThreadPoolExecutor(4) as threads:
            asked = [threads.submit(post, served, slow) for _ in range(4)]
            wait_for(served, "programs", 4)
            assert served.stop(number) == 0
            answers = [future.result() for future in asked]
    statuses = sorted(answer.status_code for answer in answers)
    assert statuses[0] == 200
    assert statuses[-2:] == [503, 503]
    for answer in answers:
        assert answer.status_code == 200 or answer.json()["error"]["type"] == "Stopping"
    assert not any(map(is_alive, family))
    assert "stopped" in served.log


def test_programs_that_do_not_finish_are_ended_by_a_second_signal() -> None:
    with serving("--workers", "1") as served:
        family = served.family()
        endless = body_of("while True: pass", Tests.stdio([""], [""], time_limit_s=50))
        with ThreadPoolExecutor(1) as threads:
            asked = threads.submit(post, served, endless)
            wait_for(served, "programs", 1)
            started = time.monotonic()
            served.process.send_signal(signal.SIGINT)
            time.sleep(0.3)
            assert served.stop(signal.SIGINT) == 0
            assert time.monotonic() - started < 5
            outcome = asked.exception() or asked.result()
    assert not isinstance(outcome, BaseException)
    assert (outcome.status_code, outcome.json()["error"]["type"]) == (503, "Stopping")
    assert not any(map(is_alive, family))


def test_nothing_that_a_model_wrote_gets_into_the_log() -> None:
    with serving("--workers", "1") as served:
        for code in (MARK, f"raise ValueError({MARK!r})", f"print({MARK!r}", f"'{MARK}\ud800'"):
            post(served, body_of(code, SUM))
            post(served, json.dumps({"response": code, "tests": {"asserts": f"assert {MARK}"}, MARK: 1}).encode())
            post(served, json.dumps({"items": [{"code": code, "tests": {MARK: 1}}]}).encode(), "/v1/judge_many")
        CLIENT.get(f"{served.url}/{MARK}?{MARK}")
        assert served.stop() == 0
    assert MARK not in served.log
    assert TOKEN not in served.log
    assert "ERROR" not in served.log


def test_a_taken_port_is_exit_code_1_with_the_remedy_and_an_open_address_2(served: Served) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "CODE_RLVR_TOKEN"}
    for words, code, remedy in (
        (["--port", served.url.rpartition(":")[2]], 1, "--port"),
        (["--host", "0.0.0.0"], 2, "--token-file"),
        (["--cpu-s", "100"], 2, "raise the maximum"),
        (["--isolation", "none"], 2, "'none' is not one of 'full'"),
    ):
        ended = subprocess.run([*COMMAND, *words], capture_output=True, text=True, timeout=60, env=environment)
        assert ended.returncode == code, ended.stderr
        assert remedy in ended.stderr
        assert "Traceback" not in ended.stderr
