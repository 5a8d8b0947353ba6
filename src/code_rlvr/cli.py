"""The command ``code-rlvr``.

Heavy libraries are imported inside the commands, so that ``--help`` is immediate.

Exit codes: 0 done, 1 it ran and failed, 2 what was given cannot be used, 130 interrupted.
"""

from __future__ import annotations

import sys

from code_rlvr.commands import app, errors, evaluation, judging, models, problems, reporting, serving, training
from code_rlvr.errors import CodeRlvrError, UsageError

# Importing the modules adds their commands, in this order.
__all__ = ["app", "evaluation", "judging", "main", "models", "problems", "reporting", "serving", "training"]


def main() -> None:
    """Run the command line; turn our exceptions into one message and an exit code."""
    words, raw = _split_at_dashes(sys.argv[1:])
    try:
        app(args=words, obj=raw)
    except CodeRlvrError as error:
        errors.print(f"[bold red]error:[/] {_escape(str(error))}")
        sys.exit(2 if isinstance(error, UsageError) else 1)
    except KeyboardInterrupt:
        errors.print("interrupted; the same command goes on where it stopped")
        sys.exit(130)


def _split_at_dashes(words: list[str]) -> tuple[list[str], list[str]]:
    """The words before the first `--`, and those after it, which only `train` takes."""
    if words[:1] != ["train"] or "--" not in words:
        return words, []
    at = words.index("--")
    return words[:at], words[at + 1 :]


def _escape(text: str) -> str:
    return text.replace("[", r"\[")
