"""The commands of ``code-rlvr``: each checks and formats, the work is in the package.

Covered: the application that they belong to, and the options that several share.  Not covered: errors and exit codes
(`cli`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from code_rlvr.verifier.sandbox import Isolation

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    help="Train language models to write programs, rewarded by running the programs.",
)
errors = Console(stderr=True, soft_wrap=True, highlight=False)

Python = Annotated[
    Path | None, typer.Option(help="Interpreter for solutions, e.g. of an environment with numpy; our own if left out.")
]
Workers = Annotated[int | None, typer.Option(min=1, help="Programs judged at once; one per CPU if left out.")]
CpuSeconds = Annotated[float | None, typer.Option(help="CPU seconds per test, where the problem names none.")]
WallSeconds = Annotated[float | None, typer.Option(help="Wall seconds per test; 4 x CPU + 6 if left out.")]
MemoryMib = Annotated[int | None, typer.Option(help="Memory per test, where the problem names none.")]
IsolationOption = Annotated[
    Isolation, typer.Option(help="process only where there are no system call filters and programs are trusted.")
]


@contextmanager
def interruptible(how_to_go_on: str) -> Iterator[None]:
    """End the command at Ctrl-C with the exit code of a shell, saying what becomes of the work.

    Args:
        how_to_go_on: What to do next, or what was lost.
    """
    try:
        yield
    except KeyboardInterrupt:
        errors.print(f"interrupted; {how_to_go_on}", markup=False)
        raise typer.Exit(130) from None
