"""A stand-in for the hub on the loopback interface: the few answers that reading a data set takes.

Covered: what a data set holds, sizes of files, ranges of their bytes, and refusals.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

COMMIT = "0123456789abcdef0123456789abcdef01234567"
_INFO = re.compile(r"/api/datasets/([\w.-]+/[\w.-]+)(?:/revision/([^/?]+))?(?:\?.*)?$")
_TREE = re.compile(r"/api/datasets/([\w.-]+/[\w.-]+)/tree/[^/?]+(?:/([^?]+))?(?:\?.*)?$")
_RESOLVE = re.compile(r"/datasets/([\w.-]+/[\w.-]+)/resolve/([^/?]+)/(.+)$")


class HubServer:
    """Serves data sets.

    Args:
        datasets: For each name, the content of its files by path.

    Attributes:
        endpoint: Its address.
        sent: How many bytes of files it has sent.
    """

    def __init__(self, datasets: dict[str, dict[str, bytes]]) -> None:
        self.datasets = datasets
        self.sent = 0
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.endpoint = f"http://127.0.0.1:{self._server.server_address[1]}"

    @contextmanager
    def running(self) -> Iterator[HubServer]:
        """Serve until the end of the block."""
        thread = threading.Thread(target=self._server.serve_forever)
        thread.start()
        try:
            yield self
        finally:
            self._server.shutdown()
            self._server.server_close()
            thread.join()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        hub = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                if found := _INFO.match(self.path):
                    self._info(found[1], found[2])
                elif found := _TREE.match(self.path):
                    self._tree(found[1], found[2])
                elif found := _RESOLVE.match(self.path):
                    self._file(*found.groups())
                else:
                    self._answer(404, {})

            def do_HEAD(self) -> None:
                self.do_GET()

            def _tree(self, name: str, folder: str | None) -> None:
                start = f"{folder}/" if folder else ""
                files = {path: content for path, content in hub.datasets[name].items() if path.startswith(start)}
                entries: list[dict[str, Any]] = [
                    {"type": "file", "path": path, "size": len(content), "oid": "0" * 40}
                    for path, content in files.items()
                    if "/" not in path.removeprefix(start)
                ]
                folders = {path.removeprefix(start).partition("/")[0] for path in files if "/" in path[len(start) :]}
                entries += [{"type": "directory", "path": f"{start}{one}", "oid": "0" * 40} for one in folders]
                self._answer(200, entries)

            def _info(self, name: str, revision: str | None) -> None:
                if name == "some/gated":
                    self._answer(403, {"error": "agree first"}, {"X-Error-Code": "GatedRepo"})
                elif name not in hub.datasets:
                    self._answer(404, {"error": "none"}, {"X-Error-Code": "RepoNotFound"})
                elif revision not in (None, "main", "v1", COMMIT):
                    self._answer(404, {"error": "none"}, {"X-Error-Code": "RevisionNotFound"})
                else:
                    siblings = [{"rfilename": path} for path in hub.datasets[name]]
                    self._answer(200, {"id": name, "sha": COMMIT, "siblings": siblings})

            def _file(self, name: str, revision: str, path: str) -> None:
                content = hub.datasets[name][path]
                given = re.match(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
                start = int(given[1]) if given else 0
                end = int(given[2]) + 1 if given and given[2] else len(content)
                piece = content[start:end]
                headers = {"ETag": '"1"', "X-Repo-Commit": revision, "Accept-Ranges": "bytes"}
                if given:
                    headers["Content-Range"] = f"bytes {start}-{start + len(piece) - 1}/{len(content)}"
                hub.sent += len(piece) if self.command == "GET" else 0  # before the reader can go on and look
                self._answer(206 if given else 200, piece, headers)

            def _answer(self, status: int, content: Any, headers: dict[str, str] | None = None) -> None:
                body = content if isinstance(content, bytes) else json.dumps(content).encode()
                self.send_response(status)
                for key, value in (headers or {}).items():
                    self.send_header(key, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(body)

            def log_message(self, *words: object) -> None:
                """Keep the terminal quiet."""

        return Handler
