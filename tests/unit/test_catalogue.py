from __future__ import annotations

import re
from pathlib import Path

import pytest

import code_rlvr
from code_rlvr.report.catalogue import CATALOGUE, Direction, catalogue_markdown, describe
from code_rlvr.reward import METRIC_KEYS

VERL_NAMES = Path(__file__).with_name("verl_metric_names.txt").read_text(encoding="ascii").split()
"""What verl 0.9.1 logged in a real run of PPO with a critic, with validation and checkpoints."""

OUR_NAMES = [
    *(f"reward/{key}" for key in METRIC_KEYS),
    *(f"val-aux/starter/{key}/mean@1" for key in METRIC_KEYS),
    "reward/unjudged",
    "reward/samples",
    "reward/judge_s/total",
    "rollout/generate_s/total",
    "timing_s/verify",
]
DOCS_PAGE = Path(__file__).parents[2] / "docs" / "metrics.md"


SOURCE = Path(code_rlvr.__file__).parent
NAMES_IN_CODE = sorted(
    {
        name
        for folder in ("report", "train")
        for file in (SOURCE / folder).rglob("*.py")
        for name in re.findall(
            r"""["'](?=(?:reward|actor|critic|rollout|timing_s|perf|response_length|training)/)([a-z0-9_/]+)["']""",
            file.read_text(encoding="utf-8"),
        )
    }
)
"""Metrics that this package logs, draws or judges a run by."""


@pytest.mark.parametrize("name", [*VERL_NAMES, *OUR_NAMES, *NAMES_IN_CODE])
def test_every_logged_name_fits_exactly_one_entry(name: str) -> None:
    entries = [metric for group in CATALOGUE for metric in group.metrics if metric.matches(name)]
    assert len(entries) == 1
    assert describe(name) is entries[0]


@pytest.mark.parametrize(
    "name",
    ["", "reward/scores", "val-core/starter/accepted", "actor/entropy ", "critic/score/median", "val-aux//x"],
)
def test_unknown_name_has_no_entry(name: str) -> None:
    assert describe(name) is None


def test_data_source_may_have_slashes_in_its_name() -> None:
    metric = describe("val-aux/openai/humaneval+/accepted/mean@16")
    assert metric is not None
    assert metric.direction is Direction.HIGHER
    assert metric.unit == "share"


def test_key_of_validation_keeps_the_direction_of_the_reward() -> None:
    for key in METRIC_KEYS:
        training, validation = describe(f"reward/{key}"), describe(f"val-core/mbpp/{key}/mean@4")
        assert training is not None
        assert validation is not None
        assert (training.unit, training.direction) == (validation.unit, validation.direction)


def test_entries_have_units_and_meanings_that_are_sentences() -> None:
    for group in CATALOGUE:
        for metric in group.metrics:
            assert metric.unit
            assert metric.meaning.endswith(".")
            assert "|" not in metric.meaning  # it would end a cell of the page's table


def test_docs_page_is_up_to_date() -> None:
    assert DOCS_PAGE.read_text(encoding="utf-8") == catalogue_markdown(), (
        "write it anew: python -m code_rlvr.report.catalogue > docs/metrics.md"
    )
