"""The trainer's view of the rewards: metrics of exactly the samples that are trained on.

verl logs only the score in training, drops a sample whose reward function raised without a word, and
polls for finished samples every two seconds.  Its sampler is an extension point
(``trainer.v1.sampler.custom_sampler``), and everything it returns as metrics reaches every logger.  So
this sampler looks at the batch that it hands out, and again when its rewards are there (`agent_loop`):

* the mean of every key of the reward function, as ``reward/<key>``, over the samples of the batch, and more of
  that kind (`batch_metrics`);
* the share of responses that were cut at the longest length allowed, as ``rollout/truncated``;
* the share of samples that were lost, as ``reward/unjudged``: generated or asked for, but never scored.
  Past one in a hundred the run stops, because verl would go on with ever smaller batches;
* proof, with the first batch, that it was our reward function that verl called.

The run's folder comes through ``sampler_kwargs``; the reason for a stop is left there for the launcher.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import transfer_queue as tq
from verl.trainer.ppo.v1.replay_buffer import ReplayBuffer

from code_rlvr.errors import TrainingError
from code_rlvr.reward import METRIC_KEYS
from code_rlvr.train.batch_metrics import reward_metrics
from code_rlvr.train.stored_rewards import sample_of, store_rewards

POLL_S = 0.02
"""Between two looks at verl's queue, where a look does not suffice: in validation, and where prompts failed."""
MAX_LOST_SHARE = 0.01


class VerifiedReplayBuffer(ReplayBuffer):
    """verl's synchronous sampler, with metrics of the rewards and a watch on lost samples.

    Args:
        sampler_kwargs: ``rollout_n`` and ``validation_n``, samples per prompt in training and validation;
            ``max_response_tokens``; and ``stop_file``, where the reason for a stop is written.
        rest: What verl passes to every sampler.
    """

    def __init__(self, *, sampler_kwargs: Any, **rest: Any) -> None:
        super().__init__(sampler_kwargs=sampler_kwargs, poll_interval=POLL_S, **rest)
        self._samples_per_prompt = {"train": int(sampler_kwargs.rollout_n), "val": int(sampler_kwargs.validation_n)}
        self._max_response_tokens = int(sampler_kwargs.max_response_tokens)
        self._stop_file = Path(sampler_kwargs.stop_file)
        self._expected = 0
        self._lost = 0
        self._lost_of_batch = 0

    def sample(self, global_steps: int, partition_id: str, batch_size: int) -> tuple[Any, dict[str, float]]:
        """Return a batch and its metrics but for those of its rewards; see `ReplayBuffer.sample`.

        Raises:
            TrainingError: Too many samples were lost.
        """
        batch, metrics = super().sample(global_steps, partition_id, batch_size)
        asked = batch_size * self._samples_per_prompt[partition_id]
        self._expected += asked
        self._count_lost(asked - len(batch.keys))
        if partition_id == "train":
            self._lost_of_batch = asked - len(batch.keys)
            metrics = {**metrics, **self._length_metrics(batch)}
        return batch, metrics

    def receive(self, batch: Any, rewards: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
        """Give the samples of a training batch their rewards; return the metrics of these.

        Args:
            batch: As `sample` returned it, maybe with padding, which has no rewards.
            rewards: By sample, as `DeferredRewardManager.rewards` has them.

        Raises:
            TrainingError: Too many samples were lost, or verl called another reward function.
        """
        judged, lost = store_rewards(batch, rewards)
        self._count_lost(len(lost))
        found = [rewards[sample_of(key)] for key in judged]
        if any(set(METRIC_KEYS) - set(reward) for reward in found):
            self._stop(
                "verl called another reward function than code_rlvr.reward.compute_score: it is set under "
                "reward.custom_reward_function (command.txt has the whole command)"
            )
        wanted = ["data_source", "uid"]
        fields = tq.kv_batch_get(keys=judged, partition_id=batch.partition_id, select_fields=wanted)
        sources, prompts = ([getattr(one, "data", one) for one in fields[name]] for name in wanted)
        without = len(lost) + self._lost_of_batch
        return {**reward_metrics(found, sources, prompts), "reward/unjudged": without / (without + len(judged))}

    def _count_lost(self, lost: int) -> None:
        self._lost += lost
        # One sample may always be lost: in a first batch of 64 it would already be more than the share.
        if self._lost > max(1, MAX_LOST_SHARE * self._expected):
            self._stop(
                f"{self._lost} of {self._expected} samples were lost: their reward or their generation failed, and the "
                "trainer would have left them out of its batches without a word. The tracebacks are in logs/verl.log."
            )

    def _length_metrics(self, batch: Any) -> dict[str, float]:
        # verl's response_length/clip_ratio compares with the longest response of the batch, not with the limit.
        lengths = np.array([tag["response_len"] for tag in batch.tags])
        metrics = {"rollout/truncated": float(np.mean(lengths >= self._max_response_tokens))}
        extra = tq.kv_batch_get(keys=batch.keys, partition_id=batch.partition_id, select_fields=["extra_fields"])
        seconds = [getattr(one, "data", one).get("generate_s") for one in extra["extra_fields"]]
        if None not in seconds:  # our rollout says how long it took; vLLM does not
            metrics["rollout/generate_s/total"] = float(np.sum(seconds))
        return metrics

    def _stop(self, reason: str) -> None:
        self._stop_file.write_text(reason + "\n", encoding="utf-8")
        raise TrainingError(reason)
