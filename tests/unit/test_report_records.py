from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from code_rlvr.health import Finding, Level
from code_rlvr.report.health_section import Health, make_finding_cards
from code_rlvr.report.program import Program
from code_rlvr.report.program_section import MAX_BYTES, make_browser
from code_rlvr.report.programs import choose_programs
from code_rlvr.report.samples import PER_CELL, choose_samples, third
from code_rlvr.report.solve_history import Fate, History, choose_rows, group_outcomes, make_histories
from code_rlvr.report.solve_map import MAX_ROWS, make_solve_map
from code_rlvr.report.verdict_records import RARE, TEXT_STEPS, Records, Visit, read_records, spread
from tests.synthetic_run import make_run, record


def history(*rates: tuple[int, int], name: str = "p") -> History:
    """A problem that had `solved` of `samples` at steps 1, 2, …"""
    return History(name, tuple(range(1, 1 + len(rates))), tuple(s for s, _ in rates), tuple(n for _, n in rates))


def program(step: int, verdict: str, number: int, response: str | None = None) -> Program:
    one = record(step, verdict, 2 + number % 10, random.Random(number))
    made = Program.from_record(one | {"response": response or f"{one['response']}\n# {number}"})
    assert made is not None
    return made


def test_records_without_texts_are_said(tmp_path: Path) -> None:
    one = record(3, "ACCEPTED", 2, random.Random(0))
    del one["response"]
    (tmp_path / "step_3.jsonl").write_text(json.dumps(one) + '\n{"step": 3, "verd', encoding="utf-8")
    losses: list[str] = []
    assert read_records(tmp_path, losses).programs == []
    assert losses == [
        "verdicts: 1 line cannot be read (step_3.jsonl).",
        "The verdict records hold no texts of responses: no programs are shown.",
    ]


@pytest.mark.parametrize(
    "line",
    [
        "null",
        "[]",
        "7",
        '{"step": "3", "response": "x"}',
        '{"step": 3, "verdict": null, "response": "x"}',
        '{"step": 4, "verdict": "ACCEPTED", "response": "x"}',
    ],
)
def test_strange_records_are_passed_over_and_counted(tmp_path: Path, line: str) -> None:
    (tmp_path / "step_3.jsonl").write_text(line + "\n", encoding="utf-8")
    losses: list[str] = []
    assert read_records(tmp_path, losses).programs == []
    assert losses[0] == "verdicts: 1 line cannot be read (step_3.jsonl)."


def test_numbers_of_hundreds_of_digits_are_no_scores(tmp_path: Path) -> None:
    one = record(3, "ACCEPTED", 2, random.Random(0)) | {"score": 10**400, "pass_rate": -(10**400)}
    (tmp_path / "step_3.jsonl").write_text(json.dumps(one), encoding="utf-8")
    (kept,) = read_records(tmp_path, []).programs
    assert (kept.score, kept.pass_rate, kept.is_partly_right) == (None, None, False)


def test_training_samples_without_a_step_count_for_no_problem_and_are_said(tmp_path: Path) -> None:
    rng = random.Random(0)
    text = "".join(json.dumps(record(0, "ACCEPTED", k, rng)) + "\n" for k in (2, 3))
    (tmp_path / "step_0.jsonl").write_text(text, encoding="utf-8")
    losses: list[str] = []
    records = read_records(tmp_path, losses)
    assert make_solve_map(records, make_histories(records.visits)) is None
    assert losses == ["verdicts: 2 training samples without a step: counted for no problem."]
    assert len(records.programs) == 2
    (tmp_path / "step_5.jsonl").write_text(json.dumps(record(5, "ACCEPTED", 2, rng)), encoding="utf-8")
    assert {one: [*by_step] for one, by_step in read_records(tmp_path, []).visits.items()} == {"sum-divisible/2": [5]}


def test_records_that_are_gone_or_no_file_cost_only_themselves_and_are_said(tmp_path: Path) -> None:
    (tmp_path / "step_1.jsonl").symlink_to(tmp_path / "nowhere")
    (tmp_path / "step_2.jsonl").write_text(json.dumps(record(2, "ACCEPTED", 2, random.Random(0))), encoding="utf-8")
    (tmp_path / "step_3.jsonl").mkdir()
    losses: list[str] = []
    records = read_records(tmp_path, losses)
    assert [one.step for one in records.programs] == [2]
    assert losses == ["verdicts: 2 files cannot be read (step_1.jsonl, step_3.jsonl)."]
    solve_map = make_solve_map(records, make_histories(records.visits))
    assert solve_map is not None
    assert solve_map.note == ""


def test_records_all_of_which_are_gone_leave_nothing_to_show(tmp_path: Path) -> None:
    (tmp_path / "step_1.jsonl").symlink_to(tmp_path / "nowhere")
    losses: list[str] = []
    assert read_records(tmp_path, losses).steps_read == []
    assert losses[0] == "verdicts: 1 file cannot be read (step_1.jsonl)."
    assert read_records(tmp_path / "step_1.jsonl", losses).programs == []


def test_records_beyond_what_is_read_of_a_step_are_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("code_rlvr.report.verdict_records.MAX_LINES", 3)
    rng = random.Random(0)
    for step, count in ((1, 3), (2, 4)):
        text = "".join(json.dumps(record(step, "ACCEPTED", k, rng)) + "\n" for k in range(2, 2 + count))
        (tmp_path / f"step_{step}.jsonl").write_text(text, encoding="utf-8")
    losses: list[str] = []
    assert len(read_records(tmp_path, losses).programs) == 6
    assert losses == ["verdicts: only the first 3 records of a step are read (step_2.jsonl)."]


@given(st.lists(st.integers(0, 9_999), unique=True), st.integers(2, 20))
def test_spread_keeps_both_ends(steps: list[int], count: int) -> None:
    steps.sort()
    chosen = spread(steps, count)
    assert len(chosen) == min(count, len(steps)) == len(set(chosen))
    assert chosen[:1] == steps[:1]
    assert chosen[-1:] == steps[-1:]


def test_each_sample_is_counted_for_its_problem_and_step(tmp_path: Path) -> None:
    rng = random.Random(0)
    lines = [record(4, verdict, 2, rng) for verdict in ("ACCEPTED", "WRONG_ANSWER", "ACCEPTED")]
    lines += [record(4, "ACCEPTED", 3, rng) | {"split": "validation"}]
    lines += [{"step": 4, "split": "train", "problem_id": "sum-divisible/2", "verdict": "UNJUDGED", "error": "x"}]
    (tmp_path / "step_4.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines), encoding="utf-8")
    visits = read_records(tmp_path, []).visits
    assert {problem: dict(by_step) for problem, by_step in visits.items()} == {"sum-divisible/2": {4: Visit(2, 3)}}


def test_rare_verdict_is_kept_whatever_step_it_is_of(tmp_path: Path) -> None:
    rng = random.Random(0)
    for step in range(1, 101):
        lines = [record(step, "WRONG_ANSWER", 2, rng)]
        lines += [record(step, "MEMORY_LIMIT_EXCEEDED", 3, rng)] * (step in (6, 51))
        text = "".join(json.dumps(one) + "\n" for one in lines)
        (tmp_path / f"step_{step}.jsonl").write_text(text, encoding="utf-8")
    kept = read_records(tmp_path, []).programs
    assert [one.step for one in kept if one.verdict == "MEMORY_LIMIT_EXCEEDED"] == [6, 51]
    assert len(kept) < 40


def test_accepted_programs_of_a_window_are_kept(tmp_path: Path) -> None:
    rng = random.Random(0)
    for step in range(1, 101):
        text = "".join(json.dumps(record(step, "ACCEPTED", k, rng)) + "\n" for k in range(2, 8))
        (tmp_path / f"step_{step}.jsonl").write_text(text, encoding="utf-8")
    assert not [one for one in read_records(tmp_path, []).programs if one.step == 56]
    assert len([one for one in read_records(tmp_path, [], [range(56, 58)]).programs if one.step == 56]) == RARE


@pytest.mark.parametrize(
    ("rates", "fate"),
    [
        ([(0, 4), (0, 4)], Fate.NEVER),
        ([(4, 4)], Fate.ALWAYS),
        ([(1, 4)], Fate.MIXED),
        ([(0, 4), (1, 4), (4, 4)], Fate.LEARNED),
        ([(4, 4), (3, 4), (0, 4)], Fate.LOST),
        ([(1, 4), (2, 4)], Fate.MIXED),
        ([(0, 3), (1, 3)], Fate.LEARNED),  # exactly the bar
        ([(1, 1), (0, 1), (1, 1), (1, 1)], Fate.LEARNED),
    ],
)
def test_fate_of_a_problem(rates: list[tuple[int, int]], fate: Fate) -> None:
    assert history(*rates).fate is fate


@given(st.lists(st.lists(st.tuples(st.integers(0, 4), st.integers(4, 6)), min_size=1, max_size=6), max_size=60))
def test_rows_are_bounded_and_leave_no_place_empty(problems: list[list[tuple[int, int]]]) -> None:
    histories = [history(*rates, name=str(number)) for number, rates in enumerate(problems)]
    rows = choose_rows(histories, 20)
    shown = [one for members in rows.values() for one in members]
    assert len({one.problem_id for one in shown}) == len(shown) == min(20, len(histories))
    assert all(one.fate is fate for fate, members in rows.items() for one in members)


def test_map_of_ten_thousand_problems_counts_all_and_draws_few() -> None:
    rng = random.Random(0)
    visits = {
        f"p{i}": {rng.randrange(1, 201): Visit(solved=rng.randrange(5), samples=4) for _ in range(2)}
        for i in range(10_000)
    }
    solve_map = make_solve_map(Records(visits=visits, steps_read=[*range(1, 201)], steps=200), make_histories(visits))
    assert solve_map is not None
    assert sum(count for _, _, count, _ in solve_map.groups) == solve_map.problems == 10_000
    assert sum(drawn for *_, drawn in solve_map.groups) == MAX_ROWS
    assert solve_map.note == ""


def test_outcomes_of_groups_are_shares_and_single_samples_are_no_groups() -> None:
    stack = group_outcomes([history((0, 4), (4, 4)), history((1, 4), (3, 4)), history((0, 1), (1, 1))])
    assert stack is not None
    assert {part: values.tolist() for part, values in stack.parts.items()} == {
        "none": [0.5, 0.0],
        "some": [0.5, 0.0],
        "most": [0.0, 0.5],
        "all": [0.0, 0.5],
    }
    assert group_outcomes([history((0, 1), (1, 1))]) is None


def test_samples_are_of_every_verdict_and_every_third() -> None:
    verdicts = ("ACCEPTED", "WRONG_ANSWER", "RUNTIME_ERROR")
    programs = [program(step, verdict, 7 * step + n) for step in range(1, 31) for verdict in verdicts for n in range(3)]
    chosen = choose_samples(programs, range(1, 31))
    cells = [(third(one.step, range(1, 31)), one.verdict) for one in chosen]
    assert set(cells[:9]) == {(part, verdict) for part in ("early", "middle", "late") for verdict in verdicts}
    assert len(chosen) == len({one.response for one in chosen}) == 9 * PER_CELL


def test_a_sample_is_in_the_same_third_of_the_run_wherever_it_is_shown(tmp_path: Path) -> None:
    rng = random.Random(0)
    for step in (0, 1, 2, 3, 90):  # by their places in the list, 3 would be late
        verdicts = ("ACCEPTED", "WRONG_ANSWER")
        lines = [record(step, one, 2, rng) | {"split": "validation", "response": f"{one} {step}"} for one in verdicts]
        text = "".join(json.dumps(one) + "\n" for one in lines)
        (tmp_path / f"step_{step}.jsonl").write_text(text, encoding="utf-8")
    records = read_records(tmp_path, [])
    finding = Finding("rule", Level.DANGER, "", 2, 3, "", "", (), (), show_samples=True)
    (beside,) = make_finding_cards(Health((finding,), (), (), 90), records.programs, {}, records.steps_read)
    browser = make_browser(choose_programs(records.programs), records.programs, {}, records.steps_read)
    assert browser is not None
    assert {card.third for card in beside.samples} == {"early"}
    assert {(card.step, card.third) for card in browser.cards if card.step < 90} == {(n, "early") for n in range(4)}
    assert {card.third for card in browser.cards if card.step == 90} == {"late"}
    assert browser.thirds == (("early", 0, 3), ("late", 90, 90))


def test_a_rare_verdict_is_kept_of_each_third_by_steps(tmp_path: Path) -> None:
    rng = random.Random(0)
    steps = [*range(1, 25), *range(976, 1_001)]  # the two middle thirds of the files are of the ends of the run
    for step in steps:
        lines = [record(step, "WRONG_ANSWER", 2, rng)] + [record(step, "MEMORY_LIMIT_EXCEEDED", 3, rng)] * (step < 25)
        (tmp_path / f"step_{step}.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines), encoding="utf-8")
    kept = [one.step for one in read_records(tmp_path, []).programs if one.verdict == "MEMORY_LIMIT_EXCEEDED"]
    assert kept == [1, 2, 3, 4, *spread(steps, TEXT_STEPS)[2:8]]


def test_samples_have_a_bound_on_their_size(tmp_path: Path) -> None:
    programs = [program(step, "ACCEPTED", step, "<" * 5_900 + str(step)) for step in range(1, 400)]
    prompts = {one.problem_id: "&" * 9_000 for one in programs}
    made = make_browser(choose_programs(programs), programs, prompts, range(1, 400))
    assert made is not None
    assert 0 < len(made.cards) < 100
    assert sum(card.size for card in made.cards) <= MAX_BYTES


def test_records_of_too_large_a_run_are_read_in_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = make_run(tmp_path / "run", steps=40, evaluated=False)
    monkeypatch.setattr("code_rlvr.report.verdict_records.MAX_BYTES", 100_000)
    records = read_records(run.verdicts, [])
    solve_map = make_solve_map(records, make_histories(records.visits))
    assert 2 <= len(records.steps_read) < 20
    assert solve_map is not None
    assert solve_map.note.startswith(f"The records of {41 - len(records.steps_read)} of 41 steps were not read")
