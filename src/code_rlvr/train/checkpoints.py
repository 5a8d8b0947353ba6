"""The checkpoints of a run, as verl lays them out: ``checkpoints/global_step_N/{actor,critic,data.pt}``."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from code_rlvr.runs import RunFolder

LATEST_FILE = "latest_checkpointed_iteration.txt"
"""verl writes the last complete checkpoint's step here, after the checkpoint itself."""


def last_step(run: RunFolder) -> int | None:
    """Return the step of the last complete checkpoint, or None."""
    latest = run.checkpoints / LATEST_FILE
    if not latest.is_file():
        return None
    step = int(latest.read_text(encoding="ascii").strip())
    return step if actor_folder(run, step).is_dir() else None


def actor_folder(run: RunFolder, step: int) -> Path:
    """Return the folder with the actor's shards of `step`."""
    return run.checkpoints / f"global_step_{step}" / "actor"


def set_aside_later_verdicts(run: RunFolder, step: int) -> None:
    """Move the verdicts of steps after `step` away: a resumed run will judge those steps again."""
    aside = run.verdicts / f"superseded_by_resume_at_{step}"
    for file in sorted(run.verdicts.glob("step_*.jsonl")):
        match = re.fullmatch(r"step_(\d+)\.jsonl", file.name)
        if match and int(match[1]) > step:
            aside.mkdir(exist_ok=True)
            file.rename(aside / file.name)


def clear_unfinished(run: RunFolder) -> None:
    """Remove what training without any checkpoint left; there is nothing in it to go on from."""
    for file in (run.command, run.metrics):
        file.unlink(missing_ok=True)
    for folder in (run.verdicts, run.checkpoints):
        shutil.rmtree(folder, ignore_errors=True)
