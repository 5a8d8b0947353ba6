"""docs/health.md says what the rules do, and everything that they name exists."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path

import pytest
from pydantic import BaseModel, ValidationError

from code_rlvr.config import Section, load_config
from code_rlvr.errors import ConfigError
from code_rlvr.health import RULES, HealthThresholds
from code_rlvr.health.page import mark_settings, page
from code_rlvr.report.catalogue import CATALOGUE, describe
from code_rlvr.train.config import TrainConfig

DOCUMENT = Path(__file__).parents[2] / "docs" / "health.md"
FOR_VERL = {"actor_rollout_ref.actor.grad_clip", "critic.grad_clip", "trainer.critic_warmup"}
"""Settings of verl's own, which rules say to give after ``--``."""


def test_the_page_is_what_the_rules_say() -> None:
    assert DOCUMENT.read_text(encoding="utf-8") == page(), "run python -m code_rlvr.health.page > docs/health.md"


def test_the_page_lists_every_rule_and_every_threshold() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    for rule in RULES:
        assert f"### {rule.title}\n\n`{rule.key}`" in text
        assert all(cause in text for cause in rule.causes)
    for name in HealthThresholds.model_fields:
        assert f"| `{name}` |" in text


def test_every_table_stands_apart_from_what_follows() -> None:
    for block in re.split(r"\n\n+", DOCUMENT.read_text(encoding="utf-8")):
        lines = [line.startswith("|") for line in block.splitlines()]
        assert all(lines) or not any(lines), block


def test_rules_name_the_thresholds_that_their_text_names() -> None:
    for rule in RULES:
        named = set(re.findall(r"`(\w+)`", rule.fires))
        assert named <= set(rule.thresholds), rule.key
        assert set(rule.thresholds) <= set(HealthThresholds.model_fields), rule.key


def test_every_threshold_is_described_bounded_and_used() -> None:
    used = {name for rule in RULES for name in rule.thresholds}
    for name, field in HealthThresholds.model_fields.items():
        assert field.description, name
        assert len(field.metadata) >= 2, f"{name} needs a lower and an upper bound"
        assert name in used or name.startswith("phase_"), name


def test_remedies_name_settings_that_exist() -> None:
    known = _settings(TrainConfig)
    for rule in RULES:
        assert rule.causes, rule.key
        assert rule.tries, rule.key
        named = {
            name for text in rule.tries for name in re.findall(r"`([a-z_]+\.[a-z_.]+)(?:=[^`]*)?`", mark_settings(text))
        }
        assert named <= known | FOR_VERL, rule.key


def _settings(model: type[BaseModel], prefix: str = "") -> set[str]:
    names = set()
    for name, field in model.model_fields.items():
        inner = field.annotation
        is_section = isinstance(inner, type) and issubclass(inner, BaseModel)
        names |= _settings(inner, f"{prefix}{name}.") if is_section else {prefix + name}
    return names


@pytest.mark.skipif(find_spec("verl") is None, reason="verl is not installed")
def test_settings_for_verl_exist_in_it() -> None:
    from omegaconf import OmegaConf

    spec = find_spec("verl")
    assert spec is not None
    folder = Path((spec.submodule_search_locations or [""])[0])
    config = OmegaConf.load(folder / "trainer" / "config" / "_generated_ppo_trainer.yaml")
    for name in FOR_VERL:
        assert OmegaConf.select(config, name) is not None, name


def test_every_metric_that_a_rule_looks_at_is_in_the_catalogue() -> None:
    patterns = {metric.pattern for group in CATALOGUE for metric in group.metrics}
    for rule in RULES:
        for names in rule.needs:
            for name in names:
                assert describe(name) or name.replace("val-core", "{val-core,val-aux}") in patterns, name


def test_thresholds_are_set_in_a_table_or_one_by_one(tmp_path: Path) -> None:
    class Settings(Section):
        health: HealthThresholds = HealthThresholds()

    file = tmp_path / "report.toml"
    file.write_text("[health]\nkl_high = 0.5\npatience = 30\n", encoding="utf-8")
    health = load_config(Settings, file, ["health.patience=40"]).health
    assert (health.kl_high, health.patience) == (0.5, 40)
    with pytest.raises(ConfigError, match=r"did you mean health\.kl_high"):
        load_config(Settings, None, ["health.kl_hihg=1"])


@pytest.mark.parametrize("wrong", [{"window": 1}, {"kl_high": 0}, {"format_low": 1.5}, {"no_such": 1}])
def test_thresholds_out_of_bounds_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValidationError):
        HealthThresholds.model_validate(wrong)
