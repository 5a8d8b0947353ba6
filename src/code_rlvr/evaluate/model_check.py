"""Whether a model can be loaded, found out before anything is sampled: an evaluation of two takes hours.

Covered: chat template, architecture, weights that are cut off or missing, memory of the CPU for them; each by reading
headers only.  Not covered: weights that do not fit the architecture (`engine`), memory of a GPU (`gpu_memory`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import psutil
import torch
import transformers
from huggingface_hub.errors import StrictDataclassError
from safetensors import SafetensorError, safe_open
from transformers import CONFIG_MAPPING, AutoConfig
from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING

from code_rlvr.errors import ModelError, PreflightError
from code_rlvr.evaluate.choose_engine import EngineName
from code_rlvr.evaluate.model import read_object
from code_rlvr.usable_model import first_line, load_tokenizer

BYTES_ON_A_CPU = 4
"""Of a weight: there the model computes in float32."""
INDEX = "model.safetensors.index.json"


def require_loadable(model_dir: Path, engine: EngineName) -> None:
    """See that an engine will be able to load a model.

    Args:
        model_dir: A folder that `find_model` found.
        engine: Which engine; vLLM knows more architectures, and says itself what it does not know.

    Raises:
        ModelError: The folder is broken, or of an architecture that writes no text.
        PreflightError: The memory does not suffice.
    """
    if engine == "transformers":
        _require_known_architecture(model_dir)
    load_tokenizer(model_dir)
    weights = sum(_count_weights(file) for file in _weight_files(model_dir))
    free = psutil.virtual_memory().available
    on_cpu = engine == "transformers" and not torch.cuda.is_available()
    if on_cpu and weights * BYTES_ON_A_CPU > free:
        raise PreflightError(
            f"{model_dir} takes {weights * BYTES_ON_A_CPU / 2**30:.1f} GiB in float32, and {free / 2**30:.1f} GiB of "
            "memory are free; free memory of other processes, use a smaller model, or a machine with a GPU"
        )


def _require_known_architecture(model_dir: Path) -> None:
    kind = read_object(model_dir / "config.json").get("model_type")
    if kind not in CONFIG_MAPPING:
        raise ModelError(
            f"{model_dir} is of the architecture {kind!r} (model_type in its config.json), which transformers "
            f"{transformers.__version__} does not know; choose another model; code in a model folder is not run"
        )
    try:
        config = AutoConfig.from_pretrained(model_dir, trust_remote_code=False)
    except (OSError, ValueError, KeyError, TypeError, StrictDataclassError) as error:
        raise ModelError(f"{model_dir / 'config.json'} cannot be used: {first_line(error)}") from error
    if type(config) not in MODEL_FOR_CAUSAL_LM_MAPPING:
        raise ModelError(
            f"{model_dir} is of the architecture {kind}, of which transformers has no causal language model; name a "
            "model that writes text"
        )


def _weight_files(model_dir: Path) -> Iterator[Path]:
    """Files of weights; of those that an index names, every one has to be there."""
    named = read_object(model_dir / INDEX).get("weight_map", {})
    lacking = sorted({str(name) for name in named.values() if not (model_dir / str(name)).is_file()})
    if lacking:
        raise ModelError(
            f"{model_dir} lacks {len(lacking)} of the files that its {INDEX} names, e.g. {lacking[0]}; copy them there"
        )
    yield from sorted(model_dir.glob("*.safetensors"))


def _count_weights(file: Path) -> int:
    try:
        with safe_open(file, framework="pt") as tensors:
            return sum(math.prod(tensors.get_slice(name).get_shape()) for name in tensors.keys())  # noqa: SIM118
    except (SafetensorError, OSError) as error:
        raise ModelError(
            f"{file} cannot be read ({first_line(error)}); it was cut off: copy or merge it anew"
        ) from None
