"""Commands that make a model of what was trained: merge."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from code_rlvr.commands import app, errors, interruptible
from code_rlvr.errors import UsageError
from code_rlvr.runs import RunFolder


@app.command(
    epilog="Examples, one a line:\n\n"
    "`code-rlvr merge runs/my-run`\n\n"
    "`code-rlvr merge runs/my-run --step best --out models/my-model`\n\n"
    "What is proven, adapters, and every remedy: docs/merge.md.",
)
def merge(
    run: Annotated[Path, typer.Argument(help="Folder of the run.")],
    *,
    step: Annotated[
        str | None,
        typer.Option(
            metavar="N|best", help="Step of the checkpoint, or the one with the best validation; the last if left out."
        ),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Folder to write; merged/ of the run if left out.")] = None,
    keep_adapter: Annotated[
        bool, typer.Option("--keep-adapter", help="Write the adapters alone, into adapter/, in the layout of peft.")
    ] = False,
) -> None:
    """Turn a checkpoint into a Hugging Face folder, and prove that it is the model that was trained."""
    errors.print(f"merging {run}", markup=False)  # the imports take seconds
    from transformers.utils import logging

    from code_rlvr.train.merge import merge_checkpoint

    logging.disable_progress_bar()  # type: ignore[no-untyped-call]  # noise among ours
    folder = RunFolder(run)
    number = _number(folder, step)
    with interruptible("nothing was written"):
        merged = merge_checkpoint(folder, number, out=out, keep_adapter=keep_adapter, say=typer.echo)
    what = "with the model that it names, it" if keep_adapter else "it loads, generates and"
    typer.echo(f"merged into {merged}; {what} is what was trained")


def _number(folder: RunFolder, step: str | None) -> int | None:
    from code_rlvr.train.checkpoints import best_step

    if step is None or step.isdecimal():
        return int(step) if step else None
    if step != "best":
        raise UsageError(f"--step is a number or best, not {step!r}")
    best = best_step(folder)
    typer.echo(str(best))
    return best.step
