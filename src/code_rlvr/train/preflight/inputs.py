"""Whether a model and its data are fit to be trained: files, columns, tests, prompts, splits.

Covered: one message for the first thing that is wrong, with the remedy.  Not covered: the machine (`machine`, `gpu`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from code_rlvr.errors import DataError, ModelError, TestsFormatError
from code_rlvr.ground_truth import Tests

SAMPLE = 200  # prompts that are measured
MAX_OVERLONG_SHARE = 0.5


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


def check_splits(train: Path, validation: Path) -> int:
    """Check that no problem for validation is trained on, by the words of its prompt.

    Returns:
        How many problems for validation there are.

    Raises:
        DataError: One is.
    """
    known = {_words(row): row for row in _prompts(validation)}
    for number, row in enumerate(_prompts(train), start=1):
        if _words(row) in known:
            raise DataError(
                f"{train}: row {number} is in {validation} too, so validation would measure what was learned by heart; "
                "code-rlvr prepare TRAIN --validation VALIDATION keeps them apart"
            )
    return len(known)


def check_prompts(file: Path, model: Path, max_tokens: int) -> float:
    """Check that prompts survive the model's chat template and that most are short enough.

    Args:
        file: verl's parquet; a sample of its first rows is looked at.
        model: The folder of the model.
        max_tokens: The longest prompt; verl leaves longer ones out.

    Returns:
        The share of prompts that are too long.

    Raises:
        ModelError: The template loses what the prompt says.
        DataError: More than half of the prompts are too long.
    """
    from transformers import AutoTokenizer  # noqa: PLC0415  seconds to import

    tokenizer = AutoTokenizer.from_pretrained(model)
    lengths = []
    for _, chat in zip(range(SAMPLE), _prompts(file), strict=False):
        text = tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=True)
        lost = next((one["content"] for one in chat if one["content"].strip() not in text), None)
        if lost is not None:
            raise ModelError(f"the chat template of {model} loses what a prompt says: {lost[:80]!r} is not in its text")
        lengths.append(len(tokenizer(text, add_special_tokens=False)["input_ids"]))
    overlong = sum(length > max_tokens for length in lengths) / len(lengths)
    if overlong > MAX_OVERLONG_SHARE:
        raise DataError(
            f"{overlong:.0%} of the prompts in {file} are longer than data.max_prompt_tokens={max_tokens} and would be "
            "left out; raise it, or prepare the data with --max-prompt-tokens"
        )
    return overlong


def _prompts(file: Path) -> Iterator[Any]:
    with pq.ParquetFile(file) as parquet:
        for batch in parquet.iter_batches(batch_size=256, columns=["prompt"]):
            yield from batch.column(0).to_pylist()


def _words(chat: list[dict[str, str]]) -> str:
    return " ".join(" ".join(message["content"] for message in chat).casefold().split())
