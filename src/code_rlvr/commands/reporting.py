"""The command that shows what came of training: report.

Covered: which of the forms was asked for, and where it goes.  Not covered: making them (`code_rlvr.report`).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from code_rlvr.commands import app, errors
from code_rlvr.errors import PreflightError, UsageError

if TYPE_CHECKING:
    from code_rlvr.health import HealthThresholds
    from code_rlvr.report.sources import Source

Runs = Annotated[
    list[str],
    typer.Argument(
        metavar="RUN...",
        help="Folders of runs or verl's metrics files, up to 8; several are compared. NAME=RUN calls one NAME.",
    ),
]
Out = Annotated[
    Path | None,
    typer.Option(help="File to write; else report.html of the run, RUN.report.html beside a file, comparison.html."),
]
AsJson = Annotated[bool, typer.Option("--json", help="The state of the runs as JSON, to standard output or --out.")]
AsText = Annotated[bool, typer.Option("--text", help="The same to read, at 80 columns or more.")]
Watch = Annotated[bool, typer.Option("--watch", help="Serve the page, and renew it while the runs train.")]
Host = Annotated[str, typer.Option(help="With --watch: address to listen on. Everyone who reaches it can read.")]
Port = Annotated[int, typer.Option(min=0, max=65535, help="With --watch: 0 is any that is free.")]
Config = Annotated[
    Path | None,
    typer.Option(help="TOML file with a [health] table: when a rule speaks, in place of the run's own settings."),
]
Settings = Annotated[
    list[str] | None, typer.Option("--set", metavar="health.NAME=VALUE", help="One such threshold. Repeatable.")
]


@app.command(
    epilog="Examples, one a line:\n\n"
    "`code-rlvr report runs/first`\n\n"
    "`code-rlvr report runs/first runs/second --out both.html`\n\n"
    "`code-rlvr report runs/first --watch`\n\n"
    "`code-rlvr report before=verl-log.jsonl after=runs/first --text`\n\n"
    "`code-rlvr report runs/first --json --set health.kl_high=0.5`\n\n"
    "Exit codes: 0 written, or the watch was ended; 1 it cannot run here; 2 what was given cannot be used. "
    "A run that is not healthy is no failure: --json has its findings. docs/report.md explains all of it.",
)
def report(
    context: typer.Context,
    runs: Runs,
    *,
    out: Out = None,
    as_json: AsJson = False,
    as_text: AsText = False,
    watch: Watch = False,
    host: Host = "127.0.0.1",
    port: Port = 8378,
    config: Config = None,
    settings: Settings = None,
) -> None:
    """Show what came of training: one run, or several side by side, as a page, as text or as JSON."""
    if as_json + as_text + watch > 1 or (watch and out is not None):
        raise UsageError("--json, --text and --watch exclude each other, and --watch writes no file; choose one")
    _refuse_address_without_watch(context, watch=watch)
    _require_packages()
    from code_rlvr.config import load_config
    from code_rlvr.report.settings import ReportConfig
    from code_rlvr.report.sources import find_sources, require, without_metrics

    asked = load_config(ReportConfig, config, settings or ()).health
    sources = find_sources(runs)
    if watch:
        from code_rlvr.report.watch import watch as run_watch

        run_watch(sources, lambda: _page(sources, asked), host, port, lambda line: errors.print(line, markup=False))
        return
    require(sources)
    for line in without_metrics(sources):
        errors.print(line, markup=False)
    if as_json or as_text:
        _show(sources, asked, out, as_json=as_json)
        return
    from code_rlvr.report.html import write_page

    file = out or _usual_file(sources)
    write_page(file, _page(sources, asked))
    typer.echo(str(file))


def _refuse_address_without_watch(context: typer.Context, *, watch: bool) -> None:
    given = [f"--{name}" for name in ("host", "port") if _was_given(context, name)]
    if given and not watch:
        words, them = ("are", "them") if len(given) > 1 else ("is", "it")
        raise UsageError(f"{' and '.join(given)} {words} of use with --watch only; add --watch or leave {them} out")


def _was_given(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def _require_packages() -> None:
    import importlib.util

    for needed in ("bokeh", "jinja2", "pygments"):
        if importlib.util.find_spec(needed) is None:
            raise PreflightError(f"a report needs {needed}; install it with: pip install 'code-rlvr[report]'")


def _page(sources: Sequence[Source], asked: HealthThresholds) -> str:
    from code_rlvr.report.compare import render_comparison
    from code_rlvr.report.html import render_report
    from code_rlvr.report.run_state import read_state

    states = [read_state(source, asked) for source in sources]
    return render_comparison(states) if len(states) > 1 else render_report(states[0])


def _show(sources: Sequence[Source], asked: HealthThresholds, out: Path | None, *, as_json: bool) -> None:
    from code_rlvr.report.as_json import to_json
    from code_rlvr.report.as_text import show_states, to_text
    from code_rlvr.report.html import write_page
    from code_rlvr.report.run_state import read_state

    states = [read_state(source, asked) for source in sources]
    if not as_json and out is None and sys.stdout.isatty():
        show_states(states, Console(highlight=False))
        return
    text = to_json(states) if as_json else to_text(states)
    if out is None:
        sys.stdout.write(text)
    else:
        write_page(out, text)


def _usual_file(sources: Sequence[Source]) -> Path:
    from code_rlvr.report.sources import stem_of

    if len(sources) > 1:
        return Path("comparison.html")
    source = sources[0]
    return source.path.with_name(f"{stem_of(source.path)}.report.html") if source.is_file else source.run.report
