"""Batched decoding agrees with `model.generate`, with a full forward pass, and with itself in any batch."""

from __future__ import annotations

import math
from collections import Counter

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from transformers import MistralConfig, MistralForCausalLM, Qwen2Config, Qwen2ForCausalLM  # noqa: E402

from code_rlvr.decode import Completion, Sampling, generate_batch  # noqa: E402

PAD, EOS, VOCAB = 0, 1, 48
SIZES = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 64,
    "vocab_size": VOCAB,
    "initializer_range": 0.3,
    "max_position_embeddings": 256,
    "pad_token_id": PAD,
    "eos_token_id": EOS,
    "bos_token_id": None,
}


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(0)
    return Qwen2ForCausalLM(Qwen2Config(num_key_value_heads=2, **SIZES)).eval()


def some_prompts(count: int, seed: int = 0) -> list[list[int]]:
    generator = torch.Generator().manual_seed(seed)
    lengths = torch.randint(1, 12, (count,), generator=generator).tolist()
    return [torch.randint(2, VOCAB, (length,), generator=generator).tolist() for length in lengths]


def sample(model, prompts, sampling=None, **options) -> list[Completion]:
    samplings = [sampling or Sampling(max_new_tokens=20)] * len(prompts)
    options = {"eos_token_ids": [EOS], "pad_token_id": PAD, "seeds": range(len(prompts)), **options}
    return generate_batch(model, prompts, samplings, **options)


def logits_of(model, prompt: list[int], completion: Completion) -> torch.Tensor:
    """Logits of each completion token from one pass without padding and without a cache."""
    ids = torch.tensor([prompt + completion.token_ids])
    with torch.no_grad():
        return model(ids).logits[0, len(prompt) - 1 : -1]


def assert_greedy_equals_generate(model) -> None:
    prompts = some_prompts(12)
    completions = sample(model, prompts, Sampling(0, max_new_tokens=20))
    for prompt, completion in zip(prompts, completions, strict=True):
        ids = torch.tensor([prompt])
        expected = model.generate(ids, attention_mask=torch.ones_like(ids), do_sample=False, max_new_tokens=20)
        assert completion.token_ids == expected[0, len(prompt) :].tolist()


def test_greedy_rows_equal_generate_one_by_one(model):
    assert_greedy_equals_generate(model)


def test_greedy_rows_equal_generate_with_a_sliding_window():
    torch.manual_seed(1)
    assert_greedy_equals_generate(
        MistralForCausalLM(MistralConfig(num_key_value_heads=2, sliding_window=6, **SIZES)).eval()
    )


def test_log_probs_equal_a_full_forward_pass(model):
    prompts = some_prompts(12)
    for prompt, completion in zip(prompts, sample(model, prompts, Sampling(0.7)), strict=True):
        log_probs = (logits_of(model, prompt, completion) / 0.7).log_softmax(-1)
        expected = log_probs[range(len(completion.token_ids)), completion.token_ids].tolist()
        assert completion.log_probs == pytest.approx(expected, abs=1e-4)


def test_top_k_and_top_p_keep_only_likely_tokens_and_renormalise(model):
    prompts = some_prompts(12)
    for prompt, completion in zip(prompts, sample(model, prompts, Sampling(1.5, 0.8, 5)), strict=True):
        logits = logits_of(model, prompt, completion) / 1.5
        for row, token, log_prob in zip(logits, completion.token_ids, completion.log_probs, strict=True):
            probs = row.softmax(-1)
            likely = probs.sort(descending=True).indices[:5].tolist()
            inside = [probs[i] / probs[likely].sum() for i in likely]
            nucleus = [i for rank, i in enumerate(likely) if rank == 0 or sum(inside[:rank]) < 0.8]
            assert token in nucleus
            assert log_prob == pytest.approx(math.log(probs[token] / probs[nucleus].sum()), abs=1e-4)


def test_a_rows_completion_does_not_depend_on_its_batch(model):
    prompts = some_prompts(20)
    together = [one.token_ids for one in sample(model, prompts)]
    assert together == [sample(model, [prompt], seeds=[i])[0].token_ids for i, prompt in enumerate(prompts)]
    assert together == [one.token_ids for one in sample(model, prompts, max_rows=3)]


def test_equal_prompts_share_a_prefill_but_not_their_draws(model):
    prompt = some_prompts(1)[0]
    shared = sample(model, [prompt] * 6)
    assert [one.token_ids for one in shared] == [
        sample(model, [prompt], seeds=[seed])[0].token_ids for seed in range(6)
    ]
    assert len({tuple(one.token_ids) for one in shared}) > 1


def test_sampled_frequencies_follow_the_distribution(model):
    prompt, count = [5, 9, 2], 4000
    first = sample(model, [prompt] * count, Sampling(max_new_tokens=1), max_rows=count)
    counts = Counter(one.token_ids[0] for one in first)
    with torch.no_grad():
        probs = model(torch.tensor([prompt])).logits[0, -1].softmax(-1).tolist()
    for token, prob in enumerate(probs):
        assert abs(counts[token] / count - prob) < 5 * math.sqrt(prob * (1 - prob) / count) + 1e-3


def test_a_completion_ends_with_the_end_token_or_at_its_own_limit(model):
    prompts = some_prompts(30)
    samplings = [Sampling(max_new_tokens=1 + i % 9) for i in range(30)]
    ends = list(range(1, 8))
    completions = generate_batch(
        model, prompts, samplings, eos_token_ids=ends, pad_token_id=PAD, seeds=range(30), max_rows=16
    )
    reasons = Counter(one.finish_reason for one in completions)
    assert reasons["stop"] > 0
    assert reasons["length"] > 0
    for completion, sampling in zip(completions, samplings, strict=True):
        assert len(completion.token_ids) == len(completion.log_probs) <= sampling.max_new_tokens
        assert not set(completion.token_ids[:-1]) & set(ends)
        assert (completion.token_ids[-1] in ends) == (completion.finish_reason == "stop")
        if completion.finish_reason == "length":
            assert len(completion.token_ids) == sampling.max_new_tokens


def test_a_completion_is_handed_out_as_soon_as_it_ends(model):
    limits = [40, 3, 17, 3]
    prompts = some_prompts(4)
    samplings = [Sampling(max_new_tokens=limit) for limit in limits]
    options = {"eos_token_ids": [VOCAB], "pad_token_id": PAD, "seeds": range(4)}
    positions, handed_out = [], []
    forward = model.register_forward_pre_hook(lambda *_, **__: positions.append(None))
    try:
        together = generate_batch(
            model, prompts, samplings, on_done=lambda row, one: handed_out.append((row, one, len(positions))), **options
        )
    finally:
        forward.remove()
    assert {row: one for row, one, _ in handed_out} == dict(enumerate(together))
    # A prefill gives the first token, so a row of so many tokens is there after as many passes.
    assert sorted((passes, row) for row, _, passes in handed_out) == [(3, 1), (3, 3), (17, 2), (40, 0)]


def test_a_training_model_is_sampled_without_dropout_and_keeps_training(model):
    config = Qwen2Config(num_key_value_heads=2, attention_dropout=0.9, **SIZES)
    noisy = Qwen2ForCausalLM(config)
    noisy.load_state_dict(model.state_dict())
    noisy.train()
    prompts = some_prompts(8)
    assert sample(noisy, prompts) == sample(model, prompts)
    assert noisy.training


@pytest.mark.parametrize(
    "wrong",
    [{"temperature": -0.1}, {"top_p": 0.0}, {"top_p": 1.1}, {"max_new_tokens": 0}],
)
def test_a_sampling_outside_its_range_is_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Sampling(**wrong)


@pytest.mark.parametrize(
    ("prompts", "options"),
    [([[]], {}), ([[2]], {"seeds": [1, 2]}), ([[2]], {"max_rows": 0})],
)
def test_unusable_arguments_are_refused(model, prompts, options):
    with pytest.raises(ValueError, match=r"seeds|empty"):
        sample(model, prompts, **options)


def test_a_model_with_broken_weights_is_refused_and_not_sampled(model):
    broken = Qwen2ForCausalLM(model.config).eval()
    broken.load_state_dict(model.state_dict())
    with torch.no_grad():
        broken.model.layers[0].mlp.down_proj.weight[0, 0] = torch.nan
    with pytest.raises(ValueError, match="not numbers"):
        sample(broken, some_prompts(3))


def test_no_prompts_give_no_completions(model):
    assert sample(model, []) == []
