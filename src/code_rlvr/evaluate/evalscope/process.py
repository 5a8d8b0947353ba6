"""Runs EvalScope in a process of its own, so that its logging, its memory and its end stay there.

It may have an interpreter of its own too: EvalScope asks for an older `datasets` and a newer `antlr4` runtime than
verl's libraries do.  Nothing is fetched: the variables in `OFFLINE` keep the hubs away, and caches stay in the folder.

Covered: what has to be installed, the environment, progress, and one message about how it ended.
Not covered: what it does (`worker`).
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from code_rlvr import errors
from code_rlvr.errors import PreflightError
from code_rlvr.evaluate.evalscope import PINNED_EVALSCOPE
from code_rlvr.evaluate.evalscope.job import Job

POLL_S = 1.0
GRACE_S = 30.0  # to end by itself; vLLM takes some seconds
PROBE_S = 60.0
LOG_TAIL_BYTES = 20_000

OFFLINE = {
    "HF_HUB_OFFLINE": "1",
    "HF_DATASETS_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "DO_NOT_TRACK": "1",
    "NO_PROXY": "127.0.0.1,localhost",  # a served model is on this machine
    "no_proxy": "127.0.0.1,localhost",
}

_COLOURS = re.compile(r"\x1b\[[0-9;]*m")

INSTALL = "python3 -m venv .venv-evalscope && .venv-evalscope/bin/pip install 'code-rlvr[evalscope]'"
REMEDY = f"install it into an environment of its own, {INSTALL}, and add --evalscope-python .venv-evalscope/bin/python"

_PROBE = """
import importlib.metadata as metadata, json
def version(name):
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None
import importlib.util
print(json.dumps([version("evalscope"), importlib.util.find_spec("code_rlvr") is not None]))
"""


def require_evalscope(python: Path | None) -> Path:
    """Find an interpreter with the pinned EvalScope.

    Args:
        python: The one that was named; this process's own if None.

    Returns:
        The interpreter.

    Raises:
        PreflightError: It cannot be started, or lacks EvalScope, the pinned version of it, or this package.
    """
    interpreter = python or Path(sys.executable)
    try:
        told = subprocess.run(
            [interpreter, "-c", _PROBE], capture_output=True, text=True, timeout=PROBE_S, check=True
        ).stdout
        version, ours = json.loads(told)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        raise PreflightError(f"{interpreter} is no Python that can be started: {error}; {REMEDY}") from None
    if version is None:
        raise PreflightError(f"EvalScope is not installed for {interpreter}; {REMEDY}")
    if version != PINNED_EVALSCOPE:
        raise PreflightError(
            f"{interpreter} has EvalScope {version}, and {PINNED_EVALSCOPE} is what was tried; run: "
            f"{interpreter} -m pip install 'evalscope=={PINNED_EVALSCOPE}'"
        )
    if not ours:
        raise PreflightError(f"{interpreter} has EvalScope and not code-rlvr, whose judge it needs; {REMEDY}")
    return interpreter


def run_job(job: Job, job_file: Path, interpreter: Path, log: Path, on_progress: Callable[[int], None]) -> None:
    """Have EvalScope do a job, and wait for it.

    Args:
        job: What to do.
        job_file: Where to write it.
        interpreter: As `require_evalscope` gave it.
        log: Gets all that EvalScope prints, behind what is there.
        on_progress: Called now and then with the number of answers.

    Raises:
        CodeRlvrError: One of ours ended it, e.g. a judge that cannot be set up.
        PreflightError: EvalScope failed; the message has its last words and names the log.
    """
    job_file.parent.mkdir(parents=True, exist_ok=True)
    job_file.write_text(job.model_dump_json(indent=2) + "\n", encoding="utf-8")
    job.failure.unlink(missing_ok=True)
    command = [str(interpreter), "-m", "code_rlvr.evaluate.evalscope.worker", str(job_file)]
    with log.open("ab") as stream:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=stream, stderr=stream, env=_environment(job_file.parent)
        )
        try:
            code = _wait(process, job, on_progress)
        finally:
            end(process)
    on_progress(count_answered(job))
    if code:
        raise _why(job, code, log)


def count_answered(job: Job) -> int:
    """How many samples are drawn; EvalScope writes scores last."""
    files = [file for piece in job.pieces for file in piece.folder.glob("predictions/*/*.jsonl")]
    return sum(file.read_bytes().count(b"\n") for file in files)


def _environment(cache: Path) -> dict[str, str]:
    kept = cache.absolute() / "cache"
    return {
        **os.environ,
        **OFFLINE,
        "EVALSCOPE_CACHE": str(kept / "evalscope"),
        "MODELSCOPE_CACHE": str(kept / "modelscope"),
        "PYTHONUNBUFFERED": "1",
    }


def _wait(process: subprocess.Popen[bytes], job: Job, on_progress: Callable[[int], None]) -> int:
    while True:
        try:
            return process.wait(POLL_S)
        except subprocess.TimeoutExpired:
            on_progress(count_answered(job))


def end(process: subprocess.Popen[bytes]) -> None:
    """End a process that may still run, by force if it does not go."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(GRACE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _why(job: Job, code: int, log: Path) -> errors.CodeRlvrError:
    if job.failure.is_file():
        told = json.loads(job.failure.read_text(encoding="utf-8"))
        kind = getattr(errors, told["kind"], PreflightError)
        return kind(told["message"]) if issubclass(kind, errors.CodeRlvrError) else PreflightError(told["message"])
    how = f"ended by signal {-code}" if code < 0 else f"exit code {code}"
    return PreflightError(
        f"EvalScope failed ({how}): {last_words(log) or 'it said nothing'}. All that it printed is in {log}; "
        "the same command goes on where it stopped"
    )


def last_words(log: Path) -> str:
    """The last line of a log that is no part of a traceback: usually the exception."""
    with log.open("rb") as stream:
        stream.seek(max(0, log.stat().st_size - LOG_TAIL_BYTES))
        lines = stream.read().decode("utf-8", "replace").splitlines()
    told = [_COLOURS.sub("", line).rstrip() for line in lines]
    return next((line for line in reversed(told) if line and not line.startswith((" ", "\t"))), "")
