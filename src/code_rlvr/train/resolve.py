"""From a configuration as it was written to one that names folders and numbers: models on the hub, epochs.

Covered: what can be looked up before a run starts.  Not covered: whether it is fit for training (`preflight`).
"""

from __future__ import annotations

import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from code_rlvr.errors import DataError, ModelError
from code_rlvr.train.config import TrainConfig

_HUB_NAME = re.compile(r"[\w.-]+/[\w.-]+")


def resolve(config: TrainConfig) -> TrainConfig:
    """Replace names of models by folders, fetching them if need be, and epochs by steps.

    Raises:
        ModelError: A model is neither a folder nor on the hub, or the hub cannot be reached.
        DataError: The training file cannot be read, or has fewer problems than a batch.
    """
    critic = config.critic
    if critic.model:
        critic = critic.model_copy(update={"model": local_model(critic.model)})
    changes = {"model": local_model(config.model), "critic": critic}
    if config.trainer.epochs is not None and "steps" not in config.trainer.model_fields_set:
        steps = config.trainer.epochs * _steps_per_epoch(config)
        changes["trainer"] = config.trainer.model_copy(update={"steps": steps})
    return config.model_copy(update=changes)


def local_model(name: str) -> str:
    """The folder of a model, fetched from the hub unless it is one already.

    Raises:
        ModelError: It is neither, or the hub cannot be reached.
    """
    if not name:
        raise ModelError("no model is named; set model= to a Hugging Face folder, or to a name on the hub")
    if Path(name).exists() or not _HUB_NAME.fullmatch(name):
        return name
    import httpx  # noqa: PLC0415  these take a second to import, and a folder needs neither
    from huggingface_hub import snapshot_download  # noqa: PLC0415
    from huggingface_hub.errors import GatedRepoError, HfHubHTTPError, LocalEntryNotFoundError  # noqa: PLC0415

    try:
        return str(snapshot_download(name))
    except GatedRepoError:
        raise ModelError(f"{name} asks for an agreement on its page; give it there, then `hf auth login`") from None
    except (HfHubHTTPError, LocalEntryNotFoundError, httpx.HTTPError, OSError) as error:
        raise ModelError(
            f"{name} is no folder here and cannot be fetched from the hub ({type(error).__name__}); check the name, "
            "or fetch it elsewhere and set model= to its folder"
        ) from None


def _steps_per_epoch(config: TrainConfig) -> int:
    file = Path(config.data.train_file)
    try:
        with pq.ParquetFile(file) as parquet:
            problems = parquet.metadata.num_rows
    except (OSError, pa.ArrowInvalid) as error:
        raise DataError(f"cannot read {file}: {error}; make it with: code-rlvr prepare") from None
    if problems < config.trainer.batch:
        raise DataError(f"{file} has {problems} problems, fewer than the {config.trainer.batch} of one batch")
    return int(problems) // config.trainer.batch
