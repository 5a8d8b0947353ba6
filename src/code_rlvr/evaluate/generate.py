"""Evaluate a model: sample, judge while the next samples are drawn, write all down, work out the scores.

Covered: a fixed seed for each sample, so that two models are compared on the same draws in any batch; going
on after a stop; judge faults, which are counted and never taken for wrong answers.  Not covered: sampling
itself (`engine`), statistics (`scores`, `compare`).
"""

from __future__ import annotations

import hashlib
import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, model_validator

from code_rlvr.data.prompts import build_prompt
from code_rlvr.errors import DataError, Unjudged
from code_rlvr.evaluate.engine import Engine, Generated
from code_rlvr.evaluate.scores import SampleRecord, Scores, count_problems, read_samples, score_group
from code_rlvr.sampling import Sampling
from code_rlvr.types import Judgement, Problem
from code_rlvr.verifier.assertions.cases import solution_name
from code_rlvr.verifier.extract import extract
from code_rlvr.verifier.judge import Judge

OnProgress = Callable[[int, int], None]
"""Called with (judged samples, all samples)."""


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


class _Todo(NamedTuple):
    problem: Problem
    sample: int
    seed: int


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
    """Sample every problem, judge the samples and work out the scores.

    Args:
        engine: The model.
        model_name: How the scores name it.
        problems: At least one, with distinct ids.
        judge: Judges in a thread of its own while the engine draws the next batch.
        settings: How to sample.
        samples_file: JSONL of `SampleRecord`.  If it exists, its samples are kept and the rest is added; those
            that the judge failed on are made again.
        groups: Group of a problem by its id; its data source where left out.
        on_progress: Called after each batch.

    Raises:
        DataError: No problem, an id twice, or a file made with another model, other settings or other tests.
        Unjudged: The judge failed on every sample.
    """
    if not problems or len({problem.problem_id for problem in problems}) < len(problems):
        raise DataError("an evaluation needs at least one problem, each with an id of its own")
    fingerprint = _fingerprint(engine, problems, settings)
    done = _resume(samples_file, fingerprint)
    wanted = [(problem, sample) for problem in problems for sample in range(settings.samples)]
    missing = [(problem, sample) for problem, sample in wanted if (problem.problem_id, sample) not in done]
    todo = [_Todo(one, sample, _sample_seed(settings.seed, one.problem_id, sample)) for one, sample in missing]
    with samples_file.open("a", encoding="utf-8") as file:
        for records in _sample_and_judge(engine, judge, todo, settings, fingerprint, groups or {}):
            file.writelines(record.model_dump_json() + "\n" for record in records)
            file.flush()
            done.update({(record.problem_id, record.sample): record for record in records})
            if on_progress:
                on_progress(len(done), len(wanted))
    records = [done[problem.problem_id, sample] for problem, sample in wanted]
    return _scores(model_name, fingerprint, settings, records)


def _fingerprint(engine: Engine, problems: Sequence[Problem], settings: EvaluationSettings) -> str:
    digest = hashlib.sha256(engine.identity.encode())
    digest.update(settings.model_dump_json(exclude={"batch", "ks", "samples"}).encode())
    for problem in sorted(problems, key=lambda one: one.problem_id):
        digest.update(repr((problem.problem_id, problem.statement, problem.tests.to_json())).encode())
    return digest.hexdigest()[:16]


def _sample_seed(seed: int, problem_id: str, sample: int) -> int:
    """A seed that no other sample has and that the rest of the evaluation does not move."""
    return int.from_bytes(hashlib.sha256(f"{seed}/{sample}/{problem_id}".encode()).digest()[:7], "big")


def _resume(samples_file: Path, fingerprint: str) -> dict[tuple[str, int], SampleRecord]:
    """Read what an earlier call wrote and drop from the file what has to be made again."""
    samples_file.parent.mkdir(parents=True, exist_ok=True)
    if not samples_file.exists():
        return {}
    text = samples_file.read_text(encoding="utf-8")
    kept = samples_file.with_name(f".{samples_file.name}.tmp")
    kept.write_text(text[: text.rfind("\n") + 1], encoding="utf-8")  # a kill leaves half a line at the end
    records = [record for record in read_samples(kept) if record.verdict is not None]
    if any(record.fingerprint != fingerprint for record in records):
        raise DataError(
            f"{samples_file} was made with another model, other settings or other tests; remove it or name another"
        )
    kept.write_text("".join(record.model_dump_json() + "\n" for record in records), encoding="utf-8")
    os.replace(kept, samples_file)
    return {(record.problem_id, record.sample): record for record in records}


def _sample_and_judge(
    engine: Engine,
    judge: Judge,
    todo: list[_Todo],
    settings: EvaluationSettings,
    fingerprint: str,
    groups: Mapping[str, str],
) -> Iterator[list[SampleRecord]]:
    """Draw batch after batch; each is judged in a thread while the next one is drawn."""

    def judge_batch(batch: list[_Todo], answers: list[Generated]) -> list[SampleRecord]:
        return _judge_answers(judge, batch, answers, fingerprint, groups)

    waiting: deque[Future[list[SampleRecord]]] = deque()
    with ThreadPoolExecutor(1, thread_name_prefix="judge") as background:
        for start in range(0, len(todo), settings.batch):
            batch = todo[start : start + settings.batch]
            chats = [build_prompt(one.problem.statement, one.problem.tests, settings.instruction) for one in batch]
            answers = engine.generate(chats, settings.sampling, [one.seed for one in batch])
            waiting.append(background.submit(judge_batch, batch, answers))
            while waiting and (waiting[0].done() or len(waiting) > 2):  # a slow judge holds sampling back
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _judge_answers(
    judge: Judge,
    batch: list[_Todo],
    answers: list[Generated],
    fingerprint: str,
    groups: Mapping[str, str],
) -> list[SampleRecord]:
    # The names that the tests call tell a solution from a usage demo, in training as here.
    extractions = [
        extract(answer.text, solution_name(one.problem.tests)) for answer, one in zip(answers, batch, strict=True)
    ]
    # A model often writes the same program twice for one problem; it is judged once.
    keys = [(found.code, one.problem.problem_id) for found, one in zip(extractions, batch, strict=True)]
    programs = {key: (key[0], one.problem.tests) for key, one in zip(keys, batch, strict=True)}
    judged = dict(zip(programs, judge.judge_many(programs.values()), strict=True))
    return [
        SampleRecord(
            problem_id=one.problem.problem_id,
            group=groups.get(one.problem.problem_id, one.problem.data_source),
            sample=one.sample,
            seed=one.seed,
            fingerprint=fingerprint,
            response=answer.text,
            tokens=answer.tokens,
            truncated=answer.truncated,
            fenced=found.fenced,
            **_outcome(judged[key]),
        )
        for one, answer, found, key in zip(batch, answers, extractions, keys, strict=True)
    ]


def _outcome(judged: Judgement | Unjudged) -> dict[str, Any]:
    if isinstance(judged, Unjudged):
        return {"verdict": None, "test_pass_rate": None, "fault": str(judged)}
    return {"verdict": judged.verdict, "test_pass_rate": judged.test_pass_rate}


def _scores(model_name: str, fingerprint: str, settings: EvaluationSettings, records: list[SampleRecord]) -> Scores:
    judged = [record for record in records if record.verdict is not None]
    if not judged:
        raise Unjudged(f"the judge failed on all {len(records)} samples: {records[0].fault}")
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
        unjudged=len(records) - len(judged),
        problems=count_problems(judged),
    )


def _share(flags: list[bool]) -> float:
    return sum(flags) / len(flags)
