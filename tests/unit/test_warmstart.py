"""The warm start makes an ordinary Hugging Face folder with a model that learnt its corpus."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from pydantic import ValidationError  # noqa: E402
from transformers import (  # noqa: E402
    AutoModelForCausalLM,
    AutoTokenizer,
    GenerationConfig,
    PreTrainedTokenizerFast,
    Qwen2Tokenizer,
)

from code_rlvr.cli import app  # noqa: E402
from code_rlvr.data.parquet import write_parquet  # noqa: E402
from code_rlvr.decode import Sampling, generate_batch  # noqa: E402
from code_rlvr.errors import DataError, ModelError  # noqa: E402
from code_rlvr.ground_truth import Tests  # noqa: E402
from code_rlvr.train.tokenizer import train_tokenizer  # noqa: E402
from code_rlvr.train.warmstart import WarmStartSettings, _batches, _encode, warm_start  # noqa: E402
from code_rlvr.train.warmstart_corpus import read_corpus  # noqa: E402
from code_rlvr.types import Problem  # noqa: E402

OPERATIONS = {"sum": "+", "product": "*", "difference": "-"}
CORPUS = [
    (
        f"Print the {word} of n and {k}.",
        f"```python\nn = int(input())\nif n:\n    print(n {sign} {k})\n```",
    )
    for word, sign in OPERATIONS.items()
    for k in range(2, 30)
]
EASY_CORPUS = [pair for pair in CORPUS if not pair[0][-3].isdigit()]  # one digit to copy, not two
TINY = WarmStartSettings(
    vocab_size=320,
    hidden_size=32,
    layers=1,
    heads=2,
    intermediate_size=64,
    steps=6,
    batch=8,
    warmup_steps=2,
    threads=1,
)
HARD_TEXTS = [
    "def f(x):\n\treturn x\r\n\r\n  # é ü 中文 🙂\n",
    "    if n > 1234567:\n        print('a  b')\n\n\n    else:\n\tpass   ",
    "it's <|end|> and <|user|> in the middle",
    "",
    " leading and trailing ",
]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return warm_start(tmp_path_factory.mktemp("models") / "tiny", CORPUS, TINY)


@pytest.fixture(scope="module")
def learnt(tmp_path_factory):
    larger = {"hidden_size": 64, "layers": 2, "intermediate_size": 128, "steps": 200, "lr": 5e-3}
    settings = TINY.model_copy(update=larger)
    return warm_start(tmp_path_factory.mktemp("models") / "learnt", EASY_CORPUS, settings)


def prompt_ids(tokenizer, text: str) -> list[int]:
    chat = [{"role": "user", "content": text}]
    return tokenizer.apply_chat_template(chat, add_generation_prompt=True, return_dict=False)


def test_folder_loads_with_the_auto_classes(made):
    model = AutoModelForCausalLM.from_pretrained(made.path)
    tokenizer = AutoTokenizer.from_pretrained(made.path)
    assert model.num_parameters() == made.parameters
    assert model.dtype == torch.float32
    assert len(tokenizer) == made.vocab_size == model.config.vocab_size
    for config in (model.config, model.generation_config):
        assert (config.eos_token_id, config.pad_token_id) == (tokenizer.eos_token_id, tokenizer.pad_token_id)
    assert GenerationConfig.from_pretrained(made.path).do_sample


@pytest.mark.parametrize("loader", [AutoTokenizer, PreTrainedTokenizerFast, Qwen2Tokenizer])
def test_a_reloaded_tokenizer_encodes_identically(made, loader):
    texts = [*HARD_TEXTS, *(text for pair in CORPUS for text in pair)]
    trained = train_tokenizer((text for pair in CORPUS for text in pair), TINY.vocab_size, TINY.max_length)
    reloaded = loader.from_pretrained(made.path)
    for text in texts:
        ids = trained.encode(text, add_special_tokens=False)
        assert reloaded.encode(text, add_special_tokens=False) == ids
        assert reloaded.decode(ids) == text
    assert prompt_ids(reloaded, "Hi") == prompt_ids(trained, "Hi")


def test_digits_are_single_tokens_and_indentation_is_cheap(made):
    tokenizer = AutoTokenizer.from_pretrained(made.path)
    assert len(tokenizer.encode("2027")) == 4
    assert len(tokenizer.encode(":\n    print")) <= 4


def test_chat_template_marks_turns_and_refuses_unknown_roles(made):
    tokenizer = AutoTokenizer.from_pretrained(made.path)
    chat = [{"role": "user", "content": "A"}, {"role": "assistant", "content": "B"}]
    whole = tokenizer.apply_chat_template(chat, tokenize=False)
    assert whole == "<|user|>A<|assistant|>B<|end|>"
    assert whole.startswith(tokenizer.apply_chat_template(chat[:1], tokenize=False, add_generation_prompt=True))
    with pytest.raises(Exception, match="knows no role system"):
        tokenizer.apply_chat_template([{"role": "system", "content": "C"}], tokenize=False)


def test_model_learns_its_corpus(learnt):
    model = AutoModelForCausalLM.from_pretrained(learnt.path)
    tokenizer = AutoTokenizer.from_pretrained(learnt.path)
    completions = generate_batch(
        model,
        [prompt_ids(tokenizer, prompt) for prompt, _ in EASY_CORPUS],
        [Sampling(0)] * len(EASY_CORPUS),
        eos_token_ids=[tokenizer.eos_token_id],
        pad_token_id=tokenizer.pad_token_id,
        seeds=[0] * len(EASY_CORPUS),
    )
    answers = [tokenizer.decode(one.token_ids, skip_special_tokens=True) for one in completions]
    right = sum(answer == response for answer, (_, response) in zip(answers, EASY_CORPUS, strict=True))
    assert right / len(EASY_CORPUS) > 0.8
    assert all(one.finish_reason == "stop" for one in completions)


def test_same_seed_gives_the_same_weights_and_another_seed_others(made, tmp_path):
    torch.rand(3)  # the caller's random state must not matter
    again = warm_start(tmp_path / "again", CORPUS, TINY)
    other = warm_start(tmp_path / "other", CORPUS, TINY.model_copy(update={"seed": 1}))
    weights = [(folder.path / "model.safetensors").read_bytes() for folder in (made, again, other)]
    assert weights[0] == weights[1] != weights[2]


def test_callers_random_state_and_threads_are_left_alone(tmp_path):
    threads = torch.get_num_threads()
    torch.manual_seed(7)
    expected = torch.rand(1)
    torch.manual_seed(7)
    warm_start(tmp_path / "m", CORPUS, TINY)
    assert torch.equal(torch.rand(1), expected)
    assert torch.get_num_threads() == threads


def test_progress_is_told_after_every_step(tmp_path):
    told = []
    result = warm_start(tmp_path / "m", CORPUS, TINY, on_progress=lambda *values: told.append(values))
    assert [(step, steps) for step, steps, _, _ in told] == [(i, 6) for i in range(1, 7)]
    assert told[0][2] == pytest.approx(5.8, abs=1.0)  # about ln(320): nothing is learnt yet
    assert result.loss < told[0][2]
    assert told[-1][3] > 0


def test_an_interrupted_warm_start_leaves_nothing(tmp_path):
    def interrupt(*_values):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        warm_start(tmp_path / "m", CORPUS, TINY, on_progress=interrupt)
    assert list(tmp_path.iterdir()) == []


def test_settings_are_saved_beside_the_weights(made):
    assert WarmStartSettings(**json.loads((made.path / "warmstart.json").read_text())) == TINY


def test_an_existing_folder_is_not_overwritten(made):
    with pytest.raises(ModelError, match="exists"):
        warm_start(made.path, CORPUS, TINY)


@pytest.mark.parametrize(
    ("corpus", "message"),
    [([], "empty"), ([("a", "b " * 400)], r"shortest pair of the corpus has \d+ tokens; raise max_length, now 256")],
)
def test_unusable_corpora_are_refused(tmp_path, corpus, message):
    with pytest.raises(ModelError, match=message):
        warm_start(tmp_path / "m", corpus, TINY)
    assert not (tmp_path / "m").exists()


def test_pairs_that_are_too_long_are_left_out_and_counted(tmp_path):
    made = warm_start(tmp_path / "m", [*CORPUS, ("a", "b " * 400)], TINY)
    assert made.left_out == 1


def prepared(folder: Path, *solutions: dict[str, str]) -> Path:
    """A set of two problems to train on and one for validation, as `prepare` writes it."""
    tests = Tests.stdio(["1\n"], ["2\n"])
    for split, names in (("train", ("a", "b")), ("validation", ("c",))):
        problems = [Problem(name, f"Say {name}.", tests, "mine") for name in names]
        write_parquet(folder / f"{split}.parquet", problems, split=split, instruction="")
    (folder / "solutions.jsonl").write_text("".join(json.dumps(one) + "\n" for one in solutions))
    return folder


def test_a_corpus_is_read_of_training_problems_and_solutions_that_are_said_to_pass(tmp_path):
    solutions = [
        {"problem_id": "b", "code": "print(2)\n"},
        {"problem_id": "a", "response": "It is 2.", "verdict": "accepted"},
        {"problem_id": "a", "code": "print(3)", "verdict": "wrong_answer"},
        {"problem_id": "c", "code": "print(2)"},
    ]
    corpus = read_corpus(prepared(tmp_path, *solutions))
    assert corpus == [("Say b.", "```python\nprint(2)\n```"), ("Say a.", "It is 2.")]


def test_a_set_without_solutions_is_refused(tmp_path):
    folder = prepared(tmp_path, {"problem_id": "a", "code": "print(3)", "verdict": "wrong_answer"})
    with pytest.raises(DataError, match=r"no problem of .* has a solution"):
        read_corpus(folder)
    with pytest.raises(DataError, match=r"nothing.train\.parquet does not exist"):
        read_corpus(tmp_path / "nothing")


def test_the_command_makes_a_model_of_a_prepared_set(tmp_path):
    folder = prepared(tmp_path, *({"problem_id": name, "code": f"print({name!r})"} for name in "ab"))
    words = [str(folder), "--out", str(tmp_path / "m"), "steps=3", "batch=2", "layers=1", "hidden_size=32", "heads=2"]
    said = CliRunner().invoke(app, ["warmstart", *words])
    assert said.exit_code == 0, said.output
    assert f"code-rlvr train model={tmp_path / 'm'}" in said.output.replace("\n", " ")
    assert AutoModelForCausalLM.from_pretrained(tmp_path / "m").config.num_hidden_layers == 1


@pytest.mark.parametrize("wrong", [{"stepz": 3}, {"steps": 0}, {"vocab_size": 100}, {"hidden_size": 30, "heads": 4}])
def test_unknown_and_impossible_settings_are_refused(wrong):
    with pytest.raises(ValidationError):
        WarmStartSettings(**wrong)


def test_every_example_is_used_once_an_epoch():
    tokenizer = train_tokenizer((text for pair in CORPUS for text in pair), 320, 256)
    examples = _encode(tokenizer, CORPUS, 256)
    batches = _batches(examples, TINY.model_copy(update={"batch": 7}))
    seen = [tuple(ids) for _ in range(len(CORPUS) // 7 * 32) for ids, _ in next(batches)]
    counts = {tuple(ids): 0 for ids, _ in examples}
    for ids in seen:
        counts[ids] += 1
    assert set(counts.values()) == {32}
