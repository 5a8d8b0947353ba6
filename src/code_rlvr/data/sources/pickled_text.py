"""Reads a text out of base64, zlib and pickle without running anything: LiveCodeBench stores its hidden tests so.

Unpickling runs whatever the pickle says.  This reads the operations of one pickled text, and refuses all others.

Covered: a pickled `str` of protocols 1 to 5, and a bound on what it may unpack to.
Not covered: protocol 0, and any other object.
"""

from __future__ import annotations

import base64
import pickletools
import zlib

from code_rlvr.errors import TestsFormatError

MAX_MIB = 256

_TEXTS = ("SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8")
_IGNORED = ("PROTO", "FRAME", "MEMOIZE", "BINPUT", "LONG_BINPUT")


def read_pickled_text(packed: str, field: str, max_mib: int = MAX_MIB) -> str:
    """The text in a base64 text of a zlib stream of a pickle.

    Args:
        packed: The base64 text.
        field: Its name, for messages.
        max_mib: What it may unpack to.

    Raises:
        TestsFormatError: It is something else, or larger.
    """
    try:
        compressed = base64.b64decode(packed, validate=True)
        unpacking = zlib.decompressobj()
        pickled = unpacking.decompress(compressed, max_mib << 20)
    except (ValueError, zlib.error) as error:
        raise TestsFormatError(f"is neither JSON nor base64 of a zlib stream: {error}", field=field) from None
    if unpacking.unconsumed_tail:
        raise TestsFormatError(f"unpacks to more than {max_mib} MiB; it is not read any further", field=field)
    if not unpacking.eof:
        raise TestsFormatError("is cut short: its zlib stream has no end", field=field)
    return _text(pickled, field)


def _text(pickled: bytes, field: str) -> str:
    texts: list[str] = []
    try:
        for operation, argument, _ in pickletools.genops(pickled):
            if operation.name in _TEXTS:
                texts.append(str(argument))
            elif operation.name not in (*_IGNORED, "STOP"):
                raise TestsFormatError(
                    f"is a pickle with the operation {operation.name}; only a text is read, as others can run code",
                    field=field,
                )
    except ValueError as error:
        raise TestsFormatError(f"is not a pickle: {error}", field=field) from None
    if len(texts) != 1:
        raise TestsFormatError(f"is a pickle of {len(texts)} texts; it has to be one", field=field)
    return texts[0]
