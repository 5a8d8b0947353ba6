"""`watch`: the report of runs that are training, in a browser, anew whenever they have changed.

The main thread looks at the files and renders, at most every few seconds; a server in another thread hands out what
was rendered last, so that no request costs more than a copy.  The report itself is the file that it would be on disk,
in a frame: its policy forbids it to load anything here too.  Only the page around it asks for news.

Covered: waiting for runs that are still to come, what counts as a change, start and end.
Not covered: HTTP (`watch_server`), the page around the report (``watch.html.jinja``, ``watch.js``).
"""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import FrameType

from code_rlvr.errors import CodeRlvrError
from code_rlvr.report.evaluation import list_evaluations
from code_rlvr.report.inputs import input_files
from code_rlvr.report.sources import Source
from code_rlvr.report.verdict_records import list_records
from code_rlvr.report.watch_server import Shown, WatchServer, is_loopback
from code_rlvr.serve.address import listening_socket, url_of

LOOK_S = 1.0
"""Between two looks at the files."""
MIN_GAP_S = 5.0
"""From the end of one rendering to the start of the next."""
REST = 4
"""How many times as long as a rendering took it rests, where that is more: training needs the processor."""

Say = Callable[[str], None]


class Watch:
    """The runs that are watched, and what is shown of them.

    Args:
        sources: The runs, there already or not.
        render: Makes the page.
        shown: Where the server finds it.
        say: Is told what a person should know.
    """

    def __init__(self, sources: Sequence[Source], render: Callable[[], str], shown: Shown, say: Say) -> None:
        self._sources, self._render, self._shown, self._say = sources, render, shown, say
        self._seen: object = None
        self._not_before = 0.0
        self._said = ""

    def look(self) -> bool:
        """Render if the runs have changed and the last time is long enough ago; tell whether it tried."""
        state = [fingerprint(source) for source in self._sources]
        if state == self._seen or time.monotonic() < self._not_before:
            return False
        missing = next(filter(None, (source.missing() for source in self._sources)), None)
        if missing:
            self._tell(f"waiting: {missing.sentence}")
            self._shown.wait_for(missing.sentence)
            self._seen = state
            return False
        began = time.monotonic()
        try:
            page = self._render()
        except CodeRlvrError as error:  # a file that is being replaced; the next time it is whole
            self._tell(f"cannot be shown right now: {error}")
        else:
            self._shown.page(page)
            self._seen = state
            self._tell("")
        self._not_before = time.monotonic() + max(MIN_GAP_S, REST * (time.monotonic() - began))
        return True

    def _tell(self, line: str) -> None:
        if line and line != self._said:
            self._say(line)
        self._said = line


def watch(sources: Sequence[Source], render: Callable[[], str], host: str, port: int, say: Say) -> None:
    """Serve the report of runs until SIGINT or SIGTERM.

    Args:
        sources: The runs, there already or not.
        render: Makes the page; called in this thread only.
        host: Address to listen on.  Whoever reaches it can read the report, and change nothing.
        port: 0 is any that is free.
        say: Is told where to look, what it waits for, and how it ended.

    Raises:
        ConfigError: The host is none.
        PreflightError: The port is taken, or may not be used.
    """
    names = ", ".join(source.name for source in sources)
    with _stopped_by_signals() as stopped, contextlib.closing(listening_socket(host, port)) as listener:
        shown = Shown(names)
        server = WatchServer(listener, host, shown)
        say(f"watching {names} at {url_of(listener)}; Ctrl-C stops")
        if not is_loopback(listener.getsockname()[0]):
            say(f"warning: everyone who reaches {host} can read this report; there is no password and no encryption")
        threading.Thread(target=server.serve_forever, name="report", daemon=True).start()
        try:
            one = Watch(sources, render, shown, say)
            while not stopped.is_set():
                one.look()
                stopped.wait(LOOK_S)
        finally:
            server.shutdown()
    say("stopped")


def fingerprint(source: Source) -> tuple[tuple[str, int, int], ...]:
    """Names, sizes and times of everything that the report is made from; equal if nothing has changed.

    Files of problems are left out: they do not change while a run trains.

    Args:
        source: A run or a file of metrics.
    """
    run = source.run
    there = (str(source.path), 0, int(source.path.exists()))
    files = [source.metrics]
    if not source.is_file:
        files = [*input_files(run).values(), *list_records(run.verdicts).values(), *list_evaluations(run.eval)]
    return (there, *sorted(filter(None, map(_stamp, files))))


def _stamp(file: Path) -> tuple[str, int, int] | None:
    try:
        about = file.stat()
    except OSError:
        return None
    return str(file), about.st_size, about.st_mtime_ns


@contextlib.contextmanager
def _stopped_by_signals() -> Iterator[threading.Event]:
    """An event that Ctrl-C or SIGTERM sets: no rendering is broken off, nothing is left half done."""
    stopped = threading.Event()

    def stop(number: int, frame: FrameType | None) -> None:
        if stopped.is_set():  # told twice: at once
            raise KeyboardInterrupt
        stopped.set()

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stopped
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
