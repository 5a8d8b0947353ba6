"""The server of `watch`: hands out a page that is there already, to browsers on this machine.

| path | what |
|---|---|
| `/` | the page around the report: asks for news and puts a newer report in place of the old one |
| `/page` | the report as it was rendered last |
| `/version` | a word that changes with the report |

Covered: paths, headers, who may ask.  Not covered: rendering (`watch`).  It is the standard library's server: reading
one page needs no more, and an installation for reports has no other.

A page of another site can make a browser send requests here; under a name of its own that points to this machine it
could even read the answers (DNS rebinding).  So the `Host` of a request has to be an address, ``localhost``, or the
name that was given; no other site may frame or embed what is handed out.
"""

from __future__ import annotations

import ipaddress
import json
import socket
import sys
import time
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock
from typing import Any

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from code_rlvr.report.html import content_security_policy, read_asset
from code_rlvr.report.palette import css_variables
from code_rlvr.report.visible import make_visible

SLOW_CLIENT_S = 30.0
"""Longest time for a request to arrive, or for a part of an answer to be taken."""

_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "frame-ancestors 'self'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "SAMEORIGIN",
}


class Shown:
    """What is handed out; safe to change while it is read.

    Args:
        names: What the runs are called, for the title of the window.
    """

    def __init__(self, names: str) -> None:
        self._lock = Lock()
        self._started = time.time_ns()  # a server that was started again shows something else
        self._count = 0
        self._page = b""
        self._waiting = ""
        script = read_asset("watch.js")
        self.frame = _render(
            "watch.html.jinja",
            names=make_visible(names, 200),
            policy=_frame_policy(script),
            css=Markup(css_variables()),
            script=Markup(script),
        )
        self.wait_for("the first look")

    def page(self, text: str) -> None:
        """Show a report."""
        self._show(text.encode())

    def wait_for(self, missing: str) -> None:
        """Show what it is waiting for, unless there was a report already."""
        if missing != self._waiting and not self._has_report():
            self._show(_waiting_page(missing), waiting=missing)

    def current(self) -> tuple[str, bytes]:
        """The version, and the page."""
        with self._lock:
            return f"{self._started}-{self._count}", self._page

    def _has_report(self) -> bool:
        return bool(self._page) and not self._waiting

    def _show(self, page: bytes, waiting: str = "") -> None:
        with self._lock:
            self._page, self._waiting = page, waiting
            self._count += 1


def _frame_policy(script: str) -> str:
    """The policy of a report, and leave to frame one and to ask for news."""
    return content_security_policy([script]) + "; connect-src 'self'; frame-src 'self'"


def _waiting_page(missing: str) -> bytes:
    return _render(
        "waiting.html.jinja",
        missing=make_visible(missing, 1_000),
        policy=content_security_policy([]),
        css=Markup(css_variables() + read_asset("report.css")),
    )


def _render(template: str, **context: Any) -> bytes:
    environment = Environment(autoescape=True, undefined=StrictUndefined)
    return environment.from_string(read_asset(template)).render(context).encode()


def is_loopback(address: str) -> bool:
    """Whether only this machine reaches an address."""
    return ipaddress.ip_address(address).is_loopback


class WatchServer(ThreadingHTTPServer):
    """A server on a socket that listens already.

    Args:
        listener: The socket.
        host: The name that was asked for, which a request may name as its host.
        shown: What to hand out.
    """

    daemon_threads = True

    def __init__(self, listener: socket.socket, host: str, shown: Shown) -> None:
        super().__init__(listener.getsockname()[:2], _Handler, bind_and_activate=False)
        self.socket.close()
        self.socket = listener
        self.host, self.shown = host, shown

    def may_be_named(self, given: str) -> bool:
        """Whether a request's ``Host`` is one that no other site can have."""
        name = given.rpartition(":")[0] if given.rpartition(":")[2].isdigit() else given
        name = name.strip("[]").rstrip(".").lower()
        if name in ("localhost", self.host.lower()):
            return True
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print what went wrong, unless a browser left before it had its answer, which is no news."""
        if not isinstance(sys.exc_info()[1], (ConnectionError, TimeoutError)):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    server: WatchServer
    timeout = SLOW_CLIENT_S
    server_version, sys_version = "code-rlvr", ""
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Answer."""
        if not self.server.may_be_named(self.headers.get("Host", "")):
            self._answer(b"open the address that the command printed", "text/plain", HTTPStatus.FORBIDDEN)
            return
        version, page = self.server.shown.current()
        match self.path.partition("?")[0]:
            case "/":
                self._answer(self.server.shown.frame, "text/html")
            case "/page":
                self._answer(page, "text/html")
            case "/version":
                self._answer(json.dumps(version).encode(), "application/json")
            case _:
                self._answer(b"there is nothing here", "text/plain", HTTPStatus.NOT_FOUND)

    do_HEAD = do_GET  # noqa: N815  the base class names it

    def _answer(self, body: bytes, kind: str, status: HTTPStatus = HTTPStatus.OK) -> None:
        self.send_response(status)
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: a page that asks every two seconds would fill the terminal."""
