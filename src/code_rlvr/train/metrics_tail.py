"""Keeps the metrics of a run in one file over every resume.

verl's file logger opens its file anew at each start and so erases what an interrupted run had logged.
Each start therefore logs into a file of its own, and what appears there is appended to the run's
``metrics.jsonl``.
"""

from __future__ import annotations

from pathlib import Path

from code_rlvr.runs import StepMetrics


class MetricsTail:
    """Reads what has been appended to `source` and copies it to `target`."""

    def __init__(self, source: Path, target: Path) -> None:
        self._source = source
        self._target = target
        self._offset = 0

    def read_new(self) -> list[StepMetrics]:
        """Return the complete lines that appeared since the last call."""
        if not self._source.exists():
            return []
        with self._source.open("rb") as file:
            file.seek(self._offset)
            fresh = file.read()
        complete = fresh[: fresh.rfind(b"\n") + 1]
        self._offset += len(complete)
        if complete:
            with self._target.open("ab") as file:
                file.write(complete)
        return [StepMetrics.from_line(line) for line in complete.splitlines()]
