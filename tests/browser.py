"""Pages in a real browser, headless and in a profile of their own.

`browse` and `take_picture` open a page and end; `Tab` stays and lets a test use the page as a reader does.  It speaks
Chromium's DevTools protocol over a pipe, so that no port is opened.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from PIL import Image

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
]
BOUNDED = "--virtual-time-budget=8000"


def browse(tmp_path: Path, page: Path, *options: str, dark: bool) -> str:
    """Open the page in a fresh profile; return what the browser prints."""
    command = [*_command(tmp_path, dark), BOUNDED, *options, page.as_uri()]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout


def take_picture(tmp_path: Path, page: Path, width: int, height: int, *, dark: bool) -> Image.Image:
    file = tmp_path / "page.png"
    browse(tmp_path, page, f"--screenshot={file}", f"--window-size={width},{height}", dark=dark)
    return Image.open(file).convert("RGB")


def colours(picture: Image.Image, box: tuple[int, int, int, int] | None = None) -> set[tuple[int, ...]]:
    part = picture.crop(box) if box else picture
    return {colour for _, colour in part.getcolors(maxcolors=part.width * part.height)}


def _command(tmp_path: Path, dark: bool) -> list[str]:
    assert CHROMIUM is not None
    scheme = f"--blink-settings=preferredColorScheme={0 if dark else 1}"
    return [CHROMIUM, *FLAGS, scheme, f"--user-data-dir={tmp_path / 'profile'}"]


class Tab:
    """An open page.

    Args:
        pipe: What the browser reads commands from, and what it writes answers and events to.
    """

    def __init__(self, pipe: tuple[int, int]) -> None:
        self._to, self._from = pipe
        self._number = 0
        self._rest = b""
        self._session: dict[str, str] = {}
        self.events: list[dict[str, Any]] = []

    def call(self, method: str, **parameters: Any) -> Any:
        """Give a command and wait for its answer; events on the way are kept."""
        self._number += 1
        command = {"id": self._number, "method": method, "params": parameters, **self._session}
        os.write(self._to, json.dumps(command).encode() + b"\0")
        while (message := self._read()).get("id") != self._number:
            self.events.append(message)
        assert "error" not in message, message
        return message["result"]

    def _read(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            chunk = os.read(self._from, 1 << 20)
            assert chunk, "the browser has ended"
            self._rest += chunk
        line, _, self._rest = self._rest.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        return message

    def open(self, page: Path, width: int) -> None:
        """Show a page, and wait until its curves are drawn."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self._session = {"sessionId": session}
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        phone = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
        self.call("Emulation.setDeviceMetricsOverride", **phone)
        self.call("Page.navigate", url=page.as_uri())
        self.run("new Promise(r => document.readyState === 'complete' ? r() : addEventListener('load', () => r()))")
        self.run(
            "new Promise(r => { const look = () => document.documentElement.dataset.painted ? setTimeout(r, 200)"
            " : setTimeout(look, 50); look(); })"
        )

    def run(self, script: str) -> Any:
        """Evaluate JavaScript in the page; return its value."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def parameters(self, method: str) -> list[dict[str, Any]]:
        """What came with each event of this name."""
        return [event["params"] for event in self.events if event.get("method") == method]


@contextmanager
def open_tab(tmp_path: Path, page: Path, width: int, *, dark: bool = False) -> Iterator[Tab]:
    """Open a page in a browser that stays until the end of the block."""
    to_read, to_write = os.pipe()
    from_read, from_write = os.pipe()
    # The browser's ends of the pipe are descriptors 3 and 4.
    script = f'exec "$@" 3<&{to_read} 4>&{from_write}'
    command = ["bash", "-c", script, "bash", *_command(tmp_path, dark), "--remote-debugging-pipe", "about:blank"]
    browser = subprocess.Popen(command, pass_fds=(to_read, from_write), stderr=subprocess.DEVNULL)
    os.close(to_read)
    os.close(from_write)
    try:
        tab = Tab((to_write, from_read))
        tab.open(page, width)
        yield tab
        tab.call("Runtime.evaluate", expression="1")  # whatever has happened until now has been read
    finally:
        os.close(to_write)
        browser.terminate()
        browser.wait(30)
        os.close(from_read)
