"""Starts a long command under a guardian and ends it for certain.

Use as a context manager: leaving it, by whatever exception, ends the command and every process below it,
within about ten seconds.  See `guardian` for how.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType

from code_rlvr.train import guardian

END_S = guardian.GRACE_S + guardian.KILL_S + 2.0
"""Longest wait for the guardian to end everything."""


def new_scratch() -> Path:
    """Make a folder for temporary files; its path is short, because sockets lie in it and their paths are bounded."""
    return Path(tempfile.mkdtemp(prefix="code-rlvr-"))


class SupervisedCommand:
    """A running command whose whole process tree, and whatever it left in its scratch folder, ends with it.

    Args:
        command: Program and arguments.
        log: File that gets its output, appended.
        env: The environment; ``TMPDIR`` is set to the scratch folder.
        scratch: An existing folder for its temporary files; a new one when None.
    """

    def __init__(self, command: Sequence[str], log: Path, env: Mapping[str, str], scratch: Path | None = None) -> None:
        scratch = scratch or new_scratch()
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", guardian.__file__, str(log), str(scratch), *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            env={**env, "TMPDIR": str(scratch)},
            start_new_session=True,
        )

    def poll(self) -> int | None:
        """Return the exit code once the command and everything below it has ended, else None."""
        return self._process.poll()

    def end(self) -> int:
        """End the command and everything below it; return the exit code.

        Raises:
            subprocess.TimeoutExpired: Something could not be killed, e.g. a process stuck in the kernel.
        """
        if self._process.stdin is not None:
            self._process.stdin.close()
        return self._process.wait(END_S)

    def __enter__(self) -> SupervisedCommand:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()
