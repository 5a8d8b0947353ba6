"""The command ``code-rlvr doctor``: says what this machine can do for the verifier, layer by layer, by trying it.

Nothing is read off a version number: a judge is started, and planted programs try what each layer has to stop.

Covered: the sandbox, its layers, the interpreter for solutions; on request what a training run needs.
Not covered: what each of a run's checks does (`train.preflight`).
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from code_rlvr.errors import CodeRlvrError, UsageError
from code_rlvr.ground_truth import Tests
from code_rlvr.types import Limits, Verdict
from code_rlvr.verifier.judge import Judge
from code_rlvr.verifier.pool import usable_cpus
from code_rlvr.verifier.sandbox import Isolation

State = Literal["ok", "missing", "failed"]

_LAYERS = {
    "seccomp": "system calls: no new processes, no network, no signals to others",
    "landlock": "files: nothing but the interpreter and its libraries can be read, nothing written",
    "user": "namespaces: no privileges, not even root's",
    "pid": "namespaces: other processes cannot be seen; what is left behind dies with its worker",
    "net": "namespaces: no network device but a loopback of its own",
    "mount": "namespaces: an empty folder to work in",
    "ipc": "namespaces: no shared memory with others",
    "cgroup": "memory of all of a worker's processes together; docs/security.md says how to get it",
}
# Each prints "refused" if what it tries is refused, and does no harm if it is not.
_ATTEMPTS = {
    "start a process": "import os\nos.posix_spawn('/bin/true', ['true'], {})",
    "open a network socket": "import socket\nsocket.socket().close()",
    "read a file of this user": f"open({str(Path(__file__))!r}).close()",
    "write a file": "import os\nopen('/tmp/code-rlvr-doctor', 'w').close()\nos.unlink('/tmp/code-rlvr-doctor')",
    "signal another process": "import os\nos.kill(os.getppid(), 0)",
    "see other processes": "import os\nos.listdir('/proc')",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at.

    Args:
        name: What.
        state: ok; missing: works without, with less protection; failed: the verifier cannot be used.
        detail: What it means.
    """

    name: str
    state: State
    detail: str


def examine(python: Path | None = None, isolation: Isolation = "full") -> Iterator[Finding]:
    """Look at everything, one finding after another; a finding that failed ends it.

    Args:
        python, isolation: As for `Judge`.
    """
    try:
        started = time.monotonic()
        judge = Judge(1, Limits(cpu_s=2), python=python, isolation=isolation)
    except CodeRlvrError as error:
        yield Finding("sandbox", "failed", str(error))
        return
    with judge:
        version = ".".join(map(str, judge.version))
        yield Finding("sandbox", "ok", f"Python {version}, started in {time.monotonic() - started:.2f} s")
        yield from _layers(judge.layers)
        yield from _attempts(judge)
        yield _numpy(judge)
        yield _speed(judge)


def examine_run(preset: str | None, config: Path | None, settings: Sequence[str]) -> Iterator[Finding]:
    """Look whether a training run could start here, check by check.

    Args:
        preset, config, settings: As for `code-rlvr train`.

    Raises:
        UsageError: These are no settings of a run.
    """
    from code_rlvr.config import load_config  # noqa: PLC0415  the sandbox alone needs none of these
    from code_rlvr.train.config import TrainConfig  # noqa: PLC0415
    from code_rlvr.train.preflight import examine as examine_training  # noqa: PLC0415
    from code_rlvr.train.presets import find_preset  # noqa: PLC0415
    from code_rlvr.train.resolve import resolve  # noqa: PLC0415

    base = find_preset(preset) if preset else None
    given = load_config(TrainConfig, config, settings, base=base)
    try:
        given = resolve(given)
    except UsageError as error:
        yield Finding("run: settings", "failed", str(error))
        return
    for name, passed, detail in examine_training(given):
        yield Finding(f"run: {name}", "ok" if passed else "failed", detail)


def _layers(active: tuple[str, ...]) -> Iterator[Finding]:
    for name, detail in _LAYERS.items():
        found = next((layer for layer in active if layer.partition(" ")[0] == name), None)
        yield Finding(f"layer {found or name}", "ok" if found else "missing", detail)


def _attempts(judge: Judge) -> Iterator[Finding]:
    for name, source in _ATTEMPTS.items():
        body = "\n    ".join(source.split("\n"))
        program = f"try:\n    {body}\nexcept OSError:\n    print('refused')"
        refused = judge.judge(program, Tests.stdio([""], ["refused"])).accepted
        yield Finding(f"attempt to {name}", "ok" if refused else "missing", "refused" if refused else "NOT refused")


def _numpy(judge: Judge) -> Finding:
    judgement = judge.judge("import numpy\nprint(numpy.arange(5).sum())", Tests.stdio([""], ["10"]))
    if judgement.accepted:
        return Finding("numpy", "ok", f"works, {judgement.cases[0].memory_mib:.0f} MiB")
    return Finding("numpy", "missing", "solutions cannot import it; name an interpreter that has it (--python)")


def _speed(judge: Judge) -> Finding:
    tests = Tests.stdio(["1\n"] * 100, ["2"] * 100)
    judgement = judge.judge("print(2 * int(input()))", tests)
    if judgement.verdict is not Verdict.ACCEPTED:
        return Finding("speed", "failed", f"a trivial program was judged {judgement.verdict.value}")
    ms = 1000 * judgement.judge_s / len(judgement.cases)
    return Finding("speed", "ok", f"{ms:.2f} ms a test on one of {usable_cpus()} CPUs")


def show(findings: list[Finding], console: Console) -> None:
    """Print findings as a table."""
    colours = {"ok": "green", "missing": "yellow", "failed": "bold red"}
    table = Table(box=None, header_style="bold", pad_edge=False)
    for heading in ("", "looked at", "found"):
        table.add_column(heading)
    for finding in findings:
        table.add_row(f"[{colours[finding.state]}]{finding.state}[/]", finding.name, escape(finding.detail))
    console.print(table)


def to_json(findings: list[Finding]) -> list[dict[str, Any]]:
    """Findings for a program to read."""
    return [asdict(finding) for finding in findings]
