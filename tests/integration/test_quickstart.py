"""The quickstart as a person runs it: small, interrupted in each stage, and gone on with to its end.

All tests share one folder, so that each goes on where the one before it stopped; any of them also runs alone.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path

import psutil
import pytest

pytestmark = [pytest.mark.training, pytest.mark.timeout(1200)]

SMALL = [
    "train.trainer.steps=3",
    "train.trainer.save_every=1",
    "warm_start.steps=150",
    "starter.train=64",
    "starter.validation=16",
    "starter.heldout=55",
    "starter.unseen=5",
    "corpus.size=2000",
]
MARKER = "CODE_RLVR_TEST_MARKER"


class Quickstart:
    """A running quickstart whose processes carry a marker in their environment."""

    def __init__(self, runs_dir: Path) -> None:
        self.marker = str(uuid.uuid4())
        self._output = runs_dir / f"{self.marker}.log"
        command = [sys.executable, "-u", "-c", "from code_rlvr.cli import main; main()", "quickstart"]
        with self._output.open("wb") as output:
            self.process = subprocess.Popen(
                [*command, "--runs-dir", str(runs_dir), *SMALL],
                stdout=output,
                stderr=subprocess.STDOUT,
                env={**os.environ, MARKER: self.marker},
            )

    @property
    def output(self) -> str:
        return self._output.read_text(encoding="utf-8")

    def wait_for(self, pattern: str, seconds: float = 300) -> None:
        deadline = time.monotonic() + seconds
        while not re.search(pattern, self.output):
            assert self.process.poll() is None, self.output
            assert time.monotonic() < deadline, self.output
            time.sleep(0.05)

    def survivors(self) -> list[int]:
        """Return the processes of this quickstart that are still there, whoever their parent is now."""
        found = []
        for process in psutil.process_iter():
            try:
                if process.environ().get(MARKER) == self.marker and process.status() != psutil.STATUS_ZOMBIE:
                    found.append(process.pid)
            except psutil.Error:
                continue
        return found


@pytest.fixture(scope="module")
def runs_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("runs")


@pytest.mark.parametrize(
    ("reached", "seconds_more"),
    [(r"2/6", 0.5), (r"3/6", 0.5), (r"4/6", 0.5), (r"4/6[\s\S]*about a minute", 25.0), (r"step 1/3\] train", 0.0)],
    ids=["warm start", "evaluation", "training starts", "verl loads", "training"],
)
def test_ctrl_c_ends_it_within_ten_seconds_and_leaves_no_process(
    reached: str, seconds_more: float, runs_dir: Path
) -> None:
    quickstart = Quickstart(runs_dir)
    quickstart.wait_for(reached)
    time.sleep(seconds_more)
    started = time.monotonic()
    quickstart.process.send_signal(signal.SIGINT)
    code = quickstart.process.wait(timeout=30)
    assert time.monotonic() - started < 10
    assert code == 130
    assert quickstart.survivors() == []


def test_a_run_that_was_killed_goes_on_where_it_stopped_and_ends_with_a_report(runs_dir: Path) -> None:
    first = Quickstart(runs_dir)
    first.wait_for(r"step [123]/3\] train")
    first.process.kill()
    first.process.wait(timeout=30)
    deadline = time.monotonic() + 15
    while first.survivors() and time.monotonic() < deadline:
        time.sleep(0.1)
    assert first.survivors() == []

    second = Quickstart(runs_dir)
    assert second.process.wait(timeout=900) == 0, second.output
    assert "warm_start is there already" in second.output
    assert "step 3/3] train" in second.output
    assert "held-out problems, sampled" in second.output
    run = runs_dir / "quickstart"
    assert (run / "report.html").stat().st_size > 100_000
    assert (run / "merged" / "model.safetensors").exists()
    assert second.survivors() == []

    third = Quickstart(runs_dir)
    assert third.process.wait(timeout=120) == 0, third.output
    assert "3 steps are done already" in third.output
