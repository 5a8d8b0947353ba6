"""Progress of a job in stages, on a terminal or in a log.

A stage is a numbered heading, lines below it, and the time it took.  On a terminal long work has a bar that
vanishes when it is done; in a log, where bars would be noise, only the lines remain.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import ParamSpec

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

LOG_EVERY_S = 30.0  # where there is no terminal to draw a bar on

_P = ParamSpec("_P")


class Stages:
    """Shows the stages of one job.

    Args:
        console: Where to show them.
        total: How many there will be.
    """

    def __init__(self, console: Console, total: int) -> None:
        self._console = console
        self._total = total
        self._number = 0

    @contextmanager
    def stage(self, title: str) -> Iterator[None]:
        """Show a heading, and the time taken once the stage is done."""
        self._number += 1
        started = time.monotonic()
        self._console.print(f"[bold]{self._number}/{self._total}  {escape(title)}[/]")
        yield
        self._console.print(f"     [dim]{time.monotonic() - started:.0f} s[/]")

    def note(self, text: str) -> None:
        """Show one line below the heading."""
        self._console.print(f"     {escape(text)}", soft_wrap=True)

    @contextmanager
    def bar(self, total: int | None) -> Iterator[Callable[[int, str], None]]:
        """Show a bar while something long runs; in a log, a line now and then.

        Args:
            total: How much there is to do; None if that is not known.

        Yields:
            A function to call with how much is done and a few words.
        """
        if not self._console.is_terminal:
            of_all = f" of {total:,}" if total else ""
            yield _now_and_then(lambda done, words: self.note(f"{done:,}{of_all}  {words}"))
            return
        columns = (
            TextColumn("    "),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.description}"),
        )
        with Progress(*columns, console=self._console, transient=True) as progress:
            task = progress.add_task("", total=total)
            yield lambda done, words: progress.update(task, completed=done, description=escape(words))


@contextmanager
def count_off(
    console: Console, total: int, verb: str, so_far: Callable[[], tuple[int, str]]
) -> Iterator[Callable[[], None]]:
    """Show how far a job without stages is: a bar as wide as the terminal, else a line now and then.

    Args:
        console: Where.
        total: How much there is to do.
        verb: What is done to each, for the line: "judged".
        so_far: Says how much is done, and a few words.

    Yields:
        A function to call whenever more is done.
    """
    if not console.is_terminal:

        def say() -> None:
            done, words = so_far()
            console.print(f"{done:,}/{total:,} {verb}, {words}", soft_wrap=True)

        yield _now_and_then(say)
        return
    columns = (BarColumn(bar_width=None), MofNCompleteColumn(), TextColumn("{task.description}"), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, expand=True) as progress:
        task = progress.add_task("", total=total)

        def draw() -> None:
            done, words = so_far()
            progress.update(task, completed=done, description=words)

        yield draw


def _now_and_then(say: Callable[_P, None]) -> Callable[_P, None]:
    """Of many calls, pass on one each `LOG_EVERY_S`."""
    due = time.monotonic() + LOG_EVERY_S

    def show(*args: _P.args, **kwargs: _P.kwargs) -> None:
        nonlocal due
        if time.monotonic() >= due:
            due = time.monotonic() + LOG_EVERY_S
            say(*args, **kwargs)

    return show
