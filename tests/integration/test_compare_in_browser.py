"""The comparison and the watch in a real browser: charts, switches, colours, a page that renews itself in place."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import ImageColor

from code_rlvr.health import HealthThresholds
from code_rlvr.report.compare import render_comparison
from code_rlvr.report.compare.run_styles import RUN_STYLES
from code_rlvr.report.palette import TONES
from code_rlvr.report.run_state import read_state
from code_rlvr.report.sources import find_sources
from tests.browser import CHROMIUM, FLAGS, browse, colours, take_picture
from tests.synthetic_run import make_run

COMMAND = [sys.executable, "-c", "from code_rlvr.cli import main; main()", "report"]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: apt-get install chromium"),
]


class Tab:
    """A page that stays open, driven through pipes by the browser's own protocol.

    Args:
        send, receive: Ends of the pipes; messages are JSON that end with a zero byte.
    """

    def __init__(self, send: int, receive: int) -> None:
        self._send, self._receive = send, receive
        self._rest, self._count = b"", 0
        self.complaints: list[str] = []
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self._call(f"{domain}.enable")

    def _call(self, method: str, **arguments: Any) -> dict[str, Any]:
        self._count += 1
        message = {"id": self._count, "method": method, "params": arguments}
        if hasattr(self, "_session"):
            message["sessionId"] = self._session
        os.write(self._send, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._count:
                assert "error" not in answer, answer
                result: dict[str, Any] = answer["result"]
                return result
            if answer.get("method") in ("Log.entryAdded", "Runtime.exceptionThrown"):
                self.complaints.append(json.dumps(answer["params"]))

    def resize(self, width: int, height: int) -> None:
        """Make the window so many pixels wide and high."""
        self._call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            received = os.read(self._receive, 1 << 16)
            assert received, "the browser has ended"
            self._rest += received
        message, _, self._rest = self._rest.partition(b"\0")
        answer: dict[str, Any] = json.loads(message)
        return answer

    def open(self, url: str) -> None:
        """Load a page."""
        self._call("Page.navigate", url=url)

    def ask(self, expression: str) -> Any:
        """Return the value of an expression in the page."""
        return self._call("Runtime.evaluate", expression=expression, returnByValue=True)["result"].get("value")

    def wait_for(self, expression: str, seconds: float = 40) -> Any:
        """Ask until the answer is true."""
        until = time.monotonic() + seconds
        while not (value := self.ask(expression)):
            assert time.monotonic() < until, f"{expression} stayed {value!r}; {self.complaints}"
            time.sleep(0.1)
        return value


@pytest.fixture
def tab(tmp_path: Path) -> Iterator[Tab]:
    assert CHROMIUM is not None
    flags = [flag for flag in FLAGS if "virtual-time" not in flag]
    to_browser, send = os.pipe()
    receive, from_browser = os.pipe()
    words = [CHROMIUM, *flags, "--remote-debugging-pipe", f"--user-data-dir={tmp_path / 'profile'}"]
    script = f"exec {shlex.join(words)} 3<&{to_browser} 4>&{from_browser}"  # where the browser looks for its pipes
    browser = subprocess.Popen(
        ["bash", "-c", script], pass_fds=(to_browser, from_browser), stderr=subprocess.DEVNULL, start_new_session=True
    )
    os.close(to_browser)
    os.close(from_browser)
    try:
        yield Tab(send, receive)
    finally:
        os.close(send)  # which ends the browser
        with contextlib.suppress(subprocess.TimeoutExpired):
            browser.wait(10)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(browser.pid, signal.SIGKILL)
        browser.wait(10)
        os.close(receive)


@pytest.fixture(scope="module")
def comparison(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    runs = [make_run(folder / f"run-{seed}", steps=20 + 10 * seed, seed=seed, heldout=60).path for seed in range(3)]
    page = folder / "comparison.html"
    states = [read_state(source, HealthThresholds()) for source in find_sources([str(run) for run in runs])]
    page.write_text(render_comparison(states), encoding="utf-8")
    return page


@pytest.mark.parametrize("dark", [False, True])
def test_runs_are_drawn_in_their_colours_in_either_mode(tmp_path: Path, comparison: Path, dark: bool) -> None:
    page = browse(tmp_path, comparison, "--dump-dom", dark=dark)
    assert f'data-painted="{"dark" if dark else "light"}"' in page
    assert page.count('class="bk-Figure"') == len(re.findall('role="img"', page)) > 8
    seen = colours(take_picture(tmp_path, comparison, 1280, 6000, dark=dark))
    for style in RUN_STYLES[:3]:
        assert ImageColor.getrgb(style.tone.dark if dark else style.tone.light) in seen, style.name
        assert ImageColor.getrgb(style.tone.light if dark else style.tone.dark) not in seen, style.name


def test_comparison_fits_a_phone(tmp_path: Path, comparison: Path) -> None:
    width, margin = 390, 14
    picture = take_picture(tmp_path, comparison, width, 9_000, dark=False)
    assert colours(picture, (width - margin, 0, width, 9_000)) == {ImageColor.getrgb(TONES["page"].light)}


@pytest.mark.parametrize("width", [390, 1200])
def test_wide_tables_scroll_in_their_own_box_and_their_first_column_stays(tmp_path: Path, tab: Tab, width: int) -> None:
    runs = [make_run(tmp_path / f"a-run-with-a-longer-name-{n}", steps=4, seed=n, heldout=20).path for n in range(5)]
    page = tmp_path / "comparison.html"
    page.write_text(
        render_comparison([read_state(one, HealthThresholds()) for one in find_sources([str(run) for run in runs])]),
        encoding="utf-8",
    )
    tab.resize(width, 900)
    tab.open(page.as_uri())
    tab.wait_for("document.documentElement.dataset.painted")
    assert tab.ask("document.documentElement.scrollWidth") <= width
    boxes = tab.ask(
        "[...document.querySelectorAll('.table-card')].map(box => {"
        " const head = box.querySelector('tbody th'), left = () => Math.round(head.getBoundingClientRect().left);"
        " const [before, far] = [left(), box.scrollWidth - box.clientWidth]; box.scrollLeft = 1e6;"
        " const last = box.querySelector('tbody tr').lastElementChild.getBoundingClientRect();"
        " return {moved: left() - before, scrolled: Math.abs(box.scrollLeft - far) < 2,"
        "  whole: last.right <= box.getBoundingClientRect().right + 1, far,"
        "  width: head.offsetWidth / box.clientWidth}; })"
    )
    assert len(boxes) >= 3
    assert max(box["far"] for box in boxes) > 0, "no table is wider than its box: the test shows nothing"
    for box in boxes:
        assert box["scrolled"]
        assert box["whole"]
        assert abs(box["moved"]) <= 1
        assert box["width"] < 0.6


def test_a_run_can_be_taken_out_of_all_charts(tab: Tab, comparison: Path) -> None:
    shown = (
        "Bokeh.documents.flatMap(d => Array.from(d.all_models))"
        ".filter(m => m.attributes.name === 'run-1' && m.visible).length"
    )
    tab.open(comparison.as_uri())
    tab.wait_for("document.documentElement.dataset.painted")
    assert tab.ask(shown) > 8
    tab.ask("document.querySelector('[data-run=run-1]').click()")
    assert tab.ask(shown) == 0
    assert tab.ask(shown.replace("run-1", "run-0")) > 8
    tab.ask("document.querySelector('[data-run=run-1]').click()")
    assert tab.ask(shown) > 8
    assert tab.complaints == []


@contextlib.contextmanager
def watched(*words: str, cwd: Path) -> Iterator[str]:
    """Watch runs as a person does; yield the address."""
    process = subprocess.Popen([*COMMAND, *words, "--watch", "--port", "0"], stderr=subprocess.PIPE, text=True, cwd=cwd)
    assert process.stderr is not None
    try:
        found = re.search(r"http://[\d.:]+\d", process.stderr.readline())
        assert found
        yield found[0]
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
    assert process.returncode == 0


def in_report(expression: str) -> str:
    """An expression about the report inside the frame."""
    return f"(f => f && f.contentDocument.body && (({expression})(f.contentDocument, f.contentWindow)))" + (
        "(document.querySelector('iframe.shown'))"
    )


TEXT = in_report("(d) => d.body.innerText")


def write_until(metrics: Path, lines: list[bytes], step: int) -> None:
    metrics.parent.mkdir(exist_ok=True)
    metrics.write_bytes(b"".join(lines[: step + 1]))


@pytest.fixture(scope="module")
def lines(tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    run = make_run(tmp_path_factory.mktemp("source") / "run", steps=40, evaluated=False)
    return run.metrics.read_bytes().splitlines(keepends=True)


def test_watched_page_waits_then_grows_and_stays_where_the_reader_is(
    tmp_path: Path, tab: Tab, lines: list[bytes]
) -> None:
    metrics = tmp_path / "live" / "metrics.jsonl"
    with watched("live", cwd=tmp_path) as address:
        tab.open(address)
        tab.wait_for(f"({TEXT} || '').includes('Waiting for a run')")
        write_until(metrics, lines, 10)
        tab.wait_for(in_report("(d) => d.documentElement.dataset.painted"))
        tab.wait_for(f"/Steps\\s+10\\b/.test({TEXT})")
        tab.ask(in_report("(d, w) => { w.scrollTo(0, 700); d.querySelector('details').open = true; }"))
        version = tab.ask("document.documentElement.dataset.version")
        time.sleep(5)  # longer than the page asks: nothing has changed, so nothing may happen
        assert tab.ask("document.documentElement.dataset.version") == version
        tab.ask("window.sameWindow = true")
        write_until(metrics, lines, 25)
        tab.wait_for(f"/Steps\\s+25\\b/.test({TEXT})")
        assert tab.ask("window.sameWindow")
        assert abs(tab.ask(in_report("(d, w) => w.scrollY")) - 700) < 2
        assert tab.ask(in_report("(d) => d.querySelector('details').open"))
        assert tab.ask("document.querySelectorAll('iframe').length") == 1
    tab.wait_for("document.getElementById('note').textContent.includes('The watch has ended')")
    assert [one for one in tab.complaints if "ERR_CONNECTION_REFUSED" not in one] == []


def test_the_report_in_the_frame_may_still_not_load_anything(tmp_path: Path, tab: Tab, lines: list[bytes]) -> None:
    write_until(tmp_path / "live" / "metrics.jsonl", lines, 5)
    with watched("live", cwd=tmp_path) as address:
        tab.open(address)
        tab.wait_for(in_report("(d) => d.documentElement.dataset.painted"))
        tab.ask(in_report("(d, w) => { w.fetch('/version').then(() => w.leaked = true, () => w.leaked = false); }"))
        tab.wait_for(in_report("(d, w) => w.leaked !== undefined"))
        assert tab.ask(in_report("(d, w) => w.leaked")) is False


def test_watched_comparison_keeps_the_runs_that_were_taken_out(tmp_path: Path, tab: Tab, lines: list[bytes]) -> None:
    for name in ("one", "two"):
        write_until(tmp_path / name / "metrics.jsonl", lines, 8)
    hidden = in_report(
        "(d, w) => w.Bokeh.documents.flatMap(x => Array.from(x.all_models))"
        ".filter(m => m.attributes.name === 'run-1' && !m.visible).length"
    )
    with watched("one", "two", cwd=tmp_path) as address:
        tab.open(address)
        tab.wait_for(in_report("(d) => d.documentElement.dataset.painted"))
        tab.ask(in_report("(d) => d.querySelector('[data-run=run-1]').click()"))
        assert tab.ask(hidden) > 3
        write_until(tmp_path / "two" / "metrics.jsonl", lines, 30)
        tab.wait_for(f"{TEXT}.includes('30 steps')")
        assert tab.ask(hidden) > 3
