"""Tests within bounds: a seeded sample where a problem has too many, or too large ones.

A test set of a megabyte travels with every response to its problem, from process to process, and each test costs a run.

Covered: which tests stay.  Not covered: sampling at judging time (`verifier.job`).
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import replace

from code_rlvr.ground_truth import Tests


def bound_tests(tests: Tests, max_tests: int, max_bytes: int, seed: str) -> Tests | None:
    """Keep at most so many tests, of at most so many bytes together.

    Args:
        tests: All of them.
        max_tests: How many may stay; for assertions, how many blocks of source.
        max_bytes: How large their texts may be together; values count as JSON.
        seed: Decides which stay; use one for each problem.

    Returns:
        The tests that stay, in their order; None if not even one is small enough.
    """
    sizes = _sizes(tests)
    if len(sizes) <= max_tests and sum(sizes) <= max_bytes:
        return tests
    order = list(range(len(sizes)))
    random.Random(seed).shuffle(order)
    chosen: list[int] = []
    left = max_bytes
    for index in order:
        if len(chosen) < max_tests and sizes[index] <= left:
            chosen.append(index)
            left -= sizes[index]
    return _only(tests, sorted(chosen)) if chosen else None


def count_tests(tests: Tests) -> int:
    """How many tests there are; for assertions, how many blocks of source."""
    return len(tests.asserts) if tests.kind == "assert" else len(tests.inputs)


def _sizes(tests: Tests) -> list[int]:
    if tests.kind == "assert":
        return [_size(block) for block in tests.asserts]
    return [_size(fed) + _size(expected) for fed, expected in zip(tests.inputs, tests.outputs, strict=True)]


def _size(value: object) -> int:
    return len(value.encode("utf-8", "replace")) if isinstance(value, str) else len(json.dumps(value))


def _only(tests: Tests, chosen: Sequence[int]) -> Tests:
    if tests.kind == "assert":
        return replace(tests, asserts=tuple(tests.asserts[i] for i in chosen))
    return replace(
        tests,
        inputs=tuple(tests.inputs[i] for i in chosen),
        outputs=tuple(tests.outputs[i] for i in chosen),
    )
