"""Numbers about a set of problems: what it is made of, how long its texts are, how its references did.

Covered: adding up, without a judge and without holding texts.  Not covered: drawing (`plots`).
"""

from __future__ import annotations

import json
from array import array
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from code_rlvr.ground_truth import Tests

PERCENTILES = (0, 10, 50, 90, 100)


@dataclass(frozen=True, slots=True)
class ProblemNumbers:
    """The numbers of one problem.

    Args:
        data_source: The name that its metrics are grouped by.
        kind: Of its tests; None if they are malformed.
        statement_chars: Length of the statement; None if there is no prompt.
        tests: How many; 0 if malformed.
        tests_bytes: Their size.
        literal_share: The share of tests that the best constant answer passes; None if not known.
    """

    data_source: str
    kind: str | None
    statement_chars: int | None
    tests: int = 0
    tests_bytes: int = 0
    literal_share: float | None = None


def bytes_of(tests: Tests) -> int:
    """The size of inputs and expected outputs, or of the source of assertions, in UTF-8."""
    if tests.kind == "stdio":
        return sum(len(text.encode("utf-8", "surrogateescape")) for text in (*tests.inputs, *tests.outputs))
    if tests.kind == "call":
        return len(json.dumps([tests.inputs, tests.outputs], ensure_ascii=False).encode("utf-8", "surrogatepass"))
    return sum(len(block.encode("utf-8", "surrogatepass")) for block in (*tests.asserts, tests.prelude or ""))


def _numbers() -> array[float]:
    return array("d")


@dataclass
class Statistics:
    """Adds up the problems of a set.

    Attributes:
        problems: How many.
        sources, kinds: Problems by data source and by kind of tests, the malformed ones as "malformed".
        statement_chars, tests, tests_bytes, literal_shares: One number a problem, where it is known.
        reference_max_cpu_s, reference_total_cpu_s: One number an accepted reference.
        references, references_accepted: Reference solutions judged, and accepted.
        with_references, with_accepted: Problems with a reference judged, and with one accepted.
    """

    problems: int = 0
    sources: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    statement_chars: array[float] = field(default_factory=_numbers)
    tests: array[float] = field(default_factory=_numbers)
    tests_bytes: array[float] = field(default_factory=_numbers)
    literal_shares: array[float] = field(default_factory=_numbers)
    reference_max_cpu_s: array[float] = field(default_factory=_numbers)
    reference_total_cpu_s: array[float] = field(default_factory=_numbers)
    references: int = 0
    references_accepted: int = 0
    with_references: int = 0
    with_accepted: int = 0

    def add(self, one: ProblemNumbers) -> None:
        """Count one problem."""
        self.problems += 1
        self.sources[one.data_source] += 1
        self.kinds[one.kind or "malformed"] += 1
        if one.statement_chars is not None:
            self.statement_chars.append(one.statement_chars)
        if one.kind is not None:
            self.tests.append(one.tests)
            self.tests_bytes.append(one.tests_bytes)
        if one.literal_share is not None:
            self.literal_shares.append(one.literal_share)

    def add_references(self, runs: Sequence[tuple[bool, float, float]]) -> None:
        """Count the references of one problem.

        Args:
            runs: For each of them whether it was accepted, and its CPU seconds: the longest test, all tests.
        """
        if not runs:
            return
        self.references += len(runs)
        self.with_references += 1
        self.with_accepted += any(accepted for accepted, _, _ in runs)
        for accepted, longest, total in runs:
            self.references_accepted += accepted
            if accepted:
                self.reference_max_cpu_s.append(longest)
                self.reference_total_cpu_s.append(total)

    def to_json(self) -> dict[str, Any]:
        """Everything as one JSON object, of long lists their percentiles."""
        spread = ("statement_chars", "tests", "tests_bytes", "literal_shares", "reference_max_cpu_s")
        return {
            "problems": self.problems,
            "data_sources": dict(self.sources.most_common()),
            "kinds": dict(self.kinds.most_common()),
            **{name: percentiles(getattr(self, name)) for name in (*spread, "reference_total_cpu_s")},
            "references": self.references,
            "references_accepted": self.references_accepted,
            "problems_with_references": self.with_references,
            "problems_with_accepted_reference": self.with_accepted,
        }


def percentiles(values: Sequence[float]) -> dict[str, float] | None:
    """The spread of some numbers: "p0" is the least, "p50" the median; None of none."""
    if not len(values):
        return None
    found = np.percentile(np.asarray(values, dtype=float), PERCENTILES)
    return {f"p{name}": round(float(value), 4) for name, value in zip(PERCENTILES, found, strict=True)}
