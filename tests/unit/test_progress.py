"""Progress in a log: a line now and then, and none in between."""

from __future__ import annotations

import io
import itertools

import pytest
from rich.console import Console

from code_rlvr import progress
from code_rlvr.progress import Stages, count_off


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> Console:
    """A console that is no terminal, and a clock that goes on by 20 s whenever it is looked at."""
    clock = itertools.count(step=20)
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    return Console(file=io.StringIO(), width=80)


def lines(console: Console) -> list[str]:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue().splitlines()


def test_a_job_is_counted_off_in_a_log_now_and_then(log: Console) -> None:
    done = 0
    with count_off(log, 2000, "judged", lambda: (done, "half of them right")) as show:
        for done in (500, 1000, 1500):  # noqa: B007  read by the function above
            show()
    assert lines(log) == ["1,000/2,000 judged, half of them right"]


def test_a_bar_of_a_stage_is_a_line_now_and_then_in_a_log(log: Console) -> None:
    with Stages(log, 1).bar(2000) as show:
        for done in (500, 1000, 1500):
            show(done, "words")
    assert lines(log) == ["     1,000 of 2,000  words"]


def test_on_a_terminal_a_bar_is_drawn_and_vanishes() -> None:
    console = Console(file=io.StringIO(), width=80, force_terminal=True)
    with count_off(console, 2000, "judged", lambda: (1500, "some right")) as show:
        show()
    drawn = "\n".join(lines(console))
    assert "1500/2000" in drawn
    assert "some right" in drawn
