"""Parsing from many threads at once."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator

import pytest

from code_rlvr.parsing import parse


@pytest.fixture
def threads_that_take_turns_often() -> Iterator[None]:
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


class Garbage:
    """Is collected in the middle of a parse, and lets other threads run then."""

    def __init__(self) -> None:
        self.itself = self

    def __del__(self) -> None:
        for _ in range(50):
            pass


@pytest.mark.usefixtures("threads_that_take_turns_often")
def test_good_source_is_parsed_whatever_other_threads_parse() -> None:
    sources = ["x = " + "[" * 60 + "1" + "]" * 60, "y = " + "+".join(["1"] * 200), "f(g(h(i(1))))"]
    failures: list[BaseException] = []

    def work(number: int) -> None:
        for turn in range(400):
            _ = [Garbage() for _ in range(5)]
            try:
                parse(sources[(turn + number) % 3])
            except BaseException as error:  # noqa: BLE001  counted, whatever it is
                failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
