"""What is put while another put is under way goes together, and everybody hears of their own."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

import pytest
import torch

pytest.importorskip("verl", reason="needs the training extra")
pytestmark = pytest.mark.filterwarnings("ignore")  # importing verl and Ray raises their own deprecations

from code_rlvr.train.gathered_store import GatheredStore  # noqa: E402

Result = TypeVar("Result")


class Store:
    """Remembers what was put, and takes a moment for it."""

    def __init__(self) -> None:
        self.puts: list[dict[str, Any]] = []
        self.under_way = 0

    async def async_kv_batch_put(self, **put: Any) -> None:
        self.under_way += 1
        assert self.under_way == 1
        await asyncio.sleep(0.02)
        self.under_way -= 1
        if "broken" in put["keys"]:
            raise RuntimeError("planted: the store is full")
        self.puts.append(put)

    def kv_clear(self, partition_id: str) -> str:
        return partition_id


def run(scenario: Coroutine[Any, Any, Result]) -> Result:
    return asyncio.run(asyncio.wait_for(scenario, timeout=30))


def sample(store: GatheredStore, key: str, tokens: int, **more: Any) -> Coroutine[Any, Any, None]:
    fields = [{"responses": torch.arange(tokens), "uid": key[0], **more}]
    return store.async_kv_batch_put(keys=[key], fields=fields, tags=[{"len": tokens}], partition_id="train")


def test_the_first_goes_at_once_and_those_that_come_meanwhile_together() -> None:
    async def scenario() -> Store:
        inner = Store()
        store = GatheredStore(inner)
        await asyncio.gather(*(sample(store, f"a_{number}", 2 + number) for number in range(5)))
        return inner

    puts = run(scenario()).puts
    assert [put["keys"] for put in puts] == [[f"a_{number}" for number in range(5)]]

    async def one_before_the_others() -> Store:
        inner = Store()
        store = GatheredStore(inner)
        first = asyncio.create_task(sample(store, "a_0", 2))
        await asyncio.sleep(0.005)
        await asyncio.gather(first, *(sample(store, f"a_{number}", 2 + number) for number in range(1, 5)))
        return inner

    first, others = run(one_before_the_others()).puts
    assert first["keys"] == ["a_0"]
    assert others["keys"] == ["a_1", "a_2", "a_3", "a_4"]
    assert others["tags"] == [{"len": 3}, {"len": 4}, {"len": 5}, {"len": 6}]
    assert [row.tolist() for row in others["fields"]["responses"].unbind()] == [list(range(n)) for n in (3, 4, 5, 6)]
    assert list(others["fields"]["uid"]) == ["a"] * 4


def test_a_call_returns_when_its_own_samples_are_stored() -> None:
    async def scenario() -> list[int]:
        inner = Store()
        store = GatheredStore(inner)
        stored = []

        async def put(key: str) -> None:
            await sample(store, key, 3)
            stored.append(sum(key in one["keys"] for one in inner.puts))

        early = asyncio.create_task(put("a_0"))
        await asyncio.sleep(0.005)
        await asyncio.gather(early, put("b_0"), put("c_0"))
        return stored

    assert run(scenario()) == [1, 1, 1]


def test_samples_with_other_fields_and_other_partitions_stay_apart() -> None:
    async def scenario() -> Store:
        inner = Store()
        store = GatheredStore(inner)
        await asyncio.gather(sample(store, "a_0", 2), sample(store, "a_1", 2, image="i"), sample(store, "a_2", 2))
        await store.async_kv_batch_put(keys=["v_0"], fields=[{"uid": "v"}], tags=[{}], partition_id="val")
        return inner

    puts = run(scenario()).puts
    assert [(put["keys"], put["partition_id"]) for put in puts] == [
        (["a_0", "a_2"], "train"),
        (["a_1"], "train"),
        (["v_0"], "val"),
    ]


def test_tags_of_prompts_go_together_and_without_fields() -> None:
    async def scenario() -> Store:
        inner = Store()
        store = GatheredStore(inner)
        tags = [("a", "running"), ("b", "finished")]
        await asyncio.gather(
            *(store.async_kv_put(key=key, partition_id="train", tag={"status": said}) for key, said in tags)
        )
        return inner

    expected = {"keys": ["a", "b"], "tags": [{"status": "running"}, {"status": "finished"}], "partition_id": "train"}
    assert run(scenario()).puts == [expected]


def test_a_put_that_fails_fails_for_those_in_it_and_for_nobody_later() -> None:
    async def scenario() -> list[Any]:
        store = GatheredStore(Store())
        early = asyncio.create_task(sample(store, "a_0", 2))
        await asyncio.sleep(0.005)
        together = [sample(store, key, 2) for key in ("broken", "a_1")]
        results = await asyncio.gather(early, *together, return_exceptions=True)
        return [*results, await sample(store, "a_2", 2)]

    first, broken, beside, later = run(scenario())
    assert (first, later) == (None, None)
    assert "planted" in str(broken)
    assert "planted" in str(beside)


def test_a_caller_that_has_gone_holds_nobody_up() -> None:
    async def scenario() -> Store:
        inner = Store()
        store = GatheredStore(inner)
        gone = asyncio.create_task(sample(store, "a_0", 2))
        await asyncio.sleep(0.005)
        gone.cancel()
        await sample(store, "a_1", 2)
        return inner

    assert [put["keys"] for put in run(scenario()).puts] == [["a_0"], ["a_1"]]


def test_everything_else_is_the_stores() -> None:
    assert GatheredStore(Store()).kv_clear("val") == "val"
