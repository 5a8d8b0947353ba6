"""The file of verdicts that `verify` writes: one JSON line for each solution, and how it is continued.

Covered: appending whole lines; keeping those of an earlier call, dropping a line that a crash cut off and lines
without a verdict, so that both are judged anew; refusing a file with verdicts of anything else; one writer.
Not covered: what a line holds (`run`), opening and appending (`one_writer`).
"""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path
from types import TracebackType
from typing import Any

from code_rlvr.errors import DataError
from code_rlvr.one_writer import append, open_alone

Line = dict[str, Any]

_LEFT_ASIDE = ("cases", "message")  # large, and not needed for adding up
_NUMBERS = ("test_pass_rate", "judge_s")


class VerdictFile:
    """The lines of an earlier call, and a place to append to; a context manager.

    Args:
        path: Where it is; with None, nothing is written.
        overwrite: Whether what it holds is dropped.

    Attributes:
        kept: The lines of an earlier call that have a verdict, by problem and index, without their cases.

    Raises:
        DataError: It cannot be read or written, is not a file of verdicts, or another process writes it.
    """

    def __init__(self, path: Path | None, overwrite: bool) -> None:
        self.kept: dict[tuple[str, int], Line] = {}
        self._path = path
        self._overwrite = overwrite
        self._recognised = 0
        self._dropped = False
        self._fd: int | None = None

    def __enter__(self) -> VerdictFile:
        with contextlib.ExitStack() as on_failure:
            on_failure.callback(self._close)
            if self._path is not None and self._path.exists():
                self._fd = open_alone(self._path)
                if not self._overwrite:
                    self._read(self._path)
            on_failure.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()

    def recognise(self, problem_id: str, index: int, fingerprint: str) -> None:
        """Note that a solution is there, so that its line, if there is one, is not of anything else."""
        line = self.kept.get((problem_id, index))
        self._recognised += line is not None and line["fingerprint"] == fingerprint

    def require_all_recognised(self) -> None:
        """Refuse to add to a file that holds verdicts of something else.

        Raises:
            DataError: A line is of no solution that was noted.
        """
        strangers = len(self.kept) - self._recognised
        if strangers:
            raise DataError(
                f"{self._path}: {strangers:,} of its {len(self.kept):,} verdicts are of other solutions, tests or "
                "limits than those given; name another --out, or start this one anew with --overwrite"
            )

    def begin(self) -> None:
        """Make the file ready to append to: nothing on the disk changes before this.

        Raises:
            DataError: The file cannot be written.
        """
        if self._path is None:
            return
        if self._fd is None:
            self._fd = open_alone(self._path)
        elif self._overwrite:
            os.ftruncate(self._fd, 0)
        elif self._dropped:
            self._rewrite(self._path)

    def write(self, line: Line) -> None:
        """Append one line, whole.

        Raises:
            DataError: The file cannot be written.
        """
        if self._path is not None and self._fd is not None:
            append(self._fd, json.dumps(line).encode("ascii") + b"\n", self._path)

    def _read(self, path: Path) -> None:
        with path.open("rb") as stream:
            for number, text in enumerate(stream, start=1):
                if not text.endswith(b"\n"):
                    self._dropped = True  # a crash cut it off
                    break
                line = _verdict_line(text)
                if line is None:
                    raise DataError(
                        f"{path}:{number} is not a verdict as this command writes it; name another --out, "
                        "or start this one anew with --overwrite"
                    )
                key = (line["problem_id"], line["index"])
                if line["verdict"] is None or key in self.kept:
                    self._dropped = True
                else:
                    self.kept[key] = line

    def _rewrite(self, path: Path) -> None:
        """Leave only the lines that are kept; the file is whole at every moment."""
        unfinished = path.with_name(path.name + ".unfinished")
        with contextlib.suppress(FileNotFoundError):
            unfinished.unlink()
        fd = open_alone(unfinished)
        seen: set[tuple[str, int]] = set()
        with contextlib.ExitStack() as on_failure:
            on_failure.callback(unfinished.unlink, missing_ok=True)
            on_failure.callback(os.close, fd)
            with path.open("rb") as stream:
                for text in stream:
                    line = _verdict_line(text) if text.endswith(b"\n") else None
                    if line and line["verdict"] is not None and (line["problem_id"], line["index"]) not in seen:
                        seen.add((line["problem_id"], line["index"]))
                        append(fd, text, path)
            os.replace(unfinished, path)
            on_failure.pop_all()
        self._close()
        self._fd = fd

    def _close(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None


def _verdict_line(text: bytes) -> Line | None:
    """A line without what is large; None if it is no line of this file."""
    try:
        line = json.loads(text)
        line = {key: value for key, value in line.items() if key not in _LEFT_ASIDE}
        names = all(isinstance(line[key], str) for key in ("problem_id", "data_source", "fingerprint"))
        judged = isinstance(line["verdict"], str) and all(isinstance(line[key], (int, float)) for key in _NUMBERS)
        if not names or not isinstance(line["index"], int) or not (judged or line["verdict"] is None):
            return None
    except (ValueError, RecursionError, AttributeError, KeyError):
        return None
    return line
