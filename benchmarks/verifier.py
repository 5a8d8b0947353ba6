"""Measures the verifier beside what else one might use, all in one run.

    python benchmarks/verifier.py speed            # a test's cost, and what a second worker brings
    python benchmarks/verifier.py crowd            # many submissions at once, endless programs among good ones
    python benchmarks/verifier.py soak --runs 100000

speed: a program with ten trivial tests, again and again in turns, so that other work on the machine meets all
alike; medians over the turns. Beside it, a process per test as the usual loop starts it, the same with an
isolated interpreter (`python -I -S`), verl's `prime_code`, and `/bin/true`.
crowd: 1,000 submissions from 64 threads, each with an answer of its own; how long past its limit an endless
program lasts; 20 such beside 200 good ones, on an idle machine and with every core loaded by other work.
soak: so many runs of a mixture of programs; memory, processes and descriptors at the start and the end.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil

from code_rlvr import Judge, Judgement, Limits, Tests, Verdict

TRIVIAL = "n = int(input())\nprint(2 * n)\n"
TESTS = Tests.stdio([f"{n}\n" for n in range(10)], [str(2 * n) for n in range(10)])
PRIME_CODE = f"""
import sys, time
from verl.utils.reward_score.prime_code import compute_score
tests = {{"inputs": {list(TESTS.inputs)!r}, "outputs": {list(TESTS.outputs)!r}}}
for line in sys.stdin:
    started = time.perf_counter()
    success, _ = compute_score({TRIVIAL!r}, tests)
    assert success is True, success
    print(time.perf_counter() - started, flush=True)
"""


def loop(command: list[str]) -> float:
    """Seconds for one process per test, as the usual loop starts it."""
    started = time.perf_counter()
    for feed, expected in zip(TESTS.inputs, TESTS.outputs, strict=True):
        done = subprocess.run(command, input=feed, capture_output=True, text=True, timeout=10)
        assert command == ["/bin/true"] or done.stdout.strip() == expected
    return time.perf_counter() - started


@contextlib.contextmanager
def prime_code() -> Iterator[Callable[[], float]]:
    """verl's own scoring, in a process of its own so that its imports weigh on nothing else here."""
    process = subprocess.Popen([sys.executable, "-c", PRIME_CODE], stdin=-1, stdout=-1, stderr=-3, text=True)
    assert process.stdin is not None
    assert process.stdout is not None

    def turn() -> float:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("\n")
        process.stdin.flush()
        return float(process.stdout.readline())

    try:
        yield turn
    finally:
        process.stdin.close()
        process.wait()
        process.stdout.close()


def judged(judge: Judge, programs: int = 1) -> float:
    """Seconds that a judge needs for so many programs of ten tests."""
    started = time.perf_counter()
    for outcome in judge.judge_many([(TRIVIAL, TESTS)] * programs):
        assert isinstance(outcome, Judgement)
        assert outcome.accepted
    return time.perf_counter() - started


def speed(turns: int) -> None:
    """Print a test's cost beside the alternatives', and the throughput of two workers over that of one."""
    with contextlib.ExitStack() as stack:
        file = Path(stack.enter_context(tempfile.TemporaryDirectory()), "solution.py")
        file.write_text(TRIVIAL)
        one, two = (stack.enter_context(Judge(workers=workers)) for workers in (1, 2))
        ways: dict[str, Callable[[], float]] = {
            "code-rlvr, one worker": lambda: judged(one),
            "python FILE": lambda: loop([sys.executable, str(file)]),
            "python -I -S FILE": lambda: loop([sys.executable, "-I", "-S", str(file)]),
            "verl prime_code": stack.enter_context(prime_code()),
            "/bin/true": lambda: loop(["/bin/true"]),
        }
        print("layers:", ", ".join(one.layers))
        for way in ways.values():
            way()
        seconds: dict[str, list[float]] = {name: [] for name in ways}
        pairs: list[float] = []
        for _ in range(turns):
            for name, way in ways.items():
                seconds[name].append(way())
            pairs.append(judged(one, 40) / judged(two, 40))
    ours = statistics.median(seconds["code-rlvr, one worker"])
    print("| | ms a test, median | least | times ours |\n|---|---|---|---|")
    for name, values in seconds.items():
        middle = statistics.median(values)
        print(f"| {name} | {100 * middle:.2f} | {100 * min(values):.2f} | {middle / ours:.2f} |")
    print(f"two workers over one, 40 programs: {statistics.median(pairs):.2f} ({min(pairs):.2f} to {max(pairs):.2f})")


def crowd() -> None:
    """Print how many submissions at once and endless programs among good ones are handled."""
    with Judge(workers=2) as judge:

        def submit(number: int) -> bool:
            right = number % 2 == 0
            tests = Tests.stdio([str(number)], [str(number * number)])
            judgement = judge.judge(f"print(int(input()) * {number if right else -1 - number})", tests)
            return judgement.verdict is (Verdict.ACCEPTED if right else Verdict.WRONG_ANSWER)

        started = time.perf_counter()
        with ThreadPoolExecutor(64) as threads:
            right = sum(threads.map(submit, range(1, 1001)))
        print(f"64 threads: {right} of 1000 submissions right, {time.perf_counter() - started:.1f} s")
        late = []
        for _ in range(10):
            started = time.perf_counter()
            judge.judge("while True: pass", Tests.stdio([""], [""], time_limit_s=0.5))
            late.append(time.perf_counter() - started - 0.5)
        print(f"endless program: {statistics.median(late):.3f} s past its limit (at most {max(late):.3f})")
    for load in (0, os.cpu_count() or 1):
        busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(load)]
        try:
            print(f"{load} cores loaded: {mixed()}")
        finally:
            for process in busy:
                process.kill()
                process.wait()


def mixed() -> str:
    """Judge 20 endless programs among 200 good ones that need a fifth of their limit; what became of them."""
    tests = Tests.stdio(["1"] * 3, ["1"] * 3, time_limit_s=0.5)
    good = "import time\nwhile time.process_time() < 0.1: pass\nprint(input())"
    programs = [("while True: pass" if number % 11 == 5 else good, tests) for number in range(220)]
    started = time.perf_counter()
    with Judge(workers=4) as judge:
        outcomes = list(judge.judge_many(programs, limits=Limits(timeouts_before_stop=1)))
    verdicts = [Counter(), Counter()]  # type: list[Counter[str]]
    for (program, _), outcome in zip(programs, outcomes, strict=True):
        verdict = outcome.verdict.value if isinstance(outcome, Judgement) else "unjudged"
        verdicts[program == good][verdict] += 1
    return f"good {dict(verdicts[1])}, endless {dict(verdicts[0])}, {time.perf_counter() - started:.0f} s"


SOAKED = {  # program: the verdict that it has to have, from the first run to the last
    TRIVIAL: Verdict.ACCEPTED,
    "print(3)": Verdict.WRONG_ANSWER,
    "print(": Verdict.COMPILE_ERROR,
    "raise ValueError": Verdict.RUNTIME_ERROR,
    "import os, sys\nos.write(1, b'x' * 5000)\nsys.exit(3)": Verdict.RUNTIME_ERROR,
    "print('x' * 10**6)": Verdict.OUTPUT_LIMIT_EXCEEDED,
    "x = bytearray(10**9)": Verdict.MEMORY_LIMIT_EXCEEDED,
    "import threading\nfor _ in range(3): threading.Thread(target=print, args=('',)).start()": Verdict.WRONG_ANSWER,
    "import collections, heapq\nprint(2 * int(input()))": Verdict.ACCEPTED,
    "import os\nos.abort()": Verdict.RUNTIME_ERROR,
}


def footprint() -> dict[str, int]:
    """What this process and everything below it hold: MiB (shared pages counted once), processes, descriptors."""
    me = psutil.Process()
    tree = [me, *me.children(recursive=True)]
    return {
        "MiB": sum(process.memory_full_info().pss for process in tree) >> 20,
        "zombies": sum(process.status() == psutil.STATUS_ZOMBIE for process in tree),
        "processes": len(tree),
        "threads": threading.active_count(),
        "descriptors": sum(process.num_fds() for process in tree),
    }


def soak(runs: int) -> None:
    """Judge the same mixture over and over; print what it holds now and then, and stop at any other verdict."""
    tests = Tests.stdio([f"{n}\n" for n in range(5)], [str(2 * n) for n in range(5)], memory_limit_mib=64)
    limits = Limits(output_mib=0.1)
    programs = list(SOAKED)
    done, started, mark = 0, time.perf_counter(), 0
    with Judge(workers=2, limits=limits) as judge:
        while done < runs:
            for program, outcome in zip(
                programs * 20, judge.judge_many([(p, tests) for p in programs * 20]), strict=True
            ):
                assert isinstance(outcome, Judgement), outcome
                assert outcome.verdict is SOAKED[program], (program, outcome)
                done += max(1, len(outcome.cases))
            if done >= mark:
                time.sleep(0.2)  # for the last program's process to be gone
                print(f"{done:7d} runs, {time.perf_counter() - started:6.0f} s: {footprint()}", flush=True)
                mark += runs // 10


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["speed", "crowd", "soak"])
    parser.add_argument("--turns", type=int, default=30, help="speed: how often each is timed")
    parser.add_argument("--runs", type=int, default=100_000, help="soak: how many tests to run")
    options = parser.parse_args()
    if options.what == "speed":
        speed(options.turns)
    elif options.what == "crowd":
        crowd()
    else:
        soak(options.runs)


if __name__ == "__main__":
    main()
