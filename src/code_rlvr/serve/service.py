"""From the bytes of a request to the JSON of its answer.

A request waits as bytes, and is read only when a thread is free for it: large tests in a long queue take no more memory
than they were sent with, and reading them never holds up the event loop.

Covered: the threads, what is done in them, stopping.
Not covered: what a request may hold (`requests`), how many may wait (`admission`), HTTP (`app`).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from code_rlvr.reward import RewardPolicy, metrics_of
from code_rlvr.serve.admission import Stopping
from code_rlvr.serve.requests import Bounds, JudgeRequest, read_item, read_judge, read_many, read_score
from code_rlvr.types import Judgement
from code_rlvr.verifier.assertions.cases import solution_name
from code_rlvr.verifier.assertions.checker import CheckedCase
from code_rlvr.verifier.extract import extract
from code_rlvr.verifier.job import cases_of, sampled
from code_rlvr.verifier.judge import Judge
from code_rlvr.wire import judgement_to_json

Result = TypeVar("Result")

READ_AHEAD = 1  # threads more than programs at once, so that the next request is read while all are judging


@dataclass(frozen=True, slots=True)
class Answer:
    """One program's answer.

    Args:
        body: JSON.
        judgement: What it says, for the counters.
        clamped: Limits that were not granted.
    """

    body: bytes
    judgement: Judgement
    clamped: tuple[str, ...]


class Service:
    """Answers requests in threads.

    Args:
        judge: Who judges; closed with the service.
        workers: How many programs it judges at once.
        bounds: What programs may use.
        max_items: Programs in one request at most.
    """

    def __init__(self, judge: Judge, workers: int, bounds: Bounds, max_items: int) -> None:
        self.workers, self.bounds = workers, bounds
        self._judge, self._max_items, self._closing = judge, max_items, False
        self._threads = ThreadPoolExecutor(workers + READ_AHEAD, thread_name_prefix="serve")
        self._waiting: set[Future[Any]] = set()

    def submit(self, work: Callable[[], Result]) -> Future[Result]:
        """Do something when a thread is free; its future can be cancelled until then."""
        future = self._threads.submit(work)
        self._waiting.add(future)
        future.add_done_callback(self._waiting.discard)
        return future

    @property
    def running(self) -> int:
        """Programs that are being judged."""
        return min(self.workers, sum(future.running() for future in [*self._waiting]))

    def judge(self, body: bytes) -> Answer:
        """The answer to the path judge.

        Raises:
            UsageError: The request is malformed.
            Unjudged: The judge broke.
        """
        return self._judged(read_judge(body, self.bounds))

    def judge_item(self, item: dict[str, Any]) -> Answer:
        """The answer to one item of `items`; raises as `judge`."""
        return self._judged(read_item(item, self.bounds))

    def items(self, body: bytes) -> list[dict[str, Any]]:
        """The items of the path judge_many.

        Raises:
            UsageError: The request is malformed.
        """
        return read_many(body, self._max_items)

    def score(self, body: bytes) -> Answer:
        """The answer to the path score; raises as `judge`."""
        asked = read_score(body, self.bounds)
        policy = asked.policy or RewardPolicy()
        judgement, fenced = self._judged_program(asked)
        metrics = metrics_of(judgement, bool(fenced), policy)
        return Answer(json.dumps(metrics).encode(), judgement, asked.clamped)

    def _judged(self, asked: JudgeRequest) -> Answer:
        judgement, fenced = self._judged_program(asked)
        answer = judgement_to_json(judgement) | {"clamped": [*asked.clamped]}
        if fenced is not None:
            answer["format"] = float(fenced)
        return Answer(json.dumps(answer).encode(), judgement, asked.clamped)

    def _judged_program(self, asked: JudgeRequest) -> tuple[Judgement, bool | None]:
        """The judgement, and for a response whether its program stood in a closed fence."""
        code, fenced = asked.text, None
        if asked.is_response:
            extraction = extract(asked.text or "", solution_name(asked.tests))
            code, fenced = extraction.code, extraction.fenced
        try:
            judgement = self._judge.judge(
                code,
                asked.tests,
                limits=asked.limits,
                max_tests=asked.max_tests,
                stop_at_first_failure=asked.stop_at_first_failure,
            )
        except (CancelledError, RuntimeError):  # what a pool says that is shut down
            if not self._closing:
                raise
            raise Stopping("the server is being stopped") from None
        return _without_expectations(judgement, asked), fenced

    def cancel_waiting(self) -> None:
        """Cancel what no thread has begun."""
        for future in [*self._waiting]:
            future.cancel()

    def end_programs(self) -> None:
        """End the programs that run; they become `Unjudged`."""
        self._closing = True
        self._judge.close(wait=False)

    def close(self) -> None:
        """End everything; nothing is left running."""
        self.cancel_waiting()
        self.end_programs()
        self._threads.shutdown()


def _without_expectations(judgement: Judgement, asked: JudgeRequest) -> Judgement:
    """The judgement without what a checker said: it has the tests, and may quote what they expect."""
    if asked.tests.kind != "assert" or not any(case.stderr for case in judgement.cases):
        return judgement
    ran = sampled(cases_of(asked.tests), asked.max_tests, asked.tests)
    kept = (
        replace(case, stderr="") if isinstance(test, CheckedCase) else case
        for case, test in zip(judgement.cases, ran, strict=False)  # judging may have stopped early
    )
    return replace(judgement, cases=tuple(kept))
