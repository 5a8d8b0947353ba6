"""Building the starter problems: which family, wording and parameter values each split gets.

Covered: the four lists of problems and what is new in each held-out one. Every list holds its families in
turn, so each family has the same weight in it.  Not covered: test inputs (`cases`), sentences
(`wordings`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import cycle
from random import Random

from code_rlvr.data.starter.cases import make_tests
from code_rlvr.data.starter.families import TRAINED_FAMILIES, UNSEEN_FAMILIES
from code_rlvr.data.starter.family import Family, Values
from code_rlvr.data.starter.wordings import (
    Wording,
    WordingSplit,
    function_name,
    wordings,
    write_statement,
)
from code_rlvr.types import Problem

DATA_SOURCE = "starter"

Choice = tuple[Wording, Values]
"""What tells the problems of one family apart, besides their test inputs."""

Pools = dict[str, list[Choice]]
"""Choices by what is new in them."""

NOVELTIES = ("combination", "paraphrase", "parameter", "paraphrase and parameter")
"""What a held-out problem has that training never saw."""


@dataclass(frozen=True, slots=True)
class StarterSet:
    """The starter problems.

    Args:
        train: For PPO; the warm-start corpus uses the same wordings and parameter values.
        validation: The same families and parameter values in combinations of words that training does not
            use; for watching a run and for tuning.
        heldout: The same families in wordings or with parameter values that neither the corpus nor `train`
            nor `validation` has; for the reported figure only.
        unseen: Families that none of the others has; reported apart.
        novelty: What is new in each problem of `heldout`, by problem id: one of `NOVELTIES`.
    """

    train: list[Problem]
    validation: list[Problem]
    heldout: list[Problem]
    unseen: list[Problem]
    novelty: dict[str, str]


def build_starter(
    seed: int,
    n_train: int = 1760,
    n_validation: int = 220,
    n_heldout: int = 660,
    n_unseen: int = 100,
) -> StarterSet:
    """Build the starter problems.

    The split of wordings and parameter values does not depend on the seed: a problem held out with one seed
    is not in the training problems, nor in the corpus, of any other.

    Args:
        seed: Any integer; the same seed gives the same problems.
        n_train: Number of training problems; past the number of statements they differ in their tests.
        n_validation: Number of validation problems.
        n_heldout: Number of held-out problems.
        n_unseen: Number of problems of unseen families.

    Returns:
        The four lists, each of exactly the size asked for.
    """
    heldout = _deal(seed, "heldout", TRAINED_FAMILIES, _novel_choices, n_heldout)
    return StarterSet(
        train=[problem for problem, _ in _deal(seed, "train", TRAINED_FAMILIES, _train_choices, n_train)],
        validation=[
            problem for problem, _ in _deal(seed, "validation", TRAINED_FAMILIES, _validation_choices, n_validation)
        ],
        heldout=[problem for problem, _ in heldout],
        unseen=[problem for problem, _ in _deal(seed, "unseen", UNSEEN_FAMILIES, _unseen_choices, n_unseen)],
        novelty={problem.problem_id: novelty for problem, novelty in heldout},
    )


def _train_choices(family: Family) -> Pools:
    return {"": _choices(family, WordingSplit.TRAIN, family.seen)}


def _validation_choices(family: Family) -> Pools:
    return {"": _choices(family, WordingSplit.VALIDATION, family.seen)}


def _unseen_choices(family: Family) -> Pools:
    return {"": _choices(family, None, family.seen)}


def _novel_choices(family: Family) -> Pools:
    pools = {
        "combination": _choices(family, WordingSplit.COMBINATION, family.seen),
        "paraphrase": _choices(family, WordingSplit.PARAPHRASE, family.seen),
        "parameter": _choices(family, WordingSplit.TRAIN, family.held_out),
        "paraphrase and parameter": _choices(family, WordingSplit.PARAPHRASE, family.held_out),
    }
    return {novelty: choices for novelty, choices in pools.items() if choices}


def _choices(family: Family, split: WordingSplit | None, values: tuple[Values, ...]) -> list[Choice]:
    return [(wording, value) for wording in wordings(family, split) for value in values]


def _deal(
    seed: int, split: str, families: tuple[Family, ...], pools_of: Callable[[Family], Pools], size: int
) -> list[tuple[Problem, str]]:
    """Make problems of the families in turn, and of each family from its pools in turn."""
    rng = Random(f"{split}/{seed}")
    hands = [(family, _turns(pools_of(family), rng)) for family in families]
    dealt: list[tuple[Problem, str]] = []
    while len(dealt) < size:
        rng.shuffle(hands)
        for family, turns in hands[: size - len(dealt)]:
            pool, (wording, values) = next(turns)
            problem_id = f"starter-{split}-{seed}-{len(dealt):05d}"
            dealt.append((_make_problem(family, wording, values, problem_id), pool))
    return dealt


def _turns(pools: Pools, rng: Random) -> Iterator[tuple[str, Choice]]:
    """Go round the pools for ever, and through each in random order without repeating before its end."""
    shuffled = {name: cycle(rng.sample(choices, len(choices))) for name, choices in pools.items()}
    for name in cycle(rng.sample(list(pools), len(pools))):
        yield name, next(shuffled[name])


def _make_problem(family: Family, wording: Wording, values: Values, problem_id: str) -> Problem:
    name = function_name(family, wording)
    return Problem(
        problem_id=problem_id,
        statement=write_statement(family, wording, values),
        tests=make_tests(family, values, Random(problem_id), name),
        data_source=DATA_SOURCE,
        references=(family.program(values, name=name or "f"),),
        family=family.name,
    )
