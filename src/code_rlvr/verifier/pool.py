"""A pool of threads that judge, and what happens when judging itself breaks.

Covered: bounded concurrency, ordered results with bounded look-ahead, retries of faults, a forked caller.
Not covered: processes; each job starts and ends its own (`sandbox`).
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from code_rlvr.errors import JudgeFault, Unjudged

RETRIES = 2
LOOK_AHEAD = 16

Item = TypeVar("Item")
Result = TypeVar("Result")


def usable_cpus() -> int:
    """How many CPUs this process may run on."""
    return len(os.sched_getaffinity(0))


class WorkerPool:
    """Threads for jobs that may raise `JudgeFault`.

    Args:
        workers: How many jobs run at once; the number of usable CPUs if None.
    """

    def __init__(self, workers: int | None = None) -> None:
        self.workers = workers or usable_cpus()
        self._pid = os.getpid()
        self._executor = ThreadPoolExecutor(self.workers, thread_name_prefix="judge")

    def submit(self, job: Callable[[], Result]) -> Future[Result]:
        """Run a job when a worker is free; its future raises `Unjudged` if it faulted three times.

        Raises:
            JudgeFault: If this process is a fork of the one that made the pool, whose threads it lacks.
        """
        if os.getpid() != self._pid:
            raise JudgeFault("this judge was made before the process forked; make one in each process")
        return self._executor.submit(_with_retries, job)

    def map_ordered(self, job: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result | Unjudged]:
        """Results in the order of the items, which are read `LOOK_AHEAD` for each worker ahead, and no further.

        So far that one slow item leaves no worker idle.
        """
        pending: deque[Future[Result]] = deque()

        def outcome(future: Future[Result]) -> Result | Unjudged:
            try:
                return future.result()
            except Unjudged as unjudged:
                return unjudged

        try:
            for item in items:
                pending.append(self.submit(lambda item=item: job(item)))  # type: ignore[misc]
                if len(pending) > LOOK_AHEAD * self.workers:
                    yield outcome(pending.popleft())
            while pending:
                yield outcome(pending.popleft())
        finally:
            for future in pending:
                future.cancel()

    def close(self) -> None:
        """Wait for the running jobs, cancel the waiting ones, end the threads."""
        self._executor.shutdown(wait=self._pid == os.getpid(), cancel_futures=True)


def _with_retries(job: Callable[[], Result]) -> Result:
    faults: list[JudgeFault] = []
    while len(faults) <= RETRIES:
        try:
            return job()
        except Unjudged:  # known to be of no use to try again
            raise
        except JudgeFault as fault:
            faults.append(fault)
    raise Unjudged(f"the judge failed {len(faults)} times, at last: {faults[-1]}") from faults[-1]
