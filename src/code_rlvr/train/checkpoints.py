"""The checkpoints of a run, as verl lays them out: ``checkpoints/global_step_N/{actor,critic,data.pt}``.

Covered: which there are, which is the last and which the best, what a resume puts aside.  Not covered: what is in
them (`merge.shards`).
"""

from __future__ import annotations

import math
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from code_rlvr.errors import UsageError
from code_rlvr.runs import RunFolder, StepMetrics, read_metrics

LATEST_FILE = "latest_checkpointed_iteration.txt"
"""verl writes the last complete checkpoint's step here, after the checkpoint itself."""

_PASS_AT_1 = re.compile(r"val-(?:core|aux)/(?P<source>.+)/accepted/mean@\d+")


@dataclass(frozen=True)
class BestStep:
    """The checkpoint on disk with the best validation.

    Args:
        step: Its step.
        pass_at_1: Its validation Pass@1, from 0 to 1: the mean over data sources, each counting the same.
        better: Steps that scored higher and have no checkpoint, with their Pass@1, the best first; step 0 is the
            model before training.
    """

    step: int
    pass_at_1: float
    better: tuple[tuple[int, float], ...]

    def __str__(self) -> str:
        text = f"step {self.step} has the best validation of the checkpoints on disk, Pass@1 {self.pass_at_1:.4f}"
        if not self.better:
            return text
        step, value = self.better[0]
        if step == 0:
            return f"{text}; the model before training had {value:.4f}"
        return f"{text}; step {step} had {value:.4f}, but its checkpoint is gone (trainer.keep_checkpoints, save_every)"


def last_step(run: RunFolder) -> int | None:
    """Return the step of the last complete checkpoint, or None.

    Raises:
        UsageError: The file that names it holds no number.
    """
    step = _latest(run)
    return step if step is not None and actor_folder(run, step).is_dir() else None


def steps_on_disk(run: RunFolder) -> list[int]:
    """Return the steps whose actor is on disk, ascending; one that was being saved when training ended is left out.

    Raises:
        UsageError: The file that names the last complete checkpoint holds no number.
    """
    latest = _latest(run)
    steps = sorted(int(folder.name.removeprefix("global_step_")) for folder in _folders(run))
    return [step for step in steps if actor_folder(run, step).is_dir() and (latest is None or step <= latest)]


def actor_folder(run: RunFolder, step: int) -> Path:
    """Return the folder with the actor's shards of `step`."""
    return run.checkpoints / f"global_step_{step}" / "actor"


def find_step(run: RunFolder, step: int | None) -> int:
    """Return the step of a checkpoint that is there.

    Args:
        run: The run.
        step: The one that is wanted; the last one when None.

    Raises:
        UsageError: There is no such checkpoint; the message names those that there are.
    """
    wanted = step if step is not None else last_step(run)
    there = steps_on_disk(run)
    if wanted is None or wanted not in there:
        raise UsageError(_absent(run, step, there))
    return wanted


def best_step(run: RunFolder) -> BestStep:
    """Choose the checkpoint with the best validation, of those on disk; of equals the earlier.

    Raises:
        UsageError: There is no checkpoint, or none of a step that was validated.
        DataError: The metrics cannot be read.
    """
    there = steps_on_disk(run)
    if not there:
        raise UsageError(_absent(run, None, there))
    scored = {metrics.step: _pass_at_1(metrics) for metrics in read_metrics(run.metrics)}
    return _choose(run, there, {step: value for step, value in scored.items() if value is not None})


def _choose(run: RunFolder, there: Sequence[int], validated: dict[int, float]) -> BestStep:
    candidates = [step for step in there if step in validated]
    if not candidates:
        raise UsageError(
            f"no checkpoint of {run.path} was validated: there are {_listed(there)}, and validations of "
            f"{_listed(sorted(validated)) or 'none'}; choose with --step N, and in the next run let "
            "trainer.save_every be a multiple of trainer.validate_every"
        )
    step = max(candidates, key=lambda candidate: (validated[candidate], -candidate))
    better = [(other, value) for other, value in validated.items() if value > validated[step]]
    return BestStep(step, validated[step], tuple(sorted(better, key=lambda pair: (-pair[1], pair[0]))))


def _pass_at_1(metrics: StepMetrics) -> float | None:
    """Mean over data sources; their sizes are not logged, so that each counts the same."""
    by_source = {
        match["source"]: value for name, value in metrics.data.items() if (match := _PASS_AT_1.fullmatch(name))
    }
    values = [value for value in by_source.values() if math.isfinite(value)]
    return sum(values) / len(values) if values else None


def _latest(run: RunFolder) -> int | None:
    file = run.checkpoints / LATEST_FILE
    if not file.is_file():
        return None
    text = file.read_text(encoding="utf-8", errors="replace").strip()
    if not text.isdecimal():
        raise UsageError(
            f"{file} holds no number; write the step of the last complete checkpoint into it "
            f"(there are {', '.join(folder.name for folder in _folders(run)) or 'none'})"
        )
    return int(text)


def _folders(run: RunFolder) -> list[Path]:
    return [folder for folder in run.checkpoints.glob("global_step_*") if re.fullmatch(r"global_step_\d+", folder.name)]


def _absent(run: RunFolder, step: int | None, there: Sequence[int]) -> str:
    """Say why there is no such checkpoint, and which there are."""
    if not run.path.is_dir():
        return f"{run.path} has no checkpoint: there is no such folder"
    others = f"; there are {_listed(there)}" if there else ""
    if step is None:
        if there:
            return f"the last checkpoint of {run.path} is gone{others}: choose with --step N"
        return f"{run.path} has no checkpoint: training ended before it saved one (trainer.save_every), or it is no run"
    latest = _latest(run)
    if latest is not None and step > latest and actor_folder(run, step).is_dir():
        return f"{run.path}: training ended while the checkpoint of step {step} was being saved{others}"
    if actor_folder(run, step).parent.is_dir():
        others = f": verl deleted it when it saved later ones (trainer.keep_checkpoints){others}"
    return f"{run.path} has no checkpoint of step {step}{others}"


def _listed(steps: Sequence[int]) -> str:
    return ("step " if len(steps) == 1 else "steps ") + ", ".join(map(str, steps)) if steps else ""


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
