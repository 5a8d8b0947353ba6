"""Reading a run's folder for the report: what can be read is kept, what cannot is said.

Covered: configuration, command, versions, data, start, metrics; a metrics file alone.  Not covered: evaluations
(`evaluation`) and verdict records (`verdict_records`), which are read in the same spirit.  A run that broke off is
the one whose report is needed most, so nothing here raises over a damaged file.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from code_rlvr.errors import DataError
from code_rlvr.health.signals import HUGE
from code_rlvr.report.regular_file import read_regular, read_unpacked
from code_rlvr.runs import RunFolder, StepMetrics

MAX_STEP = 10**9
"""A step beyond it is damage."""
MAX_DEPTH = 50
"""Tables within tables of a file of settings; one with more is damage."""
NAMES_OF_THE_RUN = ("name", "runs_dir")
"""Settings that say only what the run is called."""
SHOWN_LINES = 5
"""Line numbers that a message names before it only counts."""

NEWER_FILES = ("versions", "data", "start", "merge")
"""Of `input_files`, those that older runs lack, or runs that were not merged; the page says "not recorded"."""


@dataclass(frozen=True)
class RunInputs:
    """What is known of a run, evaluations and programs apart.

    Args:
        config: ``config.json`` as it stands there; empty if it cannot be read.
        command: The trainer's command line, or empty.
        versions: Library to version; empty if the run did not record them.
        steps: Metrics in the order of steps; 0 is the validation before training.
        data: ``data.json``: the files of problems, with hashes; empty if the run did not record them.
        start: ``start.json``: the machine, the commit and the preset; likewise.
        merged_step: The step whose weights were merged, and so evaluated; None if nothing was merged.
        is_folder: Whether there is a folder of a run, and not a metrics file alone.
    """

    config: dict[str, Any]
    command: str
    versions: dict[str, str]
    steps: list[StepMetrics]
    data: dict[str, Any] = field(default_factory=dict)
    start: dict[str, Any] = field(default_factory=dict)
    merged_step: int | None = None
    is_folder: bool = True

    def setting(self, path: str) -> Any:
        """Return a setting by its dotted path, or None if it is not there."""
        value: Any = self.config
        for key in path.split("."):
            if not isinstance(value, dict) or key not in value:
                return None
            value = value[key]
        return value

    @property
    def training(self) -> list[StepMetrics]:
        """The steps that were trained; a validation alone, before training or after a resume, is none."""
        return [one for one in self.steps if is_training(one)]

    @property
    def trained_steps(self) -> int:
        """The last step that was trained; 0 if there is none."""
        return max((one.step for one in self.training), default=0)


def is_training(metrics: StepMetrics) -> bool:
    """Whether these are of a step that was trained, and not of a validation alone."""
    return metrics.step > 0 and not all(name.startswith("val-") for name in metrics.data)


def input_files(run: RunFolder) -> dict[str, Path]:
    """Return every file that `read_inputs` reads, by what is in it; what decides whether a run has changed.

    Args:
        run: The run's folder.
    """
    return {
        "config": run.config,
        "command": run.command,
        "metrics": run.metrics,
        "versions": run.versions,
        "data": run.data,
        "start": run.start,
        "merge": run.merge_record,
    }


def read_inputs(run: RunFolder, losses: list[str]) -> RunInputs:
    """Read what there is.

    Args:
        run: The run's folder.
        losses: Gets one sentence for each thing that is missing or damaged.
    """
    files = input_files(run)
    steps = read_good_metrics(files["metrics"], losses)
    _say_unjudged(steps, losses)
    found = {name: _read_object(files[name], losses, may_lack=name in NEWER_FILES) for name in ("config", *NEWER_FILES)}
    return RunInputs(
        config=found["config"],
        command=(_read_text(files["command"], losses) or "").strip(),
        versions={str(key): str(value) for key, value in found["versions"].items()},
        steps=steps,
        data=found["data"],
        start=found["start"],
        merged_step=_merged_step(found["merge"], losses),
    )


def _merged_step(merge: dict[str, Any], losses: list[str]) -> int | None:
    step = merge.get("step")
    if step is None or (type(step) is int and 0 < step <= MAX_STEP):
        return step
    losses.append("merge.json is damaged: its step is no training step; it is not said which was evaluated.")
    return None


def read_metrics_file(file: Path, losses: list[str]) -> RunInputs:
    """Read a metrics file alone, e.g. verl's own file log of a run that was not started here.

    Args:
        file: JSONL of ``{"step": …, "data": {…}}``.
        losses: Gets a sentence about what is damaged.

    Raises:
        DataError: There is no such file.
    """
    if not file.is_file():
        raise DataError(
            f"{file} is not a file of metrics; give a run's folder, or JSONL as verl's file logger writes it"
        )
    steps = read_good_metrics(file, losses)
    _say_unjudged(steps, losses)
    return RunInputs({}, "", {}, steps, is_folder=False)


def read_good_metrics(file: Path, losses: list[str]) -> list[StepMetrics]:
    """Read the metrics whose lines are sound; `runs.read_metrics` refuses a file with one that is not.

    Args:
        file: ``metrics.jsonl``.
        losses: Gets a sentence about lines that cannot be read and steps that are missing.
    """
    lines = _read_metric_lines(file, losses)
    if lines is None:
        return []
    steps: dict[int, dict[str, float]] = {}
    bad: list[int] = []
    left_out: dict[str, None] = {}  # in order, each once
    for number, line in enumerate(lines, start=1):
        try:
            metrics = StepMetrics.from_line(line)
        except (DataError, RecursionError):  # the last: absurd nesting
            bad.append(number)
            continue
        if not 0 <= metrics.step <= MAX_STEP:
            bad.append(number)
            continue
        left_out |= dict.fromkeys(metrics.left_out)
        steps[metrics.step] = {**steps.get(metrics.step, {}), **metrics.data}
    if bad:
        losses.append(
            f"{file.name}: {len(bad)} of {len(lines)} lines cannot be read ({numbers_in_words('line', bad)}); "
            "what they held is missing below."
        )
    if not steps:
        losses.append(f"{file.name} holds no metrics: there are no curves.")
    known = sorted({0, *steps})
    missing = [range(before + 1, after) for before, after in itertools.pairwise(known) if after > before + 1]
    if missing:
        some = [*itertools.islice(itertools.chain.from_iterable(missing), SHOWN_LINES)]
        losses.append(f"{file.name} has no metrics of {numbers_in_words('step', some, sum(map(len, missing)))}.")
    if left_out:
        losses.append(f"{file.name}: what is no number is left out ({numbers_in_words('metric', [*left_out])}).")
    huge = [step for step in sorted(steps) if any(HUGE < abs(value) < math.inf for value in steps[step].values())]
    if huge:
        losses.append(f"{file.name}: numbers beyond {HUGE:g} count as infinite ({numbers_in_words('step', huge)}).")
    return [StepMetrics(step, _bounded(steps[step])) for step in sorted(steps)]


def _read_metric_lines(file: Path, losses: list[str]) -> list[bytes] | None:
    try:
        content, cut = read_unpacked(file)
    except OSError as error:
        losses.append(f"{file.name} cannot be read ({error.strerror}): there are no curves.")
        return None
    if cut:
        losses.append(f"{file.name} cannot be unpacked to its end: what could be is shown.")
    return content.splitlines()


def _bounded(values: dict[str, float]) -> dict[str, float]:
    return {name: math.copysign(math.inf, one) if abs(one) > HUGE else one for name, one in values.items()}


def _say_unjudged(steps: Sequence[StepMetrics], losses: list[str]) -> None:
    shares = {one.step: one.data.get("reward/unjudged", 0.0) for one in steps}
    lossy = [step for step, share in shares.items() if share > 0]
    if lossy:
        losses.append(
            f"Samples were lost in {numbers_in_words('step', lossy)}: up to {max(shares.values()):.1%} of a step was "
            "never scored and is in no figure."
        )


def numbers_in_words(what: str, numbers: Sequence[int | str], count: int | None = None) -> str:
    """Write out the first few numbers or names, and how many more there are; `count` is how many there are in all."""
    count = len(numbers) if count is None else count
    shown = ", ".join(map(str, numbers[:SHOWN_LINES]))
    more = count - SHOWN_LINES
    return f"{what}{'s' if count > 1 else ''} {shown}" + (f" and {more:,} more" if more > 0 else "")


def _read_text(file: Path, losses: list[str], *, may_lack: bool = False) -> str | None:
    """The text; None if it cannot be read, which is said unless the run may lack the file and does."""
    try:
        return read_regular(file).decode("utf-8", errors="replace")
    except OSError as error:
        if not (may_lack and isinstance(error, FileNotFoundError)):
            losses.append(f"{file.name} cannot be read ({error.strerror}).")
        return None


def _read_object(file: Path, losses: list[str], *, may_lack: bool) -> dict[str, Any]:
    text = _read_text(file, losses, may_lack=may_lack)
    if text is None:
        return {}
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, dict) and not _is_deep(value):
        return value
    losses.append(f"{file.name} is not a JSON object.")
    return {}


def _is_deep(tree: dict[str, Any]) -> bool:
    """Whether tables and lists stand in each other more than `MAX_DEPTH` times."""
    level: list[Any] = [tree]
    for _ in range(MAX_DEPTH):
        level = [inner for one in level for inner in (one.values() if isinstance(one, dict) else one)]
        level = [one for one in level if isinstance(one, (dict, list))]
    return bool(level)
