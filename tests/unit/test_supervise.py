"""A supervised command ends with its whole tree, however it is ended.

Every process that these tests start is told apart by a marker of its own, and only such are looked for.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path

import psutil
import pytest

from code_rlvr.train.supervise import SupervisedCommand

DETACHED = """
import subprocess, sys, time
stubborn = "import signal,time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)"
subprocess.Popen([sys.executable, "-c", stubborn, sys.argv[1]], start_new_session=True)
print("started", flush=True)
time.sleep(float(sys.argv[2]))
"""


def alive(marker: str) -> list[int]:
    found = []
    for process in psutil.process_iter(["cmdline", "status"]):
        if marker in (process.info["cmdline"] or []) and process.info["status"] != psutil.STATUS_ZOMBIE:
            found.append(process.pid)
    return found


def wait_until(condition: object, seconds: float = 15.0) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():  # type: ignore[operator]
            return True
        time.sleep(0.05)
    return False


@pytest.fixture
def marker() -> str:
    return f"marker-{uuid.uuid4()}"


def test_the_exit_code_and_the_output_are_the_commands_own(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with SupervisedCommand(
        [sys.executable, "-c", "print('out'); raise SystemExit(3)"], log, dict(os.environ)
    ) as command:
        assert wait_until(lambda: command.poll() is not None)
        assert command.poll() == 3
    assert log.read_text(encoding="utf-8") == "out\n"


def test_what_the_command_leaves_in_its_temporary_folder_goes_with_it(tmp_path: Path) -> None:
    source = "import tempfile; print(tempfile.mkdtemp())"
    log = tmp_path / "log"
    with SupervisedCommand([sys.executable, "-c", source], log, dict(os.environ)) as command:
        assert wait_until(lambda: command.poll() is not None)
    left = Path(log.read_text(encoding="utf-8").strip())
    assert not left.exists()
    assert not left.parent.exists()


@pytest.mark.timeout(60)
def test_a_detached_child_that_ignores_sigterm_ends_with_the_command(tmp_path: Path, marker: str) -> None:
    with SupervisedCommand(
        [sys.executable, "-c", DETACHED, marker, "0"], tmp_path / "log", dict(os.environ)
    ) as command:
        assert wait_until(lambda: command.poll() is not None)
    assert alive(marker) == []


@pytest.mark.timeout(60)
def test_leaving_by_an_exception_ends_everything_within_ten_seconds(tmp_path: Path, marker: str) -> None:
    started = time.monotonic()
    with (  # noqa: PT012  what happens before the interrupt is the point
        pytest.raises(KeyboardInterrupt),
        SupervisedCommand([sys.executable, "-c", DETACHED, marker, "60"], tmp_path / "log", dict(os.environ)),
    ):
        assert wait_until(lambda: alive(marker))
        started = time.monotonic()
        raise KeyboardInterrupt
    assert time.monotonic() - started < 10
    assert alive(marker) == []


@pytest.mark.timeout(60)
def test_killing_the_parent_with_sigkill_ends_everything(tmp_path: Path, marker: str) -> None:
    parent_source = (
        "import os, sys, time\nfrom pathlib import Path\nfrom code_rlvr.train.supervise import SupervisedCommand\n"
        "SupervisedCommand(sys.argv[2:], Path(sys.argv[1]), dict(os.environ))\ntime.sleep(60)\n"
    )
    command = [sys.executable, "-c", parent_source, str(tmp_path / "log")]
    parent = subprocess.Popen([*command, sys.executable, "-c", DETACHED, marker, "60"])
    try:
        assert wait_until(lambda: len(alive(marker)) >= 3)  # the guardian, the command and its detached child
    finally:
        parent.send_signal(signal.SIGKILL)
        parent.wait()
    assert wait_until(lambda: alive(marker) == [])
