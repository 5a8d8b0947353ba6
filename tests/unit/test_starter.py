"""The starter problems: splits that do not leak, tests that kill, and a corpus that errs as it says."""

from __future__ import annotations

import re
from collections import Counter
from itertools import product
from random import Random

import pytest

from code_rlvr.data.starter import StarterSet, build_starter, imperfect_corpus
from code_rlvr.data.starter.build import NOVELTIES
from code_rlvr.data.starter.cases import draw_cases
from code_rlvr.data.starter.corpus import ERROR_SHARES, draw_habits, fenced, misread_program, misreads
from code_rlvr.data.starter.families import TRAINED_FAMILIES, UNSEEN_FAMILIES
from code_rlvr.data.starter.family import Family, Values
from code_rlvr.data.starter.wordings import WordingSplit, wordings, write_statement
from code_rlvr.types import Problem, Verdict
from code_rlvr.verifier.judge import Judge
from tests.unit.program_mutants import mutants
from tests.unit.starter_programs import Cases, passes

FAMILIES = TRAINED_FAMILIES + UNSEEN_FAMILIES
BY_NAME = {family.name: family for family in FAMILIES}
DRAWS = 4  # sets of test inputs for each instance

every_family = pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)


@pytest.fixture(scope="module")
def starter() -> StarterSet:
    return build_starter(0)


@pytest.fixture(scope="module")
def corpus() -> list[tuple[str, str]]:
    return imperfect_corpus(0, 20_000)


# --- what there is


def test_there_are_forty_stdin_families_and_ten_function_families() -> None:
    assert sum(not family.function for family in TRAINED_FAMILIES) >= 40
    assert sum(family.function for family in TRAINED_FAMILIES) >= 10
    assert 3 <= len(UNSEEN_FAMILIES) <= 5
    assert len(BY_NAME) == len(FAMILIES)


@every_family
def test_family_has_enough_wordings_and_three_mistakes(family: Family) -> None:
    assert len({*family.tasks, family.held_out_task}) >= 5
    assert len(set(family.mistakes)) == len(family.mistakes) >= 3
    assert family.body not in family.mistakes
    assert not set(family.seen) & set(family.held_out)
    assert set(family.tolerates) <= set(family.shape.misreads)


@every_family
def test_statements_and_programs_are_tiny(family: Family) -> None:
    for wording, values in product(wordings(family), family.seen + family.held_out):
        assert len(write_statement(family, wording, values)) <= 110
    assert len(family.program(family.seen[0])) <= 90


# --- splits


def test_lists_have_the_sizes_asked_for() -> None:
    starter = build_starter(1, n_train=70, n_validation=3, n_heldout=0, n_unseen=8)
    assert [len(starter.train), len(starter.validation), len(starter.heldout), len(starter.unseen)] == [
        70,
        3,
        0,
        8,
    ]


def test_same_seed_gives_the_same_problems_and_another_seed_others() -> None:
    sizes = {"n_train": 60, "n_validation": 10, "n_heldout": 60, "n_unseen": 10}
    assert build_starter(5, **sizes) == build_starter(5, **sizes)
    assert build_starter(5, **sizes).train != build_starter(6, **sizes).train


def test_problem_ids_are_unique(starter: StarterSet) -> None:
    problems = starter.train + starter.validation + starter.heldout + starter.unseen
    assert len({problem.problem_id for problem in problems}) == len(problems)


def test_statement_comes_twice_only_once_all_were_used(
    starter: StarterSet,
) -> None:
    problems = starter.train + starter.validation + starter.heldout + starter.unseen
    assert len(statements(problems)) == len(problems)
    many = build_starter(0, n_train=55 * 40, n_validation=0, n_heldout=0, n_unseen=0).train
    assert len({(problem.statement, problem.tests.to_json()) for problem in many}) == len(many) > len(statements(many))


def statements(problems: list[Problem]) -> set[str]:
    return {problem.statement for problem in problems}


def test_no_held_out_statement_is_trained_on_with_any_seed(starter: StarterSet, corpus: list[tuple[str, str]]) -> None:
    other = build_starter(1, n_train=600, n_validation=300, n_heldout=900, n_unseen=100)
    trained = statements(starter.train + other.train) | {statement for statement, _ in corpus}
    validation = statements(starter.validation + other.validation)
    assert not trained & validation
    assert not (trained | validation) & statements(starter.heldout + other.heldout)
    assert not (trained | validation) & statements(starter.unseen + other.unseen)


def test_held_out_problem_is_new_in_the_way_that_it_says(starter: StarterSet, corpus: list[tuple[str, str]]) -> None:
    assert set(starter.novelty) == {problem.problem_id for problem in starter.heldout}
    assert set(starter.novelty.values()) == set(NOVELTIES)
    for problem in starter.heldout:
        family = BY_NAME[problem.family or ""]
        says = starter.novelty[problem.problem_id]
        new_values = problem.references[0] not in {
            family.program(values, name=name) for values in family.seen for name in ("f", "g", "solve")
        }
        assert new_values == ("parameter" in says), problem
        phrases = [family.held_out_task] if "paraphrase" in says else family.tasks
        patterns = [re.escape(phrase).replace(r"\{k\}", ".+").replace(r"\{m\}", ".+") for phrase in phrases]
        assert any(re.search(pattern, problem.statement) for pattern in patterns), problem


def test_every_list_weighs_its_families_alike(starter: StarterSet) -> None:
    for problems, families in ((starter.train, TRAINED_FAMILIES), (starter.heldout, TRAINED_FAMILIES)):
        counts = Counter(problem.family for problem in problems)
        assert set(counts) == {family.name for family in families}
        assert max(counts.values()) - min(counts.values()) <= 1
    assert {problem.family for problem in starter.unseen} == {family.name for family in UNSEEN_FAMILIES}


def test_words_of_held_out_and_unseen_statements_are_known_from_the_corpus(
    starter: StarterSet, corpus: list[tuple[str, str]]
) -> None:
    known = {word for statement, _ in corpus for word in re.findall(r"[A-Za-z]+", statement)}
    for problem in starter.heldout + starter.unseen:
        assert set(re.findall(r"[A-Za-z]{2,}", problem.statement)) <= known, problem.statement


def test_program_of_an_unseen_family_is_nowhere_in_the_corpus(corpus: list[tuple[str, str]]) -> None:
    responses = {response for _, response in corpus}
    for family, values in product(UNSEEN_FAMILIES, [(), *((k,) for k in range(2, 13))]):
        for name in ("f", "g", "solve"):
            assert fenced(family.program(values, name=name)) not in responses


def test_function_statement_states_the_name_that_the_tests_call(starter: StarterSet) -> None:
    functions = [p for p in starter.train + starter.heldout + starter.unseen if p.tests.kind == "call"]
    assert {problem.tests.fn_name for problem in functions} == {"f", "g", "solve"}
    for problem in functions:
        assert f"{problem.tests.fn_name}(" in problem.statement
        assert problem.references[0].startswith(f"def {problem.tests.fn_name}(")


def test_each_statement_asks_for_one_thing() -> None:
    asked: dict[str, str] = {}
    for family in FAMILIES:
        for wording, values in product(wordings(family), family.seen + family.held_out):
            reference = family.program(values)
            assert asked.setdefault(write_statement(family, wording, values), reference) == reference


# --- tests that kill


@every_family
def test_reference_passes_and_every_mistake_fails_on_every_instance(family: Family) -> None:
    for values in family.seen + family.held_out:
        wrong = [family.program(values, body=body) for body in family.mistakes]
        wrong += [misread_program(family, values, misread) for misread in misreads(family)]
        others = [other for other in family.seen + family.held_out if other != values]
        wrong += [family.program(other) for other in Random(1).sample(others, min(len(others), 14))]
        for draw in range(DRAWS):
            cases = draw_cases(family, values, Random(draw))
            assert passes(family.program(values), family, cases), (values, cases)
            assert [program for program in wrong if passes(program, family, cases)] == [], (values, cases)


@every_family
def test_constant_and_echo_fail(family: Family) -> None:
    for values in family.seen + family.held_out:
        cases = draw_cases(family, values, Random(7))
        answers = [answer for _, answer in cases]
        head = "def f(*a): return " if family.function else "print("
        tail = "" if family.function else ")"
        echoes = ["def f(*a): return a[0]"] if family.function else ["print(input())", "print(*input().split())"]
        constants = [f"{head}{answer!r}{tail}" for answer in answers]
        assert [text for text in constants + echoes if passes(text, family, cases)] == [], (values, cases)


def many_cases(family: Family, values: Values) -> Cases:
    """Far more inputs than a problem has, to tell a right program from one that its tests let pass."""
    rng = Random(11)
    inputs = family.edge_arguments(values) + [family.draw_arguments(rng, values) for _ in range(200)]
    return [(arguments, family.answer(*arguments, *values)) for arguments in inputs]


@every_family
def test_programs_of_families_with_the_same_input_fail_unless_they_are_equivalent(family: Family) -> None:
    values = family.seen[len(family.seen) // 2]
    cases = draw_cases(family, values, Random(3))
    for other in FAMILIES:
        if other is family or other.shape is not family.shape or other.function != family.function:
            continue
        for other_values, body in product(other.seen[:3], (other.body, *other.mistakes)):
            program = other.program(other_values, body=body)
            if passes(program, family, cases):
                assert passes(program, family, many_cases(family, values)), (other.name, program, cases)
                assert body != other.body, f"{family.name} and {other.name} are the same family"


@every_family
def test_programs_one_token_off_fail_unless_they_are_equivalent(family: Family) -> None:
    values = family.seen[-1]
    cases = draw_cases(family, values, Random(5))
    missed = [text for text in mutants(family.program(values)) if passes(text, family, cases)]
    wrong = [text for text in missed if not passes(text, family, many_cases(family, values))]
    assert wrong == [], cases


@every_family
def test_cases_are_distinct_and_hold_the_edge_cases_and_varied_answers(family: Family) -> None:
    values: Values = family.seen[-1]
    cases = draw_cases(family, values, Random(1))
    inputs = [repr(arguments) for arguments, _ in cases]
    assert len(set(inputs)) == len(cases) >= 8
    edges = family.edge_arguments(values)
    assert edges
    assert {repr(arguments) for arguments in edges[:3]} <= set(inputs)
    assert max(Counter(repr(answer) for _, answer in cases).values()) <= 5  # of eight: no constant comes near


def test_judge_accepts_references_and_rejects_mistakes(starter: StarterSet) -> None:
    programs = []
    for name in ("at_most_k", "reverse_word", "f_tally", "f_keep_multiples"):
        problem = next(problem for problem in starter.heldout if problem.family == name)
        (reference,) = problem.references
        broken = reference.replace("min", "max").replace("-1]", "1]").replace(" if x%", " if not x%")
        programs += [(reference, problem.tests), (broken.replace("w.count(x)", "1"), problem.tests)]
    with Judge(workers=1) as judge:
        verdicts = [judge.judge(program, tests).verdict for program, tests in programs]
    assert verdicts == [Verdict.ACCEPTED, Verdict.WRONG_ANSWER] * 4


def test_tests_survive_json(starter: StarterSet) -> None:
    for problem in starter.train[:110] + starter.unseen[:10]:
        assert type(problem.tests).parse(problem.tests.to_json()) == problem.tests
        assert len(problem.tests.inputs) >= 8


# --- the imperfect corpus


def test_corpus_is_the_same_for_the_same_seed_and_of_the_size_asked_for() -> None:
    assert imperfect_corpus(3, 500) == imperfect_corpus(3, 500)
    assert imperfect_corpus(3, 500) != imperfect_corpus(4, 500)
    assert len(imperfect_corpus(3, 77)) == 77


def test_corpus_errs_as_often_as_the_habits_say(corpus: list[tuple[str, str]]) -> None:
    right: Counter[str] = Counter()
    seen: Counter[str] = Counter()
    dominant: Counter[str] = Counter()
    habits = draw_habits(0)
    facts = corpus_facts()
    for statement, response in corpus:
        name, reference, main_mistake = facts[statement]
        if not response.startswith("```python\n") or not response.endswith("\n```"):
            continue
        seen[name] += 1
        right[name] += response == reference
        dominant[name] += response == main_mistake
    for family in TRAINED_FAMILIES:
        wrong = seen[family.name] - right[family.name]
        assert abs(wrong / seen[family.name] - habits[family.name].error_share) < 0.12, family.name
        assert dominant[family.name] / wrong > 0.55, family.name
    assert {habit.error_share for habit in habits.values()} == set(ERROR_SHARES)
    assert 0.4 < sum(right.values()) / sum(seen.values()) < 0.55


def corpus_facts() -> dict[str, tuple[str, str, str]]:
    """Map each training statement to its family, right response and the family's dominant wrong response."""
    habits = draw_habits(0)
    facts = {}
    for family in TRAINED_FAMILIES:
        for wording, values in product(wordings(family, WordingSplit.TRAIN), family.seen):
            name = ("f", "g", "solve")[wording.name] if family.function else "f"
            facts[write_statement(family, wording, values)] = (
                family.name,
                fenced(family.program(values, name=name)),
                fenced(family.program(values, body=habits[family.name].dominant, name=name)),
            )
    return facts


def test_three_percent_of_the_corpus_is_badly_formatted(corpus: list[tuple[str, str]]) -> None:
    bad = [
        response for _, response in corpus if not (response.startswith("```python\n") and response.endswith("\n```"))
    ]
    assert 0.02 < len(bad) / len(corpus) < 0.04
    assert any("```" not in response and "\n" in response for response in bad)
    assert any(response.startswith("```python\n") for response in bad)


def test_misread_programs_are_the_size_of_the_right_one() -> None:
    for family in TRAINED_FAMILIES:
        for misread in misreads(family):
            program = misread_program(family, family.seen[0], misread, name="solve")
            compile(program, family.name, "exec")
            assert len(program) <= len(family.program(family.seen[0])) + 40
