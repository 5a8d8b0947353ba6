"""An evaluation judges what the model wrote, goes on after a stop, and never counts a fault as an answer."""

from __future__ import annotations

import hashlib
import json

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from pydantic import ValidationError  # noqa: E402

from code_rlvr.errors import DataError, ModelError, Unjudged  # noqa: E402
from code_rlvr.evaluate.engine import Generated, HuggingFaceEngine, hash_model  # noqa: E402
from code_rlvr.evaluate.generate import EvaluationSettings, evaluate  # noqa: E402
from code_rlvr.evaluate.sample_file import SampleFile  # noqa: E402
from code_rlvr.evaluate.scores import read_samples  # noqa: E402
from code_rlvr.ground_truth import Tests  # noqa: E402
from code_rlvr.train.warmstart import WarmStartSettings, warm_start  # noqa: E402
from code_rlvr.types import Limits, Problem, Verdict  # noqa: E402
from code_rlvr.verifier.judge import Judge  # noqa: E402

SETTINGS = EvaluationSettings(samples=4, ks=(1, 4), max_new_tokens=24, instruction="", batch=5)
RIGHT = "```python\nprint(int(input()) + 1)\n```"
ANSWERS = {
    Verdict.ACCEPTED: RIGHT,
    Verdict.WRONG_ANSWER: "```python\nprint(2)\n```",
    Verdict.RUNTIME_ERROR: "```python\nprint(1 // 0)\n```",
    Verdict.NO_CODE: "I would add one to it.",
}


def some_problems(count: int = 6) -> list[Problem]:
    tests = Tests.stdio(["1\n", "5\n"], ["2\n", "6\n"])
    return [Problem(f"p{i}", f"Add one, number {i}.", tests, "even" if i % 2 == 0 else "odd") for i in range(count)]


class Author:
    """An engine that picks one of a few answers by the seed, as a model would."""

    identity = "author"

    def __init__(self, answers: list[str] | None = None) -> None:
        self.answers = answers or list(ANSWERS.values())
        self.asked = 0

    def generate(self, chats, sampling, seeds) -> list[Generated]:
        self.asked += len(chats)
        texts = []
        for chat, seed in zip(chats, seeds, strict=True):
            digest = hashlib.sha256(f"{chat[0]['content']}/{seed}".encode()).digest()
            texts.append(self.answers[digest[0] % len(self.answers)])
        return [Generated(text, len(text), len(text) > sampling.max_new_tokens) for text in texts]


@pytest.fixture(scope="module")
def judge():
    with Judge(workers=2, limits=Limits(cpu_s=2)) as judge:
        yield judge


@pytest.fixture(scope="module")
def model_dir(tmp_path_factory):
    corpus = [(problem.statement, RIGHT) for problem in some_problems()]
    settings = WarmStartSettings(
        vocab_size=300, hidden_size=32, layers=1, heads=2, intermediate_size=64, steps=60, batch=6, lr=1e-2
    )
    return warm_start(tmp_path_factory.mktemp("models") / "m", corpus, settings).path


def test_every_sample_gets_the_verdict_of_its_program(judge, tmp_path):
    file = tmp_path / "samples.jsonl"
    scores = evaluate(Author(), "author", some_problems(), judge, SETTINGS, file)
    records = read_samples(file)
    by_text = {text: verdict for verdict, text in ANSWERS.items()}
    assert len(records) == 24
    assert [record.verdict for record in records] == [by_text[record.response] for record in records]
    assert sum(scores.overall.verdicts.values()) == 24
    assert set(scores.overall.verdicts) == {verdict.value for verdict in ANSWERS}
    accepted = scores.overall.verdicts["ACCEPTED"]
    assert scores.overall.pass_at["pass@1"] == pytest.approx(accepted / 24)
    assert scores.overall.pass_at["pass@4"] > scores.overall.pass_at["pass@1"]
    assert scores.format == pytest.approx(1 - scores.overall.verdicts["NO_CODE"] / 24)
    assert list(scores.groups) == ["even", "odd"]
    assert scores.unjudged == 0


def test_named_groups_replace_data_sources(judge, tmp_path):
    groups = {"p0": "new wording"}
    scores = evaluate(Author(), "a", some_problems(2), judge, SETTINGS, tmp_path / "s.jsonl", groups=groups)
    assert list(scores.groups) == ["new wording", "odd"]


def test_batch_and_order_do_not_change_the_scores(judge, tmp_path):
    problems = some_problems()
    one = evaluate(Author(), "a", problems, judge, SETTINGS, tmp_path / "1.jsonl")
    other_settings = SETTINGS.model_copy(update={"batch": 100})
    other = evaluate(Author(), "a", problems[::-1], judge, other_settings, tmp_path / "2.jsonl")
    assert other.problems == one.problems
    assert other.fingerprint == one.fingerprint


def test_another_seed_draws_other_samples(judge, tmp_path):
    one = evaluate(Author(), "a", some_problems(), judge, SETTINGS, tmp_path / "1.jsonl")
    settings = SETTINGS.model_copy(update={"seed": 1})
    other = evaluate(Author(), "a", some_problems(), judge, settings, tmp_path / "2.jsonl")
    assert one.problems != other.problems


def test_more_samples_keep_the_first_ones(judge, tmp_path):
    file = tmp_path / "samples.jsonl"
    evaluate(Author(), "a", some_problems(), judge, SETTINGS, file)
    author = Author()
    more = SETTINGS.model_copy(update={"samples": 6})
    scores = evaluate(author, "a", some_problems(), judge, more, file)
    assert author.asked == 2 * 6
    assert scores.overall.samples == 36


def test_a_killed_evaluation_goes_on_and_ends_as_an_uninterrupted_one(judge, tmp_path):
    whole_file, file = tmp_path / "whole.jsonl", tmp_path / "samples.jsonl"
    whole = evaluate(Author(), "a", some_problems(), judge, SETTINGS, whole_file)
    lines = whole_file.read_text().splitlines(keepends=True)
    file.write_text("".join(lines[:7]) + lines[7][:30])
    author, told = Author(), []
    again = evaluate(
        author, "a", some_problems(), judge, SETTINGS, file, on_progress=lambda *counts: told.append(counts)
    )
    assert again.model_copy(update={"cost": whole.cost}) == whole
    assert author.asked == 24 - 7
    assert told[-1] == (24, 24)
    assert without_times(file) == without_times(whole_file)


def without_times(file):
    return [record.model_copy(update={"generate_s": 0.0, "judge_s": 0.0}) for record in read_samples(file)]


@pytest.mark.parametrize("ending", [KeyboardInterrupt, MemoryError])
def test_what_was_drawn_before_a_stop_is_never_drawn_again(judge, tmp_path, ending):
    class Stopped(Author):
        def generate(self, chats, sampling, seeds):
            if self.asked >= 15:
                raise ending
            return super().generate(chats, sampling, seeds)

    file = tmp_path / "samples.jsonl"
    with pytest.raises(ending):
        evaluate(Stopped(), "a", some_problems(), judge, SETTINGS, file)
    assert len({(record.problem_id, record.sample) for record in read_samples(file)}) == 15
    author = Author()
    again = evaluate(author, "a", some_problems(), judge, SETTINGS, file)
    assert author.asked == 24 - 15
    whole = evaluate(Author(), "a", some_problems(), judge, SETTINGS, tmp_path / "whole.jsonl")
    assert again.problems == whole.problems


def test_more_problems_keep_the_samples_of_the_first_ones(judge, tmp_path):
    file = tmp_path / "samples.jsonl"
    evaluate(Author(), "a", some_problems(2), judge, SETTINGS, file)
    author = Author()
    scores = evaluate(author, "a", some_problems(6), judge, SETTINGS, file)
    assert author.asked == 4 * 4
    fewer = evaluate(author, "a", some_problems(2), judge, SETTINGS, file)
    assert (author.asked, fewer.overall.problems, scores.overall.problems) == (4 * 4, 2, 6)
    assert len(read_samples(file)) == 24


def test_other_tests_judge_the_same_samples_again(judge, tmp_path):
    file = tmp_path / "samples.jsonl"
    before = evaluate(Author([RIGHT]), "a", some_problems(2), judge, SETTINGS, file)
    stricter = [
        Problem(one.problem_id, one.statement, Tests.stdio(["1\n"], ["3\n"]), one.data_source)
        for one in some_problems(2)
    ]
    author = Author([RIGHT])
    after = evaluate(author, "a", stricter, judge, SETTINGS, file)
    assert (author.asked, before.overall.verdicts, after.overall.verdicts) == (
        0,
        {"ACCEPTED": 8},
        {"WRONG_ANSWER": 8},
    )
    assert before.asked != after.asked


def test_a_file_has_one_writer(judge, tmp_path):
    file = tmp_path / "samples.jsonl"
    with SampleFile(file), pytest.raises(DataError, match="another process"):
        evaluate(Author(), "a", some_problems(), judge, SETTINGS, file)


def test_what_it_cost_is_kept_over_a_stop(judge, tmp_path):
    file = tmp_path / "samples.jsonl"
    first = evaluate(Author(), "a", some_problems(2), judge, SETTINGS, file)
    again = evaluate(Author(), "a", some_problems(2), judge, SETTINGS, file)
    assert again.cost == first.cost
    assert first.cost is not None
    assert first.cost.judge_s > 0
    assert first.cost.tokens == sum(record.tokens for record in read_samples(file))


@pytest.mark.parametrize("change", [{"temperature": 0.5}, {"seed": 3}, {"max_new_tokens": 9}, {"instruction": "x"}])
def test_samples_of_other_settings_are_not_mixed_in(judge, tmp_path, change):
    file = tmp_path / "samples.jsonl"
    evaluate(Author(), "a", some_problems(2), judge, SETTINGS, file)
    before = file.read_text()
    with pytest.raises(DataError, match="another model, other settings or other prompts"):
        evaluate(Author(), "a", some_problems(2), judge, SETTINGS.model_copy(update=change), file)
    assert file.read_text() == before


def test_faults_of_the_judge_are_counted_apart_and_judged_again_later(tmp_path):
    class Flaky(Judge):
        def judge_many(self, items, **options):
            for i, judged in enumerate(super().judge_many(items, **options)):
                yield Unjudged("the sandbox went away") if i == 0 else judged

    file = tmp_path / "samples.jsonl"
    with Flaky(workers=2) as flaky:
        scores = evaluate(Author([RIGHT]), "a", some_problems(), flaky, SETTINGS, file)
    # Batches of 5 hold 4, 3, 2, 1 and 4 samples of their first problem, which share a program and its fault.
    assert (scores.unjudged, scores.overall.samples) == (14, 10)
    assert scores.overall.pass_at["pass@1"] == 1.0
    with Judge(workers=2) as sound:
        again = evaluate(Author([RIGHT]), "a", some_problems(), sound, SETTINGS, file)
    assert (again.unjudged, again.overall.samples) == (0, 24)


def test_equal_programs_of_a_problem_are_judged_once(tmp_path):
    class Counting(Judge):
        count = 0

        def judge_many(self, items, **options):
            for judged in super().judge_many(items, **options):
                self.count += 1
                yield judged

    settings = SETTINGS.model_copy(update={"batch": 24})
    with Counting(workers=2) as counting:
        scores = evaluate(Author([RIGHT]), "a", some_problems(), counting, settings, tmp_path / "s.jsonl")
    assert scores.overall.verdicts == {"ACCEPTED": 24}
    assert counting.count == 6


def test_an_evaluation_without_any_verdict_is_an_error(tmp_path):
    class Broken(Judge):
        def judge_many(self, items, **options):
            return (Unjudged("no sandbox") for _ in items)

    with Broken(workers=1) as broken, pytest.raises(Unjudged, match=r"every sample \(8\): no sandbox"):
        evaluate(Author(), "a", some_problems(2), broken, SETTINGS, tmp_path / "s.jsonl")


@pytest.mark.parametrize("problems", [[], some_problems(1) * 2])
def test_no_problems_and_repeated_ids_are_refused(judge, tmp_path, problems):
    with pytest.raises(DataError, match="an id of its own"):
        evaluate(Author(), "a", problems, judge, SETTINGS, tmp_path / "s.jsonl")


@pytest.mark.parametrize("wrong", [{"temperature": 0}, {"ks": (1, 5)}, {"ks": ()}, {"sampels": 3}])
def test_impossible_settings_are_refused(wrong):
    with pytest.raises(ValidationError):
        EvaluationSettings(**wrong)


def test_a_model_folder_is_sampled_and_judged(judge, tmp_path, model_dir):
    greedy = SETTINGS.model_copy(update={"samples": 1, "ks": (1,), "temperature": 0.0})
    engine = HuggingFaceEngine(model_dir)
    scores = evaluate(engine, str(model_dir), some_problems(), judge, greedy, tmp_path / "s.jsonl")
    assert scores.overall.pass_at["pass@1"] == 1.0  # its corpus has one answer
    assert scores.truncated == 0
    assert scores.mean_tokens == len(engine._tokenizer.encode(RIGHT)) + 1


def test_a_model_is_named_by_its_content(tmp_path, model_dir):
    assert hash_model(model_dir) == HuggingFaceEngine(model_dir).identity
    copy = tmp_path / "copy"
    copy.mkdir()
    for file in model_dir.iterdir():
        (copy / file.name).write_bytes(file.read_bytes())
    assert hash_model(copy) == hash_model(model_dir)
    weights = bytearray((copy / "model.safetensors").read_bytes())
    weights[-1] ^= 1
    (copy / "model.safetensors").write_bytes(weights)
    assert hash_model(copy) != hash_model(model_dir)


def test_what_is_no_model_folder_is_refused(tmp_path, model_dir):
    with pytest.raises(ModelError, match=r"no config\.json"):
        HuggingFaceEngine(tmp_path)
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "qwen2"}))
    with pytest.raises(ModelError, match="no weights"):
        HuggingFaceEngine(tmp_path)
