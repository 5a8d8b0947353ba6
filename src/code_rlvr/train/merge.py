"""From verl's shards to a Hugging Face folder that is known to work.

verl's own merger joins the shards; it runs as a supervised child, so that it cannot hang a run.  Then the
folder is loaded and made to generate before it takes its final name: "merged" means it works.
"""

from __future__ import annotations

import os
import shutil
import sys
import time
from pathlib import Path

from code_rlvr.errors import ModelError, TrainingError, UsageError
from code_rlvr.runs import RunFolder
from code_rlvr.sampling import Sampling
from code_rlvr.train import checkpoints
from code_rlvr.train.supervise import SupervisedCommand

MERGE_TIMEOUT_S = 1800.0
VERIFY_TOKENS = 8


def merge_checkpoint(run: RunFolder, step: int | None = None) -> Path:
    """Merge the actor of one checkpoint into ``merged/`` of the run.

    Args:
        run: The run.
        step: The checkpoint's step; the last one when None.

    Returns:
        The merged folder: weights in bfloat16 (verl's choice), tokenizer, chat template, generation config.

    Raises:
        UsageError: There is no such checkpoint.
        TrainingError: verl's merger failed or hung.
        ModelError: The merged folder does not load or generate.
    """
    step = step if step is not None else checkpoints.last_step(run)
    if step is None or not checkpoints.actor_folder(run, step).is_dir():
        raise UsageError(f"{run.path} has no checkpoint" + (f" of step {step}" if step is not None else ""))
    unfinished = run.path / "merged.unfinished"
    shutil.rmtree(unfinished, ignore_errors=True)
    _run_merger(checkpoints.actor_folder(run, step), unfinished, run.logs / "merge.log")
    verify_generates(unfinished)
    shutil.rmtree(run.merged, ignore_errors=True)
    unfinished.rename(run.merged)
    return run.merged


def _run_merger(shards: Path, target: Path, log: Path) -> None:
    command = [sys.executable, "-m", "verl.model_merger", "merge", "--backend", "fsdp"]
    command += ["--local_dir", str(shards), "--target_dir", str(target)]
    started = time.monotonic()
    with SupervisedCommand(command, log, {**os.environ, "HF_HUB_OFFLINE": "1"}) as merger:
        while (code := merger.poll()) is None:
            if time.monotonic() - started > MERGE_TIMEOUT_S:
                raise TrainingError(f"merging {shards} took more than {MERGE_TIMEOUT_S:.0f} s and was ended; see {log}")
            time.sleep(0.1)
    if code != 0:
        raise TrainingError(f"verl's merger ended with exit code {code} on {shards}; its output is in {log}")


def verify_generates(folder: Path) -> str:
    """Load a model folder as an evaluation does and let it answer one chat.

    Returns:
        What it answered.

    Raises:
        ModelError: It does not load, or holds numbers that are not finite.
    """
    # Heavy: `code-rlvr merge --help` must not wait for them.
    from safetensors.torch import load_file  # noqa: PLC0415

    from code_rlvr.evaluate.engine import HuggingFaceEngine  # noqa: PLC0415

    for file in sorted(folder.glob("*.safetensors")):
        broken = [name for name, tensor in load_file(file).items() if not bool(tensor.isfinite().all())]
        if broken:
            raise ModelError(f"{file}: {broken[0]} holds numbers that are not finite; training diverged")
    chat = [{"role": "user", "content": "Read two integers and print their sum."}]
    (answer,) = HuggingFaceEngine(folder).generate([chat], Sampling(temperature=0, max_new_tokens=VERIFY_TOKENS), [0])
    return answer.text
