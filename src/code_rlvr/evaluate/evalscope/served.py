"""A model behind vLLM's OpenAI-compatible server on this machine, for as long as EvalScope asks it.

Covered: starting `vllm serve` on a free port of the loopback address, waiting until it answers, ending it.
Not covered: asking it, which EvalScope does.
"""

from __future__ import annotations

import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from code_rlvr.errors import PreflightError
from code_rlvr.evaluate.evalscope.process import end
from code_rlvr.evaluate.gpu_memory import GpuMemory, count_weight_bytes, plan_share, read_memory, wait_for_memory

SERVED_NAME = "model"
START_S = 900.0  # a large model takes minutes to load and compile
POLL_S = 1.0


@contextmanager
def served_model(folder: Path, log: Path, seed: int) -> Iterator[str]:
    """Serve a model.

    Args:
        folder: The model.
        log: Gets all that vLLM prints.
        seed: Of its random numbers.

    Yields:
        The address, for `Job.api_url`.

    Raises:
        PreflightError: vLLM is not installed beside this Python, ended, or did not answer in 15 minutes; or the GPU has
            no room for the weights.
    """
    port = _free_port()
    free = wait_for_memory(_read_memory)  # a training run may have ended just now
    share = plan_share(free, count_weight_bytes(folder), folder)
    command = [str(Path(sys.executable).with_name("vllm")), "serve", str(folder), "--served-model-name", SERVED_NAME]
    # "vllm": or the folder's own sampling defaults would come in, which training does not know.
    command += ["--host", "127.0.0.1", "--port", str(port), "--seed", str(seed), "--generation-config", "vllm"]
    command += ["--gpu-memory-utilization", f"{share:.4f}", "--max-model-len", "auto"]
    with log.open("ab") as stream:
        try:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=stream, stderr=stream)
        except OSError as error:
            raise PreflightError(f"vLLM cannot be started: {error}; pip install 'code-rlvr[gpu]'") from None
        try:
            _wait_for(process, port, log)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            end(process)
            wait_for_memory(_read_memory, [one.free for one in free])  # the next model needs it


def _read_memory() -> list[GpuMemory]:
    return read_memory(1)


def _free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


def _wait_for(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    until = time.monotonic() + START_S
    while time.monotonic() < until:
        if process.poll() is not None:
            raise PreflightError(f"vLLM ended with exit code {process.returncode} while it started; see {log}")
        try:
            with opener.open(f"http://127.0.0.1:{port}/health", timeout=POLL_S):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(POLL_S)
    raise PreflightError(f"vLLM did not answer within {START_S:.0f} s; see {log}")
