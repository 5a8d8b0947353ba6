"""The connections of a `RemoteJudge`: a request goes out until it is answered, or time is up.

| what happens | what is done |
|---|---|
| no connection, it breaks, or a proxy answers for a server that is not there | asked again for `unreachable_s` |
| the server has too much to do, or is being stopped | asked again, for `timeout_s` in all |
| anything else is answered | it is the answer |

Judging has no side effects, so that asking twice does no harm.

Covered: connections, pauses, the bounds in time.  Not covered: what answers mean (`remote_judge`).
"""

from __future__ import annotations

import contextlib
import os
import random
import socket
import threading
import time
import weakref
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from code_rlvr.errors import ConfigError, PreflightError, Unjudged
from code_rlvr.wire import TOKEN_VARIABLE

if TYPE_CHECKING:
    import httpx

CONNECT_S = 5.0
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.1, 2.0
IDLE_S = 30.0  # less than the server keeps an idle connection
_NOT_NOW = (429, 502, 503, 504)
# A machine that vanished without a word is noticed after 30 + 3 × 10 s.
_KEEP_ALIVE = [
    (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
    (socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 30),
    (socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 10),
    (socket.IPPROTO_TCP, socket.TCP_KEEPCNT, 3),
]


class Connection:
    """Connections to one server; thread-safe.

    Args:
        url: Where it listens.
        token: What it wants to be shown; the environment's `CODE_RLVR_TOKEN` if None.
        connections: At once, at most.
        timeout_s: Wall seconds for one answer, waiting for its turn included.
        unreachable_s: Of these, how long to go on without a connection.

    Raises:
        ConfigError: If the URL is none, or holds a secret.
        PreflightError: If httpx is not installed.
    """

    def __init__(self, url: str, token: str | None, connections: int, timeout_s: float, unreachable_s: float) -> None:
        self.url = _checked(url)
        self._timeout_s, self._unreachable_s = timeout_s, unreachable_s
        self._client = _client(token if token is not None else os.environ.get(TOKEN_VARIABLE, ""), connections)
        self._pid, self._lock, self._closed = os.getpid(), threading.Lock(), threading.Event()
        self._asking = 0
        self._sockets: weakref.WeakSet[socket.socket] = weakref.WeakSet()

    def close(self) -> None:
        """Hang up, from any thread: what is still asked for becomes `Unjudged`."""
        if os.getpid() != self._pid:  # a fork shares its parent's connections, and must not end them
            return
        with self._lock:
            self._closed.set()
            open_sockets, unused = [*self._sockets], not self._asking
        for each in open_sockets:  # closing a socket that a thread reads from would not wake the thread
            _hang_up(each)
        if unused:
            self._client.close()

    def get_once(self, path: str, timeout_s: float) -> Any:
        """The JSON at a path, asked for once.

        Raises:
            ValueError: There is none, for whatever reason.
        """
        import httpx  # noqa: PLC0415  the package alone needs none

        try:
            return self._client.get(self.url + path, timeout=timeout_s).json()
        except httpx.HTTPError as error:
            raise ValueError(type(error).__name__) from None

    def post(self, path: str, body: bytes) -> httpx.Response:
        """The server's answer, whatever it is, unless that it cannot answer now.

        Raises:
            Unjudged: There was none in time.
        """
        with self._lock:
            self._asking += 1
        try:
            return self._post(path, body)
        finally:
            with self._lock:
                self._asking -= 1
                last = self._closed.is_set() and not self._asking and os.getpid() == self._pid
            if last:
                self._client.close()

    def _post(self, path: str, body: bytes) -> httpx.Response:
        started = time.monotonic()
        unreachable_since: float | None = None
        pause_s = FIRST_PAUSE_S
        while True:
            left_s = started + self._timeout_s - time.monotonic()
            answer, trouble = self._try(path, body, left_s)
            if answer is not None and (answer.status_code not in _NOT_NOW or is_fault(answer)):
                return answer
            now = time.monotonic()
            wait_s = pause_s * random.uniform(0.5, 1.5)
            if answer is not None and error_of(answer):
                unreachable_since = None
                wait_s = max(wait_s, _retry_after_s(answer))
            elif unreachable_since is None:
                unreachable_since = now
            elif now - unreachable_since > self._unreachable_s:
                raise Unjudged(f"{self.url} {trouble}, for {now - unreachable_since:.0f} s")
            if now + wait_s > started + self._timeout_s:
                raise Unjudged(f"{self.url} {trouble}, after {now - started:.0f} s")
            self._closed.wait(wait_s)
            pause_s = min(2 * pause_s, LONGEST_PAUSE_S)

    def _try(self, path: str, body: bytes, left_s: float) -> tuple[httpx.Response | None, str]:
        """The answer, or None, and in words why there is none that can be used."""
        import httpx  # noqa: PLC0415  the package alone needs none

        if self._closed.is_set() or os.getpid() != self._pid:
            raise Unjudged("this judge was closed, or made before the process forked; make one in each process")
        timeout = httpx.Timeout(left_s, connect=min(CONNECT_S, left_s))
        try:
            answer = self._client.post(
                self.url + path, content=body, timeout=timeout, extensions={"trace": self._note_socket}
            )
        except httpx.HTTPError as error:
            return None, f"cannot be reached ({type(error).__name__})"
        return answer, str(error_of(answer).get("message") or f"answers with {answer.status_code}")

    def _note_socket(self, event: str, found: dict[str, Any]) -> None:
        """Remember a connection that was made; httpx tells."""
        if event in ("connection.connect_tcp.complete", "connection.start_tls.complete"):
            made: socket.socket = found["return_value"].get_extra_info("socket")
            with self._lock:
                self._sockets.add(made)
            if self._closed.is_set():
                _hang_up(made)


def _hang_up(connected: socket.socket) -> None:
    with contextlib.suppress(OSError):  # it is closed already
        connected.shutdown(socket.SHUT_RDWR)


def error_of(answer: httpx.Response) -> dict[str, Any]:
    """What an answer says went wrong; nothing if it is not the server's own."""
    try:
        error = answer.json()["error"]
    except (ValueError, KeyError, TypeError):
        return {}
    return error if isinstance(error, dict) else {}


def is_fault(answer: httpx.Response) -> bool:
    """Whether the server's judge broke on this program, rather than the server being busy."""
    return error_of(answer).get("type") in ("JudgeFault", "Unjudged")


def _checked(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigError(f"{url!r} is no URL of a judging server; write e.g. http://127.0.0.1:8377")
    if parts.username or parts.password or parts.query:
        raise ConfigError(f"the URL of a judging server may hold no secrets; set {TOKEN_VARIABLE} instead")
    return url.rstrip("/")


def _client(token: str, connections: int) -> httpx.Client:
    try:
        import httpx  # noqa: PLC0415  the package alone needs none
    except ImportError:
        raise PreflightError("a remote judge needs httpx; install it with: pip install 'code-rlvr[serve]'") from None
    limits = httpx.Limits(max_connections=connections, max_keepalive_connections=connections, keepalive_expiry=IDLE_S)
    # Proxies of the environment are for the world outside, and would see the programs.
    transport = httpx.HTTPTransport(limits=limits, socket_options=_KEEP_ALIVE, trust_env=False)
    headers = {"content-type": "application/json"} | ({"authorization": f"Bearer {token.strip()}"} if token else {})
    return httpx.Client(transport=transport, headers=headers, trust_env=False)


def _retry_after_s(answer: httpx.Response) -> float:
    text = answer.headers.get("retry-after", "")
    return min(float(text), LONGEST_PAUSE_S) if text.isdecimal() else 0.0
