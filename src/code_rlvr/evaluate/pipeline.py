"""From questions to graded samples in the file: each batch is graded while the next one is drawn.

Covered: a fixed seed for each sample, so that two models are compared on the same draws in any batch; what is on the
disk after a stop.  Not covered: which samples there may be gone on with (`generate`).
"""

from __future__ import annotations

import hashlib
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from typing import NamedTuple, TypeVar

from code_rlvr.evaluate.engine import Engine
from code_rlvr.evaluate.sample_file import SampleFile
from code_rlvr.evaluate.scores import SampleRecord
from code_rlvr.evaluate.task import Question, Task
from code_rlvr.sampling import Sampling

NOT_YET = "not judged yet"
AHEAD = 2
"""Batches that may wait for the grader before sampling waits for it."""

_Item = TypeVar("_Item")


class _Drawn(NamedTuple):
    question: Question
    record: SampleRecord


class Pipeline:
    """What is still to be drawn and to be graded.

    Args:
        engine: Draws.
        task: Asks and grades.
        file: Holds what there is already, and gets the rest.
        fingerprints: What each question's samples are known by, by its id.
        samples: Samples of each question.
        sampling: How to draw.
        seed: Of all samples.
        batch: Samples drawn at once.
    """

    def __init__(
        self,
        engine: Engine,
        task: Task,
        file: SampleFile,
        fingerprints: Mapping[str, str],
        *,
        samples: int,
        sampling: Sampling,
        seed: int,
        batch: int,
    ) -> None:
        self._engine, self._task = engine, task
        self._samples, self._sampling, self._seed, self._batch = samples, sampling, seed, batch
        self._file, self._fingerprints = file, fingerprints

    def count_done(self) -> int:
        """How many of the samples need nothing more."""
        return len(self._open(wanted=False))

    def _is_open(self, question: Question, sample: int) -> bool:
        """Whether a sample has no grade, or one of another grader."""
        record = self._file.records.get((question.problem_id, sample))
        return record is None or record.verdict is None or record.graded_by != question.graded_by

    def run(self) -> Iterator[int]:
        """Draw batch after batch; each is graded in a thread while the next one is drawn.

        Yields:
            How many samples were graded and written.
        """
        waiting: deque[Future[list[SampleRecord]]] = deque()
        background = ThreadPoolExecutor(1, thread_name_prefix="grade")
        try:
            for batch in self._batches():
                waiting.append(background.submit(self._grade, batch))
                while waiting and (waiting[0].done() or len(waiting) > AHEAD):  # a slow judge holds sampling back
                    yield self._write(waiting.popleft())
            while waiting:
                yield self._write(waiting.popleft())
        finally:
            # After Ctrl-C nobody wants to wait for the rest, and what was drawn is on the disk.
            background.shutdown(wait=False, cancel_futures=True)

    def _write(self, graded: Future[list[SampleRecord]]) -> int:
        records = graded.result()
        self._file.add(records)
        return len(records)

    def _batches(self) -> Iterator[list[_Drawn]]:
        """What an earlier call drew and did not grade, then what is drawn now."""
        todo = self._open()
        kept = [(one, self._file.records.get((one.problem_id, sample))) for one, sample in todo]
        yield from _chunks((_Drawn(one, record) for one, record in kept if record), self._batch)
        missing = [one for one, (_, record) in zip(todo, kept, strict=True) if record is None]
        for batch in _chunks(iter(missing), self._batch):
            drawn = self._draw(batch)
            self._file.add(one.record for one in drawn)
            yield drawn

    def _open(self, wanted: bool = True) -> list[tuple[Question, int]]:
        """The samples that need something more; if not `wanted`, the others."""
        every = ((question, sample) for question in self._task.questions for sample in range(self._samples))
        return [(question, sample) for question, sample in every if self._is_open(question, sample) is wanted]

    def _draw(self, batch: Sequence[tuple[Question, int]]) -> list[_Drawn]:
        seeds = [_sample_seed(self._seed, question.problem_id, sample) for question, sample in batch]
        started = time.monotonic()
        answers = self._engine.generate([question.chat for question, _ in batch], self._sampling, seeds)
        seconds = (time.monotonic() - started) / len(batch)
        return [
            _Drawn(
                question,
                SampleRecord(
                    problem_id=question.problem_id,
                    group=question.group,
                    sample=sample,
                    seed=seed,
                    fingerprint=self._fingerprints[question.problem_id],
                    response=answer.text,
                    tokens=answer.tokens,
                    truncated=answer.truncated,
                    fenced=False,
                    verdict=None,
                    test_pass_rate=None,
                    fault=NOT_YET,
                    generate_s=seconds,
                ),
            )
            for (question, sample), seed, answer in zip(batch, seeds, answers, strict=True)
        ]

    def _grade(self, batch: Sequence[_Drawn]) -> list[SampleRecord]:
        started = time.monotonic()
        grades = self._task.grade([(one.question, one.record.response) for one in batch])
        seconds = (time.monotonic() - started) / len(batch)
        return [
            one.record.model_copy(
                update={
                    "group": one.question.group,
                    "graded_by": one.question.graded_by,
                    "fenced": grade.in_form,
                    "verdict": grade.verdict,
                    "test_pass_rate": grade.test_pass_rate,
                    "fault": grade.fault,
                    "judge_s": seconds,
                }
            )
            for one, grade in zip(batch, grades, strict=True)
        ]


def _chunks(items: Iterator[_Item], size: int) -> Iterator[list[_Item]]:
    while chunk := list(islice(items, size)):
        yield chunk


def _sample_seed(seed: int, problem_id: str, sample: int) -> int:
    """A seed that no other sample has and that the rest of the evaluation does not move."""
    return int.from_bytes(hashlib.sha256(f"{seed}/{sample}/{problem_id}".encode()).digest()[:7], "big")
