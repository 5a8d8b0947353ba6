"""Sources: the data sets whose rows can be read as problems, and which one a row is of.

| name | data set |
|---|---|
| `eurus` | PRIME-RL/Eurus-2-RL-Data, its code part |
| `verl` | any other of verl's format, rLLM's and what `prepare` wrote among them |
| `apps`, `taco`, `codecontests` | codeparrot/apps, BAAI/TACO, deepmind/code_contests |
| `humaneval`, `mbpp` | openai_humaneval, google-research-datasets/mbpp |
| `livecodebench` | livecodebench/code_generation_lite |
| `asserts` | rows of a prompt and assertions |
| `plain` | rows of a statement and tests, by their usual names |

Covered: the registry, and recognising a layout.  Not covered: files (`data.rows`).
"""

from __future__ import annotations

import difflib
from collections.abc import Callable

from code_rlvr.data.sources.contests import APPS, CODECONTESTS, TACO
from code_rlvr.data.sources.functions import ASSERTS, HUMANEVAL, MBPP, holds_assertions
from code_rlvr.data.sources.livecodebench import LIVECODEBENCH
from code_rlvr.data.sources.plain import PLAIN, may_be_plain
from code_rlvr.data.sources.source import Drop, Reason, Row, Source
from code_rlvr.data.sources.verl_rows import EURUS, VERL, is_eurus
from code_rlvr.errors import ConfigError, DataError

__all__ = ["SOURCES", "Drop", "Reason", "Row", "Source", "detect", "get_source"]

SOURCES: dict[str, Source] = {
    source.name: source
    for source in (EURUS, VERL, APPS, TACO, CODECONTESTS, HUMANEVAL, MBPP, LIVECODEBENCH, ASSERTS, PLAIN)
}

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
    there = ", ".join(sorted(map(str, row))) or "none"
    what = f"it may be {' or '.join(source.name for source in best)}" if best else "it is none that is known"
    raise DataError(
        f"the layout cannot be told by the columns ({there}): {what}; name one before the file, as in "
        f"plain=FILE; known are {', '.join(SOURCES)}"
    )


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
