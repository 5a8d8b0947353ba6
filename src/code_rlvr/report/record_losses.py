"""What is missing among a run's verdict records, seen against what its metrics say.

Covered: steps without records, steps with too few.  Not covered: lines and files that cannot be read
(`verdict_records`).  Validations need no records: older runs wrote none for them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from code_rlvr.report.inputs import numbers_in_words
from code_rlvr.report.verdict_records import Records
from code_rlvr.runs import StepMetrics


def list_record_losses(records: Records, training: Sequence[StepMetrics]) -> list[str]:
    """Return sentences about what is missing; none if no record says which step of training it is of.

    A step whose metrics are not there yet, such as the one that is being trained, is not looked at.

    Args:
        records: As they were read.
        training: Metrics of the training steps.
    """
    if not any(count for step, count in records.trained.items() if step > 0) or records.trained.get(0, 0):
        return []
    losses = []
    without = [one.step for one in training if one.step not in records.found]
    if without:
        losses.append(
            f"verdicts: there are no records of {numbers_in_words('step', without)}, which "
            f"{'was' if len(without) == 1 else 'were'} trained: no programs and no problems of "
            f"{'it' if len(without) == 1 else 'them'} are counted."
        )
    short = {one.step: _lacking(one, records) for one in training}
    short = {step: count for step, count in short.items() if count > 0}
    if short:
        losses.append(
            f"verdicts: {sum(short.values()):,} samples that the metrics count have no record "
            f"({numbers_in_words('step', [*short])})."
        )
    return losses


def _lacking(metrics: StepMetrics, records: Records) -> int:
    samples = metrics.data.get("reward/samples", math.nan)
    if metrics.step not in records.trained or not math.isfinite(samples):
        return 0
    return round(samples) - records.trained[metrics.step] - records.damaged[metrics.step]
