"""The state of runs for a terminal, readable at 80 columns and in a log.

Covered: headline, findings, phases, main metrics, time of a step, evaluations, what is missing.
Not covered: samples and programs, which are on the page.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from code_rlvr.evaluate.compare import Difference
from code_rlvr.health import Finding, Level
from code_rlvr.report.catalogue import Direction, describe
from code_rlvr.report.compare.differences import SettingDifference, list_differences
from code_rlvr.report.curves import STAGES, mean_stages
from code_rlvr.report.evaluation import Figure, Row
from code_rlvr.report.main_metrics import choose_metrics
from code_rlvr.report.numbers_as_text import digits_for, format_ends, format_signed, side_of_zero
from code_rlvr.report.run_state import RunState
from code_rlvr.report.solve_history import MEANINGS, OUTCOMES, count_fates, outcome_ends
from code_rlvr.report.visible import make_visible
from code_rlvr.words import counted

EXCLUDES_0 = "*"
"""Marks a difference whose interval is on one side of 0."""
WIDTH = 100
"""Columns that are used at most: longer lines are hard to follow."""


def show_states(states: Sequence[RunState], console: Console) -> None:
    """Print runs one after the other and, of several, in what they differ.

    Args:
        states: At least one.
        console: Where to; colours only if it is a terminal.
    """
    console.width = min(console.width, WIDTH)
    for number, state in enumerate(states):
        if number:
            console.print()
        _show_run(state, console)
    if len(states) > 1:
        _show_differences(states, console)


def to_text(states: Sequence[RunState]) -> str:
    """Return what `show_states` prints, 80 columns wide and without colours: for a file, a log, another program."""
    text = io.StringIO()
    show_states(states, Console(file=text, width=80, highlight=False))
    return "".join(line.rstrip() + "\n" for line in text.getvalue().splitlines())


def _show_run(state: RunState, console: Console) -> None:
    planned = state.inputs.setting("trainer.steps")
    steps = f"step {state.inputs.trained_steps}" + (f" of {_line(str(planned))}" if planned else "")
    console.print(Text.assemble((_line(state.name), "bold"), (f"  {steps}", "dim")))
    console.print(Text(_line(state.headline)))
    console.print(Text(_line(state.health.sentence)))
    for finding in state.health.findings:
        console.print()
        _show_finding(finding, console)
    _show_unapplied(state, console)
    _show_changed(state, console)
    for title, table in _tables(state):
        console.print()
        console.print(Text(title, "bold"))
        console.print(Padding(table, (0, 0, 0, 2)))
    if state.losses:
        console.print()
        console.print(Text("Missing", "bold yellow"))
        _print_items(state.losses, console)


def _show_finding(finding: Finding, console: Console) -> None:
    look = "bold red" if finding.level is Level.DANGER else "bold yellow"
    console.print(Text.assemble((f"{finding.level.value.upper()}  ", look), (_line(finding.title), "bold")))
    console.print(Padding(Text(_line(finding.evidence)), (0, 0, 0, 2)))
    for title, items in (("Likely causes:", finding.causes), ("What to try:", finding.tries)):
        if items:
            console.print(Padding(Text(title, "dim"), (0, 0, 0, 2)))
            _print_items(items, console)


def _print_items(items: Iterable[str], console: Console) -> None:
    grid = Table.grid(padding=(0, 1))
    grid.add_column(width=3, justify="right")
    grid.add_column(overflow="fold")
    for item in items:
        grid.add_row("-", Text(_line(item)))
    console.print(grid)


def _show_unapplied(state: RunState, console: Console) -> None:
    if state.health.unapplied:
        lacking = ", ".join(dict.fromkeys(name for _, name in state.health.unapplied))
        count = len(state.health.unapplied)
        console.print(Text(f"{counted(count, 'rule')} could not be applied; not logged: {_line(lacking)}.", "dim"))


def _show_changed(state: RunState, console: Console) -> None:
    for one in state.health.changed:
        words = f"health.{one.name} = {one.value:g} (default {one.default:g}), set by {one.origin}."
        console.print(Text(words, "dim"))


def _tables(state: RunState) -> list[tuple[str, Table]]:
    tables = [
        ("Phases", _phase_table(state)),
        ("Metrics: means of the first and the last tenth, of times the medians", _metric_table(state)),
        ("Time of a step, mean", _time_table(state)),
        (f"Evaluations: Pass@1 with 95% intervals ({EXCLUDES_0}: without 0)", _evaluation_table(state.rows)),
        ("Training problems", _problem_table(state)),
        ("Groups by samples solved: shares in the first and the last tenth", _group_table(state)),
    ]
    return [(title, table) for title, table in tables if table.row_count]


def _phase_table(state: RunState) -> Table:
    table = _table()
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for phase in state.health.phases:
        table.add_row(_line(phase.name), f"{phase.first_step}–{phase.last_step}", Text(_line(phase.why)))
    return table


def _metric_table(state: RunState) -> Table:
    table = _table("", "first", "last", "unit", "better")
    for metric in choose_metrics([state.logged]):
        curve, about = state.curve(metric.name), describe(metric.name)
        if not len(curve.points.values):
            continue
        first, last = format_ends(curve.shown_ends or (float(curve.points.values[0]),) * 2)
        better = "" if about is None or about.direction is Direction.NEITHER else about.direction.value.split()[0]
        table.add_row(metric.title, first, last, about.shown_unit if about else "", better)
    return table


def _time_table(state: RunState) -> Table:
    table = _table("", "seconds", "share")
    for stage, split in mean_stages(state.steps).items():
        table.add_row(STAGES[stage], f"{split['mean_s']:.2f}", f"{split['share']:.0%}")
    return table


def _evaluation_table(rows: Sequence[Row]) -> Table:
    table = _table("", "before", "after", "difference")
    for row in rows:
        detail = f" ({row.decoding})" if row.decoding else ""
        change = row.difference
        table.add_row(
            Text(f"{'  ' if row.is_group else ''}{_line(row.label)}{detail}"),
            _figure(row.before),
            _figure(row.after),
            _change(change) if change else "–",
        )
    return table


def _change(change: Difference) -> str:
    low, high = change.interval.low, change.interval.high
    digits = digits_for(low, high)
    mark = f" {EXCLUDES_0}" if side_of_zero(low, high) else ""
    return (
        f"{format_signed(change.change, digits)}{mark}\n{format_signed(low, digits)} to {format_signed(high, digits)}"
    )


def _problem_table(state: RunState) -> Table:
    table = _table()
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True, justify="right")
    table.add_column(overflow="fold")
    counts = count_fates(state.histories)
    for fate, count in counts.items() if any(counts.values()) else ():
        table.add_row(fate.value, f"{count:,}", MEANINGS[fate])
    return table


def _group_table(state: RunState) -> Table:
    table = _table("", "first", "last")
    for outcome, (first, last) in outcome_ends(state.histories).items():
        table.add_row(OUTCOMES[outcome], f"{first:.2f}", f"{last:.2f}")
    return table


def _figure(figure: Figure | None) -> str:
    return f"{figure.value:.3f}\n{figure.interval.low:.2f}–{figure.interval.high:.2f}" if figure else "–"


def _show_differences(states: Sequence[RunState], console: Console) -> None:
    differences = list_differences(states)
    console.print()
    console.print(Text("In what they differ", "bold"))
    without = [_line(state.name) for state in states if not state.inputs.config]
    if without:
        console.print(Padding(Text(f"No configuration is known of {', '.join(without)}."), (0, 0, 0, 2)))
    if not differences and len(without) < len(states) - 1:
        console.print("  In nothing that was recorded.")
    for one in differences:
        _show_difference(one, states, console)


def _show_difference(difference: SettingDifference, states: Sequence[RunState], console: Console) -> None:
    """The setting, and below it each value with the runs that have it."""
    names: dict[str, list[str]] = {}
    for state, value in zip(states, difference.values, strict=True):
        text = "–" if value is None else value if isinstance(value, str) and value else json.dumps(value)
        names.setdefault(_line(text), []).append(_line(state.name))
    kind = "" if difference.kind == "setting" else f" ({difference.kind})"
    console.print(Padding(Text(_line(difference.setting) + kind), (0, 0, 0, 2)))
    for text, having in names.items():
        console.print(Padding(Text.assemble(text, (f"  {', '.join(having)}", "dim")), (0, 0, 0, 6)))


def _table(*heads: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=bool(heads), header_style="dim")
    for number, head in enumerate(heads):
        words = head in ("", "unit", "better")
        table.add_column(head, justify="left" if words else "right", overflow="fold", no_wrap=number > 0)
    return table


def _line(text: str) -> str:
    """Foreign text on one line, without what a terminal would obey."""
    return make_visible(" ".join(text.split()), 1_000)
