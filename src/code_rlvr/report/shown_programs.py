"""The programs of a run that a reader is shown, with the statements of their problems.

Covered: putting the choices together, which files of problems are looked at, and what to say if they cannot be read.
Not covered: choosing (`programs`, `samples`, `health_section.beside`), showing (`program_section`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from code_rlvr.report.health_section import Health, beside
from code_rlvr.report.inputs import RunInputs
from code_rlvr.report.program import Program
from code_rlvr.report.programs import Choice, choose_programs
from code_rlvr.report.prompts import find_prompts
from code_rlvr.report.samples import choose_samples
from code_rlvr.report.verdict_records import Records
from code_rlvr.runs import RunFolder

FILES = {"train": "data.train_file", "validation": "data.validation_file"}
"""Setting that names the file of problems, by the split that records name."""


@dataclass(frozen=True)
class ShownPrograms:
    """What is shown of a run's programs.

    Args:
        first: Those shown first, with their reasons.
        more: The others, the most important first.
        prompts: Problem to its statement, as far as it was found.
    """

    first: list[Choice] = field(default_factory=list)
    more: list[Program] = field(default_factory=list)
    prompts: dict[str, str] = field(default_factory=dict)


def choose_shown(
    inputs: RunInputs, run: RunFolder, records: Records, health: Health, losses: list[str]
) -> ShownPrograms:
    """Choose the programs and look their problems up.

    Args:
        inputs: Names the files of problems.
        run: Has copies of them, perhaps.
        records: The programs.
        health: Findings that programs stand beside.
        losses: Gets a sentence for a file of problems that is not there or cannot be read, if a statement is missing.
    """
    first, more = choose_programs(records.programs), choose_samples(records.programs, records.steps_read)
    shown = [*(choice.program for choice in first), *more]
    shown += [program for finding in health.findings for program in beside(finding, records.programs)]
    prompts: dict[str, str] = {}
    for split, setting in FILES.items():
        file = inputs.setting(setting)
        if not isinstance(file, str) or not file:
            continue
        # Relative to where the run was started; a folder that was moved keeps its own copy in data/.
        places = list(dict.fromkeys([Path(file), run.path / "data" / Path(file).name]))
        wanted = {one.problem_id for one in shown if one.problem_id} - prompts.keys()
        damaged: list[Path] = []
        prompts |= find_prompts(places, wanted, damaged)
        lacking = {one.problem_id for one in shown if one.problem_id and one.split == split} - prompts.keys()
        if lacking and damaged:
            losses.append(_loss(setting, damaged[0], "cannot be read as problems"))
        elif lacking and not any(place.exists() for place in places):
            losses.append(_loss(setting, Path(file), "is not there"))
    return ShownPrograms(first, more, prompts)


def _loss(setting: str, file: Path, fault: str) -> str:
    return f"{file.name} ({setting}) {fault}: statements of problems are missing."
