from __future__ import annotations

import math

import pytest

from code_rlvr.health import Finding, Level
from code_rlvr.report.config_difference import compare_with_base
from code_rlvr.report.facts import make_facts
from code_rlvr.report.health_section import Health, beside
from code_rlvr.report.inputs import RunInputs
from code_rlvr.report.program import Program
from code_rlvr.runs import StepMetrics
from code_rlvr.train.config import TrainConfig
from code_rlvr.train.presets import preset_names
from code_rlvr.train.start_facts import describe_start


def facts_of(**known: object) -> dict[str, str]:
    run = RunInputs({}, "", {}, [StepMetrics(1, {"timing_s/step": 2.0})])
    return dict(make_facts(RunInputs(**{**vars(run), **known})))  # type: ignore[arg-type]


def finding(level: Level = Level.DANGER, title: str = "The score jumped.", *, samples: bool = True) -> Finding:
    return Finding("rule", level, title, 5, 9, "reward/score", "", (), (), samples)


def accepted(step: int, problem: str, verdict: str = "ACCEPTED") -> Program:
    return Program(step, "train", problem, "", verdict, 1.0, 1.0, (), None, "", "print()", "")


def test_settings_of_the_defaults_and_of_each_preset_do_not_differ_from_themselves() -> None:
    for preset in (None, *preset_names()):
        difference = compare_with_base(TrainConfig().model_dump(mode="json"), preset)
        assert difference is not None
        assert difference.base == (f"the preset {preset}" if preset else "the defaults")
        assert bool(difference.changes) == (preset not in (None, "laptop"))


def test_changed_setting_is_named_with_both_values() -> None:
    config = {"name": "x", "actor": {"lr": 1e-5, "new_setting": None}, "trainer": {"steps": 60}}
    difference = compare_with_base(config, None)
    assert difference is not None
    assert difference.changes == (
        ("actor.lr", "0.0002", "1e-05"),
        ("actor.new_setting", "not there", "not set"),
    )


def test_preset_that_is_gone_leaves_the_defaults_to_compare_with() -> None:
    difference = compare_with_base({"seed": 0}, "no-such-preset")
    assert difference is not None
    assert (difference.base, difference.changes) == ("the defaults", ())
    assert compare_with_base({}, "laptop") is None


def test_machine_and_commit_of_this_start_are_shown() -> None:
    start = describe_start("laptop", "cpu")
    facts = facts_of(start=start)
    assert start["preset"] == "laptop"
    assert str(start["machine"]["cpu"]) in facts["Machine"]
    assert f"{start['machine']['memory_gib']:g} GiB" in facts["Machine"]
    assert facts["Commit"] == "not recorded" or facts["Commit"].startswith(start["commit"]["sha"][:12])


def test_commit_says_whether_it_was_changed() -> None:
    assert facts_of(start={"commit": {"sha": "a" * 40, "changed": True}})["Commit"] == (
        "aaaaaaaaaaaa, with changes that are in no commit"
    )


@pytest.mark.parametrize("strange", [None, 7, [], "text", {"cpu": None, "cores": "2", "memory_gib": [], "gpus": 3}])
def test_strange_records_of_the_machine_count_as_none(strange: object) -> None:
    facts = facts_of(start={"machine": strange, "commit": strange}, data={"train": strange})
    assert facts["Machine"] == facts["Commit"] == "not recorded"


def test_totals_say_how_many_steps_logged_them() -> None:
    steps = [StepMetrics(step, {"reward/samples": 64.0, "timing_s/step": 1.0}) for step in range(1, 5)]
    steps += [StepMetrics(5, {"reward/samples": math.nan, "timing_s/step": 1.0})]
    facts = facts_of(steps=steps)
    assert facts["Samples"] == "256 in 4 of 5 steps"
    assert facts["Tokens"] == "not logged"


@pytest.mark.parametrize(
    ("health", "sentence"),
    [
        (Health((), (), (), trained=0), "No training step was logged, so nothing can be said about its health."),
        (
            Health((), (), (), trained=4, enough=15),
            "No sign of trouble was found in 4 steps, which are too few for most checks.",
        ),
        (Health((), (), (), trained=80), "No sign of trouble was found in training."),
        (
            Health((), (), (("KL", "actor/reward_kl_penalty"),), trained=80),
            "No sign of trouble was found in training; 1 check could not be made, for lack of a metric.",
        ),
        (Health((finding(),), (), (), trained=80), "1 danger in training: The score jumped."),
        (
            Health((finding(), finding(), finding(Level.WARNING)), (), (), trained=80),
            "2 dangers and 1 warning in training, first of all: The score jumped.",
        ),
    ],
)
def test_health_is_said_in_one_sentence(health: Health, sentence: str) -> None:
    assert health.sentence == sentence


def test_samples_beside_a_finding_are_accepted_ones_of_its_steps() -> None:
    programs = [
        accepted(4, "a"),
        accepted(5, "a"),
        accepted(6, "b", "WRONG_ANSWER"),
        accepted(7, "a"),
        accepted(9, "c"),
    ]
    programs += [accepted(10, "d")]
    assert [(one.step, one.problem_id) for one in beside(finding(), programs)] == [(9, "c"), (7, "a"), (5, "a")]
    assert beside(finding(samples=False), programs) == []
