"""The engine on a real small model: memory that runs out, prompts that do not fit, folders that are broken."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from safetensors.torch import load_file, save_file  # noqa: E402

import code_rlvr.evaluate.engine as engine_module  # noqa: E402
from code_rlvr.errors import ModelError, PreflightError  # noqa: E402
from code_rlvr.evaluate.choose_engine import LateEngine, choose_engine  # noqa: E402
from code_rlvr.evaluate.engine import Generated, HuggingFaceEngine, hash_model  # noqa: E402
from code_rlvr.sampling import Sampling  # noqa: E402
from code_rlvr.train.warmstart import WarmStartSettings, warm_start  # noqa: E402

GREEDY = Sampling(temperature=0, max_new_tokens=12)
CHATS = [[{"role": "user", "content": f"Add {i}."}] for i in range(6)]


@pytest.fixture(scope="module")
def model_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    corpus = [(f"Add {i}.", f"```python\nprint({i})\n```") for i in range(6)]
    settings = WarmStartSettings(
        vocab_size=300, hidden_size=16, layers=1, heads=2, intermediate_size=32, steps=5, batch=6, max_length=64
    )
    return warm_start(tmp_path_factory.mktemp("models") / "m", corpus, settings).path


@pytest.fixture
def copy(model_dir: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(model_dir, tmp_path / "copy"))


def plant_small_memory(monkeypatch: pytest.MonkeyPatch, rows: int, error: Exception) -> list[int]:
    """Let memory suffice for so many rows only; return what was tried."""
    tried: list[int] = []
    real = engine_module.generate_batch

    def limited(*words, max_rows, **options):
        tried.append(max_rows)
        if max_rows > rows:
            raise error
        return real(*words, max_rows=max_rows, **options)

    monkeypatch.setattr(engine_module, "generate_batch", limited)
    return tried


@pytest.mark.parametrize(
    "error", [torch.OutOfMemoryError("CUDA out of memory"), RuntimeError("DefaultCPUAllocator: can't allocate memory")]
)
def test_half_as_many_are_decoded_at_once_when_memory_runs_out(
    model_dir: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    engine = HuggingFaceEngine(model_dir, max_rows=8)
    plain = engine.generate(CHATS, GREEDY, range(6))
    tried = plant_small_memory(monkeypatch, 2, error)
    assert engine.generate(CHATS, GREEDY, range(6)) == plain
    assert tried == [8, 4, 2]
    engine.generate(CHATS, GREEDY, range(6))
    assert tried == [8, 4, 2, 2]  # it does not run out a second time


def test_a_sample_that_never_fits_is_said_with_a_remedy(model_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plant_small_memory(monkeypatch, 0, torch.OutOfMemoryError("CUDA out of memory"))
    with pytest.raises(PreflightError, match="lower --max-new-tokens"):
        HuggingFaceEngine(model_dir, max_rows=8).generate(CHATS, GREEDY, range(6))


def test_other_errors_are_not_taken_for_a_lack_of_memory(model_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tried = plant_small_memory(monkeypatch, 0, RuntimeError("a kernel failed"))
    with pytest.raises(RuntimeError, match="a kernel failed"):
        HuggingFaceEngine(model_dir, max_rows=8).generate(CHATS, GREEDY, range(6))
    assert tried == [8]


def test_a_model_that_does_not_fit_is_said(model_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object, **__: object) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(engine_module.AutoModelForCausalLM, "from_pretrained", fails)
    with pytest.raises(PreflightError, match="does not fit into the memory of cpu"):
        HuggingFaceEngine(model_dir)


def test_responses_end_with_the_context_and_prompts_that_fill_it_get_none(model_dir: Path) -> None:
    engine = HuggingFaceEngine(model_dir)
    long = [{"role": "user", "content": "word " * 200}]
    answers = engine.generate([CHATS[0], long], Sampling(temperature=0, max_new_tokens=10_000), [0, 1])
    assert answers[0].tokens <= 64
    assert answers[1] == Generated("", 0, True)
    assert engine.generate([long], GREEDY, [0]) == [Generated("", 0, True)]


def test_weights_that_are_missing_are_not_made_up(copy: Path) -> None:
    weights = load_file(copy / "model.safetensors")
    gone = sorted(weights)[-1]
    del weights[gone]
    save_file(weights, copy / "model.safetensors", {"format": "pt"})
    with pytest.raises(ModelError, match=f"lack 1 of the model's, e.g. {gone}"):
        HuggingFaceEngine(copy)


def test_weights_of_another_shape_and_broken_files_are_refused(copy: Path) -> None:
    config = json.loads((copy / "config.json").read_text())
    (copy / "config.json").write_text(json.dumps({**config, "intermediate_size": 48}))
    with pytest.raises(ModelError, match="cannot load"):
        HuggingFaceEngine(copy)
    (copy / "config.json").write_text(json.dumps(config))
    (copy / "model.safetensors").write_bytes(b"not weights")
    with pytest.raises(ModelError, match="cannot load"):
        HuggingFaceEngine(copy)


def test_a_finished_evaluation_needs_no_model_in_memory(model_dir: Path) -> None:
    engine = LateEngine(model_dir, "transformers", 8)
    assert engine.identity == hash_model(model_dir)
    assert engine._engine is None
    assert len(engine.generate(CHATS, GREEDY, range(6))) == 6
    engine.close()
    assert engine._engine is None


def test_vllm_has_other_samples_and_is_refused_where_it_cannot_run(model_dir: Path) -> None:
    assert LateEngine(model_dir, "vllm", 8).identity != LateEngine(model_dir, "transformers", 8).identity
    assert choose_engine("transformers") == "transformers"
    if not torch.cuda.is_available():
        assert choose_engine("auto") == "transformers"
        with pytest.raises(PreflightError, match="--engine vllm needs"):
            choose_engine("vllm")
