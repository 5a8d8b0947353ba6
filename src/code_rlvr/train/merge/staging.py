"""A checkpoint made ready to be merged: what the training machine left in it is taken out, what it lacks is added.

verl's merger is pointed at the staged folder, and so is the proof.  Covered: the folder, its configuration,
tokenizer, chat template and generation settings.  Not covered: the shards, which are linked as they are.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from code_rlvr.errors import UsageError

_HUGGINGFACE = "huggingface"
_CONFIG = "config.json"
_SAID_BY_THE_MODEL = ("generation_config.json", "chat_template.jinja", "additional_chat_templates")
"""Copied as they are, since libraries change them when they write them."""
_TOKENIZER = ("tokenizer.json", "tokenizer.model", "vocab.json", "merges.txt", "special_tokens_map.json")
_TOKENIZER_CONFIG = "tokenizer_config.json"


@contextmanager
def staged(actor: Path, base: Path | None) -> Iterator[Path]:
    """Make a folder like `actor` of a checkpoint that can be merged on this machine; it is gone afterwards.

    Args:
        actor: ``actor`` of a checkpoint.
        base: The model that was trained, for what the checkpoint lacks.

    Yields:
        The folder; its ``huggingface`` has configuration, tokenizer, chat template and generation settings.

    Raises:
        UsageError: The checkpoint has no configuration.
    """
    source = actor / _HUGGINGFACE
    try:
        config = json.loads((source / _CONFIG).read_bytes())
    except (OSError, ValueError):
        raise UsageError(
            f"{source / _CONFIG} is missing or cut off; copy the trained model's there, or choose another checkpoint"
        ) from None
    # The attention that training computed with; it may not be installed here, and then nothing would load.
    config.pop("attn_implementation", None)
    with TemporaryDirectory(prefix="code-rlvr-merge-") as scratch:
        folder = Path(scratch)
        for file in actor.iterdir():
            if file.is_file():
                (folder / file.name).symlink_to(file.resolve())
        shutil.copytree(source, folder / _HUGGINGFACE)
        (folder / _HUGGINGFACE / _CONFIG).write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
        if base is not None:
            _fill_in(folder / _HUGGINGFACE, base)
        yield folder


def settings_folder(folder: Path) -> Path:
    """Return the part of a staged folder that has configuration and tokenizer."""
    return folder / _HUGGINGFACE


def carry_over(settings: Path, target: Path, *, tokenizer: bool = False) -> None:
    """Copy what the model itself says about how to use it.

    Args:
        settings: `settings_folder` of a staged folder.
        target: A merged folder.
        tokenizer: Copy the tokenizer too.

    Raises:
        OSError: The folder cannot be written.
    """
    for name in (*_SAID_BY_THE_MODEL, *((_TOKENIZER_CONFIG, *_TOKENIZER) if tokenizer else ())):
        _copy(settings / name, target / name)


def _fill_in(settings: Path, base: Path) -> None:
    names = [*_SAID_BY_THE_MODEL]
    if not (settings / _TOKENIZER_CONFIG).exists():
        names += [_TOKENIZER_CONFIG, *_TOKENIZER]
    for name in names:
        if not (settings / name).exists():
            _copy(base / name, settings / name)


def _copy(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, target, dirs_exist_ok=True)
    elif source.is_file():
        shutil.copyfile(source, target)
