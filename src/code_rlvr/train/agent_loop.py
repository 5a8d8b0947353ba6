"""Responses go to the trainer as soon as they are complete; their verdicts follow while the models work on them.

Until the advantages nothing in a step reads a reward: the passes for old log-probabilities, the reference's and the
values need only tokens.  verl's agent loop nevertheless stores a sample when it has been judged, so that one program
that never ends holds up the whole step.  Here a sample is stored with a score of 0 in place of its own and judged
beside that; `verl_patches.wait_for_verdicts` collects the verdicts where they are first read.  What is learned from is
the same, sample for sample.

Where samples are many and short, the processes that carry them are what a step waits for, so they also do less for each
of them than verl's.

verl has an extension point for this (``rollout.agent.agent_loop_manager_class``).  Validation is as it was: nothing
follows there that could go on without verdicts.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from typing import Any

import hydra
import ray
from verl.experimental.agent_loop import agent_loop as verl_loops
from verl.trainer.ppo.v1 import AgentLoopManagerTQ, AgentLoopWorkerTQ

from code_rlvr.train.settled_heap import settle_heap

logger = logging.getLogger(__name__)

SINGLE_TURN = "single_turn_agent"
"""verl's agent loop for one response to a prompt, which keeps nothing from one prompt to the next."""

Reward = Mapping[str, float]
"""What the reward function returned for a sample."""

_actor: Any = AgentLoopWorkerTQ  # Ray's types know it as the class that it was before it became an actor
_Worker: Any = _actor.__ray_metadata__.modified_class


class DeferredRewardWorker(_Worker):  # type: ignore[misc]  # only at run time there is a class
    """verl's agent loop, but for training samples, which do not wait for their rewards."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._judging: dict[str, asyncio.Task[Reward]] = {}
        self._single_turn: Any = None

    async def _run_agent_loop(self, sampling_params: Any, trajectory: Any, **about: Any) -> Any:
        """Run one agent loop; of those for a single turn there is one for all, since making one takes milliseconds."""
        if about["agent_name"] != SINGLE_TURN or about.get("trace", True):
            return await super()._run_agent_loop(sampling_params, trajectory, **about)
        if self._single_turn is None:
            self._single_turn = self._make_agent_loop(SINGLE_TURN)
        sample = {name: value for name, value in about.items() if name not in ("agent_name", "trace")}
        output = await self._single_turn.run(sampling_params, **sample)
        return await self._agent_loop_postprocess(output, trajectory["validate"], **sample)

    def _make_agent_loop(self, name: str) -> Any:
        """As verl makes one for each sample."""
        return hydra.utils.instantiate(
            config=verl_loops._agent_loop_registry[name],
            trainer_config=verl_loops.DictConfigWrap(config=self.config),
            server_manager=self.llm_client,
            tokenizer=self.tokenizer,
            processor=self.processor,
            hf_model_type=self.hf_model_type,
            dataset_cls=self.dataset_cls,
            data_config=verl_loops.DictConfigWrap(self.config.data),
            tools=verl_loops.ToolListWrap(self.tools),
        )

    async def _agent_loop_postprocess(self, output: Any, validate: bool, **about: Any) -> None:
        outputs = output if isinstance(output, list) else [output]
        if outputs and not validate:
            # Copies: verl writes the reward into what it judges, and what is stored must not change meanwhile.
            judged = [one.model_copy(update={"extra_fields": dict(one.extra_fields)}) for one in outputs]
            sample = f"{about['uid']}_{about['session_id']}"
            self._judging[sample] = asyncio.create_task(self._judge(judged, about))
            outputs[-1].reward_score = 0.0  # verl judges what has no score yet
            outputs[-1].extra_fields["reward_extra_info"] = {}
        await super()._agent_loop_postprocess(output, validate, **about)

    async def _judge(self, outputs: list[Any], about: dict[str, Any]) -> Reward:
        await self._compute_score(outputs, kwargs=about)
        return {"score": outputs[-1].reward_score, **outputs[-1].extra_fields["reward_extra_info"]}

    async def finish_prompts(self) -> None:
        """Return when the samples of all prompts that were handed out are stored, or known to have failed."""
        await asyncio.gather(*self.background_tasks, return_exceptions=True)  # verl stores what failed as well

    async def rewards(self) -> dict[str, Reward]:
        """Wait for the rewards of all training samples since the last call.

        Returns:
            By ``<uid>_<session>``, the beginning of a sample's keys; without those whose judging failed, of which the
            log has the tracebacks.
        """
        judging, self._judging = self._judging, {}
        results = await asyncio.gather(*judging.values(), return_exceptions=True)
        found = {}
        for sample, result in zip(judging, results, strict=True):
            if isinstance(result, BaseException):
                logger.error("sample %s was not judged", sample, exc_info=result)
            else:
                found[sample] = result
        settle_heap()  # no sample is under way
        return found


class DeferredRewardManager(AgentLoopManagerTQ):
    """verl's manager, with such workers."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)  # type: ignore[no-untyped-call]  # verl has no types
        self.agent_loop_workers_class = ray.remote(DeferredRewardWorker)

    def finish_prompts(self) -> None:
        """Wait for the step's samples; see `DeferredRewardWorker.finish_prompts`."""
        ray.get([worker.finish_prompts.remote() for worker in self._workers()])

    def rewards(self) -> dict[str, Reward]:
        """Wait for the rewards of the step's samples; see `DeferredRewardWorker.rewards`."""
        parts = ray.get([worker.rewards.remote() for worker in self._workers()])
        return {sample: reward for part in parts for sample, reward in part.items()}

    def _workers(self) -> list[Any]:
        workers: list[Any] = self.agent_loop_workers
        return workers
