"""The sandbox where the kernel or the container permits less: what is left holds, or it refuses to start.

A process of its own forbids itself a system call, as a container does, and then judges.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

# name: its number on (x86_64, aarch64)
CALLS = {"unshare": (272, 97), "mount": (165, 40), "landlock_create_ruleset": (444, 444), "seccomp": (317, 277)}
JUDGE = """
import os, sys
from code_rlvr import Judge, Limits, PreflightError, Tests
from code_rlvr.verifier.guard import filters, kernel

column, _ = filters.MACHINES[os.uname().machine]
program = filters._op(filters._LOAD, filters._NR)
for numbers in {calls}:
    program += filters._when(numbers[column], filters._refuse({errno}))
kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
kernel.Filter(program + filters._end(filters._ALLOW)).add()

def refused(source):
    attempt = f"try:\\n    {{source}}\\nexcept OSError: print('refused')"
    return judge.judge(attempt, Tests.stdio([""], ["refused"])).accepted

try:
    judge = Judge(1, Limits(cpu_s=2), isolation={isolation!r})
except PreflightError as error:
    print(error)
    sys.exit(7)
with judge:
    print(",".join(layer.partition(" ")[0] for layer in judge.layers))
    tests = Tests.stdio(["1", "2"], ["2", "4"])
    assert judge.judge("print(2 * int(input()))", tests).accepted
    assert not judge.judge("print(1)", tests).accepted
    assert judge.judge("def f(x): return x", Tests.assertions(["for i in range(3):\\n    assert f(i) == i"])).accepted
    attempts = {attempts}
    print([name for name, source in attempts.items() if not refused(source)])
"""
ATTEMPTS = {
    "fork": "import os; os.fork() or os._exit(0)",
    "socket": "import socket; socket.socket()",
    "signal": "import os; os.kill(os.getppid(), 0)",
    "write": "import os; os.unlink('{folder}/x') if open('{folder}/x', 'w') else None",
    "read": "open('{folder}/secret').read()",
}


def judged_without(calls: list[str], folder: Path, errno: int = 1, isolation: str = "full") -> tuple[int, list[str]]:
    """Judge in a process that may not make some system calls: its exit code, and the lines that it printed."""
    (folder / "secret").write_text("secret")
    source = JUDGE.format(
        calls=[CALLS[name] for name in calls],
        errno=errno,
        isolation=isolation,
        attempts={name: attempt.format(folder=folder) for name, attempt in ATTEMPTS.items()},
    )
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, timeout=100)
    assert done.returncode in (0, 7), done.stderr
    return done.returncode, done.stdout.splitlines()


def test_everything_is_refused_with_all_layers(tmp_path: Path) -> None:
    _, (layers, open_doors) = judged_without([], tmp_path)
    assert "seccomp" in layers
    assert open_doors == "[]"


@pytest.mark.parametrize("errno", [1, 38], ids=["EPERM", "ENOSYS"])
def test_without_namespaces_everything_is_still_refused(tmp_path: Path, errno: int) -> None:
    _, (layers, open_doors) = judged_without(["unshare"], tmp_path, errno)
    assert layers == "landlock,seccomp"
    assert open_doors == "[]"


def test_without_mounts_everything_is_still_refused(tmp_path: Path) -> None:
    _, (layers, open_doors) = judged_without(["mount"], tmp_path)
    assert "landlock,seccomp" in layers
    assert open_doors == "[]"


def test_without_landlock_files_can_be_read_and_nothing_else(tmp_path: Path) -> None:
    _, (layers, open_doors) = judged_without(["landlock_create_ruleset"], tmp_path, 38)
    assert "landlock" not in layers
    assert open_doors == "['read']"


def test_with_filters_alone_files_can_be_read_and_nothing_else(tmp_path: Path) -> None:
    _, (layers, open_doors) = judged_without(["landlock_create_ruleset", "unshare"], tmp_path, 38)
    assert layers == "seccomp"
    assert open_doors == "['read']"


def test_without_filters_it_refuses_to_start_and_names_the_way_out(tmp_path: Path) -> None:
    returncode, (message,) = judged_without(["seccomp"], tmp_path)
    assert returncode == 7
    assert 'isolation="process"' in message


def test_process_isolation_is_what_it_says(tmp_path: Path) -> None:
    _, (layers, open_doors) = judged_without(["seccomp"], tmp_path, isolation="process")
    assert layers == ""
    assert len(open_doors.split(",")) == len(ATTEMPTS)
