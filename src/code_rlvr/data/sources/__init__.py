"""Sources: the data sets whose rows can be read as problems, and which one a row is of.

| name | data set |
|---|---|
| `eurus` | PRIME-RL/Eurus-2-RL-Data, its code part |
| `verl` | any other of verl's format, rLLM's and what `prepare` wrote among them |
| `apps`, `taco`, `codecontests` | codeparrot/apps, BAAI/TACO, deepmind/code_contests |
| `codeforces` | open-r1/codeforces |
| `humaneval`, `leetcode`, `mbpp` | openai_humaneval, newfacade/LeetCodeDataset, google-research-datasets/mbpp |
| `livecodebench` | livecodebench/code_generation_lite |
| `verifiable` | PrimeIntellect/SYNTHETIC-1, open-r1/verifiable-coding-problems-python |
| `asserts` | rows of a prompt and assertions |
| `plain` | rows of a statement and tests, by their usual names |

Covered: the registry, and recognising a layout.  Not covered: files (`data.rows`).
"""

from __future__ import annotations

import difflib
from collections.abc import Callable

from code_rlvr.data.sources.checkers import missing_checker
from code_rlvr.data.sources.contests import APPS, CODECONTESTS, CODEFORCES, TACO
from code_rlvr.data.sources.functions import ASSERTS, HUMANEVAL, LEETCODE, MBPP, holds_assertions
from code_rlvr.data.sources.livecodebench import LIVECODEBENCH
from code_rlvr.data.sources.plain import PLAIN, STATEMENTS, may_be_plain
from code_rlvr.data.sources.row_tests import has_test_keys, tests_in, where_tests_are_read
from code_rlvr.data.sources.source import Drop, Reason, Row, Source
from code_rlvr.data.sources.verifiable import VERIFIABLE
from code_rlvr.data.sources.verl_rows import EURUS, VERL, is_eurus
from code_rlvr.errors import ConfigError, DataError, TestsFormatError
from code_rlvr.ground_truth import Tests
from code_rlvr.types import Problem

__all__ = ["SOURCES", "Drop", "Reason", "Row", "Source", "detect", "find_tests", "get_source", "where_tests_are_read"]

SOURCES: dict[str, Source] = {
    source.name: source
    for source in (
        *(EURUS, VERL, APPS, TACO, CODECONTESTS, CODEFORCES, HUMANEVAL, LEETCODE, MBPP, LIVECODEBENCH),
        *(VERIFIABLE, ASSERTS, PLAIN),
    )
}

# Those whose rows say more about their tests than `row_tests` knows, e.g. what has to run before them.
_PARTICULAR = (APPS, TACO, CODECONTESTS, CODEFORCES, HUMANEVAL, LEETCODE, MBPP, LIVECODEBENCH)
NO_CHECKER = "checkers are not supported; leave it out, or say with `compare` what comparison will do"

# Where keys do not tell enough.
_LOOKS: dict[str, Callable[[Row], bool]] = {
    EURUS.name: is_eurus,
    ASSERTS.name: holds_assertions,
    PLAIN.name: may_be_plain,
}


def detect(row: Row) -> Source:
    """The source whose layout a row has, by its keys and, where they do not tell enough, by what they hold.

    Args:
        row: A data set's first row.

    Returns:
        The source with the most particular marks; `plain` only if there is no other.

    Raises:
        DataError: None fits, or several do.
    """
    fitting = [source for source in SOURCES.values() if _fits(source, row)]
    best = [source for source in fitting if not any(source.marks < other.marks for other in fitting)]
    if len(best) == 1:
        return best[0]
    if not best and not has_test_keys(row) and any(key in row for key in STATEMENTS):
        raise DataError(f"there are no tests: {where_tests_are_read(row)}; known layouts are {', '.join(SOURCES)}")
    there = ", ".join(sorted(map(str, row))) or "none"
    what = f"it may be {' or '.join(source.name for source in best)}" if best else "it is none that is known"
    raise DataError(
        f"the layout cannot be told by the columns ({there}): {what}; name one before the file, as in "
        f"plain=FILE; known are {', '.join(SOURCES)}"
    )


def find_tests(row: Row) -> Tests | None:
    """The tests of a row of any layout, whether or not it could be asked; None if it has none.

    Raises:
        TestsFormatError: They are malformed, or need a checker.
        DataError: A column is missing or of the wrong type.
    """
    for source in _PARTICULAR:
        if _fits(source, row):
            found = source.read(row)
            if isinstance(found, Problem):
                return found.tests
            if found.reason is Reason.NEEDS_CHECKER:
                raise TestsFormatError(f"{found.detail}: {NO_CHECKER}")
    tests = tests_in(row)
    if tests is not None and (checker := missing_checker(row)):
        raise TestsFormatError(f"{checker}: {NO_CHECKER}")
    return tests


def get_source(name: str) -> Source:
    """The source of a name.

    Raises:
        ConfigError: There is none.
    """
    if name in SOURCES:
        return SOURCES[name]
    near = difflib.get_close_matches(name, SOURCES, n=1)
    raise ConfigError(
        f"there is no source {name!r}{f'; did you mean {near[0]}?' if near else ''}; known are {', '.join(SOURCES)}"
    )


def _fits(source: Source, row: Row) -> bool:
    looks = _LOOKS.get(source.name)
    return source.marks <= row.keys() and (looks is None or looks(row))
