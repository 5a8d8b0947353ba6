"""Comparing two evaluations: paired, by problem, with honest intervals."""

from __future__ import annotations

import numpy as np
import pytest
from pydantic import ValidationError
from rich.console import Console

from code_rlvr.errors import DataError
from code_rlvr.evaluate.compare import compare_runs, mcnemar_p_value
from code_rlvr.evaluate.result import Result
from code_rlvr.evaluate.scores import (
    ProblemScore,
    SampleRecord,
    Scores,
    TrainingCheck,
    bootstrap_mean,
    count_problems,
    read_samples,
    read_scores,
    score_group,
)
from code_rlvr.evaluate.table import show_results
from code_rlvr.types import Verdict


def a_sample(problem: int, accepted: bool | None, sample: int = 0, group: str = "all") -> SampleRecord:
    verdict = None if accepted is None else Verdict.ACCEPTED if accepted else Verdict.WRONG_ANSWER
    return SampleRecord(
        problem_id=f"p{problem}",
        group=group,
        sample=sample,
        seed=1,
        fingerprint="f",
        response="",
        tokens=3,
        truncated=False,
        fenced=True,
        verdict=verdict,
        test_pass_rate=None if accepted is None else float(accepted),
    )


def some_scores(accepted: list[int], samples: int = 4, *, groups: list[str] | None = None, **changes) -> Scores:
    names = groups or ["all"] * len(accepted)
    records = [
        a_sample(i, j < c, j, group)
        for i, (c, group) in enumerate(zip(accepted, names, strict=True))
        for j in range(samples)
    ]
    values = {
        "model": "m",
        "fingerprint": "f",
        "samples_per_problem": samples,
        "temperature": 1.0,
        "top_p": 1.0,
        "top_k": -1,
        "max_new_tokens": 64,
        "seed": 0,
        "overall": score_group(records, (1,)),
        "groups": {},
        "format": 1.0,
        "truncated": 0.0,
        "mean_tokens": 3.0,
        "unjudged": 0,
        "problems": count_problems(records),
    }
    return Scores.model_validate(values | changes)


def test_change_is_the_mean_of_paired_differences():
    overall = compare_runs(some_scores([0, 1, 4, 2]), some_scores([4, 1, 2, 4])).overall
    assert (overall.before, overall.after, overall.change) == (7 / 16, 11 / 16, 0.25)
    assert (overall.better, overall.worse, overall.problems) == (2, 1, 4)
    assert overall.interval.low <= overall.change <= overall.interval.high


def test_equal_models_have_an_interval_of_zero_width():
    counts = [0, 1, 4, 2] * 10
    overall = compare_runs(some_scores(counts), some_scores(counts)).overall
    assert (overall.interval.low, overall.interval.high) == (0, 0)


def test_pairing_removes_the_spread_between_problems():
    before, after = [0] * 50 + [3] * 50, [1] * 50 + [4] * 50
    interval = compare_runs(some_scores(before), some_scores(after)).overall.interval
    assert (interval.low, interval.high) == (0.25, 0.25)


def test_groups_are_compared_apart():
    groups = ["a", "a", "b", "b"]
    before, after = some_scores([0, 0, 4, 4], groups=groups), some_scores([4, 4, 0, 4], groups=groups)
    comparison = compare_runs(before, after)
    assert {name: one.change for name, one in comparison.groups.items()} == {"a": 1.0, "b": -0.5}


def test_result_is_the_same_every_time():
    one, other = some_scores([0, 1, 4, 2] * 9), some_scores([4, 1, 2, 4] * 9)
    assert compare_runs(one, other) == compare_runs(one, other)


def test_interval_covers_the_true_mean_about_as_often_as_it_says():
    rng = np.random.default_rng(1)
    trials = 200
    covered = 0
    for _ in range(trials):
        interval = bootstrap_mean(rng.binomial(4, 0.4, size=80) / 4)
        covered += interval.low <= 0.4 <= interval.high
    assert 0.88 <= covered / trials <= 0.99


def test_different_problems_are_not_compared():
    with pytest.raises(DataError, match=r"one evaluation only, e\.g\. p2"):
        compare_runs(some_scores([1, 2]), some_scores([1, 2, 3]))


@pytest.mark.parametrize("change", [{"temperature": 0.5}, {"seed": 1}, {"max_new_tokens": 32}])
def test_different_settings_are_not_compared(change):
    with pytest.raises(DataError, match=next(iter(change))):
        compare_runs(some_scores([1, 2]), some_scores([1, 2], **change))


@pytest.mark.parametrize(
    ("better", "worse", "expected"),
    [(0, 0, 1.0), (5, 5, 1.0), (5, 0, 2 / 32), (10, 2, 2 * (1 + 12 + 66) / 4096), (2, 10, 2 * 79 / 4096)],
)
def test_mcnemar_is_the_exact_binomial_test(better, worse, expected):
    assert mcnemar_p_value(better, worse) == pytest.approx(expected)


def test_mcnemar_of_thousands_of_flips_is_finite():
    assert 0 < mcnemar_p_value(1600, 1400) < 0.001


def test_mcnemar_is_given_for_one_sample_a_problem_only():
    assert compare_runs(some_scores([1, 0], 1), some_scores([1, 1], 1)).mcnemar_p == 1.0
    assert compare_runs(some_scores([1, 0]), some_scores([1, 1])).mcnemar_p is None


def test_unjudged_samples_are_in_no_count():
    records = [a_sample(0, True), a_sample(0, None, 1), a_sample(1, None)]
    assert count_problems(records) == {"p0": ProblemScore(group="all", samples=1, accepted=1)}


def test_group_score_counts_verdicts_and_estimates_each_k():
    records = [a_sample(i, j < i, j) for i in range(3) for j in range(4)]
    score = score_group(records, (1, 4))
    assert score.pass_at == {"pass@1": pytest.approx(0.25), "pass@4": pytest.approx(2 / 3)}
    assert score.verdicts == {"WRONG_ANSWER": 9, "ACCEPTED": 3}
    assert score.test_pass_rate == pytest.approx(0.25)


def test_a_k_is_estimated_over_the_problems_with_enough_judged_samples():
    records = [a_sample(0, True, 0), a_sample(0, True, 1), a_sample(1, False, 0), a_sample(1, None, 1)]
    score = score_group([record for record in records if record.verdict], (1, 2))
    assert score.pass_at == {"pass@1": 0.5, "pass@2": 1.0}


def test_scores_survive_their_file(tmp_path):
    scores = some_scores([0, 1, 4, 2])
    file = tmp_path / "scores.json"
    file.write_text(scores.model_dump_json(), encoding="utf-8")
    assert read_scores(file) == scores


@pytest.mark.parametrize("content", ["", "{}", '{"version": 1, "surprise": 2}'])
def test_another_file_is_not_taken_for_scores(tmp_path, content):
    file = tmp_path / "scores.json"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(DataError, match="not the scores"):
        read_scores(file)


def test_a_missing_scores_file_is_named(tmp_path):
    with pytest.raises(DataError, match=r"cannot read .*none\.json"):
        read_scores(tmp_path / "none.json")


def test_a_broken_line_of_samples_is_named(tmp_path):
    file = tmp_path / "samples.jsonl"
    file.write_text(a_sample(0, True).model_dump_json() + "\n{}\n", encoding="utf-8")
    with pytest.raises(DataError, match="line 2"):
        read_samples(file)


def test_every_pass_at_k_is_compared_over_problems_with_enough_samples():
    before, after = some_scores([0, 1, 4]), some_scores([0, 2, 4])
    for scores in (before, after):
        scores.overall.pass_at["pass@2"] = 0.0
    found = compare_runs(before, after).pass_at
    # by hand: 1 - C(3, 2) / C(4, 2) = 1/2 and 1 - C(2, 2) / C(4, 2) = 5/6
    assert found["pass@2"].before == pytest.approx((0 + 1 / 2 + 1) / 3)
    assert found["pass@2"].after == pytest.approx((0 + 5 / 6 + 1) / 3)
    assert found["pass@1"] == compare_runs(before, after).overall


def test_a_k_that_no_problem_has_samples_for_in_both_is_left_out():
    before, after = some_scores([0, 1], 4), some_scores([0, 2], 4)
    for scores in (before, after):
        scores.overall.pass_at["pass@8"] = 0.0
    assert set(compare_runs(before, after).pass_at) == {"pass@1"}


def test_more_accepted_samples_than_samples_are_no_scores():
    with pytest.raises(ValidationError, match="3 of 2 samples cannot be accepted"):
        ProblemScore(group="all", samples=2, accepted=3)


def test_groups_have_a_test_of_their_own_with_one_sample():
    groups = ["easy"] * 6 + ["hard"]
    before = some_scores([0] * 6 + [1], 1, groups=groups)
    after = some_scores([1] * 6 + [0], 1, groups=groups)
    found = compare_runs(before, after)
    assert found.groups["easy"].mcnemar_p == pytest.approx(2 / 2**6)
    assert found.groups["hard"].mcnemar_p == 1.0
    assert found.mcnemar_p == found.overall.mcnemar_p == mcnemar_p_value(6, 1)


@pytest.mark.parametrize(
    ("one", "other", "message"),
    [
        ({"engine": "vllm"}, {"engine": "transformers"}, "vllm sampled before, transformers after"),
        ({"asked": "a"}, {"asked": "b"}, "the prompts, the tests or the limits were others"),
    ],
)
def test_other_engines_and_other_prompts_are_not_compared(one, other, message):
    with pytest.raises(DataError, match=message):
        compare_runs(some_scores([1], **one), some_scores([1], **other))
    compare_runs(some_scores([1], **one), some_scores([1]))  # a file from before that was recorded


@pytest.mark.parametrize(("accepted", "low", "high"), [(0, 0.0, 0.1684), (1, 0.8316, 1.0)])
def test_none_or_all_solved_is_not_certain(accepted, low, high):
    # by hand: 1 - 0.025 ** (1 / 20) = 0.16843
    overall = score_group([a_sample(i, bool(accepted)) for i in range(20)], (1,))
    assert (overall.pass_at_1_interval.low, overall.pass_at_1_interval.high) == pytest.approx((low, high), abs=1e-4)
    assert overall.pass_at_intervals["pass@1"] == overall.pass_at_1_interval


def test_the_tables_name_every_figure(capsys):
    before = some_scores([0, 1, 4], groups=["easy", "easy", "hard [x]"], unjudged=2)
    check = TrainingCheck(checked=True, note="", trained_on=("p1",))
    after = some_scores([4, 1, 4], groups=["easy", "easy", "hard [x]"], training_data=check, truncated=0.25)
    after = after.model_copy(update={"benchmark": {"left out: no_tests": 3}})
    results = [Result("mine", after, before, compare_runs(before, after)), Result("alone", after)]
    show_results(results[:1], Console(width=120))
    compared = capsys.readouterr().out
    for text in (
        "mine pass@1",
        "+0.333",
        "1/0",
        "hard [x]",
        "judge failed on 2",
        "trained on 1",
        "cut off 25.0%",
        "3 rows left out: no_tests",
    ):
        assert text in compared
    show_results(results[1:], Console(width=120))
    assert "alone pass@1" in capsys.readouterr().out
