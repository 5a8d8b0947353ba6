"""The results of an evaluation on a terminal.

Covered: Pass@1 and pass@k with intervals, before against after, by group; verdicts; what was cut off and what it
cost.  Not covered: the report of a run (`code_rlvr.report`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from code_rlvr.evaluate.compare import Comparison, Difference
from code_rlvr.evaluate.result import Result
from code_rlvr.evaluate.scores import GroupScore, Interval, Scores
from code_rlvr.words import counted


def show_results(results: Sequence[Result], console: Console) -> None:
    """Print the tables.

    Args:
        results: At least one.
        console: Where to.
    """
    compared = any(result.comparison for result in results)
    console.print(_compared_table(results) if compared else _plain_table(results))
    console.print()
    for lines in (_verdict_lines, _notes):
        for result in results:
            for line in lines(result):
                console.print(line, soft_wrap=True)


def _plain_table(results: Sequence[Result]) -> Table:
    table = _table("", "n", "samples", "value", "95% interval")
    for result in results:
        scores = result.after
        parts = {escape(result.name): scores.overall, **{f"  {escape(one)}": part for one, part in _groups(scores)}}
        for label, part in parts.items():
            for metric, value in part.pass_at.items():
                interval = part.pass_at_intervals.get(metric, part.pass_at_1_interval)
                row = (
                    label if label.startswith(" ") and metric == "pass@1" else f"{label} {metric}",
                    f"{part.problems:,}",
                    f"{part.samples:,}",
                    f"{value:.3f}",
                    _span(interval),
                )
                table.add_row(*row)
    return table


def _groups(scores: Scores) -> list[tuple[str, GroupScore]]:
    return sorted(scores.groups.items()) if len(scores.groups) > 1 else []


def _compared_table(results: Sequence[Result]) -> Table:
    table = _table("", "n", "before", "after", "change", "95% interval", "+/−", "p")
    for result in results:
        if result.comparison is not None:
            _add_compared(table, result.name, result.comparison)
    return table


def _add_compared(table: Table, name: str, comparison: Comparison) -> None:
    rows: list[tuple[str, Difference]] = [(f"{escape(name)} pass@1", comparison.overall)]
    rows += [(f"{escape(name)} {metric}", one) for metric, one in comparison.pass_at.items() if metric != "pass@1"]
    if len(comparison.groups) > 1:
        rows += [(f"  {escape(group)}", one) for group, one in comparison.groups.items()]
    for label, one in rows:
        table.add_row(
            label,
            f"{one.problems:,}",
            f"{one.before:.3f}",
            f"{one.after:.3f}",
            f"{one.change:+.3f}",
            _span(one.interval, "+"),
            f"{one.better}/{one.worse}",
            "" if one.mcnemar_p is None else f"{one.mcnemar_p:.2g}",
        )


def _verdict_lines(result: Result) -> Iterator[str]:
    """What became of the samples, in words: most frequent first."""
    for name, scores in _sides(result):
        counts = [
            f"{count:,} {verdict.replace('_', ' ').lower()}" for verdict, count in scores.overall.verdicts.items()
        ]
        shares = f"cut off {scores.truncated:.1%}, in the form asked for {scores.format:.1%}"
        yield f"{escape(name)}: {', '.join(counts)}; {shares}"
        if scores.without_room:
            yield (
                f"[bold red]{escape(name)}: {counted(scores.without_room, 'sample')} without a response, because the "
                "prompt fills the model's context; counted as failed[/]"
            )
        if scores.unjudged:
            yield f"[bold red]{escape(name)}: the judge failed on {counted(scores.unjudged, 'sample')}, in no figure[/]"


def _sides(result: Result) -> list[tuple[str, Scores]]:
    if result.before is None:
        return [(result.name, result.after)]
    return [(f"{result.name} before", result.before), (f"{result.name} after", result.after)]


def _notes(result: Result) -> Iterator[str]:
    for name, scores in _sides(result):
        if scores.cost is not None:
            yield (
                f"{escape(name)}: {scores.cost.tokens:,} tokens in {scores.cost.generate_s:.1f} s of sampling, "
                f"{scores.cost.judge_s:.1f} s of judging"
            )
        if scores.training_data and scores.training_data.trained_on:
            count = len(scores.training_data.trained_on)
            yield f"[bold red]{escape(name)}: the model was trained on {count:,} of these problems[/]"
        for key, value in scores.benchmark.items():
            if key.startswith("left out"):
                yield f"[bold red]{escape(name)}: {counted(int(value), 'row')} {escape(key)}[/]"


def _span(interval: Interval, sign: str = "") -> str:
    return f"{interval.low:{sign}.3f} to {interval.high:{sign}.3f}"


def _table(first: str, *others: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column(first, overflow="fold")
    for name in others:
        table.add_column(name, justify="right", no_wrap=True)
    return table
