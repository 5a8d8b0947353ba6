"""How the judge and the guard talk: a header in JSON, then raw bytes; nothing that could be executed.

Covered: one message to and from bytes, and its descriptors.  Not covered: what messages say.
"""

from __future__ import annotations

import json
import os
import socket

TYPE_CHECKING = False  # importing typing costs 8 ms
if TYPE_CHECKING:
    from typing import Any

MESSAGE_BYTES = 1 << 17  # the most that is sent in one message; larger contents go as memory files
INLINE_BYTES = 1 << 16  # the most of one content that is sent within a message


def pack(header: dict[str, Any], *contents: bytes) -> bytes:
    """A message from a header of JSON values and any number of byte strings."""
    head = json.dumps([header, [len(content) for content in contents]]).encode()
    return b"".join([len(head).to_bytes(4, "big"), head, *contents])


def unpack(message: bytes) -> tuple[dict[str, Any], list[bytes]]:
    """What `pack` was given.

    Raises:
        ValueError: If it is not such a message.
    """
    size = int.from_bytes(message[:4], "big")
    header, sizes = json.loads(message[4 : 4 + size])
    contents, start = [], 4 + size
    for length in sizes:
        contents.append(message[start : start + length])
        start += length
    return header, contents


def receive(control: socket.socket) -> tuple[dict[str, Any], list[int]]:
    """The judge's next message and the descriptors that came with it; ends this process if the judge is gone."""
    message, ancillary, _, _ = control.recvmsg(MESSAGE_BYTES, socket.CMSG_SPACE(4 * 4))
    if not message:
        os._exit(0)
    header, contents = unpack(message)
    header["contents"] = contents
    return header, memoryview(ancillary[0][2]).cast("i").tolist() if ancillary else []
