"""Commands that make a set of problems and look at it: prepare, audit."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from code_rlvr.commands import CpuSeconds, IsolationOption, MemoryMib, Python, WallSeconds, Workers, app, interruptible
from code_rlvr.errors import PreflightError

if TYPE_CHECKING:
    from code_rlvr.data.prepare.run import Prepared

Sources = Annotated[list[str], typer.Argument(help="Where the problems come from; any number.")]
Out = Annotated[Path, typer.Option(help="Folder for the set: parquet files, manifest.json and more.")]
Validation = Annotated[
    list[str] | None, typer.Option(help="Sources for validation; a part of the others if left out. Repeatable.")
]
Benchmark = Annotated[list[str] | None, typer.Option(help="Source whose problems must not be in the set. Repeatable.")]
Model = Annotated[
    str | None, typer.Option(help="Model to be trained: its tokenizer measures prompts; estimated if left out.")
]
Instruction = Annotated[
    str | None, typer.Option(help="What prompts say about the form of the answer; '' for nothing, else our own.")
]
MaxPromptTokens = Annotated[int, typer.Option(min=1, help="Longer prompts are dropped.")]
MaxTests = Annotated[int, typer.Option(min=1, help="Of more tests, a problem keeps a sample.")]
MaxTestKib = Annotated[int, typer.Option(min=1, help="Size of a problem's tests together.")]
TrainSize = Annotated[int, typer.Option(min=0, help="Problems for training, a sample; 0 for all.")]
ValidationSize = Annotated[
    int | None, typer.Option(min=1, help="Problems for validation; all that were given, or a tenth, at most 200.")
]
Seed = Annotated[int, typer.Option(min=0, help="Of every sample.")]
Revision = Annotated[str | None, typer.Option(help="Branch, tag or commit of data sets on the hub.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace what is there.")]
ProblemSet = Annotated[
    Path, typer.Argument(metavar="SET", help="verl's parquet, JSONL, or a folder that `prepare` wrote.")
]
References = Annotated[
    Path | None, typer.Option(help="JSONL of reference solutions; solutions.jsonl of the folder if left out.")
]
Page = Annotated[Path | None, typer.Option(help="File for a page with findings, examples and statistics.")]
Drop = Annotated[Path | None, typer.Option(help="Where to write the set without its defects.")]
NoRun = Annotated[bool, typer.Option("--no-run", help="Run no program; find what can be told without.")]
MinTests = Annotated[int, typer.Option(min=1, help="Fewer tests of a problem are suspect.")]


@app.command(
    epilog="Examples, one a line:\n\n"
    "`code-rlvr prepare eurus --model Qwen/Qwen2.5-Coder-0.5B-Instruct --benchmark humaneval --out data/eurus`\n\n"
    "`code-rlvr prepare my-problems.jsonl --train-size 500 --out data/mine`\n\n"
    "`code-rlvr prepare taco=train.parquet --validation apps=test.jsonl --out data/contests`\n\n"
    "Sources are files, folders and data sets on the hub (OWNER/NAME, or a short name); LAYOUT=SOURCE names the layout "
    "of the rows where the first row does not tell. docs/data.md has the layouts.",
)
def prepare(
    sources: Sources,
    *,
    out: Out,
    validation: Validation = None,
    benchmark: Benchmark = None,
    model: Model = None,
    instruction: Instruction = None,
    max_prompt_tokens: MaxPromptTokens = 512,
    max_tests: MaxTests = 32,
    max_test_kib: MaxTestKib = 256,
    train_size: TrainSize = 1000,
    validation_size: ValidationSize = None,
    seed: Seed = 0,
    revision: Revision = None,
    overwrite: Overwrite = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the manifest only.")] = False,
) -> None:
    """Turn problems of any kind into a clean set to train on, and account for every row.

    Interrupted, the same command goes on where it stopped.
    """
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
    with interruptible("the same command goes on where it stopped"):
        prepared = run_prepare(settings, Console(stderr=True, highlight=False))
    _show_prepared(prepared, as_json=as_json)


def _show_prepared(prepared: Prepared, *, as_json: bool) -> None:
    from code_rlvr.data.prepare.manifest import outcome_table

    if as_json:
        typer.echo(json.dumps(prepared.manifest))
        return
    Console(highlight=False).print(outcome_table(prepared.manifest))
    typer.echo(f"{prepared.folder}; next: code-rlvr audit {prepared.folder}")


@app.command(
    epilog="Examples, one a line:\n\n"
    "`code-rlvr audit data/eurus --html audit.html`\n\n"
    "`code-rlvr audit data/train.parquet --solutions references.jsonl --drop clean.parquet --workers 8`\n\n"
    "Exit codes: 0 no defects, 1 defects, or something could not be audited, 2 bad input. Findings: docs/data.md.",
)
def audit(
    problems: ProblemSet,
    *,
    solutions: References = None,
    html: Page = None,
    drop: Drop = None,
    overwrite: Overwrite = False,
    no_run: NoRun = False,
    min_tests: MinTests = 3,
    workers: Workers = None,
    cpu_s: CpuSeconds = None,
    wall_s: WallSeconds = None,
    memory_mib: MemoryMib = None,
    python: Python = None,
    isolation: IsolationOption = "full",
    as_json: Annotated[bool, typer.Option("--json", help="Print what was found as one JSON object.")] = False,
) -> None:
    """Find the problems of a set that a model should not be trained on."""
    from code_rlvr.audit.run import AuditSettings
    from code_rlvr.audit.run import audit as run_audit
    from code_rlvr.verify.run import limits_of

    if html is not None:
        write_page = _page_writer(html)
    settings = AuditSettings(
        limits=limits_of(cpu_s=cpu_s, wall_s=wall_s, memory_mib=memory_mib),
        workers=workers,
        run=not no_run,
        min_tests=min_tests,
        solutions=solutions,
        drop=drop,
        overwrite=overwrite,
        python=python,
        isolation=isolation,
    )
    with interruptible("nothing was written"):
        result = run_audit(problems, settings, Console(stderr=True, highlight=False))
    if html is not None:
        write_page(html, result)
    if as_json:
        typer.echo(json.dumps(result.to_json()))
    else:
        result.show(Console(highlight=False))
    raise typer.Exit(130 if result.interrupted else result.exit_code)


def _page_writer(html: Path) -> Callable[[Path, Any], None]:
    """What writes the page, once it is sure that it can."""
    try:
        from code_rlvr.audit.page import require_usable_page, write_page
    except ModuleNotFoundError as error:
        raise PreflightError(f"a page needs {error.name}: pip install 'code-rlvr[report]'") from None
    require_usable_page(html)
    return write_page
