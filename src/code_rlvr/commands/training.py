"""Commands that train: quickstart, warmstart, train."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from code_rlvr.commands import app, errors, interruptible
from code_rlvr.errors import UsageError
from code_rlvr.runs import RunFolder

SETTING = "[section.key=value]..."


@app.command(
    epilog="Example: `code-rlvr quickstart --seed 1 --name second train.trainer.steps=40`",
)
def quickstart(
    overrides: Annotated[
        list[str] | None, typer.Argument(metavar=SETTING, help="Settings to change, e.g. train.trainer.steps=40.")
    ] = None,
    *,
    name: Annotated[str, typer.Option(help="Name of the run below --runs-dir.")] = "quickstart",
    seed: Annotated[int, typer.Option(min=0, help="Seed of everything: problems, first weights, sampling.")] = 0,
    runs_dir: Annotated[Path, typer.Option(help="Folder that holds all runs.")] = Path("runs"),
) -> None:
    """Make a small model, train it with PPO on a CPU, and measure how much better it got.

    About 10 minutes on 2 cores, 6 GiB of memory, no network.  Interrupted, it goes on where it stopped.
    """
    from code_rlvr.config import load_config
    from code_rlvr.quickstart import QuickstartConfig, run_quickstart

    words = [f"name={name}", f"seed={seed}", f"runs_dir={runs_dir}", *(overrides or [])]
    settings = load_config(QuickstartConfig, None, words)
    with interruptible("the same command goes on where it stopped"):
        run_quickstart(settings, Console(highlight=False))


@app.command(
    epilog="Example: `code-rlvr warmstart my-data --out models/tiny max_length=1024 steps=2000`\n\n"
    "Every setting: docs/reference/config.md, `warm_start`.",
)
def warmstart(
    data: Annotated[Path, typer.Argument(metavar="SET", help="Folder that `prepare` wrote, with solutions.")],
    overrides: Annotated[
        list[str] | None, typer.Argument(metavar="[key=value]...", help="Settings to change, e.g. max_length=1024.")
    ] = None,
    *,
    out: Annotated[Path, typer.Option(help="Folder of the model to make.")],
    solutions: Annotated[
        Path | None, typer.Option(help="JSONL of solutions in place of the folder's solutions.jsonl.")
    ] = None,
) -> None:
    """Make a small model from nothing that has read the solutions of your problems.

    Training by rewards needs a model that is right now and then, and this one is where its problems are alike.  A
    minute or two on a CPU, no download; for problems of any difficulty take a model that was pretrained.
    """
    from transformers.utils import logging

    from code_rlvr.config import load_config
    from code_rlvr.progress import Stages
    from code_rlvr.train.warmstart import WarmStartSettings, progress_in_words, warm_start
    from code_rlvr.train.warmstart_corpus import read_corpus

    logging.disable_progress_bar()  # type: ignore[no-untyped-call]  # noise among ours
    logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    settings = load_config(WarmStartSettings, None, overrides or [])
    corpus = read_corpus(data, solutions)
    stages = Stages(Console(highlight=False), total=1)
    with (
        interruptible("nothing was written"),
        stages.stage(f"{len(corpus):,} solutions, {settings.steps:,} steps"),
        stages.bar(settings.steps) as advance,
    ):
        made = warm_start(out, corpus, settings, progress_in_words(advance))
    if made.left_out:
        typer.echo(f"left out: {made.left_out:,} solutions longer than max_length={settings.max_length} tokens")
    typer.echo(
        f"{made.parameters / 1e6:.2f} million parameters, loss {made.loss:.3f}; next: code-rlvr train model={out} "
        f"data.train_file={data / 'train.parquet'} data.validation_file={data / 'validation.parquet'}"
    )


@app.command(
    epilog="Examples, one a line:\n\n"
    "`code-rlvr train --preset single-gpu-0.5b data.train_file=data/train.parquet "
    "data.validation_file=data/validation.parquet name=first`\n\n"
    "`code-rlvr train --config my-run.toml trainer.steps=200 -- actor_rollout_ref.actor.grad_clip=0.5`\n\n"
    "What follows `--` goes to verl as it is, after everything else. Every setting: docs/reference/config.md.",
)
def train(
    context: typer.Context,
    overrides: Annotated[
        list[str] | None, typer.Argument(metavar=SETTING, help="Settings to change, e.g. trainer.steps=40.")
    ] = None,
    *,
    preset: Annotated[
        str | None, typer.Option(help="Settings for a kind of machine: laptop, single-gpu-0.5b, ...")
    ] = None,
    config: Annotated[
        Path | None, typer.Option(help="TOML file with the settings of the run; they come after a preset's.")
    ] = None,
    resume: Annotated[
        Path | None, typer.Option(help="Folder of a run to go on with, from its last checkpoint.")
    ] = None,
    skip: Annotated[
        list[str] | None, typer.Option(help="A check before the start to leave out; doctor --config names them.")
    ] = None,
) -> None:
    """Train a model with verl's PPO or GRPO, rewarded by running its programs."""
    from code_rlvr.config import load_config
    from code_rlvr.train.config import TrainConfig
    from code_rlvr.train.launch import train as run_training
    from code_rlvr.train.presets import find_preset

    if resume is not None and (config is not None or preset is not None):
        raise UsageError("--resume reads the run's own config.json; give it without --config and --preset")
    words = list(overrides or [])
    if resume is not None:  # wherever it lies now, and wherever this command is called
        config = RunFolder(resume).config
        words = [f"runs_dir={resume.absolute().parent}", f"name={resume.absolute().name}", *words]
    settings = load_config(TrainConfig, config, words, base=find_preset(preset) if preset else None)
    settings = settings.model_copy(update={"verl": (*settings.verl, *(context.obj or ()))})
    try:
        result = run_training(settings, resume=resume is not None, skip=skip or (), preset=preset)
    except KeyboardInterrupt:
        errors.print(_how_to_go_on(settings.run))
        raise typer.Exit(130) from None
    typer.echo(f"trained {result.steps} steps; next: code-rlvr merge {result.run.path}")


def _how_to_go_on(run: RunFolder) -> str:
    from code_rlvr.train.checkpoints import last_step

    last = last_step(run)
    if last is None:
        return "interrupted; there is no checkpoint yet"
    return f"interrupted; its last checkpoint is step {last}, go on with: code-rlvr train --resume {run.path}"
