"""One pass over the verdict records of a run: how often each problem was solved, and some programs with their text.

Covered: reading, bounds in steps and memory, lines that are damaged.  Not covered: what the figures mean
(`solve_history`), which of the programs are shown (`programs`, `samples`).
"""

from __future__ import annotations

import itertools
import json
import re
import stat
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from code_rlvr.report.program import ACCEPTED, Program, is_judged, is_record
from code_rlvr.report.regular_file import open_regular
from code_rlvr.report.samples import third
from code_rlvr.words import counted

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

_STEP = re.compile(r"step_(\d{1,9})\.jsonl")
_SHOWN_FILES = 3
"""Files that a message names before it only says that there are others."""


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
        steps: All steps whose records could have been read, had they not been too large.
        sources: Data sources of the training samples.
        trained: Training samples of each step, those without a verdict among them; none of a step that was not read to
            its end.
        damaged: Lines of each of these steps that are no records.
        found: Steps that have a file of records, whether it can be read or not.
    """

    programs: list[Program] = field(default_factory=list)
    visits: dict[str, dict[int, Visit]] = field(default_factory=dict)
    steps_read: list[int] = field(default_factory=list)
    steps: int = 0
    sources: set[str] = field(default_factory=set)
    trained: dict[int, int] = field(default_factory=dict)
    damaged: dict[int, int] = field(default_factory=dict)
    found: frozenset[int] = frozenset()


def read_records(folder: Path, losses: list[str], windows: Collection[range] = ()) -> Records:
    """Read the verdict records of a run.

    Args:
        folder: ``verdicts`` of a run.
        losses: Gets a sentence for what is missing or damaged.
        windows: Steps of which accepted programs are wanted besides.
    """
    files = list_records(folder)
    if not files:
        losses.append("There are no verdict records: no programs and no single problems are shown.")
        return Records()
    unread = _Unread()
    sizes = _sizes(files, unread)
    chosen = _affordable(sizes)
    collector = _Collector(chosen, windows)
    for step in chosen:
        for record in _read_lines(files[step], unread):
            if not is_record(record) or record["step"] != step:
                unread.lines[files[step].name] += 1
            else:
                collector.add(record)
    records = collector.records
    records.steps, records.found = len(sizes), frozenset(files)
    for step in [one for one in chosen if files[one].name not in {*unread.files, *unread.longer}]:
        records.trained[step] = collector.trained[step]
        records.damaged[step] = unread.lines[files[step].name]
    losses += unread.sentences()
    if collector.without_step:
        losses.append(
            f"verdicts: {counted(collector.without_step, 'training sample')} without a step: counted for no problem."
        )
    if not records.programs:
        losses.append("The verdict records hold no texts of responses: no programs are shown.")
    return records


def list_records(folder: Path) -> dict[int, Path]:
    """Return the file of records of each step, as far as the folder can be seen.

    Args:
        folder: ``verdicts`` of a run.
    """
    try:
        found = [(_STEP.fullmatch(file.name), file) for file in folder.iterdir()]
    except OSError:
        return {}
    return {int(match[1]): file for match, file in found if match}


@dataclass
class _Unread:
    """What was not read.

    Args:
        lines: Lines of each file that are no records of it.
        files: Those that cannot be read, or are gone.
        longer: Those of which only the beginning was read.
    """

    lines: Counter[str] = field(default_factory=Counter)
    files: list[str] = field(default_factory=list)
    longer: list[str] = field(default_factory=list)

    def sentences(self) -> list[str]:
        """What the page says of it."""
        bad = self.lines.total()
        said = {
            f"{counted(bad, 'line')} cannot be read": [*self.lines],
            f"{counted(len(self.files), 'file')} cannot be read": self.files,
            f"only the first {MAX_LINES:,} records of a step are read": self.longer,
        }
        return [f"verdicts: {what} ({_names(files)})." for what, files in said.items() if files]


def _names(files: Sequence[str]) -> str:
    return ", ".join(files[:_SHOWN_FILES]) + (" and others" if len(files) > _SHOWN_FILES else "")


class _Collector:
    """Keeps of each record what is needed later."""

    def __init__(self, steps: Sequence[int], windows: Collection[range]) -> None:
        self.records = Records(visits=defaultdict(lambda: defaultdict(Visit)), steps_read=list(steps))
        self._windows = windows
        self._text_steps = set(spread(steps, TEXT_STEPS))
        self._third = {step: third(step, steps) for step in steps}
        self.without_step = 0
        """Training samples whose record does not say their step."""
        self.trained: Counter[int] = Counter()
        """Training samples of each step, judged or not."""
        self._kept: Counter[tuple[object, ...]] = Counter()

    def add(self, record: dict[str, Any]) -> None:
        if record.get("split") == "train":
            self.trained[record["step"]] += 1
            self.records.sources.add(str(record.get("data_source") or ""))
        if is_judged(record):
            self._add_judged(record)

    def _add_judged(self, record: dict[str, Any]) -> None:
        step, verdict = record["step"], record["verdict"]
        if record.get("split") == "train" and step == 0:  # before the first step nothing is trained on
            self.without_step += 1
        elif record.get("split") == "train" and record.get("problem_id"):
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


def _sizes(files: Mapping[int, Path], unread: _Unread) -> dict[int, int]:
    """Bytes of each step's file; a link into nowhere has none, nor has a file that was moved away meanwhile."""
    sizes = {}
    for step, file in sorted(files.items()):
        try:
            about = file.stat()
        except OSError:
            unread.files.append(file.name)
            continue
        if stat.S_ISREG(about.st_mode):
            sizes[step] = about.st_size
        else:
            unread.files.append(file.name)
    return sizes


def _affordable(sizes: Mapping[int, int]) -> list[int]:
    """All steps, or as many of them, evenly spread, as are read in a few seconds."""
    total = sum(sizes.values())
    count = len(sizes) if total <= MAX_BYTES else max(2, len(sizes) * MAX_BYTES // total)
    return spread(sorted(sizes), count)


def spread(steps: Sequence[int], count: int) -> list[int]:
    """Choose at most `count` of the steps, evenly, the first and the last among them."""
    if len(steps) <= count:
        return list(steps)
    last = len(steps) - 1
    return [steps[round(i * last / (count - 1))] for i in range(count)]


def _read_lines(file: Path, unread: _Unread) -> Iterator[Any]:
    """The values of the lines; of one that is damaged None."""
    try:
        with open_regular(file) as lines:
            for line in itertools.islice(lines, MAX_LINES):
                try:
                    yield json.loads(line)
                except (ValueError, RecursionError):
                    yield None
            if next(lines, None) is not None:
                unread.longer.append(file.name)
    except OSError:
        unread.files.append(file.name)
