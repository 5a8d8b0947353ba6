"""What the statement of a problem says about it.

Covered: whether there is one, pictures, the name that tests call, hints that several answers are right.
Not covered: the form of a prompt (`sets`), what a statement means.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from code_rlvr.audit.finding import STATEMENT_CHARS, Finding, shown, suspect
from code_rlvr.audit.sets import Row
from code_rlvr.data.prompts import ASSERT_INSTRUCTION, FUNCTION_INSTRUCTION, STDIN_INSTRUCTION
from code_rlvr.ground_truth import Tests
from code_rlvr.verifier.assertions.cases import solution_name

_INSTRUCTIONS = re.compile(
    r"\s*(?:"
    + "|".join(
        re.escape(text).replace(re.escape("{name}"), r"[\w.]+")
        for text in (STDIN_INSTRUCTION, FUNCTION_INSTRUCTION, ASSERT_INSTRUCTION)
    )
    + r")\s*\Z"
)
_IMAGE = re.compile(
    r"!\[[^\]\n]{0,200}\]\(|<img\b|<image>|\\includegraphics"
    r"|\b(?:see|in|on|look at|shown by) the (?:\w+ )?(?:picture|figure|image|illustration)\b"
    r"|\b(?:picture|figure|image|illustration) (?:below|above)\b",
    re.IGNORECASE,
)
_ANY_ANSWER = re.compile(
    r"\b(?:print|output|return|find|choose|give)\s+(?:any|either)\s+"
    r"(?:(?:one\s+)?of\b|(?:valid|such|correct|possible)\b|\w+\s+that\b)"
    r"|\b(?:multiple|several|more than one|many)\s+(?:(?:valid|correct|possible|such|optimal|different)\s+)*"
    r"(?:answers|solutions|outputs)\b"
    r"|\bany\s+(?:valid|correct|optimal)\s+(?:answer|solution|output)"
    r"|\bany\s+(?:answer|solution|of them)\s+(?:is|are|will be)\s+(?:accepted|allowed|fine)",
    re.IGNORECASE,
)


def statement_of(row: Row) -> str:
    """What a problem says, without our own instruction about the form of the answer."""
    return _INSTRUCTIONS.sub("", row.statement).strip()


def start_of(statement: str) -> str:
    """As much of a statement as an example shows."""
    return statement[:STATEMENT_CHARS]


def check_statement(row: Row, statement: str, tests: Tests | None) -> Iterator[Finding]:
    """Yield what is suspect about the statement of one problem.

    Args:
        row: The problem; one that has no prompt has no findings.
        statement: From `statement_of`.
        tests: Its tests; None if they are malformed.

    Raises:
        TestsFormatError: If an assertion has a form that cannot be run.
    """
    if row.prompt is None or row.prompt_fault:
        return
    if not statement:
        yield suspect("empty_statement", "the prompt says nothing beside how to answer")
    image = _IMAGE.search(statement)
    if image is not None:
        yield suspect("image_in_statement", f"the statement has {shown(image[0])}")
    name = solution_name(tests) if tests is not None else None
    if name is not None and not _names(row.prompt, name.rpartition(".")[2]):
        yield suspect("name_not_in_statement", f"the tests call {shown(name)}, which the prompt does not name")
    hint = _ANY_ANSWER.search(statement)
    if hint is not None and tests is not None and tests.compare != "unordered_lines":
        yield suspect("several_answers", f"the statement says {shown(hint[0])}; the tests know one answer")


def _names(prompt: str, name: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", prompt) is not None
