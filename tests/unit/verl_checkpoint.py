"""A small model, and checkpoints of it as verl's FSDP ranks write them, without Ray and without training."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from peft import LoraConfig, get_peft_model
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.tensor import DTensor, Replicate, Shard
from transformers import AutoTokenizer, GenerationConfig, PreTrainedModel, Qwen2Config, Qwen2ForCausalLM

from code_rlvr.runs import RunFolder
from code_rlvr.train.tokenizer import train_tokenizer


def make_model(folder: Path, *, tied: bool = True, seed: int = 0, spread: float = 0.2) -> PreTrainedModel:
    """Write a model folder with random weights; return the model.

    Args:
        folder: A new one.
        tied: Whether embeddings and output matrix are one.
        seed: Of the weights.
        spread: Their standard deviation; 0.2 is large enough for each layer to count.
    """
    tokenizer = train_tokenizer(["print(int(input()) + 1)"], 300, 128)
    torch.manual_seed(seed)
    config = Qwen2Config(
        vocab_size=len(tokenizer),
        hidden_size=24,
        intermediate_size=40,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,
        max_position_embeddings=128,
        initializer_range=spread,
        tie_word_embeddings=tied,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    model = Qwen2ForCausalLM(config)
    model.generation_config = GenerationConfig(do_sample=True, top_k=7, eos_token_id=1, pad_token_id=0)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return model


def add_adapters(model: PreTrainedModel, *, rank: int = 4, alpha: int = 8) -> Any:
    """Put adapters that change something on every linear layer, as verl does."""
    torch.manual_seed(1)
    adapted = get_peft_model(
        model, LoraConfig(r=rank, lora_alpha=alpha, target_modules="all-linear", task_type="CAUSAL_LM", bias="none")
    )
    for name, tensor in adapted.named_parameters():
        if "lora_B" in name:
            torch.nn.init.normal_(tensor, std=0.2)
    return adapted


def write_run(
    run: RunFolder, base: Path, model: Any, *, step: int = 2, ranks: int = 2, replicas: int = 1, alpha: int = 8
) -> Path:
    """Write a run's records and a checkpoint of `model`; return the checkpoint's ``actor``."""
    actor = run.checkpoints / f"global_step_{step}" / "actor"
    actor.mkdir(parents=True)
    config = Qwen2Config.from_pretrained(base)
    config.attn_implementation = "flash_attention_2"  # as verl leaves the training machine's there
    config.save_pretrained(actor / "huggingface")
    AutoTokenizer.from_pretrained(base).save_pretrained(actor / "huggingface")
    GenerationConfig.from_pretrained(base).save_pretrained(actor / "huggingface")
    write_shards(actor, model.state_dict(), ranks, replicas)
    if hasattr(model, "peft_config"):
        meta = {"r": model.peft_config["default"].r, "lora_alpha": alpha, "task_type": "CAUSAL_LM"}
        (actor / "lora_train_meta.json").write_text(json.dumps(meta), encoding="utf-8")
    (run.checkpoints / "latest_checkpointed_iteration.txt").write_text(str(step), encoding="ascii")
    run.config.write_text(json.dumps({"model": str(base)}), encoding="utf-8")
    data = {"train": {"file": "train.parquet", "problems": 3, "sha256": "ab" * 32, "prepared": None}}
    run.data.write_text(json.dumps(data), encoding="utf-8")
    return actor


def write_shards(actor: Path, state: Mapping[str, torch.Tensor], ranks: int, replicas: int = 1) -> None:
    """Write what each rank of a mesh of (ranks) or (replicas, ranks) saves."""
    world = ranks * replicas
    rows = torch.arange(world).reshape(replicas, ranks)
    names = ("fsdp",) if replicas == 1 else ("ddp", "fsdp")
    for rank in range(world):
        mesh = DeviceMesh(
            "cpu", rows[0] if replicas == 1 else rows, mesh_dim_names=names, _init_backend=False, _rank=rank
        )
        placements = [Shard(0)] if replicas == 1 else [Replicate(), Shard(0)]
        saved = {}
        for name, tensor in state.items():
            parts = tensor.detach().chunk(ranks, 0)
            mine = parts[rank % ranks] if rank % ranks < len(parts) else tensor.detach()[:0]
            saved[name] = DTensor.from_local(
                mine.clone(), mesh, placements, run_check=False, shape=tensor.shape, stride=tensor.stride()
            )
        torch.save(saved, actor / f"model_world_size_{world}_rank_{rank}.pt")
    (actor / "fsdp_config.json").write_text(json.dumps({"FSDP_version": 2, "world_size": world}), encoding="ascii")
