"""The facts of a run: what it was, and every number that it logged.

Unlike the headline, nothing here judges.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from code_rlvr.health.signals import HUGE
from code_rlvr.report.catalogue import CATALOGUE, Metric, describe
from code_rlvr.report.inputs import RunInputs
from code_rlvr.report.numbers_as_text import format_duration, format_number
from code_rlvr.report.visible import make_visible
from code_rlvr.runs import StepMetrics
from code_rlvr.words import counted

_ESTIMATORS = {"gae": "PPO with a critic (GAE)", "grpo": "GRPO"}


NOT_RECORDED = "not recorded"
HASH_CHARS = 12


@dataclass(frozen=True)
class MetricLine:
    """A metric in the table of all metrics."""

    name: str
    first: str
    last: str
    low: str
    high: str
    about: Metric | None


def make_facts(run: RunInputs) -> list[tuple[str, str]]:
    """Name and value of what a reader wants to know about the run.

    Settings that are unknown are left out; of what every run should record, it is said that it did not.
    """
    facts = [
        ("Model", run.setting("model")),
        ("Method", _ESTIMATORS.get(str(run.setting("algorithm.estimator")))),
        ("Steps", _steps(run)),
        ("Batch", _batch(run)),
        ("Reward", _reward(run)),
        ("Seed", run.setting("seed")),
        ("Device", run.setting("trainer.device")),
        ("Time", _time(run.steps)),
        ("Samples", _total(run.training, "reward/samples")),
        ("Tokens", _total(run.training, "perf/total_num_tokens")),
    ]
    if run.is_folder:
        facts += [
            ("Training data", _data(run.data, "train")),
            ("Validation data", _data(run.data, "validation")),
            ("Machine", _machine(run.start.get("machine")) or NOT_RECORDED),
            ("Commit", _commit(run.start.get("commit")) or NOT_RECORDED),
            ("Versions", ", ".join(f"{name} {version}" for name, version in run.versions.items()) or NOT_RECORDED),
        ]
    return [(name, make_visible(str(value), 400)) for name, value in facts if value not in (None, "")]


def _batch(run: RunInputs) -> str:
    batch, samples = run.setting("trainer.batch"), run.setting("rollout.samples_per_prompt")
    return f"{batch} problems × {counted(samples, 'sample')}" if batch and samples else ""


def _total(training: Sequence[StepMetrics], name: str) -> str:
    """A metric added up over the steps that logged it, with how many those are if some did not."""
    values = [one.data[name] for one in training if math.isfinite(one.data.get(name, math.nan))]
    if not values:
        return "not logged" if training else ""
    some = f" in {len(values)} of {len(training)} steps" if len(values) < len(training) else ""
    return f"{math.fsum(values):,.0f}{some}"


def _data(data: dict[str, Any], split: str) -> str:
    described = data.get(split)
    if not isinstance(described, dict):
        return NOT_RECORDED
    count, sha256 = described.get("problems"), described.get("sha256")
    words = [str(described.get("file") or "")]
    words += [f"{count:,} problems"] if isinstance(count, int) else []
    words += [f"sha256 {sha256[:HASH_CHARS]}…"] if isinstance(sha256, str) else []
    return ", ".join(filter(None, words))


def _machine(machine: Any) -> str:
    if not isinstance(machine, dict):
        return ""
    memory, cores, gpus = machine.get("memory_gib"), machine.get("cores"), machine.get("gpus")
    words = [str(machine.get("cpu") or "")]
    words += [counted(cores, "core")] if isinstance(cores, int) else []
    words += [f"{memory:g} GiB"] if isinstance(memory, (int, float)) and abs(memory) < HUGE else []
    words += [str(gpu) for gpu in gpus] if isinstance(gpus, list) else []
    return ", ".join(filter(None, words))


def _commit(commit: Any) -> str:
    if not isinstance(commit, dict) or not commit.get("sha"):
        return ""
    return str(commit["sha"])[:HASH_CHARS] + (", with changes that are in no commit" if commit.get("changed") else "")


def _steps(run: RunInputs) -> str:
    planned = run.setting("trainer.steps")
    if planned is None:
        return str(run.trained_steps or "")
    return f"{run.trained_steps} of {planned}"


def _reward(run: RunInputs) -> str | None:
    policy = run.setting("reward.policy")
    name = policy.get("name") if isinstance(policy, dict) else policy
    return str(name).replace("_", " ") if name else None


def _time(steps: Sequence[StepMetrics]) -> str:
    stepping = math.fsum(_finite(one.data.get("timing_s/step")) for one in steps)
    testing = math.fsum(_finite(one.data.get("timing_s/testing")) for one in steps)
    if not stepping:
        return ""
    return f"{format_duration(stepping)} in steps" + (f", {format_duration(testing)} in validation" if testing else "")


def _finite(value: float | None) -> float:
    return value if value is not None and math.isfinite(value) else 0.0


def make_metric_lines(steps: Sequence[StepMetrics]) -> list[tuple[str, list[MetricLine]]]:
    """Sum up every logged metric, in the groups of the catalogue; unknown ones come last."""
    names = sorted({name for one in steps for name in one.data})
    groups = {group.title: [n for n in names if describe(n) in group.metrics] for group in CATALOGUE}
    groups["Not in the catalogue"] = [name for name in names if describe(name) is None]
    return [(title, [_metric_line(steps, name) for name in members]) for title, members in groups.items() if members]


def _metric_line(steps: Sequence[StepMetrics], name: str) -> MetricLine:
    values = [one.data[name] for one in steps if name in one.data]
    finite = [value for value in values if math.isfinite(value)]
    low, high = (min(finite), max(finite)) if finite else (math.nan, math.nan)
    first, last, low_text, high_text = (format_number(value) for value in (values[0], values[-1], low, high))
    return MetricLine(make_visible(name, 200), first, last, low_text, high_text, describe(name))
