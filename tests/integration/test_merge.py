"""verl's own merger and ours behind it, on checkpoints of several ranks, of adapters, and with planted corruption."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from code_rlvr.errors import TrainingError
from code_rlvr.runs import RunFolder
from code_rlvr.train import merge
from code_rlvr.train.launch import train
from code_rlvr.train.merge import merge_checkpoint, merger
from tests.integration.conftest import training_config
from tests.unit.verl_checkpoint import add_adapters, make_model, write_run

pytestmark = [pytest.mark.training, pytest.mark.filterwarnings("ignore"), pytest.mark.timeout(900)]

COMMAND = [sys.executable, "-c", "from code_rlvr.cli import main; main()"]


def _merge(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*COMMAND, "merge", *words], capture_output=True, text=True, timeout=300)


def _greedy(folder: Path) -> list[int]:
    from transformers import AutoModelForCausalLM

    model: Any = AutoModelForCausalLM.from_pretrained(folder)
    return [int(token) for token in model.generate(torch.tensor([[5, 6, 7]]), max_new_tokens=8, do_sample=False)[0]]


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("tied", [True, False])
def test_full_weights_are_merged_by_verl_and_proven(ranks: int, tied: bool, tmp_path: Path) -> None:
    run = RunFolder(tmp_path / "run")
    model = make_model(tmp_path / "base", tied=tied)
    write_run(run, tmp_path / "base", model, ranks=ranks)
    merged = merge_checkpoint(run)
    assert json.loads((merged / "config.json").read_text())["tie_word_embeddings"] is tied
    assert ("lm_head.weight" in load_file(merged / "model.safetensors")) is not tied
    assert json.loads((merged / "generation_config.json").read_text())["top_k"] == 7
    model.to(torch.bfloat16).save_pretrained(tmp_path / "rounded")
    assert _greedy(merged) == _greedy(tmp_path / "rounded")


@pytest.mark.parametrize("tied", [True, False])
def test_adapters_are_merged_into_the_weights_that_verl_leaves_without_them(tied: bool, tmp_path: Path) -> None:
    run = RunFolder(tmp_path / "run")
    model = add_adapters(make_model(tmp_path / "base", tied=tied))
    write_run(run, tmp_path / "base", model)
    shown = _merge(str(run.path))
    assert shown.returncode == 0, shown.stderr
    assert "adding the adapters of rank 4" in shown.stdout
    assert "is what was trained" in shown.stdout
    assert not (run.merged / "lora_adapter").exists()
    model.merge_and_unload().to(torch.bfloat16).save_pretrained(tmp_path / "expected")
    assert _greedy(run.merged) == _greedy(tmp_path / "expected")


def test_a_corruption_between_merger_and_proof_is_caught_and_nothing_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def corrupting(shards: Path, target: Path, log: Path) -> None:
        merger.run_merger(shards, target, log)
        file = target / "model.safetensors"
        tensors = load_file(file)
        tensors["model.layers.0.mlp.up_proj.weight"].zero_()
        save_file(tensors, file, {"format": "pt"})

    run = RunFolder(tmp_path / "run")
    write_run(run, tmp_path / "base", make_model(tmp_path / "base"))
    monkeypatch.setattr(merge, "run_merger", corrupting)
    with pytest.raises(TrainingError, match=r"layers\.0\.mlp\.up_proj\.weight is not what was trained"):
        merge_checkpoint(run)
    assert not list(run.path.glob("merged*"))


def test_what_verls_merger_fails_with_is_shown(tmp_path: Path) -> None:
    run = RunFolder(tmp_path / "run")
    actor = write_run(run, tmp_path / "base", make_model(tmp_path / "base"))
    config = json.loads((actor / "huggingface" / "config.json").read_text())
    (actor / "huggingface" / "config.json").write_text(json.dumps(config | {"model_type": "no_such_model"}))
    shown = _merge(str(run.path))
    assert shown.returncode == 1
    assert "no_such_model" in shown.stderr
    assert "merge.log" in shown.stderr
    assert "Traceback" not in shown.stderr
    assert not list(run.path.glob("merged*"))


def test_real_adapters_of_two_ranks_go_from_training_to_a_merged_model(inputs: Path, tmp_path: Path) -> None:
    words = [
        "trainer.gpus_per_node=2",
        "actor.micro_batch=8",
        "actor.lora_rank=4",
        "actor.lora_alpha=8",
        "trainer.validate_every=1",
        "trainer.keep_checkpoints=1",
        "actor.lr=0.02",
        "actor.lr_warmup_steps=0",
        "actor.entropy_coeff=0.1",  # moves the adapters where no program passes
    ]
    config = training_config(inputs, tmp_path, *words)
    train(config)
    run = config.run
    best = _merge(str(run.path), "--step", "best")
    assert best.returncode == 0, best.stderr
    assert "step 2 has the best validation of the checkpoints on disk" in best.stdout
    record = json.loads((run.merged / "merge.json").read_text())
    assert record["adapters"] == {"rank": 4, "alpha": 8.0}
    before, after = (load_file(place / "model.safetensors") for place in (inputs / "model", run.merged))
    moved = [name for name in after if not torch.equal(after[name], before[name].to(after[name].dtype))]
    assert moved
    assert all("proj" in name for name in moved)
    gone = _merge(str(run.path), "--step", "1")
    assert gone.returncode == 2
    assert "verl deleted it" in gone.stderr
