"""What the files of an evaluation are called: the benchmark, and behind it how samples were drawn.

| name | drawn |
|---|---|
| `humaneval` | at temperature 1, from all of the probability |
| `humaneval_greedy` | the most likely token each time |
| `humaneval_t0.6_p0.95` | at temperature 0.6, from the likeliest 95% |
| `humaneval_t0.6_seed3` | with another seed than 0 |
| `..._first100` | scores of the first 100 problems only |

So evaluations that draw otherwise lie side by side.  Covered: names, and the way back to the benchmark.  Not covered:
the longest response and the prompt, which are in no name: with others of these an evaluation is refused (`generate`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # it needs torch, and the report has names to read without it
    from code_rlvr.evaluate.generate import EvaluationSettings

_DRAWN = re.compile(r"(_greedy)?(_t[\d.e+-]+)?(_p[\d.e+-]+)?(_seed\d+)?(_first\d+)?$")


def file_name(benchmark: str, settings: EvaluationSettings, limit: int | None = None) -> str:
    """Name the files of a benchmark.

    Args:
        benchmark: Its name.
        settings: How samples are drawn.
        limit: How many problems the scores are of; None for all, and for samples, which one file holds for any limit.
    """
    parts = [
        benchmark,
        *(["greedy"] if settings.temperature == 0 else []),
        *([f"t{settings.temperature:.12g}"] if settings.temperature not in (0, 1) else []),
        *([f"p{settings.top_p:.12g}"] if settings.top_p != 1 else []),
        *([f"seed{settings.seed}"] if settings.seed else []),
    ]
    return "_".join(parts) + ("" if limit is None else f"_first{limit}")


def benchmark_of(name: str) -> str:
    """The benchmark that files are named after.

    Args:
        name: As `file_name` makes it, in this version or an earlier one.
    """
    return _DRAWN.sub("", name, count=1)
