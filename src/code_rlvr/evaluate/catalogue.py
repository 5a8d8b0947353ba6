"""The benchmarks that are known by name: where their rows are, which of them count, what is particular.

| name | rows | groups |
|---|---|---|
| `heldout` | the held-out starter problems | what is new in them |
| `humaneval` | openai/openai_humaneval, 164 | |
| `mbpp` | google-research-datasets/mbpp, full, task_id 11 to 510: 500 | |
| `mbpp-sanitized` | the same, sanitized: 257 | |
| `livecodebench` | livecodebench/code_generation_lite | easy, medium, hard |
| `gsm8k` | openai/gsm8k, main, test: 1,319 | |

MBPP is asked as its paper does, with all of `test_list` shown, and judged by these alone (Austin et al. 2021,
arXiv:2108.07732); what training shows of a problem is less (`data.sources.functions`).

Covered: what is particular to each.  Not covered: reading (`benchmarks`), GSM8K's rows (`gsm8k`).
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date

from code_rlvr.data.sources import SOURCES, Row, Source
from code_rlvr.data.sources.columns import read_text
from code_rlvr.errors import ConfigError, DataError
from code_rlvr.evaluate.gsm8k import LAYOUT as GSM8K_LAYOUT
from code_rlvr.types import Problem

HELDOUT = "heldout"
MBPP_TEST = range(11, 511)
SHOWN_TESTS = "Your code has to pass these tests:"

_RELEASE_FILE = re.compile(r"(?:.*/)?test(\d*)\.jsonl(?:\.gz)?")


@dataclass(frozen=True, slots=True)
class Window:
    """Dates of contests, both ends included.

    Args:
        first: None for no bound.
        last: None for no bound.
    """

    first: date | None = None
    last: date | None = None

    def __post_init__(self) -> None:
        if self.first and self.last and self.first > self.last:
            raise ConfigError(f"no date is from {self.first} to {self.last}; exchange --from and --to")

    @classmethod
    def parse(cls, first: str | None, last: str | None) -> Window:
        """Read dates; a month means its first day as a beginning, its last as an end.

        Raises:
            ConfigError: One is neither YYYY-MM-DD nor YYYY-MM, or they are in the wrong order.
        """
        return cls(_day(first, "--from", 1) if first else None, _day(last, "--to", 31) if last else None)

    def __contains__(self, day: date) -> bool:
        return (self.first is None or self.first <= day) and (self.last is None or day <= self.last)

    def __bool__(self) -> bool:
        return self.first is not None or self.last is not None

    def __str__(self) -> str:
        return f"{self.first or 'the beginning'} to {self.last or 'the end'}"


def _day(text: str, option: str, default: int) -> date:
    try:
        year, month, *days = map(int, text.split("-"))
        day = days[0] if days else min(default, calendar.monthrange(year, month)[1])
        return date(year, month, day)
    except (ValueError, IndexError):  # IndexError: calendar, of a thirteenth month
        raise ConfigError(f"{option} {text!r} is no date; write it as 2024-08 or 2024-08-15") from None


def contest_date(row: Row) -> date:
    """When a LiveCodeBench problem was first used.

    Raises:
        DataError: The row does not say.
    """
    try:
        return date.fromisoformat(read_text(row, "contest_date")[:10])
    except ValueError:
        raise DataError(
            f"contest_date is {row.get('contest_date')!r}; a window of dates needs LiveCodeBench's own rows"
        ) from None


def release_of(label: str) -> int | None:
    """The release that first had a file of LiveCodeBench: `test.jsonl` 1, `test2.jsonl` 2; None for other names."""
    found = _RELEASE_FILE.fullmatch(label)
    return int(found[1] or 1) if found else None


@dataclass(frozen=True, slots=True)
class Entry:
    """A benchmark that is known by name.

    Args:
        dataset: On the hub.
        layout: Of its rows there; other files tell theirs themselves.
        files: Which files of the data set, by a pattern found in their paths.
        counts: Whether a row belongs to the benchmark.
        ask: The problem as the benchmark asks and judges it, from the row and what training makes of it.
        group: What a row is reported under; the benchmark's name if None.
    """

    dataset: str
    layout: Source
    files: str = ""
    counts: Callable[[Row], bool] = lambda row: True
    ask: Callable[[Row, Problem], Problem] = lambda row, problem: problem
    group: Callable[[Row], str] | None = None


def _is_mbpp_test(row: Row) -> bool:
    """By the number of the task, which may stand behind a name, as in mbpp/11."""
    named = next((row[key] for key in ("task_id", "problem_id", "id") if row.get(key) is not None), "")
    found = re.search(r"(\d+)$", str(named))
    if found is None:
        raise DataError("there is no task_id, by which MBPP's test problems are told")
    return int(found[1]) in MBPP_TEST


def _ask_mbpp(row: Row, problem: Problem) -> Problem:
    tests = row.get("tests")
    listed = (
        row.get("test_list") or (tests.get("test_list") if isinstance(tests, dict) else None) or problem.tests.asserts
    )
    task = (read_text(row, "text") or read_text(row, "prompt") or problem.statement).strip()
    return replace(problem, statement="\n".join([f"{task}\n\n{SHOWN_TESTS}", *(str(test).strip() for test in listed)]))


def _difficulty(row: Row) -> str:
    return read_text(row, "difficulty") or "unknown difficulty"


_LIVECODEBENCH = replace(
    SOURCES["livecodebench"],
    columns=(*SOURCES["livecodebench"].columns, "contest_date", "difficulty"),
)
_MBPP = "google-research-datasets/mbpp"

ENTRIES: dict[str, Entry] = {
    "humaneval": Entry("openai/openai_humaneval", SOURCES["humaneval"]),
    "mbpp": Entry(_MBPP, SOURCES["mbpp"], r"(^|/)full/test", _is_mbpp_test, _ask_mbpp),
    "mbpp-sanitized": Entry(_MBPP, SOURCES["mbpp"], r"(^|/)sanitized/test", _is_mbpp_test, _ask_mbpp),
    "livecodebench": Entry(
        "livecodebench/code_generation_lite", _LIVECODEBENCH, _RELEASE_FILE.pattern, group=_difficulty
    ),
    "gsm8k": Entry("openai/gsm8k", GSM8K_LAYOUT, r"(^|/)main/test"),
}
