"""The command that measures a model on benchmarks: eval."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.console import Console

from code_rlvr.commands import (
    CpuSeconds,
    IsolationOption,
    MemoryMib,
    Python,
    WallSeconds,
    Workers,
    app,
    errors,
    interruptible,
)
from code_rlvr.errors import ConfigError

if TYPE_CHECKING:
    from code_rlvr.evaluate.result import Result
    from code_rlvr.evaluate.run import EvalRequest

TIMEOUTS_BEFORE_STOP = 1  # a program over time or memory once has failed; its other tests would only take time
WIDTH_OF_A_LOG = 120  # where there is no terminal to fold for

On = Annotated[
    list[str] | None,
    typer.Option(
        help="Benchmarks, with commas: heldout, humaneval, mbpp, mbpp-sanitized, livecodebench, gsm8k, NAME=PATH."
    ),
]
Harness = Annotated[
    str | None, typer.Option("--with", help="evalscope: it asks and extracts, our sandbox runs; docs/evalscope.md.")
]
Datasets = Annotated[
    list[str] | None, typer.Option(help="With EvalScope: humaneval, live_code_bench, gsm8k, each also as NAME=FILE.")
]
EvalScopePython = Annotated[
    Path | None, typer.Option("--evalscope-python", help="Interpreter that has EvalScope; our own if left out.")
]
Temperature = Annotated[float | None, typer.Option(min=0, help="0 is greedy; 0 with one sample, 1 with several.")]
MaxNewTokens = Annotated[
    int | None, typer.Option(min=1, help="Longest response; as the model's run was trained, else 1024.")
]
Instruction = Annotated[
    str | None,
    typer.Option(help="What prompts say about the form of the answer; '' for nothing; as in training if left out."),
]
EngineOption = Annotated[
    Literal["auto", "vllm", "transformers"], typer.Option(help="What samples; auto is vllm where there is a GPU.")
]
Release = Annotated[int | None, typer.Option(min=1, help="LiveCodeBench's release, 1 to 6; the newest if left out.")]


@app.command(
    "eval",
    epilog="Examples, one a line:\n\n"
    "`code-rlvr eval runs/my-run --baseline Qwen/Qwen2.5-Coder-0.5B-Instruct --on humaneval,mbpp,gsm8k`\n\n"
    "`code-rlvr eval runs/my-run --on livecodebench --from 2024-08 --to 2025-02 --samples 10 --k 1,10`\n\n"
    "`code-rlvr eval my-model --on mine=problems.jsonl --out results`\n\n"
    "`code-rlvr eval runs/my-run --baseline my-model --with evalscope --datasets humaneval,gsm8k --limit 100`\n\n"
    "Interrupted, the same command goes on where it stopped. Benchmarks, files and figures: docs/evaluate.md.",
)
def evaluate(
    model: Annotated[str, typer.Argument(help="Hugging Face folder, name on the hub, or runs/NAME.")],
    *,
    on: On = None,
    harness: Harness = None,
    datasets: Datasets = None,
    evalscope_python: EvalScopePython = None,
    baseline: Annotated[str | None, typer.Option(help="Model to compare with, e.g. the one before training.")] = None,
    samples: Annotated[int, typer.Option(min=1, help="Samples of each problem.")] = 1,
    k: Annotated[str | None, typer.Option(help="Which pass@k, with commas; 1, 5, 10, 100 as samples permit.")] = None,
    temperature: Temperature = None,
    top_p: Annotated[float, typer.Option(help="Share of probability to sample from.")] = 1.0,
    max_new_tokens: MaxNewTokens = None,
    seed: Annotated[int, typer.Option(min=0, help="Of all samples.")] = 0,
    instruction: Instruction = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Only so many problems of each, the first ones.")] = None,
    first_date: Annotated[str | None, typer.Option("--from", help="LiveCodeBench: contests since, 2024-08.")] = None,
    last_date: Annotated[str | None, typer.Option("--to", help="LiveCodeBench: contests up to, 2025-02.")] = None,
    release: Release = None,
    revision: Annotated[str | None, typer.Option(help="Branch, tag or commit of data sets on the hub.")] = None,
    engine: EngineOption = "auto",
    batch: Annotated[int | None, typer.Option(min=1, help="Samples drawn at once; smaller needs less memory.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder; eval/ of the run, else eval-results/NAME.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Draw all samples anew.")] = False,
    allow_trained_on: Annotated[
        bool, typer.Option("--allow-trained-on", help="Go on with problems that the model was trained on.")
    ] = False,
    workers: Workers = None,
    cpu_s: CpuSeconds = None,
    wall_s: WallSeconds = None,
    memory_mib: MemoryMib = None,
    python: Python = None,
    isolation: IsolationOption = "full",
    as_json: Annotated[bool, typer.Option("--json", help="Print the results as one JSON object only.")] = False,
) -> None:
    """Measure a model on benchmarks, and how much better it is than another."""
    words = _words(harness, on, datasets, evalscope_python)
    _announce(model, baseline, words)
    from code_rlvr.evaluate.benchmarks import Selection
    from code_rlvr.evaluate.catalogue import Window
    from code_rlvr.evaluate.run import EvalRequest
    from code_rlvr.evaluate.table import show_results
    from code_rlvr.verify.run import limits_of

    request = EvalRequest(
        model=model,
        baseline=baseline,
        on=words,
        selection=Selection(limit, Window.parse(first_date, last_date), release, revision),
        engine=engine,
        samples=samples,
        ks=_numbers(k),
        temperature=temperature,
        top_p=top_p,
        max_new_tokens=max_new_tokens,
        seed=seed,
        instruction=instruction,
        batch=batch,
        out=out,
        overwrite=overwrite,
        allow_trained_on=allow_trained_on,
        workers=workers,
        limits=limits_of(cpu_s=cpu_s, wall_s=wall_s, memory_mib=memory_mib, timeouts_before_stop=TIMEOUTS_BEFORE_STOP),
        python=python,
        isolation=isolation,
    )
    with interruptible("the same command goes on where it stopped"):
        folder, results = _run(request, evalscope_python, with_evalscope=harness is not None)
    if as_json:
        typer.echo(json.dumps({"out": str(folder), "results": [result.to_json() for result in results]}))
        return
    console = Console(highlight=False)
    show_results(results, console if console.is_terminal else Console(highlight=False, width=WIDTH_OF_A_LOG))
    typer.echo(f"results: {folder}")


def _run(request: EvalRequest, evalscope_python: Path | None, *, with_evalscope: bool) -> tuple[Path, list[Result]]:
    from code_rlvr.evaluate.evalscope.run import run_evalscope
    from code_rlvr.evaluate.run import run_eval

    progress = Console(stderr=True, highlight=False)
    return run_evalscope(request, evalscope_python, progress) if with_evalscope else run_eval(request, progress)


def _announce(model: str, baseline: str | None, words: list[str]) -> None:
    """Say what is being done, for the imports take seconds."""
    against = f" against {baseline}" if baseline else ""
    errors.print(f"evaluating {model}{against} on {', '.join(words)}", markup=False)


def _words(
    harness: str | None, on: list[str] | None, datasets: list[str] | None, evalscope_python: Path | None
) -> list[str]:
    """Benchmarks: of `--on` for our own evaluation, of `--datasets` with EvalScope."""
    if harness is None:
        if datasets or evalscope_python:
            raise ConfigError("--datasets and --evalscope-python are for --with evalscope")
        if not on:
            raise ConfigError("name benchmarks with --on, as in --on humaneval,gsm8k")
        return on
    if harness != "evalscope":
        raise ConfigError(f"--with {harness}: it has to be evalscope, or left out")
    if on or not datasets:
        raise ConfigError("with EvalScope, name benchmarks with --datasets alone, as in --datasets humaneval,gsm8k")
    return datasets


def _numbers(text: str | None) -> tuple[int, ...]:
    try:
        return tuple(sorted({int(part) for part in text.split(",")})) if text else ()
    except ValueError:
        raise ConfigError(f"--k {text!r}: write numbers with commas between, as in 1,10") from None
