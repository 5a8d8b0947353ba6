"""Measures the verifier over HTTP beside the judge of the same machine, in one run.

    python benchmarks/server.py                  # verdicts a second, 20 turns
    python benchmarks/server.py --turns 5 --programs 100

Each turn judges the same programs by the local judge and by a server of its own with the same number of workers, one
way after the other, so that other work on the machine meets both alike.  Two kinds of program: one that ends at once,
with ten tests, where HTTP weighs most; and one that computes for 20 ms on each of three tests.  `score` over plain
HTTP from several threads stands for clients in other languages.

Covered: throughput with many programs under way, and the time of one alone.  Not covered: a network between machines.
"""

from __future__ import annotations

import argparse
import re
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager

import httpx

from code_rlvr import Judge, Judgement, Tests
from code_rlvr.remote_judge import RemoteJudge

Way = Callable[[str, Tests, int], None]

KINDS = {
    "ten trivial tests": (
        "n = int(input())\nprint(2 * n)\n",
        Tests.stdio([f"{n}\n" for n in range(10)], [str(2 * n) for n in range(10)]),
    ),
    "three tests of 20 ms": (
        "import time\nwhile time.process_time() < 0.02: pass\nprint(input())",
        Tests.stdio(["1"] * 3, ["1"] * 3),
    ),
}


@contextmanager
def serving(workers: int) -> Iterator[str]:
    """The URL of a server of our own."""
    command = [sys.executable, "-c", "from code_rlvr.cli import main; main()"]
    command += ["serve", "--port", "0", "--workers", str(workers)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        found = None
        while found is None:
            line = server.stderr.readline()
            assert line, "the server did not start"
            found = re.search(r"http://\S+:\d+", line)
        try:
            yield found[0]
        finally:
            server.send_signal(signal.SIGTERM)


def by(judge: Judge | RemoteJudge) -> Way:
    """Judging by `judge_many`, as fast as it goes."""

    def judge_all(program: str, tests: Tests, count: int) -> None:
        for outcome in judge.judge_many([(program, tests)] * count):
            assert isinstance(outcome, Judgement), outcome
            assert outcome.accepted

    return judge_all


def by_score(url: str, client: httpx.Client, threads: ThreadPoolExecutor) -> Way:
    """Judging by the path score, a request a program."""

    def score_all(program: str, tests: Tests, count: int) -> None:
        asked = {"solution_str": f"```python\n{program}\n```", "ground_truth": tests.to_json()}
        for answer in threads.map(lambda _: client.post(url + "/v1/score", json=asked), range(count)):
            assert answer.json()["score"] == 1.0

    return score_all


def timed(way: Way, program: str, tests: Tests, count: int) -> float:
    """Seconds for so many programs."""
    started = time.perf_counter()
    way(program, tests, count)
    return time.perf_counter() - started


def measure(turns: int, programs: int, workers: int) -> None:
    """Print verdicts a second of each way, and the time of one program alone."""
    with ExitStack() as stack:
        url = stack.enter_context(serving(workers))
        local = stack.enter_context(Judge(workers))
        remote = stack.enter_context(RemoteJudge(url))
        client = stack.enter_context(httpx.Client(trust_env=False))
        threads = stack.enter_context(ThreadPoolExecutor(16))
        ways = {"this process": by(local), "RemoteJudge": by(remote), "POST /v1/score": by_score(url, client, threads)}
        print(f"{workers} workers, {programs} programs a turn, {turns} turns; {', '.join(local.layers)}")
        print("| program | way | verdicts/s, median | least | most | times this process | one alone, ms |")
        print("|---|---|---|---|---|---|---|")
        for kind, (program, tests) in KINDS.items():
            many: dict[str, list[float]] = {name: [] for name in ways}
            alone: dict[str, list[float]] = {name: [] for name in ways}
            for turn in range(turns + 1):
                for name, way in ways.items():
                    took_s, alone_s = timed(way, program, tests, programs), timed(way, program, tests, 1)
                    if turn:  # the first warms up
                        many[name].append(programs / took_s)
                        alone[name].append(alone_s)
            for name, rates in many.items():
                ratios = [rate / here for rate, here in zip(rates, many["this process"], strict=True)]
                print(
                    f"| {kind} | {name} | {statistics.median(rates):.0f} | {min(rates):.0f} | {max(rates):.0f} "
                    f"| {statistics.median(ratios):.2f} | {1000 * statistics.median(alone[name]):.1f} |"
                )


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=20)
    parser.add_argument("--programs", type=int, default=100, help="in each turn, by each way")
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    measure(options.turns, options.programs, options.workers)


if __name__ == "__main__":
    main()
