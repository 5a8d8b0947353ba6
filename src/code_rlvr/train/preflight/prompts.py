"""Whether the prompts are fit: held out from training, whole after the chat template, short enough.

Covered: the words of every prompt, the template and the lengths of a sample.  Not covered: near duplicates, which
`code-rlvr prepare` looks for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from code_rlvr.data.hashes import hash_of
from code_rlvr.errors import DataError, ModelError
from code_rlvr.usable_model import load_tokenizer, read_settings

SAMPLE = 200  # prompts that are measured
MAX_OVERLONG_SHARE = 0.5
SPECIAL_TOKENS = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token")
"""Those that a chat template may name, in ``tokenizer_config.json``."""

Chat = list[dict[str, str]]


@dataclass(frozen=True, slots=True)
class HeldOut:
    """The problems for validation: how many different ones, and the sha256 of their file."""

    problems: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Measured:
    """Prompts that were measured, of how many, and the share of them that is too long."""

    looked_at: int
    rows: int
    overlong: float


def check_splits(train: Path, validation: Path) -> HeldOut:
    """Check that the problems for validation are a file of their own and, by their words, not trained on.

    Raises:
        DataError: Both are one file, or a problem is in both.
    """
    if train.samefile(validation):
        raise DataError(
            f"{validation} is the training file too, so validation would measure what was learned by heart; "
            "code-rlvr prepare TRAIN --validation VALIDATION makes two"
        )
    known = {_words(row) for row in _prompts(validation)}
    for number, row in enumerate(_prompts(train), start=1):
        if _words(row) in known:
            raise DataError(
                f"{train}: row {number} is in {validation} too, so validation would measure what was learned by heart; "
                "code-rlvr prepare TRAIN --validation VALIDATION keeps them apart"
            )
    return HeldOut(len(known), hash_of(validation))


def check_prompts(file: Path, model: Path, max_tokens: int) -> Measured:
    """Check that prompts survive the model's chat template and that most are short enough.

    Args:
        file: verl's parquet; at most `SAMPLE` of its rows are looked at, evenly spread.
        model: The folder of the model.
        max_tokens: The longest prompt; verl leaves longer ones out.

    Raises:
        ModelError: The template refuses a prompt or loses what it says, or the tokenizer cannot be loaded.
        DataError: More than half of the prompts are too long.
    """
    from jinja2 import TemplateError  # noqa: PLC0415  comes with transformers' templates

    render, count_tokens = chat_text(model)
    rows = pq.read_metadata(file).num_rows
    lengths = []
    for chat in _prompts(file, every=-(-rows // SAMPLE)):
        try:
            text = render(chat)
        except TemplateError as error:
            raise ModelError(
                f"the chat template of {model} refuses a prompt: {error}; prepare the data anew, or change the template"
            ) from None
        lost = next((one["content"] for one in chat if one["content"].strip() not in text), None)
        if lost is not None:
            raise ModelError(f"the chat template of {model} loses what a prompt says: {lost[:80]!r} is not in its text")
        lengths.append(count_tokens(text))
    overlong = sum(length > max_tokens for length in lengths) / len(lengths)
    if overlong > MAX_OVERLONG_SHARE:
        raise DataError(
            f"{overlong:.0%} of {len(lengths)} prompts of {file} are longer than data.max_prompt_tokens={max_tokens} "
            "and would be left out; raise it, or prepare the data with --max-prompt-tokens"
        )
    return Measured(len(lengths), rows, overlong)


def chat_text(model: Path) -> tuple[Callable[[Chat], str], Callable[[str], int]]:
    """What makes a text of a chat and counts its tokens, as the model's tokenizer does.

    `AutoTokenizer` takes three seconds to import, torch among them; the parts that are needed take a quarter of that.
    """
    told = model / "tokenizer_config.json"
    settings = read_settings(told) if told.is_file() else {}
    file = model / "chat_template.jinja"
    template = file.read_text(encoding="utf-8") if file.is_file() else settings.get("chat_template")
    if not settings or not (model / "tokenizer.json").is_file() or not isinstance(template, str):
        return _slow_chat_text(model)
    from tokenizers import Tokenizer  # type: ignore[import-untyped]  # noqa: PLC0415  comes with transformers
    from transformers.utils import chat_template_utils  # noqa: PLC0415  0.7 s to import

    templates: Any = chat_template_utils  # its signature leaves no room for a template's own variables
    tokenizer = Tokenizer.from_file(str(model / "tokenizer.json"))
    special = {name: _text(settings[name]) for name in SPECIAL_TOKENS if settings.get(name) is not None}

    def render(chat: Chat) -> str:
        texts, _ = templates.render_jinja_template(
            [chat], chat_template=template, add_generation_prompt=True, **special
        )
        return str(texts[0])

    return render, lambda text: len(tokenizer.encode(text, add_special_tokens=False).ids)


def _text(token: str | dict[str, Any]) -> str:
    return token if isinstance(token, str) else str(token["content"])


def _slow_chat_text(model: Path) -> tuple[Callable[[Chat], str], Callable[[str], int]]:
    """The same by `AutoTokenizer`, for models that lack one of the files or have several templates.

    Raises:
        ModelError: It cannot be loaded.
    """
    tokenizer = load_tokenizer(model)
    return (
        lambda chat: str(tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=True)),
        lambda text: len(tokenizer(text, add_special_tokens=False)["input_ids"]),
    )


def _prompts(file: Path, every: int = 1) -> Iterator[Chat]:
    """Every so-manieth prompt of a file."""
    start = 0
    with pq.ParquetFile(file) as parquet:
        for batch in parquet.iter_batches(batch_size=256, columns=["prompt"]):
            chats = batch.column(0)
            if every > 1:
                chats = chats.take(pa.array(range(-start % every, len(batch), every), pa.int64()))
            yield from chats.to_pylist()
            start += len(batch)


def _words(chat: Chat) -> str:
    return " ".join(" ".join(message["content"] for message in chat).casefold().split())
