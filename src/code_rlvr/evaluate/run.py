"""The command ``code-rlvr eval``: models and benchmarks in; samples, scores and comparisons out.

    OUT/after/NAME.samples.jsonl   one line a sample, of the model       OUT/after/NAME.json   its scores
    OUT/before/…                   the same of the baseline              OUT/NAME.comparison.json

NAME is the benchmark's and tells how samples were drawn (`naming`).  In a run's `eval/` the report finds them.

Covered: the order of things; everything that was given is checked before a model is loaded.
Not covered: what a benchmark is (`benchmarks`), sampling and grading (`generate`), tables (`table`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import BaseModel, ValidationError
from rich.console import Console

from code_rlvr.errors import ConfigError, DataError
from code_rlvr.evaluate.benchmark import Benchmark, limit_of
from code_rlvr.evaluate.benchmarks import LIVECODEBENCH, Selection, load_benchmark, parse_words
from code_rlvr.evaluate.choose_engine import BATCHES, EngineChoice, EngineName, LateEngine, choose_engine
from code_rlvr.evaluate.compare import compare_runs
from code_rlvr.evaluate.generate import EvaluationSettings, OnProgress, evaluate_task
from code_rlvr.evaluate.model import Model, find_model
from code_rlvr.evaluate.model_check import require_loadable
from code_rlvr.evaluate.naming import file_name
from code_rlvr.evaluate.result import Result
from code_rlvr.evaluate.scores import Scores, TrainingCheck
from code_rlvr.evaluate.training_data import check_benchmarks, training_instruction
from code_rlvr.progress import Stages
from code_rlvr.types import Limits
from code_rlvr.verifier.judge import Judge
from code_rlvr.verifier.sandbox import Isolation
from code_rlvr.whole_file import whole_file
from code_rlvr.words import counted

MAX_NEW_TOKENS = 1024
"""Longest response where neither the command nor the model's run says."""
USUAL_KS = (1, 5, 10, 100)


@dataclass(frozen=True, slots=True)
class EvalRequest:
    """What the command was asked for.

    Args:
        model, baseline: As `find_model` takes them; no comparison without a baseline.
        on: As `parse_words` takes it.
        selection: Which problems.
        engine: Which engine.
        samples, top_p, seed: See `EvaluationSettings`.
        ks: Empty for those of `USUAL_KS` that the samples suffice for.
        temperature: None for 0 with one sample, 1 with several.
        max_new_tokens: None for what the model's run trained with, else `MAX_NEW_TOKENS`.
        instruction: None for what the model's run trained with, else the default.
        batch: None for the engine's own.
        out: None for the run's `eval`, else ``eval-results/NAME``.
        overwrite: Whether samples that are there are thrown away.
        allow_trained_on: Whether to go on with problems that the model was trained on.
        workers, limits, python, isolation: As for `Judge`.
    """

    model: str
    baseline: str | None = None
    on: Sequence[str] = ("heldout",)
    selection: Selection = field(default_factory=Selection)
    engine: EngineChoice = "auto"
    samples: int = 1
    ks: tuple[int, ...] = ()
    temperature: float | None = None
    top_p: float = 1.0
    max_new_tokens: int | None = None
    seed: int = 0
    instruction: str | None = None
    batch: int | None = None
    out: Path | None = None
    overwrite: bool = False
    allow_trained_on: bool = False
    workers: int | None = None
    limits: Limits = field(default_factory=Limits)
    python: Path | None = None
    isolation: Isolation = "full"


@dataclass(frozen=True, slots=True)
class _Evaluated:
    """One side of a comparison: a model, and what is known of each benchmark's problems and its training."""

    stage: str
    model: Model
    checks: dict[str, TrainingCheck]


def run_eval(request: EvalRequest, console: Console) -> tuple[Path, list[Result]]:
    """Evaluate a model, and a baseline if there is one.

    Args:
        request: What to do.
        console: For progress.

    Returns:
        The folder of the results, and what is in it by benchmark.

    Raises:
        UsageError: Something that was given cannot be used.
        PreflightError: This machine cannot do it.
        JudgeFault: The sandbox cannot be set up, or failed on every sample.
    """
    words = parse_words(request.on)
    _require_use(request, set(words))
    models = {"after": find_model(request.model)}
    if request.baseline is not None:
        models = {"before": find_model(request.baseline), **models}
    engine = choose_engine(request.engine)
    for model in models.values():
        require_loadable(model.folder, engine)
    settings = settings_for(request, list(models.values()), engine)
    out = request.out or default_out(models["after"])
    stages = Stages(console, total=1 + len(models))
    with stages.stage("Benchmarks"):
        benchmarks = [load_benchmark(name, path, request.selection) for name, path in words.items()]
        for benchmark in benchmarks:
            _note_benchmark(stages, benchmark)
        known = {benchmark.name: benchmark.known() for benchmark in benchmarks}
        sides = [
            _Evaluated(stage, model, check_benchmarks(model, known, request.allow_trained_on, stages.note))
            for stage, model in models.items()
        ]
    with Judge(request.workers, request.limits, python=request.python, isolation=request.isolation) as judge:
        scores = [_evaluate_all(side, benchmarks, judge, settings, engine, out, request, stages) for side in sides]
    return out, [compare_sides(one.name, scores, settings, out, limit_of(one)) for one in benchmarks]


def default_out(model: Model) -> Path:
    """Where results go if nobody says: the run's own folder, where the report looks, else ``eval-results/NAME``."""
    is_its_model = model.run is not None and model.folder.resolve() == model.run.merged.resolve()
    if model.run and is_its_model and model.run.path.is_dir():
        return model.run.eval
    return Path("eval-results") / (model.name if model.run is None or is_its_model else model.folder.resolve().name)


def _require_use(request: EvalRequest, names: set[str]) -> None:
    """Refuse options that would do nothing."""
    window, release = request.selection.window, request.selection.release
    if (window or release is not None) and LIVECODEBENCH not in names:
        raise ConfigError("--from, --to and --release choose LiveCodeBench's problems; add livecodebench to --on")


def settings_for(request: EvalRequest, models: Sequence[Model], engine: EngineName) -> EvaluationSettings:
    """One for all models: what the command says, else what the first run among them trained with."""
    of_run = [model for model in reversed(models) if model.run]
    trained = next((model.run_setting("data.max_response_tokens") for model in of_run), None)
    told = next((training_instruction(model) for model in of_run), None)
    temperature = request.temperature
    if temperature is None:
        temperature = 0.0 if request.samples == 1 else 1.0
    try:
        return EvaluationSettings(
            samples=request.samples,
            ks=request.ks or tuple(k for k in USUAL_KS if k <= request.samples),
            temperature=temperature,
            top_p=request.top_p,
            max_new_tokens=request.max_new_tokens or trained or MAX_NEW_TOKENS,
            seed=request.seed,
            instruction=request.instruction if request.instruction is not None else told,
            batch=request.batch or BATCHES[engine],
        )
    except ValidationError as error:
        reasons = "; ".join(one["msg"].removeprefix("Value error, ") for one in error.errors())
        raise ConfigError(f"these settings do not fit together: {reasons}") from None


def _note_benchmark(stages: Stages, benchmark: Benchmark) -> None:
    left_out = {key: count for key, count in benchmark.about.items() if key.startswith("left out")}
    told = "".join(f"; {key}: {count}" for key, count in left_out.items())
    stages.note(f"{benchmark.name}: {counted(len(benchmark), 'problem')}{told}")


def _evaluate_all(
    side: _Evaluated,
    benchmarks: Sequence[Benchmark],
    judge: Judge,
    settings: EvaluationSettings,
    engine_name: EngineName,
    out: Path,
    request: EvalRequest,
    stages: Stages,
) -> dict[str, Scores]:
    """One model on every benchmark; its memory is given back afterwards."""
    found = {}
    engine = LateEngine(side.model.folder, engine_name, settings.batch)
    try:
        with stages.stage(f"{side.model.word} with {engine_name}"):
            for benchmark in benchmarks:
                name = file_name(benchmark.name, settings)
                with stages.bar(len(benchmark) * settings.samples) as advance:
                    scores = evaluate_task(
                        engine,
                        side.model.word,
                        benchmark.task(judge, settings.instruction),
                        settings,
                        out / side.stage / f"{name}.samples.jsonl",
                        on_progress=_count(advance, name),
                        overwrite=request.overwrite,
                    )
                found[benchmark.name] = scores = scores.model_copy(
                    update={
                        "engine": engine_name,
                        "benchmark": dict(benchmark.about),
                        "training_data": side.checks[benchmark.name],
                    }
                )
                scored = file_name(benchmark.name, settings, limit_of(benchmark))
                write_json(out / side.stage / f"{scored}.json", scores)
                stages.note(f"{name}: Pass@1 {scores.overall.pass_at.get('pass@1', float('nan')):.3f}")
    finally:
        engine.close()
    return found


def _count(advance: Callable[[int, str], None], name: str) -> OnProgress:
    return lambda done, _total: advance(done, name)


def compare_sides(
    name: str,
    scores: Sequence[dict[str, Scores]],
    settings: EvaluationSettings,
    out: Path,
    limit: int | None = None,
) -> Result:
    """Compare the baseline with the model on one benchmark, and write that down; without a baseline, the model alone.

    Args:
        name: The benchmark.
        scores: By benchmark, of the baseline, if there is one, and of the model.
        settings: Of both.
        out: Where results go.
        limit: How many problems were asked for, if not all.
    """
    after = scores[-1][name]
    if len(scores) == 1:
        return Result(file_name(name, settings), after)
    before = scores[0][name]
    comparison = compare_runs(before, after)
    write_json(out / f"{file_name(name, settings, limit)}.comparison.json", comparison)
    return Result(file_name(name, settings), after, before, comparison)


def write_json(file: Path, value: BaseModel) -> None:
    """Write a file in one go.

    Raises:
        DataError: There is no room, or no right to.
    """
    try:
        with whole_file(file) as unfinished:
            unfinished.write_text(value.model_dump_json(indent=2) + "\n", encoding="utf-8")
    except OSError as error:
        raise DataError(f"cannot write {file}: {error.strerror}; make room, and the same command goes on") from None
