"""The server of the watch: whom it answers, and with what."""

from __future__ import annotations

import contextlib
import http.client
import re
import socket
import threading
from collections.abc import Iterator

import pytest

from code_rlvr.report.html import read_asset
from code_rlvr.report.watch_server import Shown, WatchServer
from code_rlvr.serve.address import listening_socket


@contextlib.contextmanager
def serving(shown: Shown, host: str = "127.0.0.1") -> Iterator[int]:
    with contextlib.closing(listening_socket(host, 0)) as listener:
        server = WatchServer(listener, host, shown)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield listener.getsockname()[1]
        finally:
            server.shutdown()
            thread.join(10)


def ask(port: int, path: str, *, host: str | None = None, method: str = "GET") -> tuple[int, bytes, dict[str, str]]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    with contextlib.closing(connection):
        connection.putrequest(method, path, skip_host=host is not None)
        if host is not None:
            connection.putheader("Host", host)
        connection.endheaders()
        answer = connection.getresponse()
        return answer.status, answer.read(), {name.lower(): value for name, value in answer.getheaders()}


def test_the_report_is_handed_out_as_it_is_and_the_version_changes_with_it() -> None:
    shown = Shown("run")
    shown.page("<p>ä report</p>")
    with serving(shown) as port:
        status, body, headers = ask(port, "/page?1")
        assert (status, body.decode()) == (200, "<p>ä report</p>")
        assert headers["cache-control"] == "no-store"
        assert headers["content-security-policy"] == "frame-ancestors 'self'"
        first = ask(port, "/version")[1]
        assert ask(port, "/version")[1] == first
        shown.page("<p>newer</p>")
        assert ask(port, "/version")[1] != first
        assert ask(port, "/page", method="HEAD")[:2] == (200, b"")
        assert ask(port, "/etc/passwd")[0] == 404
        assert ask(port, "/page", method="POST")[0] == 501


def test_a_site_whose_name_was_pointed_here_learns_nothing() -> None:
    shown = Shown("secret-run")
    shown.page("secret")
    with serving(shown) as port:
        for host in (
            "evil.example",
            f"evil.example:{port}",
            f"127.0.0.1.evil.example:{port}",
            "",
            "localhost.evil.example",
        ):
            for path in ("/", "/page", "/version"):
                status, body, _ = ask(port, path, host=host)
                assert status == 403, host
                assert b"secret" not in body
        for host in (
            f"127.0.0.1:{port}",
            "127.0.0.1",
            f"localhost:{port}",
            f"LOCALHOST:{port}",
            f"[::1]:{port}",
            "[::1]",
        ):
            assert ask(port, "/page", host=host)[0] == 200, host


def test_the_frame_allows_only_its_own_script_and_asks_only_its_own_server() -> None:
    frame = Shown("</title><script>alert(1)</script>").frame.decode()
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', frame)
    assert policy is not None
    rules = dict(rule.strip().split(" ", 1) for rule in policy[1].replace("&#39;", "'").split(";"))
    assert rules["default-src"] == "'none'"
    assert re.fullmatch(r"'sha256-[^' ]+'", rules["script-src"])
    assert (rules["connect-src"], rules["frame-src"]) == ("'self'", "'self'")
    assert frame.count("<script>") == 1
    assert read_asset("watch.js") in frame


def test_a_fault_of_the_server_is_printed_and_a_browser_that_left_is_not(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    shown = Shown("run")
    shown.page("x" * 50_000_000)
    with serving(shown) as port:
        with socket.create_connection(("127.0.0.1", port)) as browser:
            browser.sendall(b"GET /page HTTP/1.1\r\nHost: localhost\r\n\r\n")
            browser.recv(1)
        assert ask(port, "/version")[0] == 200
        monkeypatch.setattr(Shown, "current", lambda shown: 1 / 0)
        with pytest.raises((http.client.HTTPException, ConnectionError)):
            ask(port, "/version")
    printed = capfd.readouterr().err
    assert printed.count("Traceback") == 1
    assert "ZeroDivisionError" in printed


def test_a_client_that_says_nothing_keeps_no_other_waiting() -> None:
    shown = Shown("run")
    with serving(shown) as port, socket.create_connection(("127.0.0.1", port)):
        assert ask(port, "/version")[0] == 200
