"""What the page says about the run's health: findings with samples beside them, phases, checks that could not be made.

Covered: putting these together, one sentence for the head of the page.  Not covered: the rules (`health`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from code_rlvr.health import Finding, HealthThresholds, Level, Phase, diagnose, find_phases, unapplied
from code_rlvr.report.inputs import RunInputs
from code_rlvr.report.palette import phase_tone
from code_rlvr.report.program import Program
from code_rlvr.report.program_section import ProgramCard, make_card
from code_rlvr.report.programs import Choice
from code_rlvr.report.settings import ChangedThreshold
from code_rlvr.report.visible import make_visible
from code_rlvr.words import counted

SAMPLES_BESIDE = 3
ENDED_LEARNING = ("not_a_number", "score_collapsed", "stuck_at_zero")
"""Rules whose dangers come before all others, in this order: after these there is nothing left to save."""


@dataclass(frozen=True)
class Health:
    """The state of a run.

    Args:
        findings: The worst first.
        phases: In order.
        unapplied: Title of each rule that could not be applied, and the metric that it lacks.
        trained: Training steps that there are.
        enough: Training steps that it takes for most checks.
        changed: Thresholds that are not the defaults.
    """

    findings: tuple[Finding, ...]
    phases: tuple[Phase, ...]
    unapplied: tuple[tuple[str, str], ...]
    trained: int
    enough: int = 0
    changed: tuple[ChangedThreshold, ...] = ()

    @property
    def windows(self) -> list[range]:
        """Steps of each finding that wants samples beside it."""
        return [range(one.first_step, one.last_step + 1) for one in self.findings if one.show_samples]

    @property
    def sentence(self) -> str:
        """The run's health in one sentence; it claims nothing about checks that could not be made."""
        if not self.trained:
            return "No training step was logged, so nothing can be said about its health."
        if not self.findings and self.trained < self.enough:
            steps = "one step, which is" if self.trained == 1 else f"{self.trained} steps, which are"
            return f"No sign of trouble was found in {steps} too few for most checks."
        if not self.findings:
            count = len(self.unapplied)
            rest = f"; {counted(count, 'check')} could not be made, for lack of a metric" if count else ""
            return f"No sign of trouble was found in training{rest}."
        counts = [(level, sum(one.level is level for one in self.findings)) for level in Level]
        words = " and ".join(counted(n, level.value) for level, n in counts if n)
        title = self.findings[0].title.rstrip(".")
        if len(self.findings) == 1:
            return f"{words.capitalize()} in training: {title}."
        return f"{words[0].upper()}{words[1:]} in training, first of all: {title}."


def examine(run: RunInputs, thresholds: HealthThresholds, changed: tuple[ChangedThreshold, ...] = ()) -> Health:
    """Apply every rule to a run.

    Args:
        run: The run.
        thresholds: From where on a signal counts.
        changed: Those of them that are not the defaults.
    """
    trained = len(run.training)
    return Health(
        findings=tuple(sorted(diagnose(run.steps, thresholds), key=_badness)) if trained else (),
        phases=tuple(find_phases(run.steps, thresholds)) if trained else (),
        unapplied=tuple(unapplied(run.steps)) if trained else (),
        trained=trained,
        enough=thresholds.patience,
        changed=changed,
    )


def _badness(finding: Finding) -> tuple[bool, int, int]:
    """What has ended learning first, then other dangers, then warnings; each as they began."""
    is_danger = finding.level is Level.DANGER
    rank = ENDED_LEARNING.index(finding.rule) if is_danger and finding.rule in ENDED_LEARNING else len(ENDED_LEARNING)
    return not is_danger, rank, finding.first_step


@dataclass(frozen=True)
class FindingCard:
    """A finding with the samples beside it.

    Args:
        finding: The finding.
        samples: Accepted samples of its steps; empty unless it asks for them.
    """

    finding: Finding
    samples: tuple[ProgramCard, ...]


def make_finding_cards(
    health: Health, programs: Sequence[Program], prompts: Mapping[str, str], steps: Sequence[int]
) -> tuple[FindingCard, ...]:
    """Put accepted samples beside each finding that asks for them.

    Args:
        health: The findings.
        programs: In the order of steps.
        prompts: Problem to its text.
        steps: As for `samples.third`.
    """
    return tuple(
        FindingCard(one, tuple(make_card(Choice("", program), prompts, steps) for program in beside(one, programs)))
        for one in health.findings
    )


def beside(finding: Finding, programs: Sequence[Program]) -> list[Program]:
    """Choose accepted samples of a finding's steps, of different problems if possible, the latest first."""
    if not finding.show_samples:
        return []
    fitting = [one for one in programs if one.accepted and finding.first_step <= one.step <= finding.last_step]
    by_problem = {one.problem_id: one for one in fitting}
    others = [one for one in fitting if by_problem[one.problem_id] is not one]
    return [*reversed(by_problem.values()), *reversed(others)][:SAMPLES_BESIDE]


@dataclass(frozen=True)
class PhaseNote:
    """A phase as the page names it.

    Args:
        name, why: Of the phase.
        steps: ``steps 1–12``.
        tone: Its colour in the curves.
    """

    name: str
    steps: str
    why: str
    tone: str


def make_phase_notes(phases: Sequence[Phase]) -> list[PhaseNote]:
    """Name the phases that the curves mark."""
    return [
        PhaseNote(one.name, f"steps {one.first_step}–{one.last_step}", make_visible(one.why, 400), phase_tone(one.name))
        for one in phases
    ]
