"""The command ``code-rlvr``.

Each command checks and formats; the work is in the package.  Heavy libraries are imported inside the
commands, so that ``--help`` is immediate.

Exit codes: 0 done, 1 it ran and failed, 2 what was given cannot be used, 130 interrupted.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from code_rlvr.errors import CodeRlvrError, UsageError

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    help="Train language models to write programs, rewarded by running the programs.",
)
_errors = Console(stderr=True, soft_wrap=True, highlight=False)

Overrides = Annotated[
    list[str] | None,
    typer.Argument(metavar="[section.key=value]...", help="Settings to change, e.g. trainer.steps=40."),
]
Python = Annotated[
    Path | None, typer.Option(help="Interpreter for solutions, e.g. of an environment with numpy; our own if left out.")
]
Workers = Annotated[int | None, typer.Option(min=1, help="Programs judged at once; one per CPU if left out.")]
CpuSeconds = Annotated[float | None, typer.Option(help="CPU seconds per test, where the problem names none.")]
WallSeconds = Annotated[float | None, typer.Option(help="Wall seconds per test; 4 x CPU + 6 if left out.")]
MemoryMib = Annotated[int | None, typer.Option(help="Memory per test, where the problem names none.")]
IsolationOption = Annotated[
    str, typer.Option(help="full; process only where there are no system call filters and programs are trusted.")
]


def main() -> None:
    """Run the command line; turn our exceptions into one message and an exit code."""
    words, raw = _split_at_dashes(sys.argv[1:])
    try:
        app(args=words, obj=raw)
    except CodeRlvrError as error:
        _errors.print(f"[bold red]error:[/] {_escape(str(error))}")
        sys.exit(2 if isinstance(error, UsageError) else 1)
    except KeyboardInterrupt:
        _errors.print("interrupted; the same command goes on where it stopped")
        sys.exit(130)


def _split_at_dashes(words: list[str]) -> tuple[list[str], list[str]]:
    """The words before the first `--`, and those after it, which only `train` takes."""
    if words[:1] != ["train"] or "--" not in words:
        return words, []
    at = words.index("--")
    return words[:at], words[at + 1 :]


def _escape(text: str) -> str:
    return text.replace("[", r"\[")


@app.command(
    epilog="Example: `code-rlvr quickstart --seed 1 --name second train.trainer.steps=40`",
)
def quickstart(
    overrides: Overrides = None,
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
    run_quickstart(load_config(QuickstartConfig, None, words), Console(highlight=False))


@app.command(
    epilog="Examples, one a line:\n\n"
    "`code-rlvr prepare eurus --model Qwen/Qwen2.5-Coder-0.5B-Instruct --benchmark humaneval --out data/eurus`\n\n"
    "`code-rlvr prepare my-problems.jsonl --train-size 500 --out data/mine`\n\n"
    "`code-rlvr prepare taco=train.parquet --validation apps=test.jsonl --out data/contests`\n\n"
    "Sources are files, folders and data sets on the hub (OWNER/NAME, or a short name); LAYOUT=SOURCE names the layout "
    "of the rows where the first row does not tell. docs/data.md has the layouts.",
)
def prepare(
    sources: Annotated[list[str], typer.Argument(help="Where the problems come from; any number.")],
    *,
    out: Annotated[Path, typer.Option(help="Folder for the set: parquet files, manifest.json and more.")],
    validation: Annotated[
        list[str] | None, typer.Option(help="Sources for validation; a part of the others if left out. Repeatable.")
    ] = None,
    benchmark: Annotated[
        list[str] | None, typer.Option(help="Source whose problems must not be in the set. Repeatable.")
    ] = None,
    model: Annotated[
        str | None, typer.Option(help="Model to be trained: its tokenizer measures prompts; estimated if left out.")
    ] = None,
    instruction: Annotated[
        str | None, typer.Option(help="What prompts say about the form of the answer; '' for nothing, else our own.")
    ] = None,
    max_prompt_tokens: Annotated[int, typer.Option(min=1, help="Longer prompts are dropped.")] = 512,
    max_tests: Annotated[int, typer.Option(min=1, help="Of more tests, a problem keeps a sample.")] = 32,
    max_test_kib: Annotated[int, typer.Option(min=1, help="Size of a problem's tests together.")] = 256,
    train_size: Annotated[int, typer.Option(min=0, help="Problems for training, a sample; 0 for all.")] = 1000,
    validation_size: Annotated[
        int | None, typer.Option(min=1, help="Problems for validation; all that were given, or a tenth, at most 200.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of every sample.")] = 0,
    revision: Annotated[str | None, typer.Option(help="Branch, tag or commit of data sets on the hub.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the set that is there.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the manifest only.")] = False,
) -> None:
    """Turn problems of any kind into a clean set to train on, and account for every row.

    Interrupted, the same command goes on where it stopped.
    """
    from code_rlvr.data.prepare.manifest import outcome_table
    from code_rlvr.data.prepare.run import PrepareSettings
    from code_rlvr.data.prepare.run import prepare as run_prepare

    settings = PrepareSettings(
        sources=tuple(sources),
        out=out,
        validation=tuple(validation or ()),
        benchmarks=tuple(benchmark or ()),
        model=model,
        revision=revision,
        instruction=instruction,
        max_prompt_tokens=max_prompt_tokens,
        max_tests=max_tests,
        max_test_kib=max_test_kib,
        train_size=train_size or None,
        validation_size=validation_size,
        seed=seed,
        overwrite=overwrite,
    )
    prepared = run_prepare(settings, Console(stderr=True, highlight=False))
    if as_json:
        typer.echo(json.dumps(prepared.manifest))
        return
    Console(highlight=False).print(outcome_table(prepared.manifest))
    typer.echo(f"{prepared.folder}; next: code-rlvr audit {prepared.folder}")


@app.command(
    epilog="Examples, one a line:\n\n"
    "`code-rlvr verify problems.jsonl solutions.jsonl --out verdicts.jsonl`\n\n"
    "`code-rlvr verify train.parquet samples.jsonl --max-tests 20 --workers 8 --json`\n\n"
    "Exit codes: 0 all were judged, 1 something was not, or a known label was contradicted, 2 bad input.",
)
def verify(
    problems: Annotated[Path, typer.Argument(help="verl's parquet, or JSONL with problem_id and tests.")],
    solutions: Annotated[
        Path, typer.Argument(help="JSONL: problem_id, response or code, and verdict where it is known.")
    ],
    *,
    out: Annotated[Path | None, typer.Option(help="File for one verdict a line; continued if it exists.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Start the file of verdicts anew.")] = False,
    workers: Workers = None,
    max_tests: Annotated[int | None, typer.Option(min=1, help="Of more tests, judge by a sample of so many.")] = None,
    stop_at_first_failure: Annotated[
        bool, typer.Option("--stop-at-first-failure", help="Faster; the share of tests passed comes out too low.")
    ] = False,
    cpu_s: CpuSeconds = None,
    wall_s: WallSeconds = None,
    memory_mib: MemoryMib = None,
    python: Python = None,
    isolation: IsolationOption = "full",
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as one JSON object only.")] = False,
) -> None:
    """Judge solutions against the tests of their problems, and count the verdicts."""
    from code_rlvr.verify.run import VerifySettings, limits_of
    from code_rlvr.verify.run import verify as run_verify

    limits = limits_of(cpu_s=cpu_s, wall_s=wall_s, memory_mib=memory_mib)
    settings = VerifySettings(
        limits,
        workers,
        max_tests,
        stop_at_first_failure,
        out,
        overwrite,
        python,
        isolation,  # type: ignore[arg-type]
    )
    try:
        summary = run_verify(problems, solutions, settings, Console(stderr=True, highlight=False))
    except KeyboardInterrupt:
        goes_on = "; the same command goes on where it stopped" if out else "; with --out it could be continued"
        _errors.print(f"interrupted{goes_on}")
        raise typer.Exit(130) from None
    if as_json:
        typer.echo(json.dumps(summary.to_json()))
    else:
        summary.show(Console(highlight=False))
    raise typer.Exit(summary.exit_code)


@app.command(epilog="Examples: `code-rlvr doctor`, `code-rlvr doctor --python ~/contest/bin/python --json`")
def doctor(
    *,
    python: Python = None,
    isolation: IsolationOption = "full",
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON only.")] = False,
) -> None:
    """Say what this machine can do to keep programs in their sandbox, by trying it."""
    from code_rlvr.doctor import examine, show, to_json

    findings = list(examine(python, isolation))  # type: ignore[arg-type]
    if as_json:
        typer.echo(json.dumps(to_json(findings)))
    else:
        show(findings, Console(highlight=False))
    raise typer.Exit(any(finding.state == "failed" for finding in findings))


@app.command(
    epilog="Examples, one a line:\n\n"
    "`code-rlvr train --preset single-gpu-0.5b data.train_file=data/train.parquet "
    "data.validation_file=data/validation.parquet name=first`\n\n"
    "`code-rlvr train --config my-run.toml trainer.steps=200 -- actor_rollout_ref.actor.grad_clip=0.5`\n\n"
    "What follows `--` goes to verl as it is, after everything else. Every setting: docs/train.md.",
)
def train(
    context: typer.Context,
    overrides: Overrides = None,
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
) -> None:
    """Train a model with verl's PPO or GRPO, rewarded by running its programs."""
    from code_rlvr.config import load_config
    from code_rlvr.runs import RunFolder
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
    result = run_training(settings, resume=resume is not None)
    typer.echo(f"trained {result.steps} steps; next: code-rlvr merge {result.run.path}")


@app.command(epilog="Example: `code-rlvr merge runs/my-run --step 40`")
def merge(
    run: Annotated[Path, typer.Argument(help="Folder of the run.")],
    *,
    step: Annotated[int | None, typer.Option(help="Step of the checkpoint; the last one when left out.")] = None,
) -> None:
    """Turn a checkpoint into a Hugging Face folder, and prove that it loads and generates."""
    from code_rlvr.runs import RunFolder
    from code_rlvr.train.merge import merge_checkpoint

    typer.echo(f"merged into {merge_checkpoint(RunFolder(run), step)}; it loads and generates")


@app.command(epilog="Example: `code-rlvr report runs/my-run`")
def report(run: Annotated[Path, typer.Argument(help="Folder of the run.")]) -> None:
    """Render a run as one self-contained report.html."""
    from code_rlvr.report.html import build_report
    from code_rlvr.runs import RunFolder

    typer.echo(str(build_report(RunFolder(run))))
