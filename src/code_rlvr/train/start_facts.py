"""Where and from what a run was started: machine, commit, preset, time.  It makes results repeatable, and comparable.

Covered: the run's ``start.json``, of the latest start.  Not covered: versions of libraries (`versions`), the files of
problems (`data_used`).
"""

from __future__ import annotations

import json
import platform
import subprocess
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import psutil

from code_rlvr.verifier.pool import usable_cpus
from code_rlvr.whole_file import whole_file

TIMEOUT_S = 10.0


def record_start(file: Path, preset: str | None, device: str, *, resume: bool) -> None:
    """Write ``start.json``.

    Args:
        file: Where to.
        preset, device: As for `describe_start`.
        resume: Whether the run goes on; without a preset it then keeps the one on record.
    """
    if resume and preset is None and file.is_file():
        try:
            preset = json.loads(file.read_bytes()).get("preset")
        except (ValueError, AttributeError):  # cut off, or not ours
            preset = None
    with whole_file(file) as unfinished:
        unfinished.write_text(json.dumps(describe_start(preset, device), indent=2) + "\n", encoding="utf-8")


def describe_start(preset: str | None, device: str) -> dict[str, Any]:
    """Describe this machine and the working folder.

    Args:
        preset: Name of the preset that the configuration was made from, if any.
        device: ``cpu`` or ``cuda``; on a CPU, GPUs are left out.
    """
    return {
        "started": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "preset": preset,
        "machine": {
            "cpu": _cpu_model(),
            "cores": usable_cpus(),
            "memory_gib": round(psutil.virtual_memory().total / 2**30, 1),
            "system": f"{platform.system()} {platform.release()}",
            "gpus": _gpus() if device == "cuda" else [],
        },
        "commit": _commit(),
    }


def _cpu_model() -> str:
    """The processor's name; only its architecture where the system does not say."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    names = [value.strip() for key, _, value in (line.partition(":") for line in lines) if key.strip() == "model name"]
    return names[0] if names else platform.machine()


def _gpus() -> list[str]:
    names = _output(["nvidia-smi", "--query-gpu=name,memory.total", "--format=csv,noheader"])
    return [line.strip() for line in (names or "").splitlines() if line.strip()]


def _commit() -> dict[str, Any] | None:
    """The commit that the working folder is at, and whether tracked files differ from it; None outside of git."""
    sha = _output(["git", "rev-parse", "HEAD"])
    if not sha:
        return None
    return {"sha": sha.strip(), "changed": bool(_output(["git", "status", "--porcelain", "--untracked-files=no"]))}


def _output(command: list[str]) -> str | None:
    """What a command prints; None if it is not there, fails, or takes too long: a run does not depend on it."""
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return None
