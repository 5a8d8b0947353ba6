"""Runs the server until a signal: uvicorn, stopped in our order.

A signal lets the programs that run finish for a while, answers those that wait with 503, and leaves no process behind.

Covered: start, signals, connections that only hang, what may get into the log.
Not covered: address and token (`address`), paths (`app`), what a program may use (`requests`).
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import resource
import signal
import socket
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType, TracebackType

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from code_rlvr.serve.address import listening_socket, read_token, url_of
from code_rlvr.serve.admission import Admission, Capacity
from code_rlvr.serve.app import JudgeApp
from code_rlvr.serve.requests import Bounds
from code_rlvr.serve.service import Service
from code_rlvr.verifier.judge import Judge
from code_rlvr.verifier.pool import usable_cpus
from code_rlvr.verifier.sandbox import Isolation

GRACE_S = 10.0  # for programs that run when the server is stopped
ANSWER_S = 1.0  # for their answers to get out
HANG_S = 60.0  # for a request's headers to arrive; longer than a client keeps an idle connection (30 s)
MAX_CONNECTIONS = 1000


@dataclass(frozen=True, slots=True)
class ServeSettings:
    """How to serve.

    Args:
        host, port: Where to listen; port 0 is any that is free.
        token_file: As for `read_token`.
        workers: Programs judged at once; one per usable CPU if None.
        capacity: How much may wait.
        bounds: What programs may use.
        python, isolation: As for `Judge`.
    """

    host: str
    port: int
    token_file: Path | None
    workers: int | None
    capacity: Capacity
    bounds: Bounds
    python: Path | None = None
    isolation: Isolation = "full"


def serve(settings: ServeSettings, say: Callable[[str], None]) -> None:
    """Serve until SIGINT or SIGTERM; a second one ends the programs that run.

    Args:
        settings: How.
        say: Is told where the server listens, and how it ended.

    Raises:
        ConfigError: Address, token or interpreter cannot be used.
        PreflightError: The port is taken, or this machine cannot isolate programs.
        JudgeFault: The sandbox cannot be set up.
    """
    token = read_token(settings.token_file, settings.host)
    workers = settings.workers or usable_cpus()
    with contextlib.closing(listening_socket(settings.host, settings.port)) as listener:
        judge = Judge(workers, settings.bounds.default, python=settings.python, isolation=settings.isolation)
        service = Service(judge, workers, settings.bounds, settings.capacity.items)
        admission = Admission(settings.capacity)
        app = JudgeApp(service, admission, token, judge.layers)
        say(f"isolation: {', '.join(judge.layers)}")
        say(f"listening on {url_of(listener)}, {workers} workers, {'with a' if token else 'no'} token; Ctrl-C stops")
        _log_without_texts()
        try:
            _Server(app, service, admission).run([listener])
        finally:
            service.close()
    say(f"stopped; {sum(admission.verdicts.values()):,} programs were judged")


class _Server(uvicorn.Server):
    def __init__(self, app: JudgeApp, service: Service, admission: Admission) -> None:
        config = uvicorn.Config(
            app.asgi,
            http=_Connection,
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            limit_concurrency=min(MAX_CONNECTIONS, resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 2),
            timeout_keep_alive=int(2 * HANG_S),
        )
        super().__init__(config)
        self._service, self._admission, self._in_a_hurry = service, admission, False

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """As uvicorn's, but a signal that was obeyed is not raised again: being stopped is no failure."""
        numbers = (signal.SIGINT, signal.SIGTERM)
        before = {number: signal.signal(number, self.handle_exit) for number in numbers}
        try:
            yield
        finally:
            for number in numbers:
                signal.signal(number, before[number])

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop; without waiting for programs, if it was told before."""
        self._in_a_hurry = self.should_exit
        self.should_exit = self._admission.stopping = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Answer everything, or end it."""
        self._service.cancel_waiting()
        ending = asyncio.ensure_future(self._end())
        await super().shutdown(sockets)
        ending.cancel()

    async def _end(self) -> None:
        deadline = time.monotonic() + GRACE_S
        while time.monotonic() < deadline and not self._in_a_hurry:
            await asyncio.sleep(0.05)
        await asyncio.get_running_loop().run_in_executor(None, self._service.end_programs)
        await asyncio.sleep(ANSWER_S)
        for connection in [*self.server_state.connections]:  # those whose clients neither speak nor listen
            connection.transport.abort()


class _Connection(H11Protocol):
    """A connection that is closed if no request gets across for long, whatever its client sends meanwhile."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to watch."""
        super().connection_made(transport)
        self._watch = self.loop.call_later(HANG_S, self._look, self.cycle)

    def _look(self, cycle_before: object) -> None:
        answered = self.cycle is None or self.cycle.response_complete
        if answered and self.cycle is cycle_before:
            self.transport.close()
        else:
            self._watch = self.loop.call_later(HANG_S, self._look, self.cycle)

    def connection_lost(self, exc: Exception | None) -> None:
        """Watch no more."""
        self._watch.cancel()
        super().connection_lost(exc)


class _WithoutTexts(logging.Formatter):
    """Says where an error arose and of which type; its message may hold what a model wrote."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802  logging's name
        record.message = record.message.partition("\n")[0]  # asyncio's second line is the error itself
        return super().formatMessage(record)

    def formatException(  # noqa: N802  logging's name
        self, ei: tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]
    ) -> str:
        return "".join(traceback.format_tb(ei[2])) + (ei[0].__name__ if ei[0] else "")


def _log_without_texts() -> None:
    handler = logging.StreamHandler()
    handler.setFormatter(_WithoutTexts("%(asctime)s %(levelname)s %(message)s"))
    for name in ("uvicorn.error", "asyncio"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(logging.WARNING)
