"""The folder of a run: where each file lies, and how metrics are read back.

    runs/NAME/
      config.json     what the run was configured with      command.txt   the trainer's command line
      manifest.json   how the quickstart made its data      metrics.jsonl one line for each step
      verdicts/       step_N.jsonl, one line per sample     logs/         verl's output, for when it fails
      checkpoints/    verl's shards                         merged/       the trained model, Hugging Face format
      versions.json   of the libraries                      data.json     the files it was trained on, with hashes
      start.json      machine, commit and preset of the latest start
      adapter/        adapters alone, by merge --keep-adapter
      eval/           before/ and after/: samples, scores   report.html   all of it to look at
      tensorboard/    if that logger is asked for           .lock         held by the process that trains
      quickstart.json, data/, warm_start/   the quickstart's settings, problems and first model

``metrics.jsonl`` has one ``{"step": …, "data": {…}}`` a line, as verl's file logger writes it.  After a resume
a step can stand there twice; the later line counts.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path

from code_rlvr.errors import DataError

MERGE_RECORD = "merge.json"
"""In a folder of merged weights: where they come from, and what was proven about them."""


@dataclass(frozen=True)
class RunFolder:
    """Paths of one run's files; nothing is created.

    Args:
        path: ``runs/NAME``.
    """

    path: Path

    @property
    def config(self) -> Path:
        return self.path / "config.json"

    @property
    def command(self) -> Path:
        return self.path / "command.txt"

    @property
    def manifest(self) -> Path:
        return self.path / "manifest.json"

    @property
    def data(self) -> Path:
        return self.path / "data.json"

    @property
    def start(self) -> Path:
        return self.path / "start.json"

    @property
    def versions(self) -> Path:
        return self.path / "versions.json"

    @property
    def metrics(self) -> Path:
        return self.path / "metrics.jsonl"

    @property
    def verdicts(self) -> Path:
        return self.path / "verdicts"

    @property
    def logs(self) -> Path:
        return self.path / "logs"

    @property
    def checkpoints(self) -> Path:
        return self.path / "checkpoints"

    @property
    def merged(self) -> Path:
        return self.path / "merged"

    @property
    def merge_record(self) -> Path:
        return self.merged / MERGE_RECORD

    @property
    def eval(self) -> Path:
        return self.path / "eval"

    @property
    def report(self) -> Path:
        return self.path / "report.html"


@dataclass(frozen=True)
class StepMetrics:
    """What was logged for one step.

    Args:
        step: Training step, from 1; 0 is the validation before training.
        data: Metric name to value; NaN where it was logged and was no finite number.
        left_out: Names of what was logged and is no number at all, such as text.
    """

    step: int
    data: dict[str, float]
    left_out: tuple[str, ...] = ()

    @classmethod
    def from_line(cls, line: bytes | str) -> StepMetrics:
        """Parse one line of ``metrics.jsonl``; verl writes ``null`` for NaN and for infinity.

        Raises:
            DataError: It is not such a line.
        """
        try:
            entry = json.loads(line)
            step, logged = entry["step"], dict(entry["data"])
            data = {name: _number(value) for name, value in logged.items() if _is_number(value)}
        except (ValueError, KeyError, TypeError, OverflowError):
            raise DataError("not a line of metrics") from None
        if type(step) is not int:
            raise DataError("not a line of metrics: its step is no whole number")
        return cls(step, data, tuple(name for name in logged if name not in data))


def _is_number(value: object) -> bool:
    return value is None or (isinstance(value, (int, float)) and not isinstance(value, bool))


def _number(value: float | None) -> float:
    return math.nan if value is None else float(value)


def read_metrics(file: Path) -> list[StepMetrics]:
    """Read a run's metrics in the order of steps.

    Args:
        file: ``metrics.jsonl`` of a run, or verl's own file log.

    Raises:
        DataError: The file cannot be read, or a line other than a cut-off last one is not a metrics line.
    """
    lines = _read_lines(file)
    steps: dict[int, dict[str, float]] = {}
    for number, line in enumerate(lines, start=1):
        try:
            metrics = StepMetrics.from_line(line)
        except DataError as error:
            if number == len(lines):  # a crash cut it off
                break
            raise DataError(f"{file}:{number} is {error}") from None
        # A resumed run validates first, under a step that has training metrics already: keep both.
        steps[metrics.step] = {**steps.get(metrics.step, {}), **metrics.data}
    return [StepMetrics(step, steps[step]) for step in sorted(steps)]


def _read_lines(file: Path) -> list[bytes]:
    try:
        return file.read_bytes().splitlines()
    except OSError as error:
        raise DataError(f"cannot read {file}: {error.strerror}") from None
