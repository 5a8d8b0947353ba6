"""verl's own merger, run as a supervised child, so that it can neither hang a run nor outlive it.

Covered: the command, its bound in time, why it failed.  Not covered: whether what it wrote is right (`merge.proof`).
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from code_rlvr.errors import PreflightError, TrainingError
from code_rlvr.train.supervise import SupervisedCommand

MERGE_TIMEOUT_S = 1800.0
TAIL_LINES = 3

_KILLED = (-9, 137)  # by a signal, as Python and as a shell say it


def run_merger(shards: Path, target: Path, log: Path) -> None:
    """Let verl's merger write a folder.

    Args:
        shards: A staged checkpoint.
        target: What to write.
        log: Gets its output, appended.

    Raises:
        PreflightError: The disk is full or the memory did not suffice.
        TrainingError: It failed otherwise, or hung.
    """
    command = [sys.executable, "-m", "verl.model_merger", "merge", "--backend", "fsdp"]
    command += ["--local_dir", str(shards), "--target_dir", str(target)]
    log.parent.mkdir(parents=True, exist_ok=True)
    earlier = log.stat().st_size if log.exists() else 0
    started = time.monotonic()
    with SupervisedCommand(command, log, {**os.environ, "HF_HUB_OFFLINE": "1"}) as merger:
        while (code := merger.poll()) is None:
            if time.monotonic() - started > MERGE_TIMEOUT_S:
                raise TrainingError(f"verl's merger took more than {MERGE_TIMEOUT_S:.0f} s and was ended; see {log}")
            time.sleep(0.1)
    if code != 0:
        raise _failure(code, log.read_bytes()[earlier:].decode(errors="replace"), target, log)


def _failure(code: int, output: str, target: Path, log: Path) -> Exception:
    if "No space left on device" in output or "os error 28" in output:
        return PreflightError(disk_full(target))
    if code in _KILLED:
        return PreflightError(
            "verl's merger was killed, most likely because memory ran out: it holds the whole model about twice; "
            "merge on a machine with more, where runs/NAME is all that is needed"
        )
    tail = "\n".join(output.strip().splitlines()[-TAIL_LINES:])
    return TrainingError(f"verl's merger ended with exit code {code}; the end of its output in {log}:\n{tail}")


def disk_full(target: Path) -> str:
    """Say what to do about a full disk."""
    return f"the disk of {target.parent} is full; free some, or merge to another with --out FOLDER"
