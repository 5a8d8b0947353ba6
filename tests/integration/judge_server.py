"""A judging server as a process of its own, for tests: started, asked, stopped."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.sandbox.processes import descendants

httpx = pytest.importorskip("httpx", reason="needs the serve extra")
pytest.importorskip("uvicorn", reason="needs the serve extra")

COMMAND = [sys.executable, "-c", "from code_rlvr.cli import main; main()", "serve"]
TOKEN = "0123456789abcdef"
CLIENT = httpx.Client(trust_env=False)


class Served:
    """A server, what it wrote, and where it is."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process, self.log = process, ""
        assert process.stderr is not None
        while "listening on" not in self.log:
            line = process.stderr.readline()
            assert line, f"the server ended: {self.log}"
            self.log += line
        (self.url,) = re.findall(r"http://\S+:\d+", self.log)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.log += line

    def family(self) -> list[int]:
        """The process ids below the server's."""
        return [pid for pid in descendants() if pid != self.process.pid and self._is_ours(pid)]

    def _is_ours(self, pid: int) -> bool:
        while pid not in (0, 1, os.getpid()):
            if pid == self.process.pid:
                return True
            try:
                pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                return False
        return False

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Signal it and wait for its exit code."""
        self.process.send_signal(number)
        code = self.process.wait(40)
        self._reader.join(5)
        return code


@contextmanager
def serving(*words: str) -> Iterator[Served]:
    """A server with `TOKEN`, at any free port unless the words name one."""
    environment = {**os.environ, "CODE_RLVR_TOKEN": TOKEN}
    process = subprocess.Popen([*COMMAND, "--port", "0", *words], stderr=subprocess.PIPE, text=True, env=environment)
    try:
        served = Served(process)
        yield served
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        served._reader.join(5)
        assert process.stderr is not None
        process.stderr.close()


def post(served: Served, body: bytes, path: str = "/v1/judge", timeout_s: float = 30) -> Any:
    """The server's answer to a body."""
    headers = {"content-type": "application/json", "authorization": f"Bearer {TOKEN}"}
    return CLIENT.post(served.url + path, content=body, headers=headers, timeout=timeout_s)


def metric(served: Served, name: str) -> float:
    """A number that the server counts; 0 if it does not."""
    text = CLIENT.get(served.url + "/metrics", headers={"authorization": f"Bearer {TOKEN}"}).text
    return sum(float(line.rpartition(" ")[2]) for line in text.splitlines() if line.startswith(f"code_rlvr_{name}"))


def wait_for(served: Served, name: str, least: int) -> None:
    """Wait until the server has counted so far."""
    deadline = time.monotonic() + 30
    while metric(served, name) < least:
        assert time.monotonic() < deadline, f"{name} stays {metric(served, name)}"
        time.sleep(0.05)
