"""What is left behind, and what happens when something breaks: in the program, around it, in the judge."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from code_rlvr import ConfigError, Judge, Judgement, Limits, RunStatus, Tests, Unjudged, Verdict
from code_rlvr.verifier.guard.opaque import decode_answer
from code_rlvr.verifier.program import Program
from code_rlvr.verifier.sandbox import Sandbox
from tests.sandbox.processes import NAMED, descendants, is_alive, killing

LIMITS = Limits(cpu_s=1.0, wall_s=5.0, memory_mib=256, output_mib=1.0)
ECHO = Tests.stdio(["a", "b"], ["a", "b"])


def pids_after(source: str) -> list[int]:
    """The process ids that a program printed, after its test has ended; without filters, so that it may fork."""
    with Sandbox(isolation="process") as sandbox, sandbox.start(Program(source), LIMITS) as running:
        result = running.run("")
        return [int(pid) for pid in result.stdout.split()]


DAEMON = """
import os, signal, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
        print(os.getpid(), flush=True)
        time.sleep(300)
    os._exit(0)
os.wait()
time.sleep(0.2)
"""
FAMILY = """
import os, time
read_end, write_end = os.pipe()
for _ in range(20):
    if os.fork() == 0:
        if os.getpid() % 2:
            os.setsid()
        print(os.getpid(), flush=True)
        os.write(write_end, b".")
        time.sleep(300)
printed = 0
while printed < 20:
    printed += len(os.read(read_end, 20))
"""


def test_daemon_in_its_own_session_does_not_outlive_its_test() -> None:
    (pid,) = pids_after(DAEMON)
    assert not is_alive(pid)


def test_many_children_do_not_outlive_their_test() -> None:
    pids = pids_after(FAMILY)
    assert len(pids) == 20
    assert not any(map(is_alive, pids))


def test_children_of_a_program_over_time_are_killed_with_it() -> None:
    pids = pids_after(FAMILY + "while True: pass\n")
    assert len(pids) == 20
    assert not any(map(is_alive, pids))


def settled(wanted: set[int]) -> set[int]:
    """The descendants of this process, once they are the wanted ones or some seconds have passed."""
    deadline = time.monotonic() + 10
    while set(descendants()) != wanted and time.monotonic() < deadline:
        time.sleep(0.02)
    return set(descendants())


def test_nothing_is_left_open_or_unreaped() -> None:
    others = set(descendants())
    with Judge(workers=2, limits=LIMITS) as judge:
        judge.judge("print(input())", ECHO)
        for _ in judge.judge_many([("import time\ntime.sleep(0.3)", ECHO)] * 2):  # two workers are there now
            pass
        time.sleep(0.5)
        descriptors, processes = len(os.listdir("/proc/self/fd")), set(descendants())
        assert len(processes - others) == 2 * 2  # keeper and zygote
        programs = ["print(input())", "print(", "while True: pass", "import os; os.abort()", DAEMON, "print(0)" * 999]
        for _ in judge.judge_many([(program, ECHO) for program in programs * 2], stop_at_first_failure=True):
            pass
        assert (len(os.listdir("/proc/self/fd")), settled(processes)) == (descriptors, processes)
    assert settled(others) == others


def test_judge_makes_no_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with Judge(workers=1, limits=LIMITS) as judge:
        assert judge.judge("print(input())", ECHO).accepted
        assert not list(tmp_path.iterdir())


def test_killed_caller_leaves_no_process() -> None:
    source = """
import os, sys, threading, time
from code_rlvr import Judge, Limits, Tests
judge = Judge(workers=2, limits=Limits(cpu_s=60))
tests = Tests.stdio([""], [""])
for program in ("while True: pass", "import time; time.sleep(100)"):
    threading.Thread(target=judge.judge, args=(program, tests), daemon=True).start()
time.sleep(1)
print("running", flush=True)
time.sleep(60)
"""
    others = set(descendants())
    caller = subprocess.Popen([sys.executable, "-c", source], stdout=subprocess.PIPE, text=True)
    assert caller.stdout is not None
    assert caller.stdout.readline() == "running\n"
    started = set(descendants()) - others - {caller.pid}
    assert len(started) >= 2 * 4  # keeper, zygote, supervisor, child
    caller.kill()
    caller.wait()
    caller.stdout.close()
    deadline = time.monotonic() + 10
    while any(map(is_alive, started)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(map(is_alive, started))


@pytest.mark.parametrize("deed", ["open('x', 'w')", "os.mkdir('x')", "os.rmdir(os.getcwd())", "os.chmod('.', 0)"])
def test_working_directory_is_empty_and_takes_nothing(deed: str, judge: Judge) -> None:
    source = f"import os\nassert os.listdir('.') == []\nprint(input())\ntry: {deed}\nexcept OSError: print('refused')"
    assert judge.judge(source, Tests.stdio(["a"], ["a\nrefused"])).accepted


def test_memory_of_one_test_does_not_count_for_the_next(judge: Judge) -> None:
    source = "n = int(input())\nheld = bytearray(n << 20)\nprint(n)"
    judgement = judge.judge(source, Tests.stdio(["200", "1"], ["200", "1"]), limits=LIMITS)
    assert judgement.accepted
    assert judgement.cases[0].memory_mib > 200 > 40 > judgement.cases[1].memory_mib


def test_time_limit_is_cpu_time_and_is_kept_to_a_tenth(judge: Judge) -> None:
    case = judge.judge("while True: pass", Tests.stdio([""], [""], time_limit_s=0.5)).cases[0]
    assert case.verdict is Verdict.TIME_LIMIT_EXCEEDED
    assert 0.45 < case.cpu_s < 0.6


def test_sleep_is_not_cpu_time(judge: Judge) -> None:
    tests = Tests.stdio([""], ["done"], time_limit_s=0.2)
    assert judge.judge("import time\ntime.sleep(0.6)\nprint('done')", tests).accepted


# The first thread leaves by a bare system call, and the process lives on in another.
LEFT_TO_ANOTHER_THREAD = """
import ctypes, os, threading, time
def rest():
    time.sleep(0.1)
    held = bytearray({mib} << 20)
    time.sleep(4)
    os._exit(0)
threading.Thread(target=rest, daemon=True).start()
ctypes.CDLL(None).syscall(93 if os.uname().machine == "aarch64" else 60, 0)
"""


def test_wall_limit_holds_when_the_first_thread_has_left(judge: Judge) -> None:
    source = LEFT_TO_ANOTHER_THREAD.format(mib=1)
    case = judge.judge(source, Tests.stdio([""], [""]), limits=Limits(cpu_s=1, wall_s=1)).cases[0]
    assert case.verdict is Verdict.TIME_LIMIT_EXCEEDED
    assert 1 < case.wall_s < 3  # the limit, and not its fourfold


def test_memory_is_looked_at_when_the_first_thread_has_left(judge: Judge) -> None:
    source = LEFT_TO_ANOTHER_THREAD.format(mib=200)
    case = judge.judge(source, Tests.stdio([""], [""]), limits=Limits(cpu_s=1, wall_s=9, memory_mib=64)).cases[0]
    assert case.verdict is Verdict.MEMORY_LIMIT_EXCEEDED
    assert case.wall_s < 3


def test_processes_that_share_the_work_do_not_get_more_cpu_time() -> None:
    source = """
import os, time
if os.fork() == 0:
    while time.process_time() < 1.2: pass
    os._exit(0)
os.wait()
print(input())
"""
    with Judge(workers=1, limits=LIMITS, isolation="process") as judge:
        assert judge.judge(source, Tests.stdio(["a"], ["a"])).verdict is Verdict.TIME_LIMIT_EXCEEDED


def test_program_over_time_again_and_again_is_given_up(judge: Judge) -> None:
    limits = Limits(cpu_s=0.1, timeouts_before_stop=2)
    tests = Tests.stdio(["1", "0", "0", "0", "1"], ["1"] * 5)
    judgement = judge.judge("n = int(input())\nwhile not n: pass\nprint(n)", tests, limits=limits)
    assert [case.verdict.value for case in judgement.cases] == ["ACCEPTED"] + ["TIME_LIMIT_EXCEEDED"] * 2
    assert judgement.test_pass_rate == 0.2


def test_program_over_its_memory_again_and_again_is_given_up(judge: Judge) -> None:
    source = "n = int(input())\nheld = []\nwhile not n: held.append(bytes(1 << 20))\nprint(n)"
    tests = Tests.stdio(["1", "0", "0", "0", "1"], ["1"] * 5)
    judgement = judge.judge(source, tests, limits=Limits(memory_mib=64, timeouts_before_stop=2))
    assert [case.verdict.value for case in judgement.cases] == ["ACCEPTED"] + ["MEMORY_LIMIT_EXCEEDED"] * 2
    assert judgement.test_pass_rate == 0.2


def test_every_test_is_run_unless_a_bound_is_set(judge: Judge) -> None:
    tests = Tests.stdio(["0"] * 5 + ["1"], ["1"] * 6)
    judgement = judge.judge("n = int(input())\nwhile not n: pass\nprint(n)", tests, limits=Limits(cpu_s=0.1))
    assert len(judgement.cases) == 6
    assert judgement.test_pass_rate == 1 / 6


def test_sample_over_its_deadline_by_sleeping_is_over_time(judge: Judge) -> None:
    limits = Limits(cpu_s=1, wall_s=60, deadline_s=1)
    started = time.monotonic()
    judgement = judge.judge("import time\ntime.sleep(50)", Tests.stdio(["", ""], ["", ""]), limits=limits)
    assert judgement.verdict is Verdict.TIME_LIMIT_EXCEEDED
    assert time.monotonic() - started < 20


def test_right_program_with_more_tests_than_the_deadline_allows_is_unjudged(judge: Judge) -> None:
    with pytest.raises(Unjudged, match="too many tests"):
        judge.judge("print(input())", Tests.stdio(["a"] * 3000, ["a"] * 3000), limits=Limits(deadline_s=0.5))


def test_program_that_sleeps_to_the_deadline_is_over_time(judge: Judge) -> None:
    limits = Limits(deadline_s=1.5)
    source = "import time\ntime.sleep(0.4)\nprint(input())"
    judgement = judge.judge(source, Tests.stdio(["a"] * 20, ["a"] * 20), limits=limits)
    assert judgement.verdict is Verdict.TIME_LIMIT_EXCEEDED


WRITES = "import os\ndef f():\n    text = {text}\n    while text: text = text[os.write(3, text):]\n    os._exit(0)"


@pytest.mark.parametrize("item", ["[]", '{"deque":[]}', "0"])
def test_value_of_too_many_parts_is_over_the_output_limit_and_costs_the_judge_little(item: str, judge: Judge) -> None:
    program = WRITES.format(text=f"b'[' + b'{item},' * {(15 << 20) // (len(item) + 1)} + b'{item}]'")
    spent = time.process_time()
    judgement = judge.judge(program, Tests.call("f", [[]], [[]]), limits=Limits())
    assert time.process_time() - spent < 1  # 1.1 to 6 s if it were built
    assert judgement.verdict is Verdict.OUTPUT_LIMIT_EXCEEDED
    assert "containers" in judgement.cases[0].stderr


def test_right_values_that_take_the_judge_to_the_deadline_to_read_are_the_programs_own_time(judge: Judge) -> None:
    program = WRITES.format(text="""b'[' + b'{"Fraction":[1,1]},' * 99_999 + b'1]'""")
    tests = Tests.call("f", [[]] * 20, [[1] * 100_000] * 20)
    judgement = judge.judge(program, tests, limits=Limits(deadline_s=1.5))
    assert judgement.cases[0].verdict is Verdict.ACCEPTED
    assert judgement.verdict is Verdict.TIME_LIMIT_EXCEEDED


def test_time_that_the_judge_waits_while_it_reads_is_on_nobodys_clock(
    judge: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    def wait_and_decode(encoded: bytes) -> Any:
        time.sleep(0.2)  # as for other threads that decode
        return decode_answer(encoded)

    monkeypatch.setattr("code_rlvr.verifier.job.decode_answer", wait_and_decode)
    tests = Tests.call("f", [[]] * 10, [[1]] * 10)
    assert judge.judge("def f(): return [1]", tests, limits=Limits(deadline_s=1)).accepted


def test_endless_compilation_is_a_compile_error() -> None:
    source = "x = " + "+".join(["1"] * 60_000) + "\n" + "y = 2 ** 3 ** 4\n" * 40_000
    with Judge(workers=1, limits=Limits(compile_s=0.02)) as judge:
        judgement = judge.judge(source, ECHO)
    assert judgement.verdict is Verdict.COMPILE_ERROR
    assert judgement.message


def test_source_that_is_no_text_is_a_compile_error(judge: Judge) -> None:
    assert judge.judge("print('\ud800')", ECHO).verdict is Verdict.COMPILE_ERROR


@pytest.mark.parametrize("python", ["/bin/false", "/nowhere/python"])
def test_interpreter_that_is_none_is_refused_before_anything_is_judged(python: str) -> None:
    with pytest.raises(ConfigError, match="cannot run solutions"):
        Judge(workers=1, python=python)


def test_interpreter_that_stops_starting_is_a_fault_and_not_a_verdict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = tmp_path / "python"
    python.symlink_to(sys.executable)
    monkeypatch.setattr("code_rlvr.verifier.sandbox.PROGRAMS_PER_WORKER", 1)  # a new process for each program
    with Judge(workers=1, python=python) as judge:
        assert judge.judge("print(input())", ECHO).accepted
        python.unlink()
        with pytest.raises(Unjudged, match=r"3 times.*cannot start"):
            judge.judge("print(input())", ECHO)


SLEEPER = NAMED.format(name="victim") + "import time\ntime.sleep(2)\nprint(input())"


def test_program_that_is_killed_from_outside_is_run_again(judge: Judge) -> None:
    with killing("victim", times=1) as killed:
        assert judge.judge(SLEEPER, ECHO).accepted
    assert len(killed) == 1


def test_fault_among_many_is_a_value_in_its_place(judge: Judge) -> None:
    programs = ["print(input())", SLEEPER, "print(input())", "print(1)", None]
    with killing("victim", times=3):
        outcomes = [*judge.judge_many([(program, ECHO) for program in programs])]
    assert isinstance(outcomes[1], Unjudged)
    verdicts = [outcome.verdict.value for outcome in outcomes if isinstance(outcome, Judgement)]
    assert verdicts == ["ACCEPTED", "ACCEPTED", "WRONG_ANSWER", "NO_CODE"]


def test_worker_that_is_killed_loses_no_verdict() -> None:
    others = set(descendants())
    with Judge(workers=1, limits=LIMITS) as judge:
        assert judge.judge("print(input())", ECHO).accepted
        for pid in set(descendants()) - others:
            with contextlib.suppress(ProcessLookupError):  # it ended with its keeper
                os.kill(pid, signal.SIGKILL)
        assert judge.judge("print(input())", ECHO).accepted


def test_signal_by_the_kernel_is_told_apart_from_an_exit() -> None:
    with Sandbox() as sandbox, sandbox.start(Program("import os\nos.abort()"), LIMITS) as running:
        result = running.run("")
    assert (result.status, result.signal, result.exit_code) == (RunStatus.SIGNALED, signal.SIGABRT, None)


def test_input_may_be_larger_than_the_output_limit() -> None:
    tests = Tests.stdio(["a" * 50_000, "b" * 200_000], ["50000", "200000"])
    with Judge(workers=1, limits=Limits(output_mib=0.01)) as judge:
        assert judge.judge("print(len(input()))", tests).accepted
