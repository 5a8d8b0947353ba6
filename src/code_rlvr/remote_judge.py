"""A judge on another machine, or in another process: the client of ``code-rlvr serve``.

It is asked like `Judge` and answers the same.  What the server does not answer in bounded time, or answers with
anything but a judgement, is `Unjudged`: never a verdict.

| the server says | what is done |
|---|---|
| nothing, or that it is busy | it is asked again, for a while (`remote_connection`) |
| that its judge broke | `Unjudged` at once: it has tried three times |
| that the tests are malformed | `TestsFormatError`, as from `Judge` |
| that a limit is above its maximum | `Unjudged`: under a lower limit, a verdict could be another |

Covered: what is asked, what answers mean.
Not covered: asking again (`remote_connection`), the form of answers (`wire`), the server (`serve`).
"""

from __future__ import annotations

import asyncio
import atexit
import json
import os
import threading
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from types import TracebackType
from typing import TYPE_CHECKING, Any

from code_rlvr.errors import ConfigError, JudgeFault, PreflightError, TestsFormatError, Unjudged
from code_rlvr.ground_truth import Tests
from code_rlvr.remote_connection import Connection, error_of, is_fault
from code_rlvr.types import Judgement, Limits, Verdict
from code_rlvr.verifier.pool import WorkerPool
from code_rlvr.wire import API, HEALTH, JUDGE, TOKEN_VARIABLE, judgement_from_json, package_version

if TYPE_CHECKING:
    import httpx

CHECK_S = 30.0
_OPTIONS = {
    "cpu_s": "--max-cpu-s",
    "time_limit_s": "--max-cpu-s",
    "memory_mib": "--max-memory-mib",
    "memory_limit_mib": "--max-memory-mib",
    "deadline_s": "--max-deadline-s",
}
"""What of the server's command line raises a limit that it did not grant."""


class RemoteJudge:
    """Judges programs by a server; thread-safe, asyncio-safe, a context manager.

    Args:
        url: Where the server listens, e.g. "http://judge:8377".
        token: What the server wants to be shown; the environment's `CODE_RLVR_TOKEN` if None.
        limits: What a program may use, where its tests name no limit of their own; the server's default if None.
        connections: Programs that are sent at once.
        timeout_s: Wall seconds for one judgement, waiting for its turn included.
        unreachable_s: Of these, how long to go on without a connection; a server may be started anew meanwhile.

    Raises:
        ConfigError: If the URL is none, or holds a password.
        PreflightError: If httpx is not installed.
    """

    def __init__(
        self,
        url: str,
        *,
        token: str | None = None,
        limits: Limits | None = None,
        connections: int = 64,
        timeout_s: float = 1800.0,
        unreachable_s: float = 60.0,
    ) -> None:
        self._connection = Connection(url, token, connections, timeout_s, unreachable_s)
        self._pool = WorkerPool(connections)
        self.url, self.limits = self._connection.url, limits

    def __enter__(self) -> RemoteJudge:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Give the connections back; what is still asked for becomes `Unjudged`."""
        self._connection.close()
        self._pool.close()

    def judge(
        self,
        code: str | None,
        tests: Tests,
        *,
        limits: Limits | None = None,
        max_tests: int | None = None,
        stop_at_first_failure: bool = False,
    ) -> Judgement:
        """Judge one program and wait for the verdict; arguments as for `Judge.judge`.

        Raises:
            Unjudged: See the module's docstring.
            TestsFormatError: If the server cannot judge by these tests.
            ConfigError: If it refuses the token.
        """
        asked: dict[str, Any] = {
            "code": code,
            "tests": tests.to_json(),
            "max_tests": max_tests,
            "stop_at_first_failure": stop_at_first_failure,
        }
        limits = limits or self.limits
        if limits is not None:
            asked["limits"] = asdict(limits)
        return self._judgement(self._connection.post(JUDGE, json.dumps(asked).encode()))

    async def judge_async(
        self,
        code: str | None,
        tests: Tests,
        *,
        limits: Limits | None = None,
        max_tests: int | None = None,
        stop_at_first_failure: bool = False,
    ) -> Judgement:
        """`judge` for an event loop, which stays free meanwhile."""

        def ask() -> Judgement:
            return self.judge(
                code, tests, limits=limits, max_tests=max_tests, stop_at_first_failure=stop_at_first_failure
            )

        return await asyncio.wrap_future(self._pool.submit(ask))

    def judge_many(
        self,
        items: Iterable[tuple[str | None, Tests]],
        *,
        limits: Limits | None = None,
        max_tests: int | None = None,
        stop_at_first_failure: bool = False,
    ) -> Iterator[Judgement | Unjudged]:
        """Judge many programs at once; results in order, a fault as a value, so that it ends nothing else.

        Args:
            items: Programs with their tests; read only some way ahead.

        Raises:
            TestsFormatError: As `judge`, when that item's turn comes.
        """
        return self._pool.map_ordered(
            lambda item: self.judge(
                *item, limits=limits, max_tests=max_tests, stop_at_first_failure=stop_at_first_failure
            ),
            items,
        )

    def check(self) -> str:
        """See whether the server answers, is of this version, takes the token and judges by the limits of this judge.

        Returns:
            What was found, in words.

        Raises:
            PreflightError: It does not; the message has the remedy.
        """
        health = self._health()
        if health["api"] != API or health["version"] != package_version():
            raise PreflightError(
                f"the server at {self.url} is code-rlvr {health['version']}, this is {package_version()}: verdicts "
                f"could differ; install the same version on both"
            )
        try:
            right = self.judge("print(2 * int(input()))", Tests.stdio(["21"], ["42"]))
            wrong = self.judge("print(input())", Tests.stdio(["21"], ["42"]))
        except (JudgeFault, ConfigError) as error:
            raise PreflightError(str(error)) from error
        if (right.verdict, wrong.verdict) != (Verdict.ACCEPTED, Verdict.WRONG_ANSWER):
            raise PreflightError(
                f"the server at {self.url} judged a right program {right.verdict.value} and a wrong one "
                f"{wrong.verdict.value}; look at it with `code-rlvr doctor` there"
            )
        return (
            f"code-rlvr {health['version']} at {self.url}: {health['workers']} workers, {', '.join(health['layers'])}"
        )

    def _health(self) -> dict[str, Any]:
        try:
            found = self._connection.get_once(HEALTH, CHECK_S)
            missing = {"version", "api", "workers", "layers"} - set(found)
            reason = "what answers is another server"
        except (ValueError, TypeError) as error:
            missing, found, reason = {""}, {}, str(error)
        if missing:
            raise PreflightError(
                f"no judging server answers at {self.url} ({reason}); start one with `code-rlvr serve`, or leave "
                f"reward.judge_url empty to judge on this machine"
            )
        return dict(found)

    def _judgement(self, answer: httpx.Response) -> Judgement:
        if answer.status_code != 200:
            raise self._failure(answer)
        try:
            found = answer.json()
            judgement, clamped = judgement_from_json(found), found["clamped"]
            if not isinstance(clamped, list):
                raise ValueError("clamped is no list")
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise Unjudged(f"{self.url} answered with what is no judgement: {error}") from None
        if clamped:
            options = dict.fromkeys(_OPTIONS[name] for name in clamped if name in _OPTIONS)
            remedy = f"start it with a higher {', '.join(options)}, or ask for less" if options else "ask for less"
            raise Unjudged(
                f"{self.url} allows less {', '.join(map(str, clamped))} than was asked for, which could change the "
                f"verdict; {remedy}"
            )
        return judgement

    def _failure(self, answer: httpx.Response) -> Exception:
        error = error_of(answer)
        kind, message = error.get("type"), str(error.get("message", ""))
        if answer.status_code == 422 and kind == "TestsFormatError":
            field = error.get("field")
            return TestsFormatError(message, field if isinstance(field, str) else None)
        if answer.status_code == 401:
            return ConfigError(
                f"{self.url} wants a token: set {TOKEN_VARIABLE} to that of the server, on every machine"
            )
        if is_fault(answer):
            return Unjudged(f"{self.url}: {message}")
        return Unjudged(f"{self.url} answered {answer.status_code}: {message or 'no code-rlvr server, it seems'}")


_shared: dict[tuple[int, str], RemoteJudge] = {}  # by process id: a fork must not use its parent's connections
_shared_lock = threading.Lock()


def shared_remote_judge(url: str) -> RemoteJudge:
    """The client of this process for a server, made when it is first asked for and closed when the process ends.

    Raises:
        ConfigError, PreflightError: As `RemoteJudge`.
    """
    with _shared_lock:
        judge = _shared.get((os.getpid(), url))
        if judge is None:
            judge = _shared[os.getpid(), url] = RemoteJudge(url)
            atexit.register(judge.close)
        return judge
