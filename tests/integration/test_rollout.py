"""The transformers rollout and the sampler, in this process: what verl calls, without Ray around it."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest
import torch

from code_rlvr.decode import generate_batch
from code_rlvr.errors import TrainingError
from code_rlvr.train.sampler import VerifiedReplayBuffer
from code_rlvr.train.verl_cpu import rollout
from code_rlvr.train.verl_cpu.rollout import HfServer

SAMPLED = {"temperature": 1.0, "top_p": 1.0, "top_k": -1}


@pytest.fixture
def server(inputs: Path) -> HfServer:
    return HfServer(str(inputs / "model"), "float32", response_length=12, seed=0)


async def ask(server: HfServer, prompts: list[list[int]], **sampling: Any) -> list[Any]:
    calls = [server.generate(prompt, {**SAMPLED, **sampling}, request_id=str(i)) for i, prompt in enumerate(prompts)]
    return list(await asyncio.gather(*calls))


def test_calls_that_arrive_together_are_one_batch(server: HfServer, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []

    def decode(model: Any, prompts: list[list[int]], *rest: Any, **named: Any) -> Any:
        sizes.append(len(prompts))
        return generate_batch(model, prompts, *rest, **named)

    monkeypatch.setattr(rollout, "generate_batch", decode)
    asyncio.run(ask(server, [[5, 6, 7]] * 20))
    assert sizes == [20]


def test_a_short_response_is_there_while_a_long_one_is_still_written(server: HfServer) -> None:
    async def scenario() -> tuple[Any, bool, Any]:
        long = asyncio.create_task(server.generate([5, 6, 7], {**SAMPLED, "max_tokens": 200}, request_id="long"))
        short = await server.generate([8, 9], {**SAMPLED, "max_tokens": 1}, request_id="short")
        return short, long.done(), await long

    server._eos_ids = [10_000]  # nothing ends by itself
    short, long_was_done, long = asyncio.run(scenario())
    assert not long_was_done
    assert (len(short.token_ids), len(long.token_ids)) == (1, 200)


def test_the_seconds_of_the_answers_add_up_to_the_time_that_decoding_took(server: HfServer) -> None:
    started = time.monotonic()
    answers = asyncio.run(ask(server, [[5, 6, 7]] * 20))
    spent = sum(answer.extra_fields["generate_s"] for answer in answers)
    assert 0 < spent < time.monotonic() - started


def test_equal_prompts_get_different_samples_and_a_rerun_gets_the_same_ones(inputs: Path) -> None:
    def draw() -> list[list[int]]:
        server = HfServer(str(inputs / "model"), "float32", response_length=12, seed=3)
        return [answer.token_ids for answer in asyncio.run(ask(server, [[5, 6, 7]] * 6))]

    first = draw()
    assert len({tuple(tokens) for tokens in first}) > 1
    assert sorted(draw()) == sorted(first)


def test_a_response_has_a_log_probability_for_each_token_and_a_length_limit(server: HfServer) -> None:
    for answer in asyncio.run(ask(server, [[5, 6, 7], [8, 9]], max_tokens=4)):
        assert len(answer.log_probs) == len(answer.token_ids) <= 4
        assert answer.stop_reason in {"completed", "length"}


def test_new_weights_change_what_is_generated(server: HfServer) -> None:
    weights = {name: torch.zeros_like(tensor) for name, tensor in server._model.state_dict().items()}

    async def scenario() -> list[Any]:
        await server.load_weights(weights, global_steps=7)
        return await ask(server, [[5, 6, 7]], temperature=0.0)

    (answer,) = asyncio.run(scenario())
    assert answer.extra_fields["global_steps"] == 7
    assert len(set(answer.token_ids)) == 1  # all logits are equal, so the first token wins each time


def test_weights_that_lack_a_tensor_are_refused(server: HfServer) -> None:
    weights = dict(server._model.state_dict())
    missing = next(name for name in weights if "layers" in name)
    del weights[missing]
    with pytest.raises(TrainingError, match=r"missing \['model\.layers"):
        asyncio.run(server.load_weights(weights, global_steps=1))


def test_a_prompt_that_cannot_be_decoded_fails_its_call_instead_of_hanging(server: HfServer) -> None:
    with pytest.raises(TrainingError, match="generation failed"):
        asyncio.run(asyncio.wait_for(ask(server, [[10_000_000]]), timeout=30))


@pytest.fixture
def sampler(tmp_path: Path) -> VerifiedReplayBuffer:
    from omegaconf import OmegaConf

    kwargs = {"rollout_n": 1, "validation_n": 1, "max_response_tokens": 64, "stop_file": str(tmp_path / "stopped.txt")}
    return VerifiedReplayBuffer(
        trainer_mode="sync",
        trainer_config=OmegaConf.create({}),
        max_off_policy_threshold=None,
        max_off_policy_strategy="drop",
        sampler_kwargs=OmegaConf.create(kwargs),
        refill_fn=None,
    )


def test_one_lost_sample_does_not_stop_a_run(sampler: VerifiedReplayBuffer) -> None:
    sampler._expected = 64
    sampler._count_lost(1)


def test_more_than_one_lost_sample_in_a_hundred_stops_the_run_and_says_why(
    sampler: VerifiedReplayBuffer, tmp_path: Path
) -> None:
    sampler._expected = 384
    sampler._count_lost(2)
    sampler._count_lost(1)  # 3 of 384
    with pytest.raises(TrainingError, match=r"4 of 384 samples were lost"):
        sampler._count_lost(1)
    assert "4 of 384" in (tmp_path / "stopped.txt").read_text(encoding="utf-8")
