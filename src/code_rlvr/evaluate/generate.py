"""Evaluate a model: sample, grade, write all down, work out the scores.

Covered: the settings; which samples in a file are of this evaluation; faults of the grader, which are counted and
never taken for wrong answers.  Not covered: the way from a question to a graded sample (`pipeline`), sampling
(`engine`), grading (`programs`, `gsm8k`), statistics (`scores`, `compare`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

from code_rlvr.errors import DataError, Unjudged
from code_rlvr.evaluate.engine import Engine
from code_rlvr.evaluate.pipeline import Pipeline
from code_rlvr.evaluate.programs import programming_task
from code_rlvr.evaluate.sample_file import SampleFile
from code_rlvr.evaluate.scores import Cost, SampleRecord, Scores, count_problems, score_group
from code_rlvr.evaluate.task import Question, Task, digest_of
from code_rlvr.sampling import Sampling
from code_rlvr.types import Problem
from code_rlvr.verifier.judge import Judge

OnProgress = Callable[[int, int], None]
"""Called with (graded samples, all samples)."""


class EvaluationSettings(BaseModel):
    """How to sample; the defaults estimate Pass@1 as training samples, at temperature 1."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    samples: int = Field(default=4, ge=1)
    """Samples of each problem."""
    ks: tuple[int, ...] = (1,)
    """Which pass@k to estimate; none above `samples`."""
    temperature: float = Field(default=1.0, ge=0)
    """0 is greedy, with one sample a problem."""
    top_p: float = Field(default=1.0, gt=0, le=1)
    """Share of probability to sample from."""
    top_k: int = -1
    """Number of tokens to sample from; 0 or less is all."""
    max_new_tokens: int = Field(default=64, ge=1)
    """Longest response, in tokens."""
    seed: int = Field(default=0, ge=0)
    """Seed of all samples."""
    instruction: str | None = None
    """What the prompt says about the form of an answer; the kind's default when unset, nothing when empty."""
    batch: int = Field(default=256, ge=1)
    """Samples drawn before they are judged and written; the scores do not depend on it."""

    @model_validator(mode="after")
    def _check_samples(self) -> EvaluationSettings:
        if self.temperature == 0 and self.samples > 1:
            raise ValueError("temperature 0 gives the same sample every time: set samples to 1")
        if not self.ks or min(self.ks) < 1 or max(self.ks) > self.samples:
            raise ValueError(f"ks must be between 1 and samples ({self.samples}): pass@k is undefined above")
        return self

    @property
    def sampling(self) -> Sampling:
        """The part that the engine needs."""
        return Sampling(self.temperature, self.top_p, self.top_k, self.max_new_tokens)


def evaluate(
    engine: Engine,
    model_name: str,
    problems: Sequence[Problem],
    judge: Judge,
    settings: EvaluationSettings,
    samples_file: Path,
    *,
    groups: Mapping[str, str] | None = None,
    on_progress: OnProgress | None = None,
) -> Scores:
    """Sample programs for every problem, judge them and work out the scores.

    Args:
        engine: The model.
        model_name: How the scores name it.
        problems: At least one, with distinct ids.
        judge: Judges in a thread of its own while the engine draws the next batch.
        settings: How to sample.
        samples_file: See `evaluate_task`.
        groups: Group of a problem by its id; its data source where left out.
        on_progress: Called after each batch.

    Raises:
        DataError, Unjudged: As `evaluate_task`.
    """
    task = programming_task(problems, judge, settings.instruction, groups)
    return evaluate_task(engine, model_name, task, settings, samples_file, on_progress=on_progress)


def evaluate_task(
    engine: Engine,
    model_name: str,
    task: Task,
    settings: EvaluationSettings,
    samples_file: Path,
    *,
    on_progress: OnProgress | None = None,
    overwrite: bool = False,
) -> Scores:
    """Sample every question, grade the samples and work out the scores.

    Args:
        engine: The model.
        model_name: How the scores name it.
        task: What to ask; grades in a thread of its own while the engine draws the next batch.
        settings: How to sample; of `instruction` the task has made its chats already.
        samples_file: JSONL of `SampleRecord`.  If it exists, its samples are kept and the rest is added; those
            whose grader failed, or was another (other tests or limits), are graded again.
        on_progress: Called after each batch.
        overwrite: Whether to start the file anew.

    Raises:
        DataError: No question, an id twice, or a file made with another model, other settings or other prompts.
        Unjudged: The grader failed on every sample.
    """
    if not task.questions or len({one.problem_id for one in task.questions}) < len(task.questions):
        raise DataError("an evaluation needs at least one problem, each with an id of its own")
    fingerprints = {one.problem_id: _fingerprint(engine, settings, one) for one in task.questions}
    wanted = [(one.problem_id, sample) for one in task.questions for sample in range(settings.samples)]
    with SampleFile(samples_file, overwrite) as file:
        _require_own(samples_file, file, fingerprints)
        _draw_and_grade(Pipeline(engine, task, file, fingerprints, **_plan(settings)), len(wanted), on_progress)
        file.settle(wanted)
        groups = {one.problem_id: one.group for one in task.questions}  # an earlier call may have had others
        records = [file.records[key].model_copy(update={"group": groups[key[0]]}) for key in wanted]
    scores = make_scores(model_name, digest_of(*sorted(fingerprints.values())), settings, records)
    return scores.model_copy(update={"asked": _asked(task)})


def _plan(settings: EvaluationSettings) -> dict[str, Any]:
    names = ("samples", "sampling", "seed", "batch")
    return {name: getattr(settings, name) for name in names}


def _draw_and_grade(pipeline: Pipeline, total: int, on_progress: OnProgress | None) -> None:
    done = pipeline.count_done()
    for graded in pipeline.run():
        done += graded
        if on_progress:
            on_progress(done, total)


def _asked(task: Task) -> str:
    return digest_of(*sorted(digest_of(one.problem_id, repr(one.chat), one.graded_by) for one in task.questions))


def _fingerprint(engine: Engine, settings: EvaluationSettings, question: Question) -> str:
    """Names what a response to a question depends on, but for its number."""
    sampled = settings.model_dump_json(exclude={"batch", "ks", "samples", "instruction"})  # the chat holds the last
    return digest_of(engine.identity, sampled, question.problem_id, repr(question.chat))


def _require_own(path: Path, file: SampleFile, fingerprints: Mapping[str, str]) -> None:
    """Refuse a file with responses that this evaluation would not draw."""
    for record in file.records.values():
        if fingerprints.get(record.problem_id, record.fingerprint) != record.fingerprint:
            raise DataError(
                f"{path} was made with another model, other settings or other prompts (problem {record.problem_id}); "
                "name another folder with --out, or start it anew with --overwrite"
            )


def make_scores(model_name: str, fingerprint: str, settings: EvaluationSettings, records: list[SampleRecord]) -> Scores:
    """Work out the scores of one evaluation.

    Args:
        model_name: How the scores name the model.
        fingerprint: Of everything that they depend on.
        settings: How was sampled.
        records: At least one; those that could not be judged are counted apart and are in no share of verdicts.

    Raises:
        Unjudged: The judge failed on every sample.
    """
    judged = [record for record in records if record.verdict is not None]
    if not judged:
        raise Unjudged(f"the judge failed on every sample ({len(records):,}): {records[0].fault}")
    groups = dict.fromkeys(record.group for record in judged)
    return Scores(
        model=model_name,
        fingerprint=fingerprint,
        samples_per_problem=settings.samples,
        **settings.model_dump(include={"temperature", "top_p", "top_k", "max_new_tokens", "seed"}),
        overall=score_group(judged, settings.ks),
        groups={
            group: score_group([record for record in judged if record.group == group], settings.ks) for group in groups
        },
        format=_share([record.fenced for record in records]),
        truncated=_share([record.truncated for record in records]),
        mean_tokens=sum(record.tokens for record in records) / len(records),
        without_room=sum(record.truncated and not record.tokens for record in records),
        unjudged=len(records) - len(judged),
        problems=count_problems(judged),
        cost=Cost(
            generate_s=sum(record.generate_s for record in records),
            judge_s=sum(record.judge_s for record in records),
            tokens=sum(record.tokens for record in records),
        ),
    )


def _share(flags: list[bool]) -> float:
    return sum(flags) / len(flags)
