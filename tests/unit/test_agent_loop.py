"""Training samples are stored before they are judged; validation samples after."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

import pytest

pytest.importorskip("verl.trainer.ppo.v1", reason="needs the training extra")
pytestmark = pytest.mark.filterwarnings("ignore")  # importing verl and Ray raises their own deprecations

import hydra  # noqa: E402
from omegaconf import OmegaConf  # noqa: E402
from verl.experimental.agent_loop import AgentLoopOutput  # noqa: E402
from verl.experimental.agent_loop import agent_loop as verl_loops  # noqa: E402
from verl.experimental.agent_loop.agent_loop import AgentLoopMetrics  # noqa: E402
from verl.trainer.ppo.v1 import agent_loop_tq  # noqa: E402

from code_rlvr.train import agent_loop  # noqa: E402
from code_rlvr.train.agent_loop import DeferredRewardWorker  # noqa: E402

Result = TypeVar("Result")


class Worker(DeferredRewardWorker):
    """A worker without a model and a reward process: `verdict` is what judging waits for."""

    def __init__(self) -> None:
        self._judging = {}
        self._single_turn = None
        self.background_tasks = set()
        self.config = OmegaConf.create({"data": {}})
        self.llm_client = self.tokenizer = self.hf_model_type = self.dataset_cls = self.tools = None
        self.verdict: asyncio.Future[float] = asyncio.get_running_loop().create_future()
        self.teacher_key = ""
        self.distillation_enabled = False
        self.processor = None

    async def _compute_score(self, outputs: list[Any], kwargs: dict[str, Any]) -> None:
        if outputs[-1].reward_score is None:
            outputs[-1].reward_score = await self.verdict
            outputs[-1].extra_fields["reward_extra_info"] = {"score": outputs[-1].reward_score, "accepted": 1.0}


@pytest.fixture
def stored(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What was put into verl's store."""
    calls: list[dict[str, Any]] = []

    async def put(**call: Any) -> None:
        calls.append(call)

    monkeypatch.setattr(agent_loop_tq.tq, "async_kv_batch_put", put)
    return calls


@pytest.fixture(autouse=True)
def settled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Filled in place of leaving this process's objects out of its garbage collections."""
    calls: list[str] = []
    monkeypatch.setattr(agent_loop, "settle_heap", lambda: calls.append("settled"))
    return calls


def response() -> AgentLoopOutput:
    return AgentLoopOutput(
        prompt_ids=[5, 6], response_ids=[7, 8, 9], response_mask=[1, 1, 1], metrics=AgentLoopMetrics(), num_turns=2
    )


def finish(worker: Worker, validate: bool) -> Coroutine[Any, Any, None]:
    return worker._agent_loop_postprocess(response(), validate, uid="a1", session_id=3, global_steps=1)


def run(scenario: Coroutine[Any, Any, Result]) -> Result:
    return asyncio.run(asyncio.wait_for(scenario, timeout=30))


def test_a_training_sample_is_stored_while_it_is_judged(stored: list[dict[str, Any]]) -> None:
    async def scenario() -> tuple[int, dict[str, Any]]:
        worker = Worker()
        await finish(worker, validate=False)
        before = len(stored)
        worker.verdict.set_result(0.75)
        return before, await worker.rewards()

    before, rewards = run(scenario())
    assert before == 1
    (call,) = stored
    assert (call["keys"], call["partition_id"]) == (["a1_3_0"], "train")
    assert call["fields"]["rm_scores"][0].tolist() == [0, 0, 0], "a place for the score, which comes later"
    assert rewards == {"a1_3": {"score": 0.75, "accepted": 1.0}}


def test_a_validation_sample_is_stored_with_its_score(stored: list[dict[str, Any]]) -> None:
    async def scenario() -> tuple[int, dict[str, Any]]:
        worker = Worker()
        finishing = asyncio.create_task(finish(worker, validate=True))
        await asyncio.sleep(0.05)
        before = len(stored)
        worker.verdict.set_result(0.75)
        await finishing
        return before, await worker.rewards()

    before, rewards = run(scenario())
    assert (before, rewards) == (0, {})
    assert stored[0]["partition_id"] == "val"
    assert stored[0]["fields"]["rm_scores"][0].tolist() == [0, 0, 0.75]


def test_a_sample_whose_judging_fails_has_no_reward_and_says_why(
    stored: list[dict[str, Any]], caplog: pytest.LogCaptureFixture
) -> None:
    async def scenario() -> dict[str, Any]:
        worker = Worker()
        await finish(worker, validate=False)
        worker.verdict.set_exception(RuntimeError("planted: the judge broke"))
        return await worker.rewards()

    assert run(scenario()) == {}
    assert "planted: the judge broke" in caplog.text


def test_rewards_are_handed_out_once_and_then_the_heap_is_settled(
    stored: list[dict[str, Any]], settled: list[str]
) -> None:
    async def scenario() -> list[dict[str, Any]]:
        worker = Worker()
        await finish(worker, validate=False)
        worker.verdict.set_result(1.0)
        return [await worker.rewards(), await worker.rewards()]

    first, second = run(scenario())
    assert (len(first), second) == (1, {})
    assert settled == ["settled", "settled"]  # of which the second does nothing, see `settle_heap`


def test_prompts_are_finished_when_all_are_stored_or_have_failed() -> None:
    async def scenario() -> list[bool]:
        worker, sampled = Worker(), asyncio.Event()

        async def fail() -> None:
            await sampled.wait()
            raise RuntimeError("planted: a prompt failed")

        worker.background_tasks.update({asyncio.create_task(sampled.wait()), asyncio.create_task(fail())})
        finished = asyncio.create_task(worker.finish_prompts())
        await asyncio.sleep(0.01)
        before = finished.done()
        sampled.set()
        await finished
        await worker.finish_prompts()  # of none: at once
        return [before, finished.done()]

    assert run(scenario()) == [False, True]


@pytest.mark.parametrize(("agent", "made"), [("single_turn_agent", 1), ("agent_with_tools", 3)])
def test_all_samples_of_a_single_turn_share_an_agent_loop(
    stored: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch, agent: str, made: int
) -> None:
    loops = []

    class Loop:
        """Answers each prompt alike."""

        def __init__(self, **given: Any) -> None:
            assert given["config"] == agent
            loops.append(self)

        async def run(self, sampling_params: dict[str, Any], **sample: Any) -> AgentLoopOutput:
            assert (sampling_params, sample["raw_prompt"]) == ({"temperature": 1.0}, "the prompt")
            return response()

    monkeypatch.setattr(hydra.utils, "instantiate", Loop)
    monkeypatch.setitem(verl_loops._agent_loop_registry, agent, agent)
    trajectory = {"step": 1, "sample_index": 0, "rollout_n": 0, "validate": False}

    async def scenario() -> dict[str, Any]:
        worker = Worker()
        for session in range(3):
            about = {"agent_name": agent, "raw_prompt": "the prompt", "uid": "a1", "session_id": session}
            await worker._run_agent_loop({"temperature": 1.0}, trajectory, trace=False, global_steps=1, **about)
        worker.verdict.set_result(1.0)
        return await worker.rewards()

    assert len(run(scenario())) == 3
    assert [call["keys"] for call in stored] == [["a1_0_0"], ["a1_1_0"], ["a1_2_0"]]
    assert len(loops) == made
