"""The evaluations of a run, before against after: rows of a table.

An evaluation is a file ``eval/before/NAME.json`` or ``eval/after/NAME.json`` with `Scores`.
Covered: reading, pairing, differences with intervals.  Not covered: statistics (`evaluate.compare`), words
about the result (`headline`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from code_rlvr.errors import DataError
from code_rlvr.evaluate.compare import Comparison, Difference, compare_runs
from code_rlvr.evaluate.naming import benchmark_of
from code_rlvr.evaluate.scores import GroupScore, Interval, Scores, read_scores
from code_rlvr.report.regular_file import open_regular
from code_rlvr.words import counted

STAGES = ("before", "after")
MAX_SAMPLES = 10**9
"""Of one problem; more are damage."""

_TITLES = {
    "heldout": "Held-out problems",
    "held out": "Held-out problems",
    "unseen": "Unseen families",
    "humaneval": "HumanEval",
    "mbpp": "MBPP",
    "mbpp-sanitized": "MBPP, sanitized",
    "livecodebench": "LiveCodeBench",
    "gsm8k": "GSM8K",
}
"""What a reader calls them."""

_CONTROLS = ("GSM8K", "Unseen")
"""Beginnings of titles of sets that training is not expected to help with, unless it was on them."""

_DIFFICULTIES = ("easy", "medium", "hard")
"""Names of groups that have an order of their own."""


@dataclass(frozen=True)
class Evaluation:
    """One set of problems under one way of decoding, before training and after it.

    Args:
        name: The files' name, e.g. ``heldout_greedy``.
        before: None if it is missing or cannot be read.
        after: Likewise.
    """

    name: str
    before: Scores | None
    after: Scores | None

    @property
    def scores(self) -> Scores:
        """Whichever there is; both have the same settings."""
        scores = self.after or self.before
        assert scores is not None, "an evaluation is made from at least one file"
        return scores

    @property
    def greedy(self) -> bool:
        """Whether the most likely token is always taken."""
        return self.scores.temperature == 0

    @property
    def title(self) -> str:
        """What a reader calls the set of problems."""
        whole, _, first = self.name.partition("_first")
        benchmark = benchmark_of(whole)
        title = _TITLES.get(benchmark.replace("_", " "), benchmark)
        return f"{title}, the first {first}" if first else title

    @property
    def decoding(self) -> str:
        """How samples were drawn."""
        scores, parts = self.scores, ["greedy"]
        if not self.greedy:
            count = scores.samples_per_problem
            parts = [f"T = {scores.temperature:g}", f"{counted(count, 'sample')} a problem"]
        parts += [f"top-p {scores.top_p:g}"] if scores.top_p != 1 else []
        parts += [f"seed {scores.seed}"] if scores.seed else []
        return ", ".join(parts)


@dataclass(frozen=True)
class Figure:
    """A Pass@1 with its interval."""

    value: float
    interval: Interval


@dataclass(frozen=True)
class Row:
    """One line of the table.

    Args:
        label: Set of problems, or a group of it.
        decoding: How samples were drawn; empty for a group.
        problems: How many.
        before, after: None where there is no evaluation.
        difference: None unless both are there and comparable.
        is_group: Whether it is a part of the row above.
    """

    label: str
    decoding: str
    problems: int
    before: Figure | None
    after: Figure | None
    difference: Difference | None
    is_group: bool = False


def read_evaluations(folder: Path, losses: list[str], trained_on: Collection[str] = ()) -> list[Evaluation]:
    """Read every evaluation of a run, the most telling first.

    Those are held-out problems, then what was trained for, then those of more problems; controls (`_CONTROLS`) last.

    Args:
        folder: ``eval`` of the run.
        losses: Gets a sentence for each file that is missing or damaged.
        trained_on: Data sources of the training problems, as far as they are known.
    """
    found: dict[str, dict[str, Scores]] = {}
    for file in list_evaluations(folder):
        if (scores := _read_sound(file, losses)) is not None:
            found.setdefault(file.stem, {})[file.parent.name] = scores
    evaluations = [Evaluation(name, one.get("before"), one.get("after")) for name, one in found.items() if one]
    for evaluation in evaluations:
        _say_what_is_wrong(evaluation, folder, losses)
    return sorted(evaluations, key=lambda one: _importance(one, trained_on))


def _read_sound(file: Path, losses: list[str]) -> Scores | None:
    """The scores of a file; None if they cannot be read or cannot be true, which is said."""
    name = f"eval/{file.parent.name}/{file.name}"
    try:
        open_regular(file).close()  # or a pipe in its place would be waited for
        scores = read_scores(file)
    except (OSError, DataError):
        losses.append(f"{name} cannot be read as scores; it is left out.")
        return None
    if fault := _find_fault(scores):
        losses.append(f"{name} has figures that cannot be: {fault}; it is left out.")
        return None
    return scores


def _say_what_is_wrong(evaluation: Evaluation, folder: Path, losses: list[str]) -> None:
    for stage, scores in zip(STAGES, (evaluation.before, evaluation.after), strict=True):
        name = f"eval/{stage}/{evaluation.name}.json"
        if scores is None and not (folder / stage / f"{evaluation.name}.json").exists():
            losses.append(f"{name} is missing: there is no difference to show.")
        if scores is not None and scores.training_data and scores.training_data.trained_on:
            count = len(scores.training_data.trained_on)
            losses.append(f"{name}: the model was trained on {count} of these problems; this is no measure of it.")
        if scores is not None and scores.unjudged:
            losses.append(f"{name}: the judge failed on {scores.unjudged} samples; they are in no figure.")


def _find_fault(scores: Scores) -> str:
    """Why these cannot be the scores of an evaluation, whose file is well formed; empty if they can."""
    if any(one.samples > MAX_SAMPLES for one in scores.problems.values()):
        return "more samples of a problem than anybody drew"
    for group in (scores.overall, *scores.groups.values()):
        bounds = (group.pass_at_1_interval.low, group.pass_at_1_interval.high)
        if not all(0 <= share <= 1 for share in (*group.pass_at.values(), *bounds)):
            return "a Pass@k that is no share"
    settings = (scores.temperature, scores.top_p)
    return "" if all(map(math.isfinite, settings)) else "a setting that is no number"


def _importance(one: Evaluation, trained_on: Collection[str]) -> tuple[bool, bool, bool, int, str, str]:
    trained_for = _is_of(one, trained_on)
    return (
        not one.title.startswith("Held-out"),
        not trained_for,
        one.title.startswith(_CONTROLS) and not trained_for,
        -one.scores.overall.problems,
        one.title,
        one.name,
    )


def _is_of(one: Evaluation, sources: Collection[str]) -> bool:
    """Whether an evaluation is of a data source: by its name or its groups, however either is written."""
    names = {_plain(benchmark_of(one.name.partition("_first")[0])), *map(_plain, one.scores.groups)}
    return any(_plain(part) in names for source in sources for part in (source, source.rpartition("/")[2]))


def _plain(name: str) -> str:
    return re.sub(r"[\W_]", "", name).lower()


def list_evaluations(folder: Path) -> list[Path]:
    """Return the files of scores before and after, as far as the folder can be seen.

    Args:
        folder: ``eval`` of a run.
    """
    return [file for stage in STAGES for file in _list(folder / stage) if file.suffix == ".json"]


def _list(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def compare_pass_at_1(before: Scores, after: Scores) -> Comparison:
    """Compare two evaluations by Pass@1 alone, which is what a report shows.

    Raises:
        DataError: If the problems or the settings differ.
    """
    overall = before.overall.model_copy(update={"pass_at": {}})
    return compare_runs(before.model_copy(update={"overall": overall}), after)


def make_rows(evaluation: Evaluation, losses: list[str]) -> list[Row]:
    """Return the line of an evaluation and, where it has several groups, one for each of them.

    Args:
        evaluation: The evaluation.
        losses: Gets a sentence if before and after cannot be compared.
    """
    before, after = evaluation.before, evaluation.after
    overall, groups = None, {}
    if before is not None and after is not None:
        try:
            comparison = compare_pass_at_1(before, after)
            overall, groups = comparison.overall, comparison.groups
        except DataError as error:
            losses.append(f"{evaluation.name}: no difference is shown, because {error}.")
    rows = [
        Row(
            evaluation.title,
            evaluation.decoding,
            evaluation.scores.overall.problems,
            _figure(before.overall if before else None),
            _figure(after.overall if after else None),
            overall,
        )
    ]
    names = _in_order(evaluation.scores.groups)
    for name in names if len(names) > 1 else []:
        rows.append(
            Row(
                name,
                "",
                evaluation.scores.groups[name].problems,
                _figure(before.groups.get(name) if before else None),
                _figure(after.groups.get(name) if after else None),
                groups.get(name),
                is_group=True,
            )
        )
    return rows


def _in_order(groups: Collection[str]) -> list[str]:
    """From easy to hard where that is what the groups are; else by the alphabet."""
    if all(name.lower() in _DIFFICULTIES for name in groups):
        return sorted(groups, key=lambda name: _DIFFICULTIES.index(name.lower()))
    return sorted(groups)


def _figure(score: GroupScore | None) -> Figure | None:
    if score is None or "pass@1" not in score.pass_at:
        return None
    return Figure(score.pass_at["pass@1"], score.pass_at_1_interval)
