"""What an audit can find in a problem.

A *defect* makes a problem unusable: its reward would be wrong whatever the program.  A *suspect* is worth a look.

Covered: the names of findings and what each means.  Not covered: finding them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Severity = Literal["defect", "suspect"]

EVIDENCE_CHARS = 600  # of one finding
STATEMENT_CHARS = 400  # of its problem's statement, kept for examples

MEANINGS: dict[str, str] = {
    "tests_malformed": "the tests cannot be read, or the judge cannot run them",
    "prompt_malformed": "the prompt is not a chat list with a user message",
    "duplicate_id": "an earlier row has the same problem id",
    "duplicate_statement": "an earlier row has the same statement",
    "empty_expectation": "tests expect nothing, so that a program which does nothing passes them",
    "constant_output": "one output is right for all tests, or for most of them",
    "trivial_program_passes": "a program that solves nothing passes all tests, or most of them",
    "contradictory_tests": "one input has different expected outputs, so that no program can pass",
    "duplicate_tests": "the same test stands there more than once",
    "few_tests": "so few tests that a wrong program may well pass",
    "empty_statement": "the statement is empty",
    "image_in_statement": "the statement shows or mentions a picture that a model does not see",
    "name_not_in_statement": "tests call a function that the prompt does not name",
    "several_answers": "more than one answer may be right, but the tests know one",
    "reference_fails": "a reference solution does not pass; a defect if none does",
    "wrong_solution_passes": "a solution that is known to be wrong passes all tests",
    "nondeterministic": "a reference solution passed once and failed the second time",
    "slow_reference": "a reference solution needs more than half of the time limit",
}
ORDER = {code: number for number, code in enumerate(MEANINGS)}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong with one problem, or may be.

    Args:
        code: A key of `MEANINGS`.
        severity: Whether the problem is unusable.
        evidence: What shows it, in a sentence; may hold text of the data set.
    """

    code: str
    severity: Severity
    evidence: str


@dataclass(frozen=True, slots=True)
class Placed:
    """A finding with its problem.

    Args:
        finding: What was found.
        problem_id, place: The problem, and its file with line or row.
        statement: How its statement starts.
    """

    finding: Finding
    problem_id: str
    place: str
    statement: str

    def to_json(self) -> dict[str, Any]:
        """The finding as a JSON object."""
        return {
            "problem_id": self.problem_id,
            "place": self.place,
            "code": self.finding.code,
            "severity": self.finding.severity,
            "evidence": self.finding.evidence,
        }


def defect(code: str, evidence: str) -> Finding:
    """A finding that makes the problem unusable."""
    return Finding(code, "defect", evidence[:EVIDENCE_CHARS])


def suspect(code: str, evidence: str) -> Finding:
    """A finding that is worth a look."""
    return Finding(code, "suspect", evidence[:EVIDENCE_CHARS])


def shown(value: object, limit: int = 60) -> str:
    """A value for a sentence, its middle left out if it is long."""
    try:
        text = repr(value[: 2 * limit] if isinstance(value, str) else value)
    except ValueError:  # Python writes no integer of more than 4,300 digits
        return f"a large {type(value).__name__}"
    return text if len(text) <= limit else f"{text[: limit - 12]} … {text[-8:]}"
