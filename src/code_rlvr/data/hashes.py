"""What a file's content is known by in manifests."""

from __future__ import annotations

import hashlib
from pathlib import Path

_HASH_BYTES = 1 << 20  # read at once


def hash_of(file: Path) -> str:
    """The sha256 of a file's bytes, in hexadecimal."""
    digest = hashlib.sha256()
    with file.open("rb") as stream:
        while piece := stream.read(_HASH_BYTES):
            digest.update(piece)
    return digest.hexdigest()
