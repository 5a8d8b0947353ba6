"""Proof that a merged folder is the model that was trained.

Two comparisons against the shards, which are read here without verl's merger:

1. Every tensor of the folder equals the trained one, rounded to the folder's type, bit for bit.  One wrong number
   is found, which no comparison of outputs could promise, and it takes the memory of one tensor.
2. The logits of a chat, from the folder as `AutoModelForCausalLM` loads it, and from the trained weights in the
   trainer's own architecture (with peft's adapters, where there are any), both in float32.  This finds what equal
   tensors cannot show: a configuration that reads them otherwise, embeddings not tied, adapters that count wrongly.
   The folder's tensors are put back to what they were before rounding for it: how much rounding changes logits
   depends on the model, and one token on which it is unstable is enough to hide a fault or to look like one.
   One model is in memory at a time.

Covered: these, numbers that are not finite, the tokenizer, and that it generates.  Not covered: how good it is (eval).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from accelerate import init_empty_weights  # type: ignore[import-untyped]  # verl brings it
from safetensors import safe_open
from transformers import AutoConfig, AutoModelForCausalLM, PreTrainedModel

from code_rlvr.errors import ModelError, TrainingError
from code_rlvr.evaluate.engine import HuggingFaceEngine
from code_rlvr.sampling import Sampling
from code_rlvr.train.merge.weights import Adapters, TrainedWeights
from code_rlvr.usable_model import load_tokenizer

SAME_LOGITS = 1e-3
"""Largest difference, relative to the logits' spread: the same arithmetic in float32 in another order, and room."""
VERIFY_TOKENS = 8

_CHAT = [{"role": "user", "content": "Read two integers and print their sum."}]


@dataclass(frozen=True)
class Proof:
    """What was found, to be kept beside the model.

    Args:
        tensors: How many were compared bit for bit.
        max_logit_difference: Largest difference of a logit, nothing rounded.
        relative_difference: Root mean square of the differences over the standard deviation of the logits.
    """

    tensors: int
    max_logit_difference: float
    relative_difference: float

    def __str__(self) -> str:
        equal = f"{self.tensors} tensors are the shards', bit for bit after rounding; " if self.tensors else ""
        same = f"up to {self.relative_difference:.1g} of their spread" if self.relative_difference else "exactly"
        return f"{equal}before rounding the logits agree {same}"


def prove_merged(folder: Path, weights: TrainedWeights, trained: Path) -> Proof:
    """Prove that a folder of weights is the trained model.

    Args:
        folder: What was merged.
        weights: Of the checkpoint.
        trained: The checkpoint's folder with configuration and tokenizer.

    Raises:
        TrainingError: It is another model; the message names the tensor or the difference.
        ModelError: Training diverged, or the folder does not load or generate.
    """
    compared = compare_tensors(folder, weights, _tied(_architecture(trained)))
    return Proof(compared, *_compare_logits(folder, weights, trained, rounded=True))


def prove_adapter(folder: Path, weights: TrainedWeights, trained: Path) -> Proof:
    """Prove that the adapters in a folder make the model that it names the trained one; errors as `prove_merged`."""
    return Proof(0, *_compare_logits(folder, weights, trained, rounded=False))


def compare_tensors(folder: Path, weights: TrainedWeights, tied: dict[str, str]) -> int:
    """Compare each tensor of a folder with the trained one, rounded to the same type.

    Args:
        folder: With safetensors.
        weights: Of the checkpoint.
        tied: Names that the model has by another name; the folder may leave them out.

    Returns:
        How many tensors are equal.

    Raises:
        TrainingError: One is missing, too many or differs.
        ModelError: One holds numbers that are not finite.
    """
    left = set(weights.names)
    compared = 0
    for file in sorted(folder.glob("*.safetensors")):
        with safe_open(file, framework="pt") as stored:
            for name in stored.keys():  # noqa: SIM118  safe_open is no mapping
                if name not in left:
                    raise TrainingError(f"{file.name}: {name} was not trained, or stands there twice")
                left.remove(name)
                _check_tensor(name, stored.get_tensor(name), weights.tensor(name))
                compared += 1
    for name in sorted(left):
        if name not in tied:
            raise TrainingError(f"{folder}: {name} is missing")
        if not torch.equal(weights.tensor(name), weights.tensor(tied[name])):
            raise TrainingError(f"{name} and {tied[name]} are tied, but the shards hold different numbers for them")
    return compared


def _check_tensor(name: str, merged: torch.Tensor, trained: torch.Tensor) -> None:
    if trained.numel() and not all(math.isfinite(end) for end in torch.aminmax(trained)):
        raise ModelError(f"{name} holds numbers that are not finite: training diverged; merge an earlier step (--step)")
    if merged.shape != trained.shape:
        raise TrainingError(f"{name} is {tuple(merged.shape)} in the folder, but {tuple(trained.shape)} was trained")
    wanted = trained.to(merged.dtype)
    if not torch.equal(merged, wanted):
        off = merged != wanted
        worst = (merged.float() - wanted.float()).abs().max()
        raise TrainingError(f"{name} is not what was trained: {int(off.sum())} numbers differ, by up to {worst:.3g}")


def verify_generates(folder: Path) -> str:
    """Load a model folder as an evaluation does and let it answer one chat.

    Returns:
        What it answered.

    Raises:
        ModelError: It does not load, or gives probabilities that are no numbers.
    """
    engine = HuggingFaceEngine(folder)
    (answer,) = engine.generate([_CHAT], Sampling(temperature=0, max_new_tokens=VERIFY_TOKENS), [0])
    return answer.text


def _architecture(trained: Path) -> PreTrainedModel:
    """The trainer's architecture without weights; buffers, which no checkpoint has, are computed."""
    config = AutoConfig.from_pretrained(trained)
    with init_empty_weights(include_buffers=False):
        # transformers leaves it untyped
        model: PreTrainedModel = AutoModelForCausalLM.from_config(  # type: ignore[no-untyped-call]
            config, dtype=torch.float32
        )
    return model


def _tied(model: PreTrainedModel) -> dict[str, str]:
    """Names that the model has by another name, and that name."""
    return dict(getattr(model, "all_tied_weights_keys", None) or {})


def _fill(model: PreTrainedModel, weights: TrainedWeights) -> Any:
    """Put the trained weights into the architecture, under the names under which the trainer saved them."""
    tied = _tied(model)
    filled: Any = _with_adapters(model, weights.adapters) if weights.adapters else model
    shards = weights.shards
    tensors = {name: shards.whole(name).float() for name in shards.names}
    result = filled.load_state_dict(tensors, strict=False, assign=True)
    missing = [name for name in result.missing_keys if name.removeprefix("base_model.model.") not in tied]
    if missing or result.unexpected_keys:
        raise TrainingError(f"the shards do not fit their config.json: {(missing + result.unexpected_keys)[0]}")
    if result.missing_keys:
        model.tie_weights()
    return filled


def _with_adapters(model: PreTrainedModel, adapters: Adapters) -> Any:
    from peft import LoraConfig, get_peft_model  # noqa: PLC0415  seconds, for checkpoints with adapters only

    return get_peft_model(
        model,
        LoraConfig(
            r=adapters.rank,
            lora_alpha=int(adapters.alpha),
            target_modules=list(adapters.modules),
            task_type="CAUSAL_LM",
        ),
    )


def _load(folder: Path) -> Any:
    try:
        return AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        raise ModelError(f"{folder} does not load: {error}") from error


def _same_tokens(folder: Path, trained: Path) -> torch.Tensor:
    """The chat in tokens, shape [1, tokens], if both folders agree on them."""
    tokens = [_tokens(place) for place in (folder, trained)]
    if tokens[0] != tokens[1]:
        raise TrainingError(f"the tokenizer or chat template of {folder} is not that of {trained}")
    return torch.tensor([tokens[0]])


def _tokens(folder: Path) -> list[int]:
    tokens: list[int] = load_tokenizer(folder).apply_chat_template(_CHAT, add_generation_prompt=True, return_dict=False)
    return tokens


def _logits(model: Any, tokens: torch.Tensor) -> torch.Tensor:
    """Logits of shape [tokens, vocabulary], in float32."""
    model.eval()
    with torch.no_grad():
        logits: torch.Tensor = model(input_ids=tokens).logits[0].float()
    return logits


def _unround(model: Any, folder: Path, weights: TrainedWeights) -> Any:
    """Put the tensors that a folder holds back to what they were before they were rounded into it."""
    state = model.state_dict()
    for file in folder.glob("*.safetensors"):
        with safe_open(file, framework="pt") as stored:
            for name in stored.keys():  # noqa: SIM118  safe_open is no mapping
                if name not in state:
                    raise TrainingError(f"{file.name}: the model that {folder} describes has no {name}")
                state[name].copy_(weights.tensor(name))
    return model


def _compare_logits(folder: Path, weights: TrainedWeights, trained: Path, *, rounded: bool) -> tuple[float, float]:
    """The largest difference of a logit and the relative one; if the folder is `rounded`, as if it were not."""
    tokens = _same_tokens(folder, trained)
    # Each model is gone before the next one comes: neither may have a name here.
    expected = _logits(_fill(_architecture(trained), weights), tokens)
    found = _logits(_unround(_load(folder), folder, weights) if rounded else _load(folder), tokens)
    if found.shape != expected.shape:
        raise TrainingError(f"{folder} gives logits of {tuple(found.shape)}, trained were {tuple(expected.shape)}")
    difference = found - expected
    relative = float(difference.square().mean().sqrt() / expected.std())
    if not relative <= SAME_LOGITS:  # not finite is too much as well
        raise TrainingError(
            f"{folder} is not the model that was trained: before rounding its logits differ by {relative:.3g} of their "
            f"spread, not by {SAME_LOGITS:g} at most"
        )
    return float(difference.abs().max()), relative
