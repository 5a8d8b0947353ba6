"""Packed samples: picking and cutting give what verl's own functions give, to the bit, gradients included."""

from __future__ import annotations

import importlib.util
from types import ModuleType, SimpleNamespace

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("verl", reason="needs the training extra")

from code_rlvr.train.packed_samples import is_packed, padded_responses, pick_samples  # noqa: E402  after the skip

pytestmark = pytest.mark.filterwarnings("ignore")  # jagged tensors and verl's imports announce their own changes

PROMPTS, RESPONSES = [3, 1, 7, 2, 5], [4, 9, 1, 0, 6]


def _jagged(lengths: list[int]) -> torch.Tensor:
    values = torch.arange(sum(lengths))
    return torch.nested.nested_tensor_from_jagged(values, torch.tensor([0, *lengths]).cumsum(0))


def _batch() -> dict[str, torch.Tensor]:
    return {"prompts": _jagged(PROMPTS), "responses": _jagged(RESPONSES)}


def _padded_batch() -> dict[str, torch.Tensor]:
    longest_prompt, longest = max(PROMPTS), max(RESPONSES)
    mask = torch.zeros(len(PROMPTS), longest_prompt + longest, dtype=torch.int64)
    for row, (prompt, response) in enumerate(zip(PROMPTS, RESPONSES, strict=True)):
        mask[row, longest_prompt - prompt : longest_prompt + response] = 1
    return {
        "prompts": torch.zeros(len(PROMPTS), longest_prompt),
        "responses": torch.zeros(len(PROMPTS), longest),
        "attention_mask": mask,
    }


def _verls_own(name: str) -> ModuleType:
    """A module as verl has it, even if this process has the patch."""
    found = importlib.util.find_spec(name)
    assert found is not None
    spec = importlib.util.spec_from_file_location("unpatched", found.origin)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("make", [_batch, _padded_batch])
@pytest.mark.parametrize("further", [(), (3,)])
@pytest.mark.parametrize("width", [None, 12])
def test_it_cuts_what_verl_cuts_and_sends_the_same_gradients(make: object, further: tuple[int], width: int) -> None:
    from tensordict import TensorDict
    from verl.utils import tensordict_utils as tu

    batch = TensorDict(make(), batch_size=len(PROMPTS))
    if width is not None:
        tu.assign_non_tensor(batch, max_response_len=width)
    torch.manual_seed(0)
    values = torch.randn(sum(PROMPTS) + sum(RESPONSES), *further)
    results = []
    for cut in (_verls_own("verl.workers.utils.padding").no_padding_2_padding, padded_responses):
        leaf = values.clone().requires_grad_()
        padded = cut(leaf, batch)
        (padded * torch.arange(padded.numel()).view_as(padded)).sum().backward()
        results.append((padded.detach(), leaf.grad))
    (theirs, their_gradient), (ours, our_gradient) = results
    assert torch.equal(theirs, ours)
    assert torch.equal(their_gradient, our_gradient)


def test_a_jagged_output_is_cut_like_its_values() -> None:
    lengths = [prompt + response for prompt, response in zip(PROMPTS, RESPONSES, strict=True)]
    jagged = _jagged(lengths)
    assert torch.equal(padded_responses(jagged, _batch()), padded_responses(jagged.values(), _batch()))


def test_an_output_of_another_length_is_refused() -> None:
    with pytest.raises(AssertionError, match="lengths add up to 38, the output has 37 tokens"):
        padded_responses(torch.zeros(37), _batch())


def test_an_empty_prompt_is_refused() -> None:
    batch = {"prompts": _jagged([2, 0]), "responses": _jagged([1, 1])}
    with pytest.raises(AssertionError, match="a prompt is empty"):
        padded_responses(torch.zeros(4), batch)


@pytest.mark.parametrize("picked", [[4, 0, 2], [3], [1, 1], torch.tensor([2, 4])])
@pytest.mark.parametrize("further", [(), (3,)])
def test_picked_samples_are_those_that_verl_picks(picked: object, further: tuple[int]) -> None:
    from tensordict import NonTensorStack, TensorDict

    from code_rlvr.train.verl_patches_speed import pick_samples_at_once

    values = torch.randn(sum(RESPONSES), *further)
    jagged = torch.nested.nested_tensor_from_jagged(values, torch.tensor([0, *RESPONSES]).cumsum(0))
    fields = {"tokens": jagged, "row": torch.arange(5), "name": NonTensorStack(*"abcde")}
    batch = TensorDict(fields, batch_size=5)
    verls = _verls_own("verl.utils.tensordict_utils").index_select_tensor_dict
    module = SimpleNamespace(index_select_tensor_dict=verls)
    pick_samples_at_once(module)
    theirs, ours = verls(batch, picked), module.index_select_tensor_dict(batch, picked)
    assert set(theirs.keys()) == set(ours.keys())
    assert theirs["name"] == ours["name"]
    assert torch.equal(theirs["row"], ours["row"])
    assert torch.equal(theirs["tokens"].offsets(), ours["tokens"].offsets())
    assert torch.equal(theirs["tokens"].values(), ours["tokens"].values())


def test_tensors_that_are_not_packed_are_left_to_verl() -> None:
    with_gaps = torch.nested.narrow(torch.arange(20).view(4, 5), 1, 0, torch.tensor([1, 5, 2, 3]), layout=torch.jagged)
    assert not is_packed(with_gaps)
    assert not is_packed(torch.zeros(4))
    assert not is_packed("text")
    assert is_packed(_jagged([1, 2]))
    assert torch.equal(pick_samples(_jagged([1, 2]), [1]).values(), torch.tensor([1, 2]))


def test_a_pass_fetches_what_a_model_reads() -> None:
    import asyncio

    from transfer_queue.metadata import BatchMeta, KVBatchMeta

    from code_rlvr.train.verl_patches_speed import leave_objects_in_the_store

    # As the store describes the second batch of a partition: of what is a tensor only the dtype is left.
    schema = {
        "input_ids": {"dtype": torch.int64, "is_non_tensor": None},
        "raw_prompt": {"dtype": None},
        "entropy": {"dtype": torch.float32},
    }
    stored = BatchMeta([0], ["train"], field_schema=schema, extra_info={"temperature": 1.0})

    async def ask(_meta: KVBatchMeta) -> BatchMeta:
        return stored

    module = SimpleNamespace(async_kv_batch_meta2batch_meta=ask)
    leave_objects_in_the_store(module)
    everything = KVBatchMeta(keys=["a"], tags=[{}], partition_id="train")
    found = asyncio.run(module.async_kv_batch_meta2batch_meta(everything))
    assert found.field_names == ["input_ids"]
    assert found.extra_info == {"temperature": 1.0}
    # What verl's store returns after a pass names every field, objects too.
    named = KVBatchMeta(keys=["a"], tags=[{}], partition_id="train", fields=["input_ids", "raw_prompt", "entropy"])
    assert asyncio.run(module.async_kv_batch_meta2batch_meta(named)).field_names == ["input_ids"]
