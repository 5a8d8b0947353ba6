"""Everything that is known of one run, read once: for a program, for a terminal, for a comparison.

Covered: reading and diagnosing.  Not covered: showing (`as_json`, `as_text`, `compare`), the page of a single run
(`html`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from code_rlvr.health import HealthThresholds
from code_rlvr.report.curves import Curve, pick_curve
from code_rlvr.report.evaluation import Evaluation, Row, make_rows, read_evaluations
from code_rlvr.report.headline import headline
from code_rlvr.report.health_section import Health, examine
from code_rlvr.report.inputs import RunInputs, read_inputs, read_metrics_file
from code_rlvr.report.record_losses import list_record_losses
from code_rlvr.report.series_charts import logged_sources
from code_rlvr.report.settings import choose_thresholds, list_changed
from code_rlvr.report.shown_programs import ShownPrograms, choose_shown
from code_rlvr.report.solve_history import History, make_histories
from code_rlvr.report.sources import Source
from code_rlvr.report.verdict_records import Records, read_records
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
        records: The verdict records, as far as they were read.
        histories: The training problems, over the run.
        shown: Programs that the page shows.
    """

    source: Source
    inputs: RunInputs
    headline: str
    evaluations: list[Evaluation]
    rows: list[Row]
    health: Health
    losses: list[str]
    records: Records = field(default_factory=Records)
    histories: list[History] = field(default_factory=list)
    shown: ShownPrograms = field(default_factory=ShownPrograms)

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
    records, shown = Records(), ShownPrograms()
    inputs = read_metrics_file(source.path, losses) if source.is_file else read_inputs(source.run, losses)
    thresholds = choose_thresholds(inputs.config, asked, losses)
    health = examine(inputs, thresholds, list_changed(thresholds, asked))
    if not source.is_file:
        records = read_records(source.run.verdicts, losses, health.windows)
        losses += list_record_losses(records, inputs.training)
        shown = choose_shown(inputs, source.run, records, health, losses)
        evaluations = read_evaluations(source.run.eval, losses, records.sources | logged_sources(inputs.steps))
    rows = [row for one in evaluations for row in make_rows(one, losses)]
    return RunState(
        source=source,
        inputs=inputs,
        headline=headline(inputs, rows),
        evaluations=evaluations,
        rows=rows,
        health=health,
        losses=losses,
        records=records,
        histories=make_histories(records.visits),
        shown=shown,
    )
