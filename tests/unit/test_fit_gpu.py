"""What was left open about a GPU's memory is settled by what fits, and what was set stays."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from code_rlvr.config import load_config
from code_rlvr.train import fit_gpu as module
from code_rlvr.train.config import TrainConfig
from code_rlvr.train.fit_gpu import fit_gpu
from code_rlvr.train.presets import find_preset

HALF_BILLION = {
    "hidden_size": 896,
    "intermediate_size": 4864,
    "num_hidden_layers": 24,
    "vocab_size": 151_936,
    "torch_dtype": "bfloat16",
}


def fitted(folder: Path, monkeypatch: pytest.MonkeyPatch, card_gib: float | None, *words: str) -> TrainConfig:
    """The preset for one GPU on a card of so many GiB."""
    (folder / "config.json").write_text(json.dumps(HALF_BILLION))
    with (folder / "model.safetensors").open("wb") as file:
        file.truncate(2 * 494_000_000)
    monkeypatch.setattr(module, "list_gpus", lambda: [] if card_gib is None else [card_gib])
    base = find_preset("single-gpu-0.5b")
    return fit_gpu(load_config(TrainConfig, None, [f"model={folder}", *words], base=base))


def settled(folder: Path, monkeypatch: pytest.MonkeyPatch, card_gib: float | None, *words: str) -> list[bool | None]:
    """Checkpointing, offload of actor, critic and reference, on a card of so many GiB."""
    config = fitted(folder, monkeypatch, card_gib, *words)
    return [
        config.actor.gradient_checkpointing,
        config.actor.offload,
        config.critic.offload,
        config.reference.offload,
    ]


def test_a_large_card_pays_for_no_saving(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert settled(tmp_path, monkeypatch, 141) == [False, False, False, False]


def test_a_card_in_between_saves_no_more_than_it_must(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = [settled(tmp_path, monkeypatch, gib) for gib in (24, 32, 40, 48, 64, 80, 141)]
    counts = [sum(map(bool, one)) for one in found]
    assert counts == sorted(counts, reverse=True)
    assert [True, False, False, False] in found


def test_a_card_of_24_gib_saves_all_that_can_be_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert settled(tmp_path, monkeypatch, 24) == [True, True, True, True]


def test_where_no_gpu_is_seen_everything_is_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert settled(tmp_path, monkeypatch, None) == [True, True, True, True]


def test_what_was_set_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert settled(tmp_path, monkeypatch, 141, "actor.offload=true") == [False, True, False, False]
    assert settled(tmp_path, monkeypatch, 24, "critic.offload=false") == [True, True, False, True]


def test_a_cpu_has_nothing_to_save(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert settled(tmp_path, monkeypatch, None, "trainer.device=cpu", "rollout.engine=hf") == [False] * 4


def test_a_model_that_is_not_there_is_left_to_preflight(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(module, "list_gpus", lambda: [80.0])
    config = load_config(TrainConfig, None, [f"model={tmp_path / 'none'}"], base=find_preset("single-gpu-0.5b"))
    assert fit_gpu(config).actor.offload is True


@pytest.mark.parametrize(
    ("card_gib", "words", "tokens"),
    [
        (141, [], 32_768),
        (141, ["actor.micro_batch_tokens=8192"], 8192),
        (141, ["actor.offload=true"], 32_768),
        (141, ["data.max_response_tokens=40000"], 40_512),
        (48, [], 16_384),
        (24, [], 16_384),
        (None, [], 16_384),
    ],
)
def test_passes_are_large_where_nothing_has_to_be_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, card_gib: float | None, words: list[str], tokens: int
) -> None:
    assert fitted(tmp_path, monkeypatch, card_gib, *words).actor.micro_batch_tokens == tokens


def test_passes_of_a_cpu_are_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = fitted(tmp_path, monkeypatch, None, "trainer.device=cpu", "rollout.engine=hf")
    assert found.actor.micro_batch_tokens == 16_384
