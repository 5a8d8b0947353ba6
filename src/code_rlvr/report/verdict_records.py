"""One pass over the verdict records of a run: how often each problem was solved, and some programs with their text.

Covered: reading, bounds in steps and memory, lines that are damaged.  Not covered: what the figures mean
(`solve_history`), which of the programs are shown (`programs`, `samples`).
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from code_rlvr.report.program import ACCEPTED, Program, is_judged

MAX_BYTES = 300_000_000
"""Of all files that are read: two seconds or three.  Steps of a larger run are left out, evenly."""
MAX_LINES = 50_000
"""Records that are read of one step."""
TEXT_STEPS = 16
"""Steps of which programs are kept, evenly spread with the first and the last."""
MAX_TEXTS = 400
"""Programs that are kept of such a step."""
RARE = 4
"""So many programs of each verdict in each third of the run are kept, whatever step they are of."""

_STEP = re.compile(r"step_(\d+)\.jsonl")


@dataclass
class Visit:
    """The samples of one problem at one training step.

    Args:
        solved: Those that passed every test.
        samples: All that have a verdict.
    """

    solved: int = 0
    samples: int = 0


@dataclass
class Records:
    """What one pass over the records gives.

    Args:
        programs: In the order of steps.
        visits: By training problem, then by step.
        steps_read: Steps whose records were read, in order.
        steps: All steps that have records.
    """

    programs: list[Program] = field(default_factory=list)
    visits: dict[str, dict[int, Visit]] = field(default_factory=dict)
    steps_read: list[int] = field(default_factory=list)
    steps: int = 0


def read_records(folder: Path, losses: list[str], windows: Collection[range] = ()) -> Records:
    """Read the verdict records of a run.

    Args:
        folder: ``verdicts`` of a run.
        losses: Gets a sentence for what is missing or damaged.
        windows: Steps of which accepted programs are wanted besides.
    """
    files = {int(match[1]): file for file in folder.glob("step_*.jsonl") if (match := _STEP.fullmatch(file.name))}
    if not files:
        losses.append("There are no verdict records: no programs and no single problems are shown.")
        return Records()
    chosen = _affordable(files)
    collector = _Collector(chosen, windows)
    bad: Counter[str] = Counter()
    for step in chosen:
        for record in _read_lines(files[step], bad):
            if is_judged(record) and record["step"] == step:
                collector.add(record)
    _say_losses(collector.records, bad, losses)
    collector.records.steps = len(files)
    return collector.records


class _Collector:
    """Keeps of each record what is needed later."""

    def __init__(self, steps: Sequence[int], windows: Collection[range]) -> None:
        self.records = Records(visits=defaultdict(lambda: defaultdict(Visit)), steps_read=list(steps))
        self._windows = windows
        self._text_steps = set(spread(steps, TEXT_STEPS))
        self._third = {step: 3 * place // len(steps) for place, step in enumerate(steps)}
        self._kept: Counter[tuple[object, ...]] = Counter()

    def add(self, record: dict[str, Any]) -> None:
        step, verdict = record["step"], record["verdict"]
        if record.get("split") == "train" and record.get("problem_id"):
            visit = self.records.visits[str(record["problem_id"])][step]
            visit.samples += 1
            visit.solved += verdict == ACCEPTED
        if self._is_wanted(step, verdict) and (program := Program.from_record(record)):
            self.records.programs.append(program)

    def _is_wanted(self, step: int, verdict: str) -> bool:
        """Whether this program's text is kept; each reason to keep one has a limit of its own."""
        reasons: list[tuple[tuple[object, ...], int]] = [((self._third.get(step), verdict), RARE)]
        if step in self._text_steps:
            reasons.append(((step,), MAX_TEXTS))
        if verdict == ACCEPTED:
            reasons += [(("window", number), RARE) for number, one in enumerate(self._windows) if step in one]
        open_ones = [key for key, limit in reasons if self._kept[key] < limit]
        self._kept.update(open_ones)
        return bool(open_ones)


def _affordable(files: dict[int, Path]) -> list[int]:
    """All steps, or as many of them, evenly spread, as are read in a few seconds."""
    total = sum(file.stat().st_size for file in files.values())
    count = len(files) if total <= MAX_BYTES else max(2, len(files) * MAX_BYTES // total)
    return spread(sorted(files), count)


def spread(steps: Sequence[int], count: int) -> list[int]:
    """Choose at most `count` of the steps, evenly, the first and the last among them."""
    if len(steps) <= count:
        return list(steps)
    last = len(steps) - 1
    return [steps[round(i * last / (count - 1))] for i in range(count)]


def _read_lines(file: Path, bad: Counter[str]) -> Iterator[Any]:
    try:
        with file.open("rb") as lines:
            for _, line in zip(range(MAX_LINES), lines, strict=False):
                try:
                    yield json.loads(line)
                except (ValueError, RecursionError):
                    bad[file.name] += 1
    except OSError:
        bad[file.name] += 1


def _say_losses(records: Records, bad: Counter[str], losses: list[str]) -> None:
    if bad:
        names = ", ".join(list(bad)[:3]) + (" and others" if len(bad) > 3 else "")
        losses.append(f"verdicts: {bad.total()} line{'s' if bad.total() > 1 else ''} cannot be read ({names}).")
    if not records.programs:
        losses.append("The verdict records hold no texts of responses: no programs are shown.")
