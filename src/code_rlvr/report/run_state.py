"""Everything that is known of one run, read once: for a program, for a terminal, for a comparison.

Covered: reading and diagnosing.  Not covered: showing (`as_json`, `as_text`, `compare`), the page of a single run
(`html`), which shows samples too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from code_rlvr.health import HealthThresholds
from code_rlvr.report.curves import Curve, pick_curve
from code_rlvr.report.evaluation import Evaluation, Row, make_rows, read_evaluations
from code_rlvr.report.headline import headline
from code_rlvr.report.health_section import Health, examine
from code_rlvr.report.inputs import RunInputs, read_inputs, read_metrics_file
from code_rlvr.report.settings import choose_thresholds
from code_rlvr.report.sources import Source
from code_rlvr.runs import StepMetrics


@dataclass(frozen=True)
class RunState:
    """What is known of a run.

    Args:
        source: Where it was read from.
        inputs: Configuration, versions, metrics.
        headline: One sentence.
        evaluations: Before and after, as they were read.
        rows: The table of evaluations.
        health: What the rules of health found, what they could not look at, and the phases.
        losses: What is missing or damaged, as sentences.
    """

    source: Source
    inputs: RunInputs
    headline: str
    evaluations: list[Evaluation]
    rows: list[Row]
    health: Health
    losses: list[str]

    @property
    def name(self) -> str:
        """What the report calls it."""
        return self.source.name

    @property
    def steps(self) -> Sequence[StepMetrics]:
        """Its metrics, in the order of steps."""
        return self.inputs.steps

    @property
    def logged(self) -> set[str]:
        """Names of all metrics that it logged."""
        return {name for one in self.steps for name in one.data}

    @property
    def problem_hashes(self) -> dict[str, str]:
        """Split to the first digits of the hash of its file of problems, as far as the run recorded it."""
        hashes = {split: file.get("sha256") for split, file in self.inputs.data.items() if isinstance(file, dict)}
        return {split: value[:12] for split, value in hashes.items() if isinstance(value, str)}

    def curve(self, name: str) -> Curve:
        """One metric over the run."""
        return pick_curve(self.steps, name)


def read_state(source: Source, asked: HealthThresholds) -> RunState:
    """Read and diagnose a run; damage is said in `RunState.losses`, nothing is raised over it.

    Args:
        source: A run or a file of metrics.
        asked: Thresholds of the health rules; those that are set in it win over the run's own.
    """
    losses: list[str] = []
    evaluations: list[Evaluation] = []
    if source.is_file:
        inputs = read_metrics_file(source.path, losses)
    else:
        inputs = read_inputs(source.run, losses)
        evaluations = read_evaluations(source.run.eval, losses)
    rows = [row for one in evaluations for row in make_rows(one, losses)]
    return RunState(
        source=source,
        inputs=inputs,
        headline=headline(inputs, rows),
        evaluations=evaluations,
        rows=rows,
        health=examine(inputs, choose_thresholds(inputs.config, asked, losses)),
        losses=losses,
    )
