"""What all tests share: one judge for the whole session, and an outer time limit for everything that runs programs."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest

from code_rlvr import Judge, Limits

OUTER_LIMIT_S = 120

# Short, so that programs which use up their time do not take the suite's.
LIMITS = Limits(cpu_s=1.0, wall_s=3.0, memory_mib=256, output_mib=1.0)


@pytest.fixture(scope="session")
def judge() -> Iterator[Judge]:
    with Judge(workers=2, limits=LIMITS) as judge:
        yield judge


def pytest_configure() -> None:
    # A shell that starts the suite in the background has it ignore Ctrl-C, and all that it starts; some tests press it.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        runs_programs = "judge" in getattr(item, "fixturenames", ()) or "/sandbox/" in str(item.path)
        if runs_programs and item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(OUTER_LIMIT_S))
