"""The test inputs of one starter problem.

Covered: which inputs a problem is tested with, and the right answers. Every problem has the family's edge
cases and random inputs beside them, no input twice, and no answer so often that a constant program could
pass. Not covered: whether the tests kill the family's mistakes; the unit tests show that by running them.
"""

from __future__ import annotations

import json
from random import Random

from code_rlvr.data.starter.family import Arguments, Family, Values
from code_rlvr.ground_truth import Tests

TESTS_PER_PROBLEM = 8
MOST_ALIKE = 5  # of eight tests, with the same answer
TIME_LIMIT_S = 1.0  # such programs take milliseconds; an endless one should not hold up a training step

_TRIES = 400


def draw_cases(
    family: Family, values: Values, rng: Random, size: int = TESTS_PER_PROBLEM
) -> list[tuple[Arguments, object]]:
    """Choose the inputs of one problem and solve them.

    Args:
        family: The family.
        values: Its parameter values.
        rng: Source of randomness.
        size: How many tests, at least 8.

    Returns:
        `size` pairs of arguments and right answer; edge cases first.

    Raises:
        ValueError: If the family cannot draw so many different inputs, which is a mistake in the family.
    """
    chosen: dict[str, tuple[Arguments, object]] = {}
    answers: dict[str, int] = {}
    edges = family.edge_arguments(values)
    for turn in range(len(edges) + _TRIES):
        if len(chosen) == size:
            break
        arguments = edges[turn] if turn < len(edges) else family.draw_arguments(rng, values)
        answer = family.answer(*arguments, *values)
        key, shown = json.dumps(arguments), json.dumps(answer)
        if key in chosen or answers.get(shown, 0) >= MOST_ALIKE:
            continue
        chosen[key] = (arguments, answer)
        answers[shown] = answers.get(shown, 0) + 1
    if len(chosen) < size:
        raise ValueError(f"family {family.name} has too few different inputs at {values}")
    return list(chosen.values())


def make_tests(family: Family, values: Values, rng: Random, function: str | None) -> Tests:
    """Make the tests of one problem.

    Args:
        family: The family.
        values: Its parameter values.
        rng: Source of randomness.
        function: The name of the function; None for a stdin task.

    Returns:
        Call tests of `function`, or stdin/stdout tests.
    """
    cases = draw_cases(family, values, rng)
    if function is not None:
        inputs = [list(arguments) for arguments, _ in cases]
        return Tests.call(function, inputs, [answer for _, answer in cases], time_limit_s=TIME_LIMIT_S)
    return Tests.stdio(
        [family.shape.render(*arguments) for arguments, _ in cases],
        [f"{answer}\n" for _, answer in cases],
        time_limit_s=TIME_LIMIT_S,
    )
