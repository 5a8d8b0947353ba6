"""Commands that run programs, or say whether that is safe here: verify, doctor."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from code_rlvr.commands import CpuSeconds, IsolationOption, MemoryMib, Python, WallSeconds, Workers, app, interruptible


@app.command(
    epilog="Examples, one a line:\n\n"
    "`code-rlvr verify problems.jsonl solutions.jsonl --out verdicts.jsonl`\n\n"
    "`code-rlvr verify train.parquet samples.jsonl --max-tests 20 --workers 8 --json`\n\n"
    "Exit codes: 0 all were judged, 1 something was not, or a known label was contradicted, 2 bad input.",
)
def verify(
    problems: Annotated[Path, typer.Argument(help="verl's parquet, JSONL, or a prepared folder.")],
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
        isolation,
    )
    with interruptible("the same command goes on where it stopped" if out else "with --out it could be continued"):
        summary = run_verify(problems, solutions, settings, Console(stderr=True, highlight=False))
    if as_json:
        typer.echo(json.dumps(summary.to_json()))
    else:
        summary.show(Console(highlight=False))
    raise typer.Exit(summary.exit_code)


@app.command(
    epilog="Examples, one a line:\n\n"
    "`code-rlvr doctor`\n\n"
    "`code-rlvr doctor --python ~/contest/bin/python --json`\n\n"
    "`code-rlvr doctor --preset single-gpu-0.5b --set data.train_file=data/train.parquet`",
)
def doctor(
    *,
    python: Python = None,
    isolation: IsolationOption = "full",
    preset: Annotated[str | None, typer.Option(help="Look whether a run with this preset could start here.")] = None,
    config: Annotated[Path | None, typer.Option(help="The same for the settings of a run in TOML.")] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", help="A setting of that run, section.key=value. Repeatable.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON only.")] = False,
) -> None:
    """Say what this machine can do to keep programs in their sandbox, by trying it; and whether a run could start."""
    from code_rlvr.doctor import examine, examine_run, show, to_json

    findings = list(examine(python, isolation))
    if preset or config or settings:
        findings += examine_run(preset, config, settings or [])
    if as_json:
        typer.echo(json.dumps(to_json(findings)))
    else:
        show(findings, Console(highlight=False))
    raise typer.Exit(any(finding.state == "failed" for finding in findings))
