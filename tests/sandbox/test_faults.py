"""What is left behind, and what happens when something breaks: in the program, around it, in the judge."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

import pytest

from code_rlvr import Judge, JudgeFault, Judgement, Limits, RunStatus, Tests, Unjudged, Verdict
from code_rlvr.verifier.program import Program
from code_rlvr.verifier.sandbox import Sandbox

LIMITS = Limits(cpu_s=1.0, wall_s=5.0, memory_mib=256, output_mib=1.0)
ECHO = Tests.stdio(["a", "b"], ["a", "b"])


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def children() -> set[str]:
    found = set()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            if int(stat.read_text().rpartition(")")[2].split()[1]) == os.getpid():
                found.add(stat.parent.name)
        except OSError:
            continue
    return found


def pids_after(source: str) -> list[int]:
    """The process ids that a program printed, after its test has ended."""
    with Sandbox() as sandbox, sandbox.start(Program(source), LIMITS) as running:
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


def test_nothing_is_left_open_or_unreaped() -> None:
    with Judge(workers=2, limits=LIMITS) as judge:
        judge.judge("print(input())", ECHO)
        descriptors, processes = len(os.listdir("/proc/self/fd")), children()
        programs = ["print(input())", "print(", "while True: pass", "import os; os.abort()", DAEMON]
        for _ in judge.judge_many([(program, ECHO) for program in programs * 2], stop_at_first_failure=True):
            pass
        assert (len(os.listdir("/proc/self/fd")), children()) == (descriptors, processes)


def test_closed_judge_leaves_no_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with Judge(workers=1, limits=LIMITS) as judge:
        judge.judge("import os\nos.makedirs('a/b')\nopen('a/b/c', 'w').close()\nos.chmod('a', 0)", ECHO)
        assert list(tmp_path.iterdir())
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "deed",
    [
        "for _ in range(1100):\n    os.mkdir('deep'); os.chdir('deep')",
        "os.mkdir('d'); os.symlink('/', 'd/link'); os.chmod('d', 0)",
        "os.rmdir(os.getcwd())",
        "os.chmod('.', 0)",
    ],
    ids=["deep", "locked", "removed", "unreadable"],
)
def test_working_directory_is_empty_again_for_the_next_test(deed: str, judge: Judge) -> None:
    source = f"import os\nassert os.listdir('.') == []\nprint(input(), flush=True)\n{deed}"
    assert judge.judge(source, ECHO).accepted


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


def test_processes_that_share_the_work_do_not_get_more_cpu_time() -> None:
    source = """
import os, time
if os.fork() == 0:
    while time.process_time() < 1.2: pass
    os._exit(0)
os.wait()
print(input())
"""
    with Judge(workers=1, limits=LIMITS) as judge:
        assert judge.judge(source, Tests.stdio(["a"], ["a"])).verdict is Verdict.TIME_LIMIT_EXCEEDED


def test_program_over_time_again_and_again_is_given_up(judge: Judge) -> None:
    limits = Limits(cpu_s=0.1, timeouts_before_stop=2)
    tests = Tests.stdio(["1", "0", "0", "0", "1"], ["1"] * 5)
    judgement = judge.judge("n = int(input())\nwhile not n: pass\nprint(n)", tests, limits=limits)
    assert [case.verdict.value for case in judgement.cases] == ["ACCEPTED"] + ["TIME_LIMIT_EXCEEDED"] * 2
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


def test_right_program_that_the_deadline_cuts_short_is_unjudged(judge: Judge) -> None:
    limits = Limits(deadline_s=1.5)  # no test takes half of it, whatever else the machine does
    source = "import time\ntime.sleep(0.4)\nprint(input())"
    with pytest.raises(Unjudged, match="machine is too busy"):
        judge.judge(source, Tests.stdio(["a"] * 20, ["a"] * 20), limits=limits)


def test_endless_compilation_is_a_compile_error() -> None:
    source = "x = " + "+".join(["1"] * 60_000) + "\n" + "y = 2 ** 3 ** 4\n" * 40_000
    with Judge(workers=1, limits=Limits(compile_s=0.02)) as judge:
        judgement = judge.judge(source, ECHO)
    assert judgement.verdict is Verdict.COMPILE_ERROR
    assert judgement.message


def test_source_that_is_no_text_is_a_compile_error(judge: Judge) -> None:
    assert judge.judge("print('\ud800')", ECHO).verdict is Verdict.COMPILE_ERROR


def test_interpreter_that_does_not_start_is_a_fault_and_not_a_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with Judge(workers=1) as judge, pytest.raises(Unjudged, match=r"3 times.*did not start"):
        judge.judge("print(input())", ECHO)


def test_interpreter_that_is_missing_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with Sandbox() as sandbox, pytest.raises(JudgeFault, match="cannot start"):
        sandbox.start(Program("print(1)"), LIMITS)


def test_one_killed_guard_loses_no_verdict(tmp_path: Path, judge: Judge) -> None:
    marker = tmp_path / "killed"
    source = f"""
import os, signal
if not os.path.exists({str(marker)!r}):
    open({str(marker)!r}, "w").close()
    os.kill(os.getppid(), signal.SIGKILL)
print(input())
"""
    assert judge.judge(source, ECHO).accepted
    assert marker.exists()


def test_fault_among_many_is_a_value_in_its_place(judge: Judge) -> None:
    killer = "import os, signal\nos.kill(os.getppid(), signal.SIGKILL)"
    programs = ["print(input())", killer, "print(input())", "print(1)", None]
    outcomes = [*judge.judge_many([(program, ECHO) for program in programs])]
    assert isinstance(outcomes[1], Unjudged)
    verdicts = [outcome.verdict.value for outcome in outcomes if isinstance(outcome, Judgement)]
    assert verdicts == ["ACCEPTED", "ACCEPTED", "WRONG_ANSWER", "NO_CODE"]


def test_signal_by_the_kernel_is_told_apart_from_an_exit() -> None:
    with Sandbox() as sandbox, sandbox.start(Program("import os\nos.abort()"), LIMITS) as running:
        result = running.run("")
    assert (result.status, result.signal, result.exit_code) == (RunStatus.SIGNALED, signal.SIGABRT, None)
