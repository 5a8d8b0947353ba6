"""Every exception that this package raises on purpose.

    CodeRlvrError
    ├── UsageError             what the user gave cannot be used (exit code 2)
    │   ├── ConfigError        a configuration file or an override
    │   ├── DataError          a file of problems, solutions or metrics
    │   ├── TestsFormatError   the tests (ground truth) of one problem
    │   └── ModelError         a model folder
    ├── PreflightError         this machine cannot run what was asked (exit code 1)
    ├── JudgeFault             the judge broke; says nothing about the program that was judged
    │   └── Unjudged           a judge fault that outlived its retries
    └── TrainingError          the training run ended without doing its work (exit code 1)
        └── VersionMismatch    an installed library is not the pinned one

A wrong program is never an exception: it is a `Verdict`.  A broken sandbox is never a verdict: it is
a `JudgeFault`.  All of them survive pickling, because they cross processes.
"""

from __future__ import annotations


class CodeRlvrError(Exception):
    """Base of every exception that this package raises on purpose."""


class UsageError(CodeRlvrError):
    """What the user gave cannot be used; the message names the place and the remedy."""


class ConfigError(UsageError):
    """A configuration file or an override is wrong."""


class DataError(UsageError):
    """A file of problems, solutions or metrics cannot be read as such."""


class TestsFormatError(UsageError):
    """The tests of one problem are malformed; nothing may be scored with them.

    Args:
        message: What is wrong and what would be right.
        field: The field of the ground truth, e.g. ``"outputs[3]"``.
        row: The problem's id or its row in the file, where known.
    """

    __test__ = False  # not a test class, whatever pytest thinks of its name

    def __init__(self, message: str, field: str | None = None, row: str | int | None = None) -> None:
        super().__init__(message, field, row)
        self.message = message
        self.field = field
        self.row = row

    def __str__(self) -> str:
        place = [f"problem {self.row}" if self.row is not None else "", self.field or ""]
        return ": ".join([*filter(None, place), self.message])


class ModelError(UsageError):
    """A model folder cannot be loaded, or is not what the command needs."""


class PreflightError(CodeRlvrError):
    """This machine lacks the memory, disk or library that the command needs."""


class JudgeFault(CodeRlvrError):  # noqa: N818  the field's word for it: a fault, not a verdict
    """The judge broke; says nothing about the program that was judged."""


class Unjudged(JudgeFault):
    """A judge fault that outlived its retries."""


class TrainingError(CodeRlvrError):
    """The training run ended without doing its work."""


class VersionMismatch(TrainingError):  # noqa: N818  named for what happened
    """An installed library is not the version that the patches were written for."""
