"""The judge in threads, in event loops, in forks: nothing of the caller's is touched, nothing waits for ever."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from code_rlvr import Judge, Judgement, Limits, Tests, compute_score
from code_rlvr.verifier.pool import LOOK_AHEAD

ECHO = Tests.stdio(["a"], ["a"])


def test_verdicts_from_many_threads_are_each_threads_own(judge: Judge) -> None:
    def judged(number: int) -> bool:
        right = number % 3 != 0
        tests = Tests.stdio([str(number)], [str(number * number)])
        return judge.judge(f"print(int(input()) ** {2 if right else 3})", tests).accepted == (right or number < 2)

    with ThreadPoolExecutor(16) as threads:
        assert all(threads.map(judged, range(48)))


def test_compute_score_works_off_the_main_thread() -> None:
    scores = []
    response = "```python\nprint(input())\n```"
    thread = threading.Thread(target=lambda: scores.append(compute_score("x", response, ECHO.to_json())))
    thread.start()
    thread.join(60)
    assert scores[0]["score"] == 1.0


def test_signal_handlers_of_the_caller_stay_as_they_are(judge: Judge) -> None:
    before = {number: signal.getsignal(number) for number in signal.valid_signals()}
    judge.judge("while True: pass", ECHO, limits=Limits(cpu_s=0.1))
    assert {number: signal.getsignal(number) for number in signal.valid_signals()} == before


def test_event_loop_runs_on_while_programs_are_judged(judge: Judge) -> None:
    async def main() -> tuple[list[Judgement], int]:
        ticks = 0
        source = "import time\ntime.sleep(0.3)\nprint(input())"
        jobs = [asyncio.ensure_future(judge.judge_async(source, ECHO)) for _ in range(4)]
        while not all(job.done() for job in jobs):
            await asyncio.sleep(0.01)
            ticks += 1
        return [job.result() for job in jobs], ticks

    judgements, ticks = asyncio.run(main())
    assert all(judgement.accepted for judgement in judgements)
    assert ticks > 10


def test_many_are_judged_in_order_and_read_no_further_than_needed(judge: Judge) -> None:
    read = 0

    def items() -> Iterator[tuple[str, Tests]]:
        nonlocal read
        for number in range(100):
            read += 1
            yield f"print({number % 2})", Tests.stdio([""], ["1"])

    outcomes = judge.judge_many(items())
    first = next(outcomes)
    assert isinstance(first, Judgement)
    assert read <= 2 * LOOK_AHEAD + 1 < 100
    rest = [outcome.accepted for outcome in outcomes if isinstance(outcome, Judgement)]
    assert [first.accepted, *rest] == [number % 2 == 1 for number in range(100)]


def test_reader_that_stops_early_leaves_no_work(judge: Judge) -> None:
    outcomes = judge.judge_many(("print(1)", ECHO) for _ in range(1000))
    next(outcomes)
    outcomes.close()  # type: ignore[attr-defined]
    assert judge.judge("print(input())", ECHO).accepted


FORKED = """
import os, sys, warnings
warnings.simplefilter("ignore")
from code_rlvr import Judge, JudgeFault, Tests, compute_score
tests = Tests.stdio(["a"], ["a"])
response = "```python\\nprint(input())\\n```"
judge = Judge(workers=1)
assert compute_score("x", response, tests.to_json())["score"] == 1.0
pid = os.fork()
if pid == 0:
    try:
        judge.judge("print(input())", tests)
    except JudgeFault as fault:
        assert "forked" in str(fault)
        assert compute_score("x", response, tests.to_json())["score"] == 1.0
        sys.exit(7)  # closes what is its own, and nothing of its parent's
    os._exit(1)
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7
assert judge.judge("print(input())", tests).accepted
judge.close()
"""


def test_fork_of_the_caller_gets_a_judge_of_its_own() -> None:
    subprocess.run([sys.executable, "-c", FORKED], check=True, timeout=100)


def test_process_that_scored_ends_by_itself() -> None:
    source = "from code_rlvr import compute_score\ncompute_score('x', 'print(1)', {'inputs': [''], 'outputs': ['1']})"
    subprocess.run([sys.executable, "-W", "error", "-c", source], check=True, timeout=60)


def test_no_output_of_threads_that_write_at_once_is_lost(judge: Judge) -> None:
    source = """
import os, threading
def write():
    for _ in range(500):
        os.write(1, b"x" * 99 + b"\\n")
threads = [threading.Thread(target=write) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""
    assert judge.judge(source, Tests.stdio([""], [("x" * 99 + "\n") * 2000])).accepted
