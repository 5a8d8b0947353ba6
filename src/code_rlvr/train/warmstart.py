"""Warm start: a tiny language model from random weights to one that writes imperfect programs.

Covered: a tokenizer from the corpus, a random Qwen2 model, supervised training with the loss on the response
only, and a Hugging Face folder that verl, vLLM and transformers load like any other.  Reinforcement
learning needs a model that is sometimes right; this makes one in a minute or two without a download.  Not
covered: fine-tuning a model that exists (use verl's own `sft_trainer`), several devices.
"""

from __future__ import annotations

import math
import random
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from pydantic import BaseModel, ConfigDict, Field, model_validator
from transformers import GenerationConfig, PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM

from code_rlvr.errors import ModelError
from code_rlvr.threads import torch_threads
from code_rlvr.train.tokenizer import train_tokenizer

SETTINGS_FILE = "warmstart.json"
"""What made the model, beside its weights."""

POOL_BATCHES = 32
"""Batches that are cut from one pool of examples sorted by length; more batches pad less and mix less."""

OnProgress = Callable[[int, int, float, float], None]
"""Called with (step, steps, loss in nats a token, tokens per second so far)."""

Example = tuple[list[int], int]
"""Token ids of prompt and response, and the prompt's length."""


class WarmStartSettings(BaseModel):
    """How to make the model.  The defaults are what the quickstart was measured with."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    seed: int = Field(default=0, ge=0)
    """Seed of the initial weights and of the order of the examples."""
    vocab_size: int = Field(default=640, ge=260)
    """Tokens of the tokenizer, 256 bytes and 4 special ones among them."""
    hidden_size: int = Field(default=128, ge=8)
    """Width of the model."""
    layers: int = Field(default=4, ge=1)
    """Decoder layers."""
    heads: int = Field(default=4, ge=1)
    """Attention heads; divides `hidden_size`."""
    intermediate_size: int = Field(default=384, ge=8)
    """Width of the feed-forward layers."""
    max_length: int = Field(default=256, ge=16)
    """Context of the model, in tokens."""
    steps: int = Field(default=900, ge=1)
    """Optimiser steps; the learning rate falls to 0 over them, along a cosine."""
    batch: int = Field(default=16, ge=1)
    """Examples per step."""
    lr: float = Field(default=2e-3, gt=0)
    """Highest learning rate of AdamW."""
    warmup_steps: int = Field(default=20, ge=0)
    """Steps over which the learning rate rises."""
    weight_decay: float = Field(default=0.01, ge=0)
    """AdamW's weight decay."""
    max_grad_norm: float = Field(default=1.0, gt=0)
    """Longer gradients are shortened to this."""
    threads: int = Field(default=1, ge=1)
    """CPU threads.  Two are slower than one while another process uses the machine (see `threads`)."""

    @model_validator(mode="after")
    def _check_heads(self) -> WarmStartSettings:
        if self.hidden_size % self.heads or self.hidden_size // self.heads % 2:
            raise ValueError(f"hidden_size ({self.hidden_size}) must be an even multiple of heads ({self.heads})")
        return self


@dataclass(frozen=True)
class WarmStartResult:
    """What a warm start made.

    Args:
        path: The model folder.
        parameters: Number of weights.
        vocab_size: Tokens of the tokenizer.
        tokens: Tokens trained on, prompts included, padding not.
        seconds: Wall time of training, without the tokenizer.
        loss: Mean loss of the last 50 steps, in nats per response token.
        left_out: Pairs of the corpus that are longer than the model's context.
    """

    path: Path
    parameters: int
    vocab_size: int
    tokens: int
    seconds: float
    loss: float
    left_out: int


def progress_in_words(advance: Callable[[int, str], None]) -> OnProgress:
    """Progress for a bar that is told the step and a few words."""
    return lambda step, _steps, loss, speed: advance(step, f"loss {loss:.3f}, {speed / 1000:.1f}k tokens/s")


def warm_start(
    out_dir: Path,
    corpus: Sequence[tuple[str, str]],
    settings: WarmStartSettings | None = None,
    on_progress: OnProgress | None = None,
) -> WarmStartResult:
    """Train a tokenizer and a model on a corpus and save both.

    Args:
        out_dir: The model folder to make; it appears only when it is complete.
        corpus: Pairs of what the user says and what the model should answer; those that are longer than the model's
            context are left out.
        settings: How; the quickstart's when left out.
        on_progress: Called after every step.

    Returns:
        The folder and how training went.

    Raises:
        ModelError: `out_dir` exists, the corpus is empty, or every pair is longer than the model's context.
    """
    settings = settings or WarmStartSettings()
    if out_dir.exists():
        raise ModelError(f"{out_dir} exists; remove it or name another folder")
    if not corpus:
        raise ModelError("the corpus of the warm start is empty")
    texts = (text for pair in corpus for text in pair)
    tokenizer = train_tokenizer(texts, settings.vocab_size, settings.max_length)
    examples = _encode(tokenizer, corpus, settings.max_length)
    with torch_threads(settings.threads), torch.random.fork_rng(devices=[]):
        torch.manual_seed(settings.seed)
        model = _new_model(tokenizer, settings)
        tokens, seconds, loss = _train(model, examples, settings, on_progress)
    _save(model, tokenizer, settings, out_dir)
    left_out = len(corpus) - len(examples)
    return WarmStartResult(out_dir, model.num_parameters(), len(tokenizer), tokens, seconds, loss, left_out)


def _encode(tokenizer: PreTrainedTokenizerFast, corpus: Sequence[tuple[str, str]], max_length: int) -> list[Example]:
    """Encode what fits, prompt and response apart, as a rollout sees them, so that no merge crosses the border."""
    chats = [[{"role": "user", "content": prompt}] for prompt, _ in corpus]
    prompts = tokenizer.apply_chat_template(chats, add_generation_prompt=True, return_dict=False)
    responses = tokenizer([response for _, response in corpus], add_special_tokens=False)["input_ids"]
    examples = [
        (prompt + response + [tokenizer.eos_token_id], len(prompt))
        for prompt, response in zip(prompts, responses, strict=True)
    ]
    fitting = [example for example in examples if len(example[0]) <= max_length]
    if not fitting:
        shortest = min(len(ids) for ids, _ in examples)
        raise ModelError(f"the shortest pair of the corpus has {shortest:,} tokens; raise max_length, now {max_length}")
    return fitting


def _new_model(tokenizer: PreTrainedTokenizerFast, settings: WarmStartSettings) -> Qwen2ForCausalLM:
    config = Qwen2Config(
        vocab_size=len(tokenizer),
        hidden_size=settings.hidden_size,
        intermediate_size=settings.intermediate_size,
        num_hidden_layers=settings.layers,
        num_attention_heads=settings.heads,
        num_key_value_heads=settings.heads,
        max_position_embeddings=settings.max_length,
        rope_parameters={"rope_type": "default", "rope_theta": 10_000.0},
        initializer_range=0.04,  # 0.02 suits wide models; at width 128 it starts the logits too flat
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        dtype="float32",
    )
    model = Qwen2ForCausalLM(config)  # type: ignore[no-untyped-call]  # transformers leaves it untyped
    model.generation_config = GenerationConfig(  # type: ignore[no-untyped-call]  # the same
        do_sample=True,
        temperature=1.0,
        top_k=0,
        top_p=1.0,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    return model


def _train(
    model: Qwen2ForCausalLM,
    examples: list[Example],
    settings: WarmStartSettings,
    on_progress: OnProgress | None,
) -> tuple[int, float, float]:
    """Train in place; returns the tokens seen, the seconds and the loss of the last 50 steps."""
    optimizer = torch.optim.AdamW(
        model.parameters(),
        lr=settings.lr,
        betas=(0.9, 0.98),
        weight_decay=settings.weight_decay,
        fused=True,
    )
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: _lr_factor(step, settings))
    model.train()
    losses: list[float] = []
    tokens, start = 0, time.perf_counter()
    for batch, step in zip(_batches(examples, settings), range(1, settings.steps + 1), strict=False):
        loss = _response_loss(model, batch)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]  # torch leaves it untyped
        torch.nn.utils.clip_grad_norm_(model.parameters(), settings.max_grad_norm)
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
        tokens += sum(len(ids) for ids, _ in batch)
        if on_progress:
            on_progress(step, settings.steps, losses[-1], tokens / (time.perf_counter() - start))
    model.train(False)
    return tokens, time.perf_counter() - start, sum(losses[-50:]) / len(losses[-50:])


def _lr_factor(step: int, settings: WarmStartSettings) -> float:
    """Linear rise, then half a cosine down to 0."""
    if step < settings.warmup_steps:
        return (step + 1) / settings.warmup_steps
    done = (step - settings.warmup_steps) / max(1, settings.steps - settings.warmup_steps)
    return 0.5 * (1 + math.cos(math.pi * min(1.0, done)))


def _batches(examples: list[Example], settings: WarmStartSettings) -> Iterator[list[Example]]:
    """Batches without end: shuffled pools, sorted by length inside, their batches shuffled again."""
    shuffler = random.Random(settings.seed)
    queue: list[Example] = []
    while True:
        while len(queue) < POOL_BATCHES * settings.batch:
            queue += shuffler.sample(examples, len(examples))
        pool = sorted(queue[: POOL_BATCHES * settings.batch], key=lambda example: len(example[0]))
        del queue[: POOL_BATCHES * settings.batch]
        starts = list(range(0, len(pool), settings.batch))
        shuffler.shuffle(starts)
        yield from (pool[start : start + settings.batch] for start in starts)


def _response_loss(model: Qwen2ForCausalLM, batch: list[Example]) -> torch.Tensor:
    """Mean cross-entropy of the response tokens.

    Padding is on the right, where causal attention never looks; so there is no mask, and only the
    positions that predict a response token go through the output layer.
    """
    width = max(len(ids) for ids, _ in batch)
    ids = torch.tensor([ids + [0] * (width - len(ids)) for ids, _ in batch])
    place = torch.arange(1, width)
    ends = torch.tensor([len(ids) for ids, _ in batch])[:, None]
    starts = torch.tensor([prompt for _, prompt in batch])[:, None]
    wanted = (place >= starts) & (place < ends)
    hidden = model.model(input_ids=ids[:, :-1], use_cache=False).last_hidden_state
    return torch.nn.functional.cross_entropy(model.lm_head(hidden[wanted]), ids[:, 1:][wanted])


def _save(
    model: Qwen2ForCausalLM, tokenizer: PreTrainedTokenizerFast, settings: WarmStartSettings, out_dir: Path
) -> None:
    """Write beside the target and rename, so that a folder with the final name is a whole model."""
    out_dir.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=f".{out_dir.name}.", dir=out_dir.parent))
    try:
        model.save_pretrained(temporary)
        tokenizer.save_pretrained(temporary)
        (temporary / SETTINGS_FILE).write_text(settings.model_dump_json(indent=2) + "\n", encoding="utf-8")
        temporary.chmod(0o755)  # mkdtemp makes it private
        temporary.rename(out_dir)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
