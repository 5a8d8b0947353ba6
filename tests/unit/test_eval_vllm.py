"""What is ours about vLLM: room in the context, memory that other processes hold; vLLM itself runs on a GPU only."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

import code_rlvr.evaluate.vllm_engine as vllm_engine  # noqa: E402
from code_rlvr.errors import ModelError, PreflightError  # noqa: E402
from code_rlvr.evaluate.context import fit_to_context  # noqa: E402
from code_rlvr.evaluate.engine import NO_ROOM, Generated, HuggingFaceEngine  # noqa: E402
from code_rlvr.evaluate.gpu_memory import GIB, SHARE, GpuMemory, plan_share, wait_for_memory  # noqa: E402
from code_rlvr.sampling import Sampling  # noqa: E402
from code_rlvr.train.warmstart import WarmStartSettings, warm_start  # noqa: E402

FOLDER = Path("models/m")
CONTEXT = 64


# Room in the context.


def test_a_response_gets_what_the_prompt_leaves_and_a_full_context_nothing() -> None:
    sampling = Sampling(max_new_tokens=10)
    found = fit_to_context([50, 60, 63, 64, 99], sampling, 64)
    assert {number: one.max_new_tokens for number, one in found.items()} == {0: 10, 1: 4, 2: 1}
    assert fit_to_context([64, 65], sampling, 64) == {}
    assert fit_to_context([10**6], sampling, None) == {0: sampling}


# Memory of the GPU.


class Gpu:
    """Free memory that changes with every reading; the last value stays."""

    def __init__(self, *free_gib: float, total_gib: float = 80) -> None:
        self._free, self._total = list(free_gib), int(total_gib * GIB)
        self.waited_s = 0.0

    def read(self) -> list[GpuMemory]:
        free = self._free[0] if len(self._free) == 1 else self._free.pop(0)
        return [GpuMemory(int(free * GIB), self._total)]

    def sleep(self, seconds: float) -> None:
        self.waited_s += seconds

    def wait(self, *at_least_gib: float) -> float:
        found = wait_for_memory(self.read, [int(one * GIB) for one in at_least_gib], sleep=self.sleep)
        return found[0].free / GIB


def test_memory_that_is_being_freed_is_waited_for() -> None:
    gpu = Gpu(10, 20, 30, 40, 50, 60, 70, 79)
    assert gpu.wait() == 79
    assert gpu.waited_s == 5.0  # 7 changes, and three readings that show none


def test_a_pause_while_memory_is_freed_is_not_the_end() -> None:
    slow = [10] * 8
    assert Gpu(*slow, 40, 79).wait() == 10  # it cannot be known that more will come
    assert Gpu(*slow, 40, 79).wait(79) == pytest.approx(79)


def test_memory_that_never_comes_back_is_waited_for_with_a_bound() -> None:
    gpu = Gpu(10)
    assert gpu.wait(79) == 10
    assert gpu.waited_s == 60


def test_memory_that_never_rests_is_waited_for_with_a_bound() -> None:
    gpu = Gpu(*[10, 20] * 200)
    gpu.wait()
    assert gpu.waited_s == 60


def test_small_changes_are_not_waited_for() -> None:
    gpu = Gpu(78.99, 79, 78.98, 79, 78.99)
    assert gpu.wait(79.02) == 79
    assert gpu.waited_s == 1.5


def test_without_a_gpu_nothing_is_waited_for() -> None:
    gpu = Gpu(1)
    assert wait_for_memory(lambda: [], sleep=gpu.sleep) == []
    assert gpu.waited_s == 0
    assert plan_share([], GIB, FOLDER) == SHARE


def test_an_engine_takes_no_more_of_a_gpu_than_is_free() -> None:
    idle, shared = GpuMemory(79 * GIB, 80 * GIB), GpuMemory(41 * GIB, 80 * GIB)
    assert plan_share([idle], GIB, FOLDER) == SHARE
    assert plan_share([idle, shared], GIB, FOLDER) == 0.5


def test_a_gpu_without_room_for_the_weights_is_said_with_a_remedy() -> None:
    full, small = GpuMemory(3 * GIB, 80 * GIB), GpuMemory(16 * GIB, 16 * GIB)
    with pytest.raises(PreflightError, match=r"GPU 1 has 3.0 of 80.0 GiB free, .*models/m take 2.0; .*nvidia-smi"):
        plan_share([small, full], 2 * GIB, FOLDER)
    with pytest.raises(PreflightError, match="use a smaller model"):
        plan_share([small], 14 * GIB, FOLDER)


# The engine on a stand-in, which refuses prompts as vLLM 0.24 does and answers with what it was asked.


@pytest.fixture(scope="module")
def model_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    settings = WarmStartSettings(
        vocab_size=300, hidden_size=16, layers=1, heads=2, intermediate_size=32, steps=1, batch=1, max_length=CONTEXT
    )
    return warm_start(tmp_path_factory.mktemp("models") / "m", [("Add 1.", "print(1)")], settings).path


class EngineDeadError(Exception):
    """As vLLM's."""


class StandIn:
    """As vLLM's `LLM`, as far as it is used."""

    def __init__(self, **options: Any) -> None:
        self.options = options
        self.open = True
        self.dies = False
        config = SimpleNamespace(max_model_len=CONTEXT)
        self.llm_engine = SimpleNamespace(model_config=config, engine_core=SimpleNamespace(shutdown=self._shut_down))

    def _shut_down(self) -> None:
        self.open = False

    def generate(self, prompts: Sequence[dict], settings: Sequence[Any], use_tqdm: bool) -> list[Any]:
        assert prompts, "vLLM is never asked nothing"
        if self.dies:
            raise EngineDeadError
        if any(len(one["prompt_token_ids"]) >= CONTEXT for one in prompts):
            raise ValueError("The decoder prompt is longer than the maximum model length")
        return [self._answer(one) for one in settings]

    @staticmethod
    def _answer(asked: Any) -> Any:
        tokens = range(asked.max_tokens)
        return SimpleNamespace(
            outputs=[SimpleNamespace(text=f"seed {asked.seed}", token_ids=tokens, finish_reason="length")]
        )


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> list[StandIn]:
    """vLLM and a GPU; holds the engines that were started."""
    started: list[StandIn] = []

    def start(**options: Any) -> StandIn:
        started.append(StandIn(**options))
        return started[-1]

    parts: dict[str, dict[str, Any]] = {
        "vllm": {"LLM": start, "SamplingParams": SimpleNamespace},
        "vllm.v1": {},
        "vllm.v1.engine": {},
        "vllm.v1.engine.exceptions": {"EngineDeadError": EngineDeadError},
    }
    for name, members in parts.items():
        module = ModuleType(name)
        module.__dict__.update(members)
        monkeypatch.setitem(sys.modules, name, module)

    def read(gpus: int) -> list[GpuMemory]:
        taken = 60 if any(one.open for one in started) else 1
        return [GpuMemory((80 - taken) * GIB, 80 * GIB)] * gpus

    monkeypatch.setattr(vllm_engine, "read_memory", read)
    monkeypatch.setattr("code_rlvr.evaluate.gpu_memory.POLL_S", 0.01)
    return started


def test_long_prompts_get_what_transformers_gives_them(model_dir: Path, gpu: list[StandIn]) -> None:
    short, long = [{"role": "user", "content": "Add 1."}], [{"role": "user", "content": "word " * 200}]
    engine = vllm_engine.VllmEngine(model_dir)
    answers = engine.generate([long, short, long, short], Sampling(max_new_tokens=10_000), [0, 1, 2, 3])
    assert answers[0] == answers[2] == NO_ROOM
    assert [one.text for one in answers] == ["", "seed 1", "", "seed 3"]
    assert 0 < answers[1].tokens < CONTEXT
    assert answers[1].truncated
    assert engine.generate([long], Sampling(), [0]) == [NO_ROOM]
    theirs = HuggingFaceEngine(model_dir).generate([long], Sampling(), [0])
    assert theirs == [NO_ROOM] == [Generated("", 0, True)]


def test_both_engines_stop_at_the_same_tokens(model_dir: Path, gpu: list[StandIn]) -> None:
    assert vllm_engine.VllmEngine(model_dir)._ends == HuggingFaceEngine(model_dir)._ends


def test_one_model_after_another_finds_the_memory_free(model_dir: Path, gpu: list[StandIn]) -> None:
    first = vllm_engine.VllmEngine(model_dir)
    first.close()
    vllm_engine.VllmEngine(model_dir)
    assert [one.open for one in gpu] == [False, True]
    assert [one.options["gpu_memory_utilization"] for one in gpu] == [SHARE, SHARE]


def test_memory_in_use_leaves_an_engine_what_is_free(model_dir: Path, gpu: list[StandIn]) -> None:
    vllm_engine.VllmEngine(model_dir)
    vllm_engine.VllmEngine(model_dir)  # the first still holds 60 of 80 GiB
    assert gpu[1].options["gpu_memory_utilization"] == pytest.approx(19 / 80)


def test_a_process_that_ends_while_it_samples_is_no_traceback(model_dir: Path, gpu: list[StandIn]) -> None:
    engine = vllm_engine.VllmEngine(model_dir)
    gpu[0].dies = True
    with pytest.raises(PreflightError, match=r"process ended while it sampled .* goes on"):
        engine.generate([[{"role": "user", "content": "Add 1."}]], Sampling(), [0])
    engine.close()


def test_a_start_that_another_process_spoilt_is_made_again(
    model_dir: Path, gpu: list[StandIn], monkeypatch: pytest.MonkeyPatch
) -> None:
    start = sys.modules["vllm"].LLM
    other = StandIn()  # holds 60 GiB, and gives them back while the first engine starts
    gpu.append(other)

    def fails_once(**options: Any) -> StandIn:
        if not other.open:
            return start(**options)
        other.open = False
        raise RuntimeError("Engine core initialization failed. See root cause above.")

    monkeypatch.setattr(sys.modules["vllm"], "LLM", fails_once)
    vllm_engine.VllmEngine(model_dir)
    assert gpu[-1].options["gpu_memory_utilization"] == SHARE


def test_a_model_that_vllm_cannot_serve_is_said_with_a_remedy(
    model_dir: Path, gpu: list[StandIn], monkeypatch: pytest.MonkeyPatch
) -> None:
    tries = []

    def fails(**_: object) -> None:
        tries.append(1)
        raise RuntimeError("Engine core initialization failed. See root cause above.")

    monkeypatch.setattr(sys.modules["vllm"], "LLM", fails)
    with pytest.raises(ModelError, match=r"cannot serve .* lines above name the cause.*--engine transformers"):
        vllm_engine.VllmEngine(model_dir)
    assert len(tries) == 1, "nobody gave memory back, so that another try would fail as well"
