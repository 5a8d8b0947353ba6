from __future__ import annotations

import dataclasses
import json
import math
import re
from html import unescape
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from code_rlvr.evaluate.compare import Difference
from code_rlvr.evaluate.scores import Interval
from code_rlvr.report.curves import comfortable_bounds, pick_curve, time_split, verdict_shares
from code_rlvr.report.evaluation import Row
from code_rlvr.report.headline import headline
from code_rlvr.report.highlighting import highlight_response
from code_rlvr.report.inputs import RunInputs, read_good_metrics
from code_rlvr.report.numbers_as_text import format_duration, format_number, format_signed
from code_rlvr.report.palette import TONES
from code_rlvr.report.programs import choose_programs
from code_rlvr.report.verdict_records import read_records
from code_rlvr.report.visible import make_visible
from code_rlvr.runs import StepMetrics
from code_rlvr.smoothing import Points, smooth, thin_out
from tests.synthetic_run import make_run

INVISIBLE = {*map(chr, range(32)), "\x7f", "\u200b", "\u202e", "\u2066", "\ufeff"} - {"\n", "\t"}


def run_of(*metrics: StepMetrics, planned: int = 80) -> RunInputs:
    return RunInputs({"trainer": {"steps": planned}}, "", {}, list(metrics))


def trained(steps: int) -> RunInputs:
    return run_of(*(StepMetrics(step, {"timing_s/step": 1.0, "reward/score": 0.5}) for step in range(1, steps + 1)))


def plain(markup: str) -> str:
    """What a reader sees of HTML."""
    return unescape(re.sub(r"<[^>]*>", "", markup))


def row(change: float, low: float, high: float, label: str = "Held-out problems") -> Row:
    difference = Difference(
        problems=660, before=0.36, after=0.36 + change, change=change, interval=Interval(low=low, high=high),
        better=1, worse=1,
    )  # fmt: skip
    return Row(label, "T = 1, 4 samples a problem", 660, None, None, difference)


def test_rise_is_said_with_its_interval_and_steps() -> None:
    assert headline(trained(80), [row(0.26, 0.21, 0.31)]) == (
        "Held-out Pass@1 (T = 1) rose from 0.36 to 0.62 (+0.26, 95% interval 0.21 to 0.31) in 80 steps."
    )


def test_fall_is_called_a_fall() -> None:
    assert "Pass@1 (T = 1) fell from 0.36 to 0.16 (−0.20, 95% interval −0.25 to −0.15)" in headline(
        trained(80), [row(-0.2, -0.25, -0.15)]
    )


@pytest.mark.parametrize(("low", "high"), [(-0.01, 0.05), (0.0, 0.05), (-0.05, 0.0)])
def test_interval_with_zero_in_it_is_no_evidence(low: float, high: float) -> None:
    sentence = headline(trained(80), [row(0.02, low, high)])
    assert "rose" not in sentence
    assert "fell" not in sentence
    assert sentence.endswith("the interval includes 0, so this is no evidence of a change.")


def test_interval_next_to_zero_is_not_rounded_onto_it() -> None:
    assert "interval 0.003 to 0.041)" in headline(trained(80), [row(0.022, 0.003, 0.041)])


def test_run_that_broke_off_says_how_far_it_came() -> None:
    assert headline(trained(53), [row(0.26, 0.21, 0.31)]).endswith("in 53 of 80 steps.")


def test_the_step_that_was_merged_is_the_one_that_was_evaluated() -> None:
    run = dataclasses.replace(trained(53), merged_step=35)
    assert headline(run, [row(0.26, 0.21, 0.31)]).endswith("in 35 of 80 steps.")
    assert headline(dataclasses.replace(trained(80), merged_step=80), [row(0.26, 0.21, 0.31)]).endswith("in 80 steps.")


def test_missing_evaluation_is_said_and_validation_has_no_interval() -> None:
    name = "val-aux/starter/accepted/mean@1"
    run = run_of(StepMetrics(0, {name: 0.3}), StepMetrics(40, {name: 0.5}))
    assert headline(run, []) == (
        "There is no evaluation before or after training. In validation (starter) Pass@1 went from 0.30 at "
        "step 0 to 0.50 at step 40; no interval is known."
    )


def test_without_any_number_nothing_is_claimed() -> None:
    assert headline(run_of(), []) == (
        "There is no evaluation before or after training. No score was logged during training either."
    )


def test_smoothing_keeps_a_constant_and_does_not_lag() -> None:
    steps = np.arange(1.0, 42.0)
    assert smooth(Points(steps, np.full(41, 0.3)), 2.0) == pytest.approx(np.full(41, 0.3))
    peak = np.exp(-(((steps - 21) / 5) ** 2))
    smoothed = smooth(Points(steps, peak), 2.0)
    assert smoothed.argmax() == 20
    assert smoothed == pytest.approx(smoothed[::-1])


@given(st.integers(0, 50), st.integers(1, 9))
def test_thinning_out_keeps_the_mean_of_each_group(count: int, group: int) -> None:
    values = np.arange(count, dtype=float)
    thinned = thin_out(Points(values, values), group)
    expected = [values[start : start + group].mean() for start in range(0, count, group)]
    assert thinned.values == pytest.approx(expected)


def test_values_that_are_no_numbers_leave_a_gap() -> None:
    steps = [
        StepMetrics(1, {"a": 1.0}),
        StepMetrics(2, {"a": math.nan}),
        StepMetrics(3, {}),
        StepMetrics(4, {"a": 2.0}),
    ]
    assert pick_curve(steps, "a").points.steps.tolist() == [1.0, 4.0]


def test_verdicts_add_up_to_one_and_stages_to_the_step(tmp_path: Path) -> None:
    losses: list[str] = []
    steps = read_good_metrics(make_run(tmp_path / "run", steps=10, evaluated=False).metrics, losses)
    assert verdict_shares(steps).total == pytest.approx(np.ones(10))
    times = time_split(steps)
    assert times.total == pytest.approx([one.data["timing_s/step"] for one in steps if one.step])
    assert all((part >= 0).all() for part in times.parts.values())
    assert losses == []


def test_damaged_lines_cost_only_themselves_and_are_counted(tmp_path: Path) -> None:
    file = tmp_path / "metrics.jsonl"
    good = [json.dumps({"step": step, "data": {"a": step}}).encode() for step in range(1, 6)]
    endless = b'{"step": 1e999, "data": {}}'
    file.write_bytes(b"\n".join([good[0], good[1][:9], endless, b"\xff\x00", good[3], good[4][:-4]]))
    losses: list[str] = []
    assert [one.step for one in read_good_metrics(file, losses)] == [1, 4]
    assert losses == [
        "metrics.jsonl: 4 of 6 lines cannot be read (lines 2, 3, 4, 6); what they held is missing below.",
        "metrics.jsonl has no metrics of steps 2, 3.",
    ]


def test_programs_show_a_success_its_early_failure_and_other_kinds(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", steps=20, evaluated=False)
    losses: list[str] = []
    chosen = [choice.program for choice in choose_programs(read_records(run.verdicts, losses).programs)]
    assert len({one.response for one in chosen}) == len(chosen) == 5
    late, early, *failures = chosen
    assert late.accepted
    assert late.step == 20
    assert not early.accepted
    assert early.step < 10
    assert early.problem_id == late.problem_id
    assert len({one.verdict for one in [early, *failures]}) == 4
    assert losses == []


@given(st.text(st.characters()))
def test_nothing_in_foreign_text_stays_invisible(text: str) -> None:
    shown = make_visible(text, 1_000)
    assert not INVISIBLE & set(shown)
    shown.encode("utf-8")  # a lone surrogate would raise


def test_text_that_turns_direction_is_named() -> None:
    assert make_visible("a\u202eb\x1b[31m\x00", 100) == "a⟨U+202E⟩b␛[31m␀"


def test_long_text_says_how_much_is_left_out() -> None:
    assert make_visible("x" * 12, 10) == "x" * 10 + "\n… 2 more characters"


@pytest.mark.parametrize(
    "response",
    [
        "</script><b>",
        "```python\n</pre><script>alert(1)</script>\n```",
        "text <i>\n```\n<img src=x>\n``` after <u>",
    ],
)
def test_responses_have_no_markup_but_our_own(response: str) -> None:
    shown = highlight_response(response, 1_000)
    for part in (shown.text, shown.program or ""):
        assert "<" not in part.replace('<span class="', "").replace("</span>", "")


def test_judged_program_is_marked_and_nothing_else() -> None:
    shown = highlight_response(
        "```\nno program\n```\nBetter:\n```python\nn = int(input())\nprint(n)\n```\nDone.", 1_000
    )
    before, marked = shown.text.split('<span class="judged">')
    assert shown.marked
    assert plain(marked).startswith("n = int(input())\nprint(n)\n```\nDone.")
    assert plain(shown.text) == ("```\nno program\n```\nBetter:\n```python\nn = int(input())\nprint(n)\n```\nDone.")
    assert "judged" not in before


def test_program_that_does_not_stand_in_one_piece_is_shown_apart() -> None:
    shown = highlight_response("1. So:\n   ```python\n   n = int(input())\n   print(n)\n   ```\n", 1_000)
    assert not shown.marked
    assert plain(shown.program or "") == "n = int(input())\nprint(n)"


def test_response_without_a_program_has_nothing_marked() -> None:
    shown = highlight_response("I do not know.", 1_000)
    assert (plain(shown.text), shown.program, shown.marked) == ("I do not know.", None, False)


def test_spike_does_not_flatten_a_robust_axis() -> None:
    values = np.array([0.1, 0.2, 0.15, 0.12, 0.18] * 8 + [500.0])
    assert comfortable_bounds(values)[1] > 500
    assert 0.2 < comfortable_bounds(values, robust=True)[1] < 1
    assert comfortable_bounds(np.array([-2.0, 1.0]))[0] < -2
    assert comfortable_bounds(np.zeros(3))[1] > 0


def test_colours_can_be_swapped_back_and_forth() -> None:
    light, dark = [tone.light for tone in TONES.values()], [tone.dark for tone in TONES.values()]
    assert len({*light, *dark}) == len(light) + len(dark)


def test_numbers_are_short() -> None:
    shown = {
        0.123456: "0.12",
        0.0123: "0.012",
        0.00012: "1.2e−04",
        -0.5: "−0.50",
        64.0: "64",
        1234.5: "1,234",
        27.14: "27.1",
    }
    assert {value: format_number(value) for value in shown} == shown
    assert format_number(math.nan) == "–"
    assert [format_signed(value) for value in (0.241, -0.2, 0.001)] == ["+0.24", "−0.20", "0.00"]
    assert [format_duration(value) for value in (3.21, 59.6, 258.2, 9_700)] == [
        "3.2 s",
        "1 min 00 s",
        "4 min 18 s",
        "2 h 42 min",
    ]
