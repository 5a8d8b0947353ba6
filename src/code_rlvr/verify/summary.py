"""What `verify` says at the end: counts and shares by verdict and by data source, and whether labels agree.

Covered: adding up the lines of verdicts; as tables, and as one JSON object.
Not covered: judging (`run`).  What could not be judged is counted apart and is in no share.
"""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from code_rlvr.types import Verdict
from code_rlvr.verify.inputs import Solution

SLOWEST = 3
CONTRADICTIONS = 10  # so many are printed; all of them are in the JSON
UNJUDGED = "UNJUDGED"


@dataclass(slots=True)
class SourceCounts:
    """What was found out about the programs of one data source, or of all."""

    programs: int = 0
    unjudged: int = 0
    accepted: int = 0
    pass_rates: float = 0.0

    @property
    def judged(self) -> int:
        """How many have a verdict."""
        return self.programs - self.unjudged

    @property
    def accepted_share(self) -> float | None:
        """Of those that were judged; None if there are none."""
        return self.accepted / self.judged if self.judged else None

    @property
    def test_pass_rate(self) -> float | None:
        """The mean over those that were judged; None if there are none."""
        return self.pass_rates / self.judged if self.judged else None

    def add(self, verdict: Mapping[str, Any]) -> None:
        """Add one line of verdicts."""
        self.programs += 1
        if verdict["verdict"] is None:
            self.unjudged += 1
            return
        self.accepted += verdict["verdict"] == Verdict.ACCEPTED.value
        self.pass_rates += verdict["test_pass_rate"]

    def to_json(self) -> dict[str, Any]:
        """Counts and shares as one JSON object."""
        return {
            "programs": self.programs,
            "judged": self.judged,
            "unjudged": self.unjudged,
            "accepted": self.accepted,
            "accepted_share": self.accepted_share,
            "test_pass_rate": self.test_pass_rate,
        }


@dataclass
class Summary:
    """Adds up the lines that `verify` writes.

    Args:
        workers: How many programs were judged at once.
        total: How many solutions there are.
        out: Where the lines are, for the last line of what is shown.
    """

    workers: int
    total: int
    out: str | None
    all: SourceCounts = field(default_factory=SourceCounts)
    by_source: defaultdict[str, SourceCounts] = field(default_factory=lambda: defaultdict(SourceCounts))
    verdicts: Counter[str] = field(default_factory=Counter)
    labels: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    contradictions: list[dict[str, Any]] = field(default_factory=list)
    kept: int = 0
    first_fault: str | None = None
    tests_run: int = 0
    wall_s: float = 0.0
    _slowest: list[tuple[float, int, str]] = field(default_factory=list)

    def add(self, verdict: Mapping[str, Any], solution: Solution) -> None:
        """Add one line: that of a solution which was judged now, or before."""
        self.all.add(verdict)
        self.by_source[verdict["data_source"]].add(verdict)
        name = verdict["verdict"] or UNJUDGED
        self.first_fault = self.first_fault or verdict.get("fault")
        self.verdicts[name] += 1
        if solution.label is not None:
            self._compare(name, solution)
        if verdict["verdict"] is not None:
            shown = f"{solution.problem_id} #{solution.index} {_words(name)}"
            heapq.heappush(self._slowest, (verdict["judge_s"], -self.all.programs, shown))
            if len(self._slowest) > SLOWEST:
                heapq.heappop(self._slowest)

    def _compare(self, name: str, solution: Solution) -> None:
        assert solution.label is not None
        self.labels[solution.label][name] += 1
        accepted = Verdict.ACCEPTED.value
        if name != UNJUDGED and (solution.label == accepted) != (name == accepted):
            self.contradictions.append(
                {
                    "problem_id": solution.problem_id,
                    "index": solution.index,
                    "place": solution.place,
                    "label": solution.label,
                    "verdict": name,
                }
            )

    @property
    def exit_code(self) -> int:
        """0, or 1 if something was left unjudged or a label was contradicted."""
        return int(bool(self.all.unjudged or self.contradictions))

    @property
    def tests_per_s(self) -> float:
        """Tests run in this call, kept verdicts left out, for each wall second of it."""
        return self.tests_run / self.wall_s if self.wall_s else 0.0

    @property
    def slowest(self) -> list[tuple[float, str]]:
        """Seconds and name of the programs that took longest to judge, the longest first."""
        return [(judge_s, shown) for judge_s, _, shown in sorted(self._slowest, reverse=True)]

    def in_short(self) -> str:
        """A few words, for while it goes on."""
        words = [f"{_percent(self.all.accepted_share)} accepted", f"{self.tests_per_s:.0f} tests/s"]
        return ", ".join([*words, *([f"{self.all.unjudged:,} unjudged"] if self.all.unjudged else [])])

    def to_json(self) -> dict[str, Any]:
        """Everything that the tables show, as one JSON object."""
        return {
            **self.all.to_json(),
            "verdicts": {name: self.verdicts[name] for name in _ordered(self.verdicts)},
            "by_data_source": {name: counts.to_json() for name, counts in sorted(self.by_source.items())},
            "labels": {label: dict(self.labels[label]) for label in _ordered(self.labels)},
            "contradictions": self.contradictions,
            "first_fault": self.first_fault,
            "kept": self.kept,
            "tests_run": self.tests_run,
            "wall_s": round(self.wall_s, 3),
            "tests_per_s": round(self.tests_per_s, 1),
            "workers": self.workers,
            "slowest": [{"judge_s": round(judge_s, 3), "program": shown} for judge_s, shown in self.slowest],
            "out": self.out,
        }

    def show(self, console: Console) -> None:
        """Print the tables and the few lines below them."""
        console.print(self._verdict_table())
        if len(self.by_source) > 1:
            console.print("", self._source_table(), sep="\n")
        if self.labels:
            console.print("", self._label_table(), sep="\n")
        console.print()
        for line in self._lines():
            console.print(line, soft_wrap=True)  # paths stay whole, to be copied

    def _verdict_table(self) -> Table:
        table = _table("verdict", "programs", "share")
        for name in _ordered(self.verdicts):
            count = self.verdicts[name]
            share = "–" if name == UNJUDGED else _percent(count / self.all.judged)
            style = "bold green" if name == Verdict.ACCEPTED.value else "bold red" if name == UNJUDGED else ""
            table.add_row(_words(name), f"{count:,}", share, style=style)
        return table

    def _source_table(self) -> Table:
        table = _table("data source", "programs", "unjudged", "accepted", "share", "tests passed")
        for name, counts in sorted(self.by_source.items()):
            table.add_row(
                escape(name or "(none)"),
                f"{counts.programs:,}",
                f"{counts.unjudged:,}",
                f"{counts.accepted:,}",
                _percent(counts.accepted_share),
                _percent(counts.test_pass_rate),
            )
        return table

    def _label_table(self) -> Table:
        found = _ordered({name for counts in self.labels.values() for name in counts})
        table = _table("label ╲ verdict", *map(_words, found))
        accepted = Verdict.ACCEPTED.value
        for label in _ordered(self.labels):
            cells = []
            for name in found:
                count = self.labels[label][name]
                wrong = count and name != UNJUDGED and (label == accepted) != (name == accepted)
                cells.append(f"[bold red]{count:,}[/]" if wrong else f"{count:,}" if count else "[dim]·[/]")
            table.add_row(_words(label), *cells)
        return table

    def _lines(self) -> list[str]:
        lines = [f"{self.all.accepted:,} of {self.all.judged:,} accepted ({_percent(self.all.accepted_share)})"]
        if self.tests_run or not self.kept:
            lines[0] += f"; {self.tests_run:,} tests in {self.wall_s:.1f} s, {self.tests_per_s:.0f} tests/s"
            lines[0] += f" with {self.workers} workers" if self.workers > 1 else " with 1 worker"
        if self.kept:
            lines.append(f"{self.kept:,} verdicts were there already and are included")
        if self.slowest:
            lines.append("slowest to judge:")
            lines += [f"  {judge_s:6.1f} s  {escape(shown)}" for judge_s, shown in self.slowest]
        if self.all.unjudged:
            lines.append(f"[bold red]{self.all.unjudged:,} unjudged:[/] the judge broke; it says nothing about them")
            lines.append(f"  the first because {escape(str(self.first_fault))}")
            lines += ["  the same command judges these again, and only these"] if self.out else []
        if self.contradictions:
            lines.append(f"[bold red]{len(self.contradictions):,} labels contradicted:[/]")
            lines += [f"  {escape(_contradiction(one))}" for one in self.contradictions[:CONTRADICTIONS]]
            more = len(self.contradictions) - CONTRADICTIONS
            lines += [f"  … and {more:,} more; --json lists all"] if more > 0 else []
        if self.out:
            lines.append(f"verdicts: {escape(self.out)}")
        return lines


def _contradiction(one: Mapping[str, Any]) -> str:
    labels = f"labelled {_words(one['label'])}, judged {_words(one['verdict'])}"
    return f"{one['place']}: {one['problem_id']} #{one['index']} {labels}"


def _ordered(names: Any) -> list[str]:
    """Verdicts in the order of their definition, then what is none."""
    order = [verdict.value for verdict in Verdict]
    return sorted(names, key=lambda name: (order.index(name) if name in order else len(order), name))


def _words(name: str) -> str:
    return name.replace("_", " ").lower()


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{share:.1%}"


def _table(first: str, *others: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column(first, overflow="fold")
    for name in others:
        table.add_column(name, justify="right")
    return table
