"""Comparing two evaluations: paired, by problem, with honest intervals."""

from __future__ import annotations

import numpy as np
import pytest

from code_rlvr.errors import DataError
from code_rlvr.evaluate.compare import compare_runs, mcnemar_p_value
from code_rlvr.evaluate.scores import (
    ProblemScore,
    SampleRecord,
    Scores,
    bootstrap_mean,
    count_problems,
    read_samples,
    read_scores,
    score_group,
)
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
