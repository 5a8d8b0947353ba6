"""What `audit` says at the end: what was found and how often, as tables, one sentence, and one JSON object.

Covered: adding up the problems.  Not covered: the page (`page`), numbers about the set (`statistics`).
What the judge could not tell is counted apart and is no finding.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from code_rlvr.audit.finding import MEANINGS, ORDER, Finding, Placed, Severity
from code_rlvr.audit.sets import ProblemSet
from code_rlvr.audit.statistics import ProblemNumbers, Statistics, percentiles
from code_rlvr.report.visible import make_visible
from code_rlvr.words import counted

EXAMPLES = 3  # of a finding, in the table
_ID_CHARS = 100


@dataclass(slots=True)
class ProblemAudit:
    """What was found about one problem.

    Args:
        file, number, place, problem_id: As in its `Row`.
        statement: How its statement starts.
        findings: In the order in which they were found.
        numbers: For the statistics.
        references: For each reference that was judged: accepted, longest CPU seconds, all CPU seconds.
        unaudited: Why the judge could not tell everything; "" if it could.
    """

    file: int
    number: int
    place: str
    problem_id: str
    statement: str
    findings: list[Finding] = field(default_factory=list)
    numbers: ProblemNumbers = field(default_factory=lambda: ProblemNumbers("", None, None))
    references: list[tuple[bool, float, float]] = field(default_factory=list)
    unaudited: str = ""

    @property
    def severity(self) -> Severity | None:
        """The worst of its findings; None if there is none."""
        found = {finding.severity for finding in self.findings}
        return "defect" if "defect" in found else "suspect" if found else None


@dataclass(frozen=True, slots=True)
class Group:
    """All findings of one kind.

    Args:
        code, severity: The kind.
        found: The findings, in the order of the set.
        problems: How many problems have one.
    """

    code: str
    severity: Severity
    found: list[Placed]
    problems: int

    @property
    def meaning(self) -> str:
        """What the kind means, in a few words."""
        return MEANINGS[self.code]


@dataclass
class AuditResult:
    """Adds up the problems of a set.

    Args:
        problems: The set.
        ran: Whether programs were run.

    Attributes:
        found: Every finding, in the order of the set.
        defective: The problems with a defect, by file and number.
        kept_ids: The ids of all others.
        suspects: How many problems have findings, but no defect.
        unaudited: Problem id and reason, of those about which the judge could not tell everything.
        unmatched: Ids that have solutions, but no problem.
        interrupted: Whether the rest of the set was not looked at.
        dropped_to: Where the set without its defects is.
    """

    problems: ProblemSet
    ran: bool
    found: list[Placed] = field(default_factory=list)
    statistics: Statistics = field(default_factory=Statistics)
    defective: set[tuple[int, int]] = field(default_factory=set)
    kept_ids: set[str] = field(default_factory=set)
    suspects: int = 0
    unaudited: list[tuple[str, str]] = field(default_factory=list)
    unmatched: list[str] = field(default_factory=list)
    interrupted: bool = False
    dropped_to: Path | None = None
    wall_s: float = 0.0
    _ids: set[str] = field(default_factory=set)

    def add(self, one: ProblemAudit) -> None:
        """Add one problem."""
        self.statistics.add(one.numbers)
        self.statistics.add_references(one.references)
        self.found += [Placed(finding, one.problem_id, one.place, one.statement) for finding in one.findings]
        self._ids.add(one.problem_id)
        if one.severity == "defect":
            self.defective.add((one.file, one.number))
        else:
            self.kept_ids.add(one.problem_id)
            self.suspects += one.severity == "suspect"
        if one.unaudited:
            self.unaudited.append((one.problem_id, one.unaudited))

    def note_solutions(self, problem_ids: Collection[str]) -> None:
        """Note whose solutions there are, once all problems are added."""
        self.unmatched = sorted(set(problem_ids) - self._ids)

    @property
    def exit_code(self) -> int:
        """0, or 1 if there are defects or something could not be audited."""
        return int(bool(self.defective or self.unaudited or self.unmatched))

    def groups(self) -> list[Group]:
        """The findings by kind: defects first, each in the order of the catalogue."""
        by_kind: defaultdict[tuple[Severity, str], list[Placed]] = defaultdict(list)
        for placed in self.found:
            by_kind[placed.finding.severity, placed.finding.code].append(placed)
        kinds = sorted(by_kind, key=lambda kind: (kind[0], ORDER[kind[1]]))
        return [
            Group(code, severity, by_kind[severity, code], len({one.place for one in by_kind[severity, code]}))
            for severity, code in kinds
        ]

    def in_short(self) -> str:
        """A few words, for while it goes on."""
        words = f"{counted(len(self.defective), 'defect')}, {self.suspects:,} suspect"
        return words + (f", {len(self.unaudited):,} unaudited" if self.unaudited else "")

    def conclusion(self) -> str:
        """What came of it, in one sentence."""
        total = self.statistics.problems
        defects = len(self.defective)
        if not total:
            return "no problem was looked at"
        have = "has" if defects == 1 else "have"
        sentence = f"{defects:,} of {counted(total, 'problem')} ({defects / total:.1%}) {have} a defect and "
        sentence += f"{self.suspects:,} more {'is' if self.suspects == 1 else 'are'} worth a look"
        if self.unaudited:
            sentence += f"; about {len(self.unaudited):,} the judge could not tell everything"
        if self.interrupted:
            sentence += f"; interrupted after {total:,} of {self.problems.rows:,}"
        return sentence

    def to_json(self) -> dict[str, Any]:
        """Everything that was found, as one JSON object."""
        return {
            "set": str(self.problems.path),
            "files": [{"path": str(file.path), "sha256": file.sha256} for file in self.problems.files],
            "solutions": str(self.problems.solutions) if self.problems.solutions else None,
            "ran": self.ran,
            "interrupted": self.interrupted,
            "problems": self.statistics.problems,
            "defective": len(self.defective),
            "suspect": self.suspects,
            "conclusion": self.conclusion(),
            "findings": [
                {"code": group.code, "severity": group.severity, "problems": group.problems} for group in self.groups()
            ],
            "found": [placed.to_json() for placed in self.found],
            "unaudited": [{"problem_id": name, "reason": reason} for name, reason in self.unaudited],
            "unmatched_solutions": self.unmatched,
            "statistics": self.statistics.to_json(),
            "wall_s": round(self.wall_s, 3),
            "problems_per_s": round(self.statistics.problems / self.wall_s, 1) if self.wall_s else 0.0,
            "dropped_to": str(self.dropped_to) if self.dropped_to else None,
        }

    def show(self, console: Console) -> None:
        """Print the table and the few lines below it."""
        if self.found:
            console.print(self._table(), "", sep="\n")
        for line in self._lines():
            console.print(line, soft_wrap=True)

    def _table(self) -> Table:
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
        table.add_column("finding", no_wrap=True)
        table.add_column("problems", justify="right")
        table.add_column("share", justify="right")
        table.add_column("examples", overflow="fold")
        for group in self.groups():
            style = "bold red" if group.severity == "defect" else "yellow"
            examples = ", ".join(_plain(one.problem_id) for one in group.found[:EXAMPLES])
            more = " …" if len(group.found) > EXAMPLES else ""
            share = group.problems / self.statistics.problems
            table.add_row(
                f"[{style}]{group.severity}[/] {group.code}", f"{group.problems:,}", f"{share:.1%}", examples + more
            )
        return table

    def _lines(self) -> list[str]:
        numbers = self.statistics
        lines = []
        if numbers.references:
            lines.append(
                f"references: {numbers.references_accepted:,} of {numbers.references:,} pass; "
                f"{numbers.with_accepted:,} of {counted(numbers.with_references, 'problem')} have one that passes"
            )
        tests = percentiles(numbers.tests)
        if tests is not None:
            lines.append(f"tests a problem: {tests['p0']:.0f} to {tests['p100']:,.0f}, median {tests['p50']:.0f}")
        if not self.ran:
            lines.append("no program was run: what trivial programs score is predicted, references were not judged")
        lines += [
            f"[bold red]not audited:[/] {_plain(name)}: {_plain(why, 300)}" for name, why in self.unaudited[:EXAMPLES]
        ]
        if self.unmatched:
            named = ", ".join(map(_plain, self.unmatched[:EXAMPLES]))
            lines.append(f"[bold red]solutions without a problem:[/] {len(self.unmatched):,} ids, e.g. {named}")
        seconds = f"; {self.wall_s:.1f} s, {numbers.problems / self.wall_s:.0f} problems/s" if self.wall_s else ""
        lines.append(f"[bold]{escape(self.conclusion())}[/]{seconds}")
        if self.dropped_to:
            left = counted(numbers.problems - len(self.defective), "problem")
            lines.append(f"{left} without a defect: {_plain(str(self.dropped_to), 400)}")
        return lines


def _plain(text: str, limit: int = _ID_CHARS) -> str:
    """Text of a data set, for a terminal."""
    return escape(make_visible(text, limit).replace("\n", " "))
