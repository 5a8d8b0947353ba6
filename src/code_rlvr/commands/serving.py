"""The command that offers the verifier to others: serve."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Annotated

import typer

from code_rlvr.commands import CpuSeconds, IsolationOption, MemoryMib, Python, WallSeconds, Workers, app, errors
from code_rlvr.errors import PreflightError


@app.command(
    epilog="Examples, one a line:\n\n"
    "`code-rlvr serve`\n\n"
    "`code-rlvr serve --host 0.0.0.0 --token-file token.txt --workers 32`\n\n"
    '`curl --json \'{"code": "print(2)", "tests": {"inputs": [""], "outputs": ["2"]}}\' '
    "http://127.0.0.1:8377/v1/judge`\n\n"
    "Exit codes: 0 stopped by Ctrl-C or SIGTERM, 1 it cannot run here, 2 bad settings.",
)
def serve(
    *,
    host: Annotated[str, typer.Option(help="Address to listen on; one that others can reach needs a token.")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 is any that is free.")] = 8377,
    token_file: Annotated[
        Path | None, typer.Option(help="Its first line is what clients have to show; else CODE_RLVR_TOKEN, if set.")
    ] = None,
    workers: Workers = None,
    max_queue: Annotated[
        int, typer.Option(min=1, help="Programs that wait or run; beyond that, clients are told to come again.")
    ] = 1024,
    max_body_mib: Annotated[
        int, typer.Option(min=1, help="Largest request; all together may wait with 16 times.")
    ] = 64,
    cpu_s: CpuSeconds = None,
    wall_s: WallSeconds = None,
    memory_mib: MemoryMib = None,
    max_cpu_s: Annotated[float, typer.Option(help="CPU seconds per test, whatever tests or clients ask for.")] = 60,
    max_memory_mib: Annotated[int, typer.Option(help="The same for memory per test.")] = 4096,
    max_deadline_s: Annotated[float, typer.Option(help="The same for wall seconds per program.")] = 600,
    python: Python = None,
    isolation: IsolationOption = "full",
) -> None:
    """Judge programs for others, over HTTP."""
    for needed in ("starlette", "uvicorn"):
        if importlib.util.find_spec(needed) is None:
            raise PreflightError(f"serving needs {needed}; install it with: pip install 'code-rlvr[serve]'")
    from code_rlvr.serve.admission import Capacity
    from code_rlvr.serve.requests import Bounds
    from code_rlvr.serve.run import ServeSettings
    from code_rlvr.serve.run import serve as run_server
    from code_rlvr.types import Limits
    from code_rlvr.verify.run import limits_of

    maximum = Limits(cpu_s=max_cpu_s, memory_mib=max_memory_mib, output_mib=64, compile_s=60, deadline_s=max_deadline_s)
    bounds = Bounds(limits_of(cpu_s=cpu_s, wall_s=wall_s, memory_mib=memory_mib), maximum)
    capacity = Capacity(max_queue, max_body_mib << 24, max_body_mib << 20)
    settings = ServeSettings(host, port, token_file, workers, capacity, bounds, python, isolation)
    run_server(settings, lambda line: errors.print(line, markup=False))
