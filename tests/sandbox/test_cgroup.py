"""A worker's control group: bounds all of its processes together, and is gone when the worker is.

The tests that need a real group skip where this process may not make one.  To run them on such a machine:
`systemd-run --user --scope -p Delegate=yes pytest tests/sandbox/test_cgroup.py`.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from code_rlvr import Judge, Limits, Tests, Unjudged, Verdict
from code_rlvr.verifier import cgroup
from code_rlvr.verifier.cgroup import find_place, remove_left_overs
from tests.sandbox.processes import NAMED, killing

PLACE = find_place()
needs_a_place = pytest.mark.skipif(PLACE is None, reason="this process may make no control groups with a memory bound")
HOARD = "held = bytearray(200 << 20)\nprint(len(held))"
KILL_THE_JUDGE = """
import os, signal
from code_rlvr import Judge
judge = Judge(2)
print(flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def groups() -> list[Path]:
    assert PLACE is not None
    return list(PLACE.glob("code-rlvr-*"))


def eventually(holds: Callable[[], bool], within_s: float = 30) -> bool:
    end = time.monotonic() + within_s
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


@needs_a_place
def test_a_worker_has_a_group_while_it_lives_and_every_process_is_in_it() -> None:
    before = groups()
    with Judge(1) as judge:
        assert judge.judge("print(1)", Tests.stdio([""], ["1"])).accepted
        (group,) = set(groups()) - set(before)
        assert "cgroup" in judge.layers
        assert (group / "cgroup.procs").read_text().split()
        assert str(os.getpid()) not in (group / "cgroup.procs").read_text().split()
        assert (group / "pids.max").read_text().strip() == "1024"
        assert int((group / "memory.max").read_text()) == (1024 + 512) << 20
    assert eventually(lambda: groups() == before)


@needs_a_place
def test_a_program_that_the_bound_ends_is_over_its_memory_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cgroup, "SLACK_MIB", 100 - cgroup.COMPILE_MIB)
    with Judge(1, Limits(cpu_s=60)) as judge:
        judgement = judge.judge(HOARD, Tests.stdio([""] * 2, [str(200 << 20)] * 2))
        assert judgement.verdict is Verdict.MEMORY_LIMIT_EXCEEDED
        assert judge.judge("print(1)", Tests.stdio([""], ["1"])).accepted


@needs_a_place
def test_a_compiler_that_the_bound_ends_has_refused_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cgroup, "SLACK_MIB", 100 - cgroup.COMPILE_MIB)
    with Judge(1, Limits(memory_mib=50, compile_s=60)) as judge:
        judgement = judge.judge("a = [" + "b.c(1)," * 500_000 + "]", Tests.stdio([""], ["1"]))
        assert judgement.verdict is Verdict.COMPILE_ERROR
        assert "ran out of memory" in judgement.message


@needs_a_place
def test_whoever_else_kills_a_program_is_still_no_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also right after the bound has killed one."""
    monkeypatch.setattr(cgroup, "SLACK_MIB", 100 - cgroup.COMPILE_MIB)
    with Judge(1, Limits(cpu_s=60)) as judge:
        assert judge.judge(HOARD, Tests.stdio([""], ["1"])).verdict is Verdict.MEMORY_LIMIT_EXCEEDED
        sleeper = NAMED.format(name="victim") + "import time\ntime.sleep(10)"
        with pytest.raises(Unjudged), killing("victim", times=3) as killed:
            judge.judge(sleeper, Tests.stdio([""], [""]))
        assert len(killed) == 3


@needs_a_place
def test_nothing_is_left_when_the_judge_is_killed() -> None:
    before = groups()
    process = subprocess.run([sys.executable, "-c", KILL_THE_JUDGE], timeout=60, check=False)
    assert process.returncode == -signal.SIGKILL
    assert eventually(lambda: groups() == before)


def a_tree(folder: Path, subtree_control: str, group: str = "/user/job", root: str = "/") -> Path:
    """What the kernel shows of a process in a group below one that passes controllers on."""
    job = folder / "fs" / "user" / "job"
    job.mkdir(parents=True)
    for path in (job, job.parent, job.parent.parent):
        (path / "cgroup.procs").touch()
        (path / "cgroup.subtree_control").write_text("")
    (job.parent / "cgroup.subtree_control").write_text(subtree_control)
    proc = folder / "proc"
    proc.mkdir()
    (proc / "cgroup").write_text(f"1:name=systemd:/\n0::{group}\n")
    (proc / "mountinfo").write_text(
        f"23 1 0:21 / /proc rw - proc proc rw\n30 23 0:26 {root} {folder}/fs rw,nosuid shared:4 - cgroup2 cgroup2 rw\n"
    )
    return proc


def test_the_place_is_the_nearest_group_above_that_passes_on_memory_and_processes(tmp_path: Path) -> None:
    assert find_place(a_tree(tmp_path, "cpu memory pids")) == tmp_path / "fs" / "user"


def test_the_place_is_found_below_a_mount_that_shows_a_part_of_the_tree(tmp_path: Path) -> None:
    proc = a_tree(tmp_path, "memory pids", group="/machine/box/user/job", root="/machine/box")
    assert find_place(proc) == tmp_path / "fs" / "user"


@pytest.mark.parametrize("subtree_control", ["", "memory", "cpu pids"])
def test_there_is_no_place_where_a_controller_is_missing(tmp_path: Path, subtree_control: str) -> None:
    assert find_place(a_tree(tmp_path, subtree_control)) is None


def test_there_is_no_place_outside_of_what_is_mounted(tmp_path: Path) -> None:
    assert find_place(a_tree(tmp_path, "memory pids", group="/other/job", root="/machine")) is None


def test_there_is_no_place_without_version_2(tmp_path: Path) -> None:
    (tmp_path / "cgroup").write_text("4:memory:/\n")
    (tmp_path / "mountinfo").write_text("")
    assert find_place(tmp_path) is None
    assert find_place(tmp_path / "no such process") is None


def test_only_old_left_overs_are_removed(tmp_path: Path) -> None:
    old, new, other = tmp_path / "code-rlvr-1-ab", tmp_path / "code-rlvr-2-cd", tmp_path / "other"
    for folder in (old, new, other):
        folder.mkdir()
    os.utime(old, (0, 0))
    os.utime(other, (0, 0))
    remove_left_overs(tmp_path)
    assert not old.exists()
    assert new.exists()
    assert other.exists()
