"""The changes to verl that only make a step shorter: what its processes do around the models.

Each has the reason and what would remove it, as in `verl_patches`, which applies them.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import wraps
from itertools import count
from typing import Any

from code_rlvr.train.settled_heap import settle_heap

READ_BY_NO_MODEL = frozenset({"dummy_tensor", "entropy", "log_probs", "rm_scores", "token_level_rewards"})
"""Tensors in verl's store for the trainer alone: what passes put out, and what advantages are made of."""


def leave_objects_in_the_store(module: Any) -> None:
    """Let a model's passes fetch tensors only, and of these what one of them may read.

    Why: verl asks its store for every field of the samples, chats, tests and verdicts among them, though the models
    read none of them; it then splits and copies these objects one by one for each micro-batch, which takes longer than
    the arithmetic of a small model.  A batch whose fields are named is no exception: after the first pass of a step
    they are named, all of them.  Removed by: verl naming the fields that a pass needs.
    """
    original: Callable[..., Any] = module.async_kv_batch_meta2batch_meta

    async def async_kv_batch_meta2batch_meta(meta: Any) -> Any:
        every = copy(meta)
        every.fields = None  # what is selected is copied, the shapes of all samples among it: once is enough
        batch = await original(every)
        # Of a partition's second batch the store no longer says is_non_tensor; what has a dtype is a tensor.
        tensors = [name for name, about in batch.field_schema.items() if about["dtype"] is not None]
        tensors = [name for name in tensors if name not in READ_BY_NO_MODEL]
        if meta.fields is not None:
            tensors = [name for name in tensors if name in meta.fields]
        extra = batch.extra_info
        batch = batch.select_fields(tensors)
        batch.extra_info = extra
        return batch

    module.async_kv_batch_meta2batch_meta = async_kv_batch_meta2batch_meta


def wait_for_samples(module: Any) -> None:
    """Let the synchronous trainer be told when a step's samples are there.

    Why: verl asks its queue again and again, each time for a list of all samples, which keeps busy the process that has
    to store them.  After the wait it asks once.  Removed by: verl waiting.
    """

    def on_sample_begin(self: Any) -> None:
        self.agent_loop_manager.finish_prompts()

    module.PPOTrainerSync.on_sample_begin = on_sample_begin


def put_samples_together(module: Any) -> None:
    """Let the agent loop put samples that end at the same time into the store at once.

    Why: see `gathered_store`; of the process that carries samples between sampler, reward and trainer, which a step of
    many short responses waits for, storing one by one takes a quarter of the time.  Removed by: verl doing it.
    """
    from code_rlvr.train.gathered_store import GatheredStore  # noqa: PLC0415  verl, loaded by the module already

    module.tq = GatheredStore(module.tq)
    module.list_of_dict_to_tensordict = list  # the store makes tensors of all that it puts together


def balance_plain_numbers(module: Any) -> None:
    """Share samples out over ranks by Python's numbers.

    Why: verl hands a tensor to an algorithm that compares its elements one by one, with one rank too, which takes a
    tenth of a second for 256 samples.  Removed by: verl handing over a list.
    """
    original: Callable[..., Any] = module.get_seqlen_balanced_partitions

    def get_seqlen_balanced_partitions(seqlen_list: Any, k_partitions: int, equal_size: bool) -> Any:
        numbers = seqlen_list.tolist() if hasattr(seqlen_list, "tolist") else seqlen_list
        return original(numbers, k_partitions=k_partitions, equal_size=equal_size)

    module.get_seqlen_balanced_partitions = get_seqlen_balanced_partitions


def cut_responses_at_once(module: Any) -> None:
    """Cut the responses out of a packed output with one indexing.

    Why: verl does it sample by sample and waits for the device each time.  Removed by: verl doing it at once.
    """
    from code_rlvr.train.packed_samples import padded_responses  # noqa: PLC0415  torch, loaded by verl already

    module.no_padding_2_padding = padded_responses


def pick_samples_at_once(module: Any) -> None:
    """Make mini-batches and micro-batches with one indexing for each field.

    Why: verl takes every field of a batch apart, sample by sample, and puts it together again, each time that it
    splits one.  Removed by: verl, or torch, indexing jagged tensors by samples.
    """
    from code_rlvr.train.packed_samples import is_packed, pick_samples  # noqa: PLC0415  torch, loaded by verl already

    original: Callable[..., Any] = module.index_select_tensor_dict

    def index_select_tensor_dict(batch: Any, indices: Any) -> Any:
        packed = {key: field for key, field in batch.items() if is_packed(field)} if batch is not None else {}
        if not packed or len(indices) == 0:
            return original(batch, indices)
        selected = original(batch.exclude(*packed), indices)
        for key, field in packed.items():
            selected[key] = pick_samples(field, indices)
        return selected

    module.index_select_tensor_dict = index_select_tensor_dict


def keep_whole_batches(module: Any) -> None:
    """Hand on a batch's description as it is where all of its samples are picked, in their order.

    Why: with one rank verl picks all of them before each pass and whenever it stores something, and copies all that is
    known of each, 16 ms for 256 samples.  Removed by: verl's queue looking before it copies.
    """
    original: Callable[..., Any] = module.BatchMeta.select_samples

    def select_samples(self: Any, sample_indices: list[int]) -> Any:
        return copy(self) if list(sample_indices) == list(range(self.size)) else original(self, sample_indices)

    module.BatchMeta.select_samples = select_samples


def settle_the_trainers_heap(module: Any) -> None:
    """Keep Python's collector, after the first step, from what the trainer's process holds.

    Why: see `settled_heap`.  Removed by: verl doing it.
    """
    original: Callable[..., Any] = module.PPOTrainer.step

    def step(self: Any, metrics: dict[str, Any], timing_raw: dict[str, float]) -> Any:
        batch = original(self, metrics, timing_raw)
        settle_heap()
        return batch

    module.PPOTrainer.step = step


UPDATES_UNTIL_SETTLED = 2
"""Weights are sent to the sampler before the first step, and after it, when all that is compiled is there."""


def settle_the_models_heap(module: Any) -> None:
    """Keep Python's collector, after the first step, from what the models' process holds.

    Why: see `settled_heap`.  Removed by: verl doing it.
    """
    original: Callable[..., Any] = module.ActorRolloutRefWorker.update_weights
    updates = count(1)

    @wraps(original)  # how verl calls it is written on the function
    async def update_weights(self: Any, *given: Any, **named: Any) -> Any:
        result = await original(self, *given, **named)
        if next(updates) == UPDATES_UNTIL_SETTLED:
            settle_heap()
        return result

    module.ActorRolloutRefWorker.update_weights = update_weights
