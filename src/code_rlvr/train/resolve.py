"""From a configuration as it was written to one that names folders and numbers: models on the hub, epochs, memory.

Covered: what can be looked up before a run starts.  Not covered: whether it is fit for training (`preflight`).
"""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from code_rlvr.errors import DataError
from code_rlvr.model_folder import local_model
from code_rlvr.train.config import TrainConfig
from code_rlvr.train.fit_gpu import fit_gpu


def resolve(config: TrainConfig) -> TrainConfig:
    """Replace names of models by folders, fetching them if need be, epochs by steps, and what is open about memory.

    Raises:
        ModelError: A model is neither a folder nor on the hub, or the hub cannot be reached.
        DataError: A file of problems is not named; the training file cannot be read, or is smaller than a batch.
    """
    critic = config.critic
    if critic.model:
        critic = critic.model_copy(update={"model": local_model(critic.model)})
    changes = {"model": local_model(config.model), "critic": critic}
    for name in ("train_file", "validation_file"):
        if not getattr(config.data, name):
            raise DataError(
                f"data.{name} is not set; name a file that code-rlvr prepare wrote, e.g. data/{name[:-5]}.parquet"
            )
    if config.trainer.epochs is not None and "steps" not in config.trainer.model_fields_set:
        steps = config.trainer.epochs * _steps_per_epoch(config)
        changes["trainer"] = config.trainer.model_copy(update={"steps": steps})
    return fit_gpu(config.model_copy(update=changes))


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
