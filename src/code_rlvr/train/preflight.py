"""What must be true before a training run starts, checked in a second instead of failing after a minute.

Covered: the pinned verl, free memory and disk, the model folder with its chat template, the data files.
Not covered: whether a model of that size fits a GPU.
"""

from __future__ import annotations

import json
import netrc
import os
import shutil
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path

import psutil
import pyarrow as pa
import pyarrow.parquet as pq

from code_rlvr.errors import DataError, ModelError, PreflightError, TestsFormatError
from code_rlvr.ground_truth import Tests
from code_rlvr.train.config import TrainConfig
from code_rlvr.train.versions import check_verl

CPU_RUN_GIB = 5.0
"""Memory of a CPU run with a small model: measured 4.5 GiB over all its processes, and some room."""

FREE_DISK_GIB = 2.0
"""Room for logs, rollouts and the checkpoints of a small model."""

CHECKPOINT_BYTES_PER_WEIGHT_BYTE = 8
"""A checkpoint holds actor and critic, each with two optimizer moments and rounded up."""


def check_training(config: TrainConfig) -> None:
    """Check everything that a run needs.

    Raises:
        VersionMismatch: verl is missing or another version.
        PreflightError: Memory or disk is missing.
        ModelError: The model folder cannot be trained.
        DataError: A data file is missing or not verl's format.
    """
    check_verl()
    check_loggers(config.trainer.loggers)
    check_model(Path(config.model))
    check_data(Path(config.data.train_file), minimum=config.trainer.batch)
    check_data(Path(config.data.validation_file), minimum=1)
    if config.trainer.device == "cpu":
        check_memory(CPU_RUN_GIB)
    check_disk(config.run.path, _disk_need_gib(config))


def check_loggers(names: Iterable[str]) -> None:
    """Check that what the metrics are to go to is there, and that nobody will be asked to log in.

    Raises:
        PreflightError: It is not.
    """
    for name in names:
        if find_spec(name) is None:
            raise PreflightError(f"trainer.loggers names {name}, which is not installed; run: pip install {name}")
    offline = os.environ.get("WANDB_MODE") in ("offline", "disabled")
    if "wandb" in names and not offline and "WANDB_API_KEY" not in os.environ and not _has_netrc_entry("api.wandb.ai"):
        raise PreflightError(
            "wandb would ask for a login in the middle of the start; run `wandb login`, set WANDB_API_KEY, or set "
            "WANDB_MODE=offline"
        )


def _has_netrc_entry(host: str) -> bool:
    try:
        return netrc.netrc().authenticators(host) is not None
    except (OSError, netrc.NetrcParseError):
        return False


def check_machine(folder: Path) -> None:
    """Check what the quickstart needs before it has a model or data.

    Args:
        folder: Where the run will lie.

    Raises:
        VersionMismatch: verl is missing or another version.
        PreflightError: Memory or disk is missing.
    """
    check_verl()
    check_memory(CPU_RUN_GIB)
    check_disk(folder, FREE_DISK_GIB)


def check_memory(need_gib: float) -> None:
    """Check that `need_gib` of memory is free.

    Raises:
        PreflightError: Less is free.
    """
    free_gib = psutil.virtual_memory().available / 2**30
    if free_gib < need_gib:
        raise PreflightError(
            f"{free_gib:.1f} GiB of memory is free, the run needs about {need_gib:.1f} GiB; close other programs "
            "or use a larger machine"
        )


def check_disk(folder: Path, need_gib: float) -> None:
    """Check that the disk of `folder` has `need_gib` free.

    Raises:
        PreflightError: Less is free.
    """
    existing = next(parent for parent in [folder.resolve(), *folder.resolve().parents] if parent.exists())
    free_gib = shutil.disk_usage(existing).free / 2**30
    if free_gib < need_gib:
        raise PreflightError(
            f"{free_gib:.1f} GiB of disk is free at {existing}, the run needs about {need_gib:.1f} GiB; free some, "
            "lower trainer.keep_checkpoints, or set runs_dir to another disk"
        )


def _disk_need_gib(config: TrainConfig) -> float:
    weights = sum(file.stat().st_size for file in Path(config.model).glob("*.safetensors"))
    return FREE_DISK_GIB + weights * CHECKPOINT_BYTES_PER_WEIGHT_BYTE * config.trainer.keep_checkpoints / 2**30


def check_model(folder: Path) -> None:
    """Check that `folder` is a Hugging Face model with weights and a chat template.

    Raises:
        ModelError: Something is missing.
    """
    if not (folder / "config.json").is_file():
        raise ModelError(f"{folder} has no config.json; set model= to a Hugging Face model folder")
    if not list(folder.glob("*.safetensors")) and not list(folder.glob("*.bin")):
        raise ModelError(f"{folder} has no weights (*.safetensors); was the download or the merge interrupted?")
    tokenizer = folder / "tokenizer_config.json"
    if not tokenizer.is_file():
        raise ModelError(f"{folder} has no tokenizer_config.json; copy the tokenizer of the base model into it")
    has_template = (folder / "chat_template.jinja").is_file() or "chat_template" in json.loads(
        tokenizer.read_text(encoding="utf-8")
    )
    if not has_template:
        raise ModelError(f"the tokenizer in {folder} has no chat template; prompts are chats, so it needs one")


def check_data(file: Path, minimum: int) -> None:
    """Check that `file` is verl's parquet with at least `minimum` rows.

    Raises:
        DataError: It is missing, unreadable, too short or lacks a column.
        TestsFormatError: The tests of a row are malformed.
    """
    if not file.is_file():
        raise DataError(f"{file} does not exist; make it with: code-rlvr prepare")
    try:
        parquet = pq.ParquetFile(file)
    except pa.ArrowInvalid as error:
        raise DataError(f"{file} is not a parquet file: {error}") from None
    schema = parquet.schema_arrow
    missing = {"prompt", "reward_model", "data_source", "extra_info"} - set(schema.names)
    if missing:
        raise DataError(f"{file} lacks the columns {sorted(missing)}; make it with: code-rlvr prepare")
    if not pa.types.is_list(schema.field("prompt").type):
        raise DataError(f"{file}: prompt must be a list of chat messages, not {schema.field('prompt').type}")
    if parquet.metadata.num_rows < minimum:
        raise DataError(f"{file} has {parquet.metadata.num_rows} rows, fewer than the {minimum} of one batch")
    _check_ground_truths(file, parquet)


def _check_ground_truths(file: Path, parquet: pq.ParquetFile) -> None:
    """Parse the tests of every row: a row without usable tests would lose its samples in every step."""
    row = 0
    for batch in parquet.iter_batches(batch_size=256, columns=["reward_model", "extra_info"]):
        for reward_model, extra_info in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            try:
                Tests.parse(reward_model["ground_truth"], extra_info)
            except TestsFormatError as error:
                raise TestsFormatError(error.message, error.field, row=f"{row} of {file}") from None
            row += 1
