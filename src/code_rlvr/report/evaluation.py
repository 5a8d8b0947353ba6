"""The evaluations of a run, before against after: rows of a table.

An evaluation is a file ``eval/before/NAME.json`` or ``eval/after/NAME.json`` with `Scores`.
Covered: reading, pairing, differences with intervals.  Not covered: statistics (`evaluate.compare`), words
about the result (`headline`).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from code_rlvr.errors import DataError
from code_rlvr.evaluate.compare import Difference, compare_runs
from code_rlvr.evaluate.naming import benchmark_of
from code_rlvr.evaluate.scores import GroupScore, Interval, Scores, read_scores

STAGES = ("before", "after")


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
"""Beginnings of titles of sets that training is not expected to help with."""


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
        words = benchmark_of(whole).replace("_", " ")
        title = _TITLES.get(words, words[:1].upper() + words[1:])
        return f"{title}, the first {first}" if first else title

    @property
    def decoding(self) -> str:
        """How samples were drawn."""
        scores, parts = self.scores, ["greedy"]
        if not self.greedy:
            count = scores.samples_per_problem
            parts = [f"T = {scores.temperature:g}", f"{count} sample{'s' if count != 1 else ''} a problem"]
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


def read_evaluations(folder: Path, losses: list[str]) -> list[Evaluation]:
    """Read every evaluation of a run; held-out problems come first, what was not trained for (`_CONTROLS`) last.

    Args:
        folder: ``eval`` of the run.
        losses: Gets a sentence for each file that is missing or damaged.
    """
    found: dict[str, dict[str, Scores]] = {}
    for file in list_evaluations(folder):
        stage = file.parent.name
        try:
            found.setdefault(file.stem, {})[stage] = read_scores(file)
        except DataError:
            losses.append(f"eval/{stage}/{file.name} cannot be read as scores; it is left out.")
    evaluations = [Evaluation(name, one.get("before"), one.get("after")) for name, one in found.items() if one]
    for evaluation in evaluations:
        for stage, scores in zip(STAGES, (evaluation.before, evaluation.after), strict=True):
            name = f"eval/{stage}/{evaluation.name}.json"
            if scores is None and not (folder / stage / f"{evaluation.name}.json").exists():
                losses.append(f"{name} is missing: there is no difference to show.")
            if scores is not None and scores.training_data and scores.training_data.trained_on:
                count = len(scores.training_data.trained_on)
                losses.append(f"{name}: the model was trained on {count} of these problems; this is no measure of it.")
            if scores is not None and scores.unjudged:
                losses.append(f"{name}: the judge failed on {scores.unjudged} samples; they are in no figure.")
    return sorted(evaluations, key=_importance)


def _importance(one: Evaluation) -> tuple[bool, bool, str, str]:
    return not one.title.startswith("Held-out"), one.title.startswith(_CONTROLS), one.title, one.name


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
            comparison = compare_runs(before, after)
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
    names = sorted(evaluation.scores.groups)
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


def _figure(score: GroupScore | None) -> Figure | None:
    if score is None or "pass@1" not in score.pass_at:
        return None
    return Figure(score.pass_at["pass@1"], score.pass_at_1_interval)
