"""The paths of the server, and which status says what.

| status | meaning |
|---|---|
| 200 | a judgement, or a score |
| 400, 415 | the body cannot be read; it is not declared as JSON |
| 401 | the token is missing or wrong |
| 408, 413 | the body came too slowly; it is too large |
| 422 | the tests or the settings are malformed; nothing was judged |
| 429 | too much to do; come again after Retry-After |
| 503 | Unjudged: the judge broke, which says nothing about the program; or the server is being stopped |

No body that a client sent is repeated in an answer or a log: it holds what a model wrote.

Covered: authentication, bodies of bounded size and time, statuses, clients that leave.
Not covered: what is done with a body (`service`), signals (`run`), the socket (`address`).
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import json
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import Future
from typing import Any, TypeVar

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from code_rlvr.errors import CodeRlvrError, JudgeFault, UsageError
from code_rlvr.serve.admission import Admission, Busy, Stopping, Ticket
from code_rlvr.serve.service import Answer, Service
from code_rlvr.wire import API, HEALTH, JUDGE, JUDGE_MANY, METRICS, SCORE, error_to_json, package_version

Result = TypeVar("Result")

BODY_S = 60.0  # for a body to arrive, or for a line to be taken
RETRY_AFTER_S = 1
CLIENT_LEFT = 499
_STATUSES: dict[type[CodeRlvrError], int] = {Busy: 429, Stopping: 503, JudgeFault: 503, UsageError: 422}


class JudgeApp:
    """The application around a service.

    Args:
        service: What answers.
        admission: What may wait.
        token: What clients have to show; "" lets everyone in.
        layers: Of isolation, which `health` tells.
    """

    def __init__(self, service: Service, admission: Admission, token: str, layers: Sequence[str]) -> None:
        self.service, self.admission = service, admission
        self._token, self._layers = token.encode(), list(layers)
        self.asgi = Starlette(
            routes=[
                Route(JUDGE, self.judge, methods=["POST"]),
                Route(JUDGE_MANY, self.judge_many, methods=["POST"]),
                Route(SCORE, self.score, methods=["POST"]),
                Route(HEALTH, self.health),
                Route(METRICS, self.metrics),
            ],
            exception_handlers={HTTPException: _refused, CodeRlvrError: self._failed, ClientDisconnect: _left},
        )

    async def judge(self, request: Request) -> Response:
        """One program's judgement."""
        return await self._answered(request, self.service.judge)

    async def score(self, request: Request) -> Response:
        """One response's score, with the keys of `compute_score`."""
        return await self._answered(request, self.service.score)

    async def judge_many(self, request: Request) -> Response:
        """Judgements in order, one JSON line each as soon as it and those before it are known."""
        self._require_token(request)
        with self.admission.ticket() as ticket:
            body = await self._body(request, ticket)
            ticket.charge(programs=1)
            items = await self._done(request, self.service.submit(lambda: self.service.items(body)))
            ticket.charge(programs=len(items) - 1)
            submitted = [self.service.submit(lambda item=item: self.service.judge_item(item)) for item in items]  # type: ignore[misc]
            return _Stream(self._lines(submitted), submitted, ticket.handed_over())

    async def _lines(self, futures: Sequence[Future[Answer]]) -> AsyncIterator[bytes]:
        for future in futures:
            try:
                line = self._counted(await _outcome(future)).body
            except CodeRlvrError as error:
                line = json.dumps(error_to_json(self._noted(error))).encode()
            yield line + b"\n"

    async def health(self, request: Request) -> Response:
        """Whether programs can be judged, and by what; open to all, so that a balancer can ask."""
        bounds = self.service.bounds
        findings = {
            "ready": not self.admission.stopping,
            "version": package_version(),
            "api": API,
            "layers": self._layers,
            "workers": self.service.workers,
            "token_required": bool(self._token),
            "max_programs": self.admission.capacity.programs,
            "max_items": self.admission.capacity.items,
            "max_body_bytes": self.admission.capacity.body_bytes,
            "max_cpu_s": bounds.maximum.cpu_s,
            "max_memory_mib": bounds.maximum.memory_mib,
            "max_deadline_s": bounds.maximum.deadline_s,
        }
        return JSONResponse(findings, status_code=503 if self.admission.stopping else 200)

    async def metrics(self, request: Request) -> Response:
        """Counters for a monitor."""
        self._require_token(request)
        return PlainTextResponse(
            self.admission.metrics(self.service.running), media_type="text/plain; version=0.0.4; charset=utf-8"
        )

    async def _answered(self, request: Request, work: Callable[[bytes], Answer]) -> Response:
        self._require_token(request)
        with self.admission.ticket() as ticket:
            body = await self._body(request, ticket)
            ticket.charge(programs=1)  # not before: who sends slowly takes no turn
            answer = self._counted(await self._done(request, self.service.submit(lambda: work(body))))
        headers = {"x-clamped-limits": ", ".join(answer.clamped)} if answer.clamped else {}
        return Response(answer.body, media_type="application/json", headers=headers)

    def _require_token(self, request: Request) -> None:
        scheme, _, given = request.headers.get("authorization", "").partition(" ")
        if self._token and not (
            scheme.lower() == "bearer" and hmac.compare_digest(given.strip().encode(), self._token)
        ):
            self.admission.refused["token"] += 1
            raise HTTPException(401, "send the server's token: Authorization: Bearer …")

    async def _body(self, request: Request, ticket: Ticket) -> bytes:
        """The body, charged to the ticket as it comes."""
        # A page in a browser on this machine can send other types to a loopback address without asking first.
        if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            raise HTTPException(415, "send JSON, and say so: Content-Type: application/json")
        most = self.admission.capacity.body_bytes
        chunks: list[bytes] = []

        async def read() -> None:
            if int(request.headers.get("content-length", 0)) > most:
                raise _too_large(most)
            async for chunk in request.stream():
                ticket.charge(size=len(chunk))
                chunks.append(chunk)
                if ticket.size > most:
                    raise _too_large(most)

        try:
            await asyncio.wait_for(read(), BODY_S)
        except asyncio.TimeoutError:
            raise HTTPException(408, f"the body did not come within {BODY_S:.0f} s", {"connection": "close"}) from None
        return b"".join(chunks)

    async def _done(self, request: Request, future: Future[Any]) -> Any:
        """What a future gives; if the client leaves first, the work is not begun, or its end is waited for."""
        outcome = asyncio.ensure_future(_outcome(future))
        left = asyncio.ensure_future(_leaves(request))
        try:
            await asyncio.wait({outcome, left}, return_when=asyncio.FIRST_COMPLETED)
            if not outcome.done():
                future.cancel()  # or it runs on, and goes on holding its place
                await asyncio.wait({outcome})
                outcome.exception()
                self.admission.refused["client left"] += 1
                raise ClientDisconnect
            return await outcome
        finally:
            left.cancel()

    def _counted(self, answer: Answer) -> Answer:
        self.admission.verdicts[answer.judgement.verdict.value] += 1
        self.admission.judge_s += answer.judgement.judge_s
        return answer

    def _noted(self, error: CodeRlvrError) -> CodeRlvrError:
        if self.admission.stopping and isinstance(error, JudgeFault):
            error = Stopping("the server was stopped before this program was judged")
        self.admission.refused[type(error).__name__] += 1
        return error

    async def _failed(self, request: Request, error: Exception) -> Response:
        assert isinstance(error, CodeRlvrError)
        error = self._noted(error)
        status = next(status for kind, status in _STATUSES.items() if isinstance(error, kind))
        headers = {"retry-after": str(RETRY_AFTER_S)} if isinstance(error, (Busy, Stopping)) else {}
        return JSONResponse(error_to_json(error), status, headers)


class _Stream(StreamingResponse):
    """Lines for a client; however it ends, what was not begun is cancelled and the ticket is given back."""

    def __init__(self, lines: AsyncIterator[bytes], futures: Sequence[Future[Answer]], ticket: Ticket) -> None:
        super().__init__(lines, media_type="application/x-ndjson")
        self._futures, self._ticket = futures, ticket

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_soon(message: Message) -> None:
            await asyncio.wait_for(send(message), BODY_S)

        try:
            with contextlib.suppress(asyncio.TimeoutError):  # a client that does not read; it is hung up on
                await super().__call__(scope, receive, send_soon)
        finally:
            for future in self._futures:
                future.cancel()
            self._ticket.give_back()


async def _outcome(future: Future[Result]) -> Result:
    """What a future gives.

    Raises:
        Stopping: It was cancelled, which only the end of the server does while somebody waits for it.
    """
    try:
        return await asyncio.wrap_future(future)
    except asyncio.CancelledError:
        if not future.cancelled():  # it is this task that is cancelled
            raise
        raise Stopping("the server was stopped before this program was judged") from None


def _too_large(most: int) -> HTTPException:
    return HTTPException(413, f"a request of more than {most >> 20} MiB; start the server with a larger --max-body-mib")


async def _leaves(request: Request) -> None:
    """Wait until the client has gone."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def _left(request: Request, error: Exception) -> Response:
    return Response(status_code=CLIENT_LEFT)


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    answer = {"error": {"type": "HTTPError", "message": error.detail, "field": None}}
    return JSONResponse(answer, error.status_code, error.headers)
