"""From verl's shards to a Hugging Face folder that is proven to be the trained model.

verl's own merger joins the shards (`merger`), adapters are added (`adapter`), and the result is compared with the
shards (`proof`) before it takes its final name: "merged" means it is right.  Not covered: which step (`checkpoints`).
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from safetensors import SafetensorError

from code_rlvr.errors import PreflightError, UsageError
from code_rlvr.runs import RunFolder
from code_rlvr.train import checkpoints
from code_rlvr.train.merge import folder
from code_rlvr.train.merge.adapter import add_adapters, write_adapter
from code_rlvr.train.merge.merger import disk_full, run_merger
from code_rlvr.train.merge.proof import Proof, prove_adapter, prove_merged, verify_generates
from code_rlvr.train.merge.staging import carry_over, settings_folder, staged
from code_rlvr.train.merge.weights import TrainedWeights
from code_rlvr.words import counted

__all__ = ["Say", "merge_checkpoint", "verify_generates"]

Say = Callable[[str], None]
"""Shows one line to the person who merges."""


def _nothing(_line: str) -> None:
    """Shows nothing."""


def merge_checkpoint(
    run: RunFolder, step: int | None = None, *, out: Path | None = None, keep_adapter: bool = False, say: Say = _nothing
) -> Path:
    """Merge the actor of one checkpoint into a folder, which appears when it is proven right and not before.

    Args:
        run: The run.
        step: The checkpoint's step; the last one when None.
        out: Where to; ``merged/`` of the run when None, or ``adapter/`` with `keep_adapter`.
        keep_adapter: Write the adapters alone, as peft does, rather than weights with the adapters added.
        say: Gets each line to show.

    Returns:
        The folder: weights in bfloat16 (verl's choice), tokenizer, chat template, generation settings, ``merge.json``.

    Raises:
        UsageError: There is no such checkpoint, it is incomplete, or something else lies where it would go.
        PreflightError: The disk or the memory does not suffice.
        TrainingError: verl's merger failed or hung, or what it wrote is not what was trained.
        ModelError: Training diverged, or the folder does not load or generate.
    """
    step = checkpoints.find_step(run, step)
    target = out or (run.path / "adapter" if keep_adapter else run.merged)
    folder.require_free(target, run)
    actor = checkpoints.actor_folder(run, step)
    weights = TrainedWeights(actor)
    if keep_adapter and weights.adapters is None:
        raise UsageError(f"{actor} has no adapters to keep: all weights were trained; merge without --keep-adapter")
    ranks = weights.shards.ranks
    say(f"step {step}: {len(weights.names)} tensors, shards of {counted(ranks, 'rank')}")
    with _unfinished(target) as unfinished, staged(actor, folder.base_folder(run)) as checkpoint:
        write = _write_adapter if keep_adapter else _write_merged
        proof = write(run, weights, checkpoint, unfinished, say)
        say(str(proof))
        folder.write_record(unfinished, run, step, weights.adapters, proof)
        folder.take_place(unfinished, target)
    return target


def _write_merged(run: RunFolder, weights: TrainedWeights, checkpoint: Path, unfinished: Path, say: Say) -> Proof:
    # bfloat16; adapted weights are written a second time before the first copy goes.
    folder.require_room(unfinished.parent, 2 * weights.numbers * (2 if weights.adapters else 1))
    say("verl's merger joins the shards")
    run_merger(checkpoint, unfinished, run.logs / "merge.log")
    if weights.adapters:
        say(f"adding the adapters of rank {weights.adapters.rank}")
        add_adapters(unfinished, weights)
    carry_over(settings_folder(checkpoint), unfinished)
    say("comparing the folder with the shards")
    proof = prove_merged(unfinished, weights, settings_folder(checkpoint))
    verify_generates(unfinished)
    return proof


def _write_adapter(run: RunFolder, weights: TrainedWeights, checkpoint: Path, unfinished: Path, say: Say) -> Proof:
    base = folder.base_folder(run)
    if base is None:
        raise UsageError(
            f"the adapters need the model that they were trained on, and {folder.read_base_model(run)} is not here; "
            "call this in the folder in which training was started, or merge without --keep-adapter"
        )
    write_adapter(unfinished, weights, base)
    carry_over(settings_folder(checkpoint), unfinished, tokenizer=True)
    say(f"comparing {base.name} with these adapters with the shards")
    return prove_adapter(unfinished, weights, settings_folder(checkpoint))


@contextmanager
def _unfinished(target: Path) -> Iterator[Path]:
    """A folder beside `target` that is gone afterwards, whatever happens, unless it took another name."""
    unfinished = target.with_name(target.name + ".unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        yield unfinished
    except (OSError, SafetensorError) as error:
        if "No space left" in str(error):  # safetensors tells by its text only
            raise PreflightError(disk_full(target)) from None
        raise UsageError(f"cannot merge into {target}: {error}") from error
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
