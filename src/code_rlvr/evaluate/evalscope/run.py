"""The command ``code-rlvr eval --with evalscope``: EvalScope asks and extracts, our sandbox runs, the results are ours.

    OUT/after/evalscope-NAME_greedy.json, .samples.jsonl   scores and samples, as of any other evaluation
    OUT/after/evalscope/NAME-FINGERPRINT/                  what EvalScope wrote: rows, predictions, reviews, its report
    OUT/after/evalscope/log.txt                            what it printed
    OUT/before/…                                           the same of the baseline
    OUT/evalscope-NAME_greedy.comparison.json              the two, compared problem by problem

The fingerprint is of the model, the settings, the rows and the limits, so a folder is gone on with only where the same
is asked for.

Covered: the order of things.  Not covered: EvalScope's process (`process`), its files (`rows`, `results`).
"""

from __future__ import annotations

import contextlib
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import get_args

from rich.console import Console

from code_rlvr.errors import ConfigError
from code_rlvr.evaluate.benchmark import Benchmark, Programming
from code_rlvr.evaluate.benchmarks import Selection, load_benchmark
from code_rlvr.evaluate.choose_engine import EngineName, choose_engine
from code_rlvr.evaluate.engine import hash_model
from code_rlvr.evaluate.evalscope import PINNED_EVALSCOPE
from code_rlvr.evaluate.evalscope.job import BenchmarkName, Job, Judging, Piece
from code_rlvr.evaluate.evalscope.models import knows_system_role, require_plain_model
from code_rlvr.evaluate.evalscope.process import require_evalscope, run_job
from code_rlvr.evaluate.evalscope.results import Expected, read_records, read_report
from code_rlvr.evaluate.evalscope.rows import Rows, make_rows
from code_rlvr.evaluate.evalscope.served import SERVED_NAME, served_model
from code_rlvr.evaluate.generate import EvaluationSettings, make_scores
from code_rlvr.evaluate.model import Model, find_model
from code_rlvr.evaluate.naming import file_name
from code_rlvr.evaluate.result import Result
from code_rlvr.evaluate.run import EvalRequest, compare_sides, default_out, settings_for, write_json
from code_rlvr.evaluate.sample_file import SampleFile
from code_rlvr.evaluate.scores import Scores, TrainingCheck
from code_rlvr.evaluate.task import digest_of
from code_rlvr.evaluate.training_data import Known, check_benchmarks
from code_rlvr.progress import Stages
from code_rlvr.words import counted

BATCHES: dict[EngineName, int] = {"vllm": 64, "transformers": 1}
"""Requests under way; with transformers, EvalScope gives every response of a batch the length of the longest."""

OUR_NAMES: dict[BenchmarkName, str] = {"humaneval": "humaneval", "live_code_bench": "livecodebench", "gsm8k": "gsm8k"}


@dataclass(frozen=True, slots=True)
class _Asked:
    """One benchmark, ready to be asked."""

    name: BenchmarkName
    benchmark: Benchmark
    rows: Rows

    @property
    def groups(self) -> dict[str, str]:
        own = self.benchmark.groups if isinstance(self.benchmark, Programming) else {}
        return {one: own.get(one, self.name) for one in self.rows.problem_ids}


def run_evalscope(request: EvalRequest, interpreter: Path | None, console: Console) -> tuple[Path, list[Result]]:
    """Evaluate a model, and a baseline if there is one, with EvalScope.

    Args:
        request: What to do; its `on` names benchmarks of EvalScope, as `parse_datasets` takes them.
        interpreter: Of an environment with EvalScope; this process's own if None.
        console: For progress.

    Returns:
        The folder of the results, and what is in it by benchmark.

    Raises:
        UsageError: Something that was given cannot be used.
        PreflightError: EvalScope is not there, is another version, or failed.
        JudgeFault: The sandbox cannot be set up, or failed on every sample.
    """
    words = parse_datasets(request.on)
    _require_use(request, words)
    models = {"after": find_model(request.model)}
    if request.baseline is not None:
        models = {"before": find_model(request.baseline), **models}
    for model in models.values():
        require_plain_model(model.folder)
    engine = choose_engine(request.engine)
    settings = settings_for(replace(request, batch=request.batch or BATCHES[engine]), list(models.values()), engine)
    found = require_evalscope(interpreter)
    system_role = all(knows_system_role(model.folder) for model in models.values())  # all are asked the same
    out = request.out or default_out(models["after"])
    stages = Stages(console, total=1 + len(models))
    with stages.stage("Benchmarks"):
        asked = [_read(name, path, request.selection, stages) for name, path in words.items()]
        known: dict[str, dict[str, Known]] = {one.name: one.benchmark.known() for one in asked}
        checks = {
            stage: check_benchmarks(model, known, request.allow_trained_on, stages.note)
            for stage, model in models.items()
        }
    sides = []
    for stage, model in models.items():
        with stages.stage(f"{model.word} with EvalScope {PINNED_EVALSCOPE} and {engine}"):
            side = _Side(model, out / stage, engine, settings, request, found, system_role)
            sides.append(side.evaluate(asked, checks[stage], stages))
    return out, [compare_sides(result_name(one.name), sides, settings, out) for one in asked]


def result_name(name: BenchmarkName) -> str:
    """What the files of a benchmark are called, apart from those of our own evaluation."""
    return f"evalscope-{name}"


def parse_datasets(words: Sequence[str]) -> dict[BenchmarkName, Path | None]:
    """Names of EvalScope's benchmarks, each with the path where its rows are, if it was given.

    Args:
        words: Of `--datasets`; each may hold several, with commas between, as in `humaneval=FILE,gsm8k`.

    Raises:
        ConfigError: A name is not among those covered, or stands there twice.
    """
    known = {name: name for name in get_args(BenchmarkName)}
    found: dict[BenchmarkName, Path | None] = {}
    for word in (part.strip() for text in words for part in text.split(",")):
        name, equals, path = word.partition("=")
        if name not in known:
            raise ConfigError(f"--datasets {word}: with EvalScope there are {', '.join(known)}, each also as NAME=FILE")
        if known[name] in found:
            raise ConfigError(f"--datasets names {name} twice; name it once")
        if equals and not path:
            raise ConfigError(f"--datasets {word}: write NAME=FILE")
        found[known[name]] = Path(path) if equals else None
    return found


def _require_use(request: EvalRequest, words: dict[BenchmarkName, Path | None]) -> None:
    """Refuse options that would do nothing."""
    if (request.selection.window or request.selection.release is not None) and "live_code_bench" not in words:
        raise ConfigError("--from, --to and --release choose LiveCodeBench's problems; add live_code_bench")
    if request.instruction is not None:
        raise ConfigError("--instruction is of our own prompts; EvalScope asks with its own")


def _read(name: BenchmarkName, path: Path | None, selection: Selection, stages: Stages) -> _Asked:
    benchmark = load_benchmark(OUR_NAMES[name], path, selection)
    rows = make_rows(name, benchmark)
    stages.note(f"{name}: {counted(len(rows.rows), 'problem')}")
    for why, count in rows.left_out.items():
        stages.note(f"{name}: {count:,} left out: {why}")
    return _Asked(name, benchmark, rows)


@dataclass(frozen=True, slots=True)
class _Side:
    """One model, with everything that its evaluation depends on but the benchmark."""

    model: Model
    out: Path
    engine: EngineName
    settings: EvaluationSettings
    request: EvalRequest
    interpreter: Path
    system_role: bool

    def evaluate(self, asked: Sequence[_Asked], checks: dict[str, TrainingCheck], stages: Stages) -> dict[str, Scores]:
        """Have it answer all benchmarks; scores by the results' names."""
        pieces = [self._piece(one) for one in asked]
        for piece, one in zip(pieces, asked, strict=True):
            if self.request.overwrite and piece.folder.exists():
                shutil.rmtree(piece.folder)
            one.rows.write(piece.rows)
        self._run([piece for piece in pieces if not list(piece.folder.glob("reports/*/*.json"))], asked, stages)
        found = {}
        for piece, one in zip(pieces, asked, strict=True):
            name = file_name(result_name(one.name), self.settings)
            found[result_name(one.name)] = scores = self._score(piece, one, checks[one.name], name)
            write_json(self.out / f"{name}.json", scores)
            stages.note(f"{name}: Pass@1 {scores.overall.pass_at.get('pass@1', float('nan')):.3f}")
        return found

    def _piece(self, one: _Asked) -> Piece:
        own = self.settings.model_dump_json(exclude={"batch", "ks", "instruction"})
        fingerprint = digest_of(hash_model(self.model.folder), self.engine, own, self._asked(one))
        folder = self.out.absolute() / "evalscope" / f"{one.name}-{fingerprint}"
        return Piece(benchmark=one.name, rows=folder / "rows.jsonl", folder=folder)

    @property
    def _python(self) -> Path:
        """For solutions: that of our own evaluations, not EvalScope's."""
        return self.request.python or Path(sys.executable)

    def _asked(self, one: _Asked) -> str:
        return digest_of(
            one.name, one.rows.to_text(), repr(self.request.limits), PINNED_EVALSCOPE, str(self.system_role)
        )

    def _run(self, pieces: Sequence[Piece], asked: Sequence[_Asked], stages: Stages) -> None:
        if not pieces:
            stages.note("EvalScope has been through all of it before; --overwrite asks anew")
            return
        folder = self.out.absolute() / "evalscope"
        request, log = self.request, folder / "log.txt"
        sizes = {one.name: len(one.rows.rows) * self.settings.samples for one in asked}
        with self._address(folder) as url, stages.bar(sum(sizes[piece.benchmark] for piece in pieces)) as advance:
            job = Job(
                model=SERVED_NAME if url else str(self.model.folder.absolute()),
                api_url=url,
                system_role=self.system_role,
                pieces=tuple(pieces),
                **self.settings.model_dump(
                    include={"samples", "temperature", "top_p", "max_new_tokens", "seed", "batch"}
                ),
                judging=Judging.of(request.workers, request.limits, self._python, request.isolation),
                failure=folder / "failure.json",
            )
            run_job(job, folder / "job.json", self.interpreter, log, lambda done: advance(done, "samples"))

    @contextlib.contextmanager
    def _address(self, folder: Path) -> Iterator[str | None]:
        """Where the model is served; None if EvalScope loads it itself."""
        if self.engine == "transformers":
            yield None
            return
        with served_model(self.model.folder, folder / "vllm.log", self.settings.seed) as url:
            yield url

    def _score(self, piece: Piece, one: _Asked, check: TrainingCheck, name: str) -> Scores:
        fingerprint = piece.folder.name
        settings = self.settings
        expected = Expected(
            one.rows.problem_ids, one.groups, settings.samples, settings.seed, fingerprint, settings.batch
        )
        records = read_records(piece, expected)
        reported = read_report(piece, records)
        with SampleFile(self.out / f"{name}.samples.jsonl", overwrite=True) as file:
            file.add(records)
        about = {**one.benchmark.about, **{f"left out: {why}": count for why, count in one.rows.left_out.items()}}
        return make_scores(self.model.word, fingerprint, settings, records).model_copy(
            update={
                "asked": self._asked(one),
                "engine": f"evalscope with {self.engine}",
                "benchmark": {**about, **reported},
                "training_data": check,
            }
        )
