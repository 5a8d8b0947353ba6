"""Low-rank adapters on their way out of a checkpoint: added to the merged weights, or kept as a folder of peft's.

Covered: both ways.  Not covered: what an adapter is worth (`merge.weights`), whether the result is right
(`merge.proof`).
"""

from __future__ import annotations

import shutil
from pathlib import Path

from safetensors import safe_open
from safetensors.torch import save_file

from code_rlvr.train.merge.weights import TrainedWeights

VERL_ADAPTER = "lora_adapter"
"""Where verl's merger puts adapters, beside weights without them."""


def add_adapters(folder: Path, weights: TrainedWeights) -> None:
    """Add the adapters to the weights in a folder that verl's merger wrote, and remove its copy of them.

    verl's merger keeps the weights as they were before training and rounds the adapters to bfloat16; here they come
    from the shards, so that the sum is rounded once.

    Raises:
        UsageError: The adapters do not fit the weights.
        OSError: The folder cannot be written.
    """
    for file in sorted(folder.glob("*.safetensors")):
        tensors = {}
        with safe_open(file, framework="pt") as stored:
            metadata = stored.metadata()
            for name in stored.keys():  # noqa: SIM118  safe_open is no mapping
                tensor = stored.get_tensor(name)
                tensors[name] = weights.tensor(name).to(tensor.dtype) if weights.is_adapted(name) else tensor
        summed = file.with_suffix(".summed")
        save_file(tensors, summed, metadata)
        summed.replace(file)
    shutil.rmtree(folder / VERL_ADAPTER, ignore_errors=True)


def write_adapter(folder: Path, weights: TrainedWeights, base: Path) -> None:
    """Write the adapters as peft does, in the type in which they were trained.

    Args:
        folder: A new one.
        weights: Of a checkpoint with adapters.
        base: The model that they were trained on; the folder names it.

    Raises:
        OSError: The folder cannot be written.
    """
    from peft import LoraConfig, TaskType  # noqa: PLC0415  seconds, for checkpoints with adapters only

    adapters = weights.adapters
    assert adapters is not None
    folder.mkdir(parents=True)
    config = LoraConfig(
        r=adapters.rank,
        lora_alpha=int(adapters.alpha),
        target_modules=sorted({module.rpartition(".")[2] for module in adapters.modules}),
        task_type=TaskType.CAUSAL_LM,
        base_model_name_or_path=str(base),
        inference_mode=True,
    )
    config.save_pretrained(str(folder))
    tensors = {
        f"base_model.model.{module}.lora_{half}.weight": weights.adapter(module, half).contiguous()
        for module in adapters.modules
        for half in "AB"
    }
    save_file(tensors, folder / "adapter_model.safetensors", {"format": "pt"})
