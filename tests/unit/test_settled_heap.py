"""What a process has loaded is looked at no more, and what it makes later is collected as before."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from code_rlvr.train import verl_patches_speed
from code_rlvr.train.settled_heap import settle_heap
from code_rlvr.train.verl_patches_speed import settle_the_models_heap, settle_the_trainers_heap


class Node:
    """Refers to itself, so only the collector frees it."""

    def __init__(self) -> None:
        self.itself = self


@pytest.fixture(autouse=True)
def own_heap() -> Iterator[None]:
    settle_heap.cache_clear()
    yield
    gc.unfreeze()
    settle_heap.cache_clear()


def test_objects_that_are_there_are_left_out_and_garbage_is_not_kept() -> None:
    garbage = weakref.ref(Node())
    settle_heap()
    assert garbage() is None
    assert gc.get_freeze_count() > 20 * len(gc.get_objects())


def test_later_cycles_are_collected_also_after_a_second_call() -> None:
    settle_heap()
    node = Node()
    seen = weakref.ref(node)
    settle_heap()
    del node
    gc.collect()
    assert seen() is None


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    found: list[str] = []
    monkeypatch.setattr(verl_patches_speed, "settle_heap", lambda: found.append("settled"))
    return found


def test_the_trainers_heap_is_settled_when_its_step_has_ended(settled: list[str]) -> None:
    class Trainer:
        def step(self, metrics: dict[str, Any], timing_raw: dict[str, float]) -> str:
            metrics["settled before"] = len(settled)
            return "batch"

    module = SimpleNamespace(PPOTrainer=Trainer)
    settle_the_trainers_heap(module)
    metrics: dict[str, Any] = {}
    assert Trainer().step(metrics, {}) == "batch"
    assert metrics == {"settled before": 0}
    assert settled == ["settled"]


def test_the_models_heap_is_settled_after_the_first_step_and_the_method_stays_verls(settled: list[str]) -> None:
    class Worker:
        async def update_weights(self, global_steps: int) -> int:
            return global_steps

    Worker.update_weights.how_to_call = "on all ranks"  # type: ignore[attr-defined]  # as verl's decorator does it
    settle_the_models_heap(SimpleNamespace(ActorRolloutRefWorker=Worker))
    assert Worker.update_weights.how_to_call == "on all ranks"  # type: ignore[attr-defined]
    seen = []
    for step in range(4):
        assert asyncio.run(Worker().update_weights(global_steps=step)) == step
        seen.append(len(settled))
    assert seen == [0, 1, 1, 1]
