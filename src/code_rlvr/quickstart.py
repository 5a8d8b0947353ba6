"""The whole job on a CPU: problems, warm start, PPO, merge, evaluation before and after, report.

One stage after another, top to bottom in `run_quickstart`.  Each stage leaves its result in the run's folder
and is skipped when that is there, so an interrupted quickstart goes on where it stopped.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable
from pathlib import Path

from pydantic import Field
from rich.console import Console
from rich.table import Table
from transformers.utils import logging as transformers_logging

from code_rlvr.config import Section
from code_rlvr.data.parquet import write_parquet
from code_rlvr.data.set_files import TRAIN, VALIDATION
from code_rlvr.data.starter import StarterSet, build_starter, imperfect_corpus
from code_rlvr.errors import UsageError
from code_rlvr.evaluate.compare import Difference, compare_runs
from code_rlvr.evaluate.engine import HuggingFaceEngine
from code_rlvr.evaluate.generate import EvaluationSettings, evaluate
from code_rlvr.evaluate.scores import Scores, read_scores
from code_rlvr.progress import Stages
from code_rlvr.report.html import build_report
from code_rlvr.runs import RunFolder
from code_rlvr.train import checkpoints, preflight
from code_rlvr.train.config import TrainConfig
from code_rlvr.train.launch import train
from code_rlvr.train.merge import merge_checkpoint
from code_rlvr.train.warmstart import WarmStartSettings, progress_in_words, warm_start
from code_rlvr.types import Problem
from code_rlvr.whole_file import whole_file

INSTRUCTION = ""
"""The small model sees the bare statement: the default instruction would be longer than the problem."""


class StarterSizes(Section):
    """How many starter problems of each split."""

    train: int = Field(2048, ge=1)
    """For PPO."""
    validation: int = Field(110, ge=1)
    """Watched during training."""
    heldout: int = Field(660, ge=1)
    """For the headline number; neither warm start nor PPO ever sees their wordings or parameters."""
    unseen: int = Field(100, ge=1)
    """Of families that nothing else has."""


class CorpusConfig(Section):
    """What the warm start reads."""

    size: int = Field(30_000, ge=100)
    """Pairs of statement and program, a known share of them wrong."""


class QuickstartConfig(Section):
    """Everything that the quickstart does; the defaults are what the README reports."""

    name: str = "quickstart"
    """Folder below `runs_dir`."""
    runs_dir: str = "runs"
    """Folder that holds all runs."""
    seed: int = Field(0, ge=0)
    """Seed of problems, corpus, first weights, sampling and evaluation."""
    starter: StarterSizes = StarterSizes()
    corpus: CorpusConfig = CorpusConfig()
    warm_start: WarmStartSettings = WarmStartSettings()
    evaluation: EvaluationSettings = EvaluationSettings()
    train: TrainConfig = TrainConfig()

    @property
    def run(self) -> RunFolder:
        """The run's folder."""
        return RunFolder(Path(self.runs_dir) / self.name)


def run_quickstart(config: QuickstartConfig, console: Console) -> None:
    """Do the whole job and print what came of it.

    Args:
        config: What to do; a run of that name made with other settings is refused.
        console: Where to show progress.

    Raises:
        CodeRlvrError: A stage failed; what it had finished stays, and the next call goes on from there.
    """
    run = config.run
    transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]  # noise among ours
    _claim_folder(config)
    preflight.check_machine(run.path)
    stages = Stages(console, total=6)
    started = time.monotonic()
    with stages.stage("Starter problems"):
        problems = build_starter(
            config.seed, config.starter.train, config.starter.validation, config.starter.heldout, config.starter.unseen
        )
        _write_data(config, problems)
        stages.note(
            f"{len(problems.train)} to train on, {len(problems.validation)} to watch, "
            f"{len(problems.heldout)} held out, {len(problems.unseen)} of unseen kinds"
        )
    with stages.stage("Warm start: a small model reads imperfect programs"):
        _warm_start(config, stages)
    with stages.stage("Evaluation before training"):
        before = _evaluate(config, problems, run.path / "warm_start", run.eval / "before", stages)
    with stages.stage("PPO: programs are run, what passes is rewarded"):
        _train(config, stages)
    with stages.stage("Merging the checkpoint"):
        if not run.merged.exists():
            merge_checkpoint(run)
        stages.note(f"{run.merged} loads and generates")
    with stages.stage("Evaluation after training, and the report"):
        after = _evaluate(config, problems, run.merged, run.eval / "after", stages)
        build_report(run)
    _summarise(run, before, after, console, time.monotonic() - started)


def _claim_folder(config: QuickstartConfig) -> None:
    """Make the folder, or see that it was made with the same settings."""
    file = config.run.path / "quickstart.json"
    text = config.model_dump_json(indent=2) + "\n"
    if file.exists() and file.read_text(encoding="utf-8") != text:
        raise UsageError(
            f"{config.run.path} was made with other settings ({file.name} there has them); choose another --name, or "
            "remove the folder"
        )
    config.run.logs.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def _write_data(config: QuickstartConfig, problems: StarterSet) -> None:
    folder = config.run.path / "data"
    folder.mkdir(exist_ok=True)
    files = {}
    for split in ("train", "validation"):
        file = folder / f"{split}.parquet"
        write_parquet(file, getattr(problems, split), split=split, instruction=INSTRUCTION)
        files[file.name] = hashlib.sha256(file.read_bytes()).hexdigest()
    manifest = {
        "source": "starter problems",
        "seed": config.seed,
        "counts": config.starter.model_dump(),
        "sha256": files,
        "problem_ids": {split: [p.problem_id for p in getattr(problems, split)] for split in ("train", "validation")},
    }
    _write_json(config.run.manifest, manifest)


def _write_json(file: Path, value: object) -> None:
    with whole_file(file) as unfinished:
        unfinished.write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8")


def _warm_start(config: QuickstartConfig, stages: Stages) -> None:
    folder = config.run.path / "warm_start"
    if folder.exists():  # it appears only when it is complete
        stages.note(f"{folder} is there already")
        return
    corpus = imperfect_corpus(config.seed, config.corpus.size)
    settings = config.warm_start.model_copy(update={"seed": config.seed})
    with stages.bar(settings.steps) as advance:
        result = warm_start(folder, corpus, settings, progress_in_words(advance))
    stages.note(f"{result.parameters / 1e6:.2f} million parameters, saved in {folder}")


def _train(config: QuickstartConfig, stages: Stages) -> None:
    run = config.run
    training = config.train.model_copy(
        update={
            "name": config.name,
            "runs_dir": config.runs_dir,
            "seed": config.seed,
            "model": str(run.path / "warm_start"),
            "data": config.train.data.model_copy(
                update={
                    "train_file": str(run.path / "data" / TRAIN),
                    "validation_file": str(run.path / "data" / VALIDATION),
                }
            ),
        }
    )
    done = checkpoints.last_step(run)
    if done is not None and done >= training.trainer.steps:
        stages.note(f"{done} steps are done already")
        return
    if done is None:
        checkpoints.clear_unfinished(run)
    train(training, resume=done is not None, say=stages.note)


def _evaluate(
    config: QuickstartConfig, problems: StarterSet, model: Path, folder: Path, stages: Stages
) -> dict[str, Scores]:
    """Evaluate a model on what it never saw, sampled and greedy; return the scores by name."""
    as_in_training = {
        "instruction": INSTRUCTION,
        "max_new_tokens": config.train.data.max_response_tokens,
        "seed": config.seed,
    }
    sampled = config.evaluation.model_copy(update=as_in_training)
    greedy = sampled.model_copy(update={"temperature": 0.0, "samples": 1, "ks": (1,)})
    parts: list[tuple[str, list[Problem], EvaluationSettings]] = [
        ("heldout", problems.heldout, sampled),
        ("heldout_greedy", problems.heldout, greedy),
        ("unseen", problems.unseen, sampled),
    ]
    scores: dict[str, Scores] = {}
    engine: HuggingFaceEngine | None = None
    with config.train.reward.judge() as judge:
        for name, part, settings in parts:
            file = folder / f"{name}.json"
            if not file.exists():
                engine = engine or HuggingFaceEngine(model)
                with stages.bar(len(part) * settings.samples) as advance:
                    result = evaluate(
                        engine,
                        str(model),
                        part,
                        judge,
                        settings,
                        folder / f"{name}.samples.jsonl",
                        groups=problems.novelty if name != "unseen" else None,
                        on_progress=_count(advance, name),
                    )
                _write_json(file, result.model_dump(mode="json"))
            scores[name] = read_scores(file)
            stages.note(f"{name}: Pass@1 {scores[name].overall.pass_at['pass@1']:.3f}")
    return scores


def _count(advance: Callable[[int, str], None], name: str) -> Callable[[int, int], None]:
    return lambda done, _total: advance(done, name)


def _summarise(
    run: RunFolder, before: dict[str, Scores], after: dict[str, Scores], console: Console, seconds: float
) -> None:
    """Print one screen: what changed, how sure that is, and where everything lies."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for heading in ("Pass@1", "before", "after", "change", "95% interval"):
        table.add_column(heading, justify="left" if heading == "Pass@1" else "right")
    for name, label in _LABELS.items():
        comparison = compare_runs(before[name], after[name])
        _write_json(run.eval / f"{name}.comparison.json", comparison.model_dump(mode="json"))
        table.add_row(label, *_figures(comparison.overall))
    console.print()
    console.print(table)
    for title, path in (("report", run.report), ("model", run.merged), ("metrics", run.metrics)):
        console.print(f"{title:<9}{path}", soft_wrap=True)
    console.print(f"done in {seconds / 60:.1f} minutes")


_LABELS = {
    "heldout": "held-out problems, sampled",
    "heldout_greedy": "held-out problems, greedy",
    "unseen": "unseen kinds of problem, sampled",
}


def _figures(change: Difference) -> tuple[str, str, str, str]:
    interval = f"{change.interval.low:+.3f} to {change.interval.high:+.3f}"
    return f"{change.before:.3f}", f"{change.after:.3f}", f"{change.change:+.3f}", interval
