"""How the judge and the guard talk, over a SOCK_SEQPACKET pair: one message, one packet, with descriptors attached.

| message | from | as |
|---|---|---|
| settings, a program, a test, the end of a program | the judge | marshal: fast, and the guard trusts the judge |
| started, compiled, refused, died | the guard | JSON: nothing in it can hurt the judge |
| the report on a test | the guard | a fixed structure and raw bytes: quick to make, as every test makes one |

Covered: messages to and from bytes, and their descriptors.  Not covered: what they mean.
Standard library only; uses as few modules as it can, since each costs every fork.
"""

from __future__ import annotations

import _socket
import json
import marshal
import os
import struct

TYPE_CHECKING = False  # importing typing costs 8 ms
if TYPE_CHECKING:
    from typing import Any

MESSAGE_BYTES = 1 << 17  # the most that is sent in one message; larger contents go as memory files
INLINE_BYTES = 1 << 16  # the most of one content that is sent within a message
_MARSHAL_VERSION = 2  # judge and guard may be different Pythons
_REPORT = struct.Struct("=cBiddQQHII")  # mark, then the fields of a report and the sizes of its contents
_MARK = b"R"
STOPPED = ("", "cpu", "wall")


def pack_request(request: dict[str, Any]) -> bytes:
    """A message of the judge's."""
    return marshal.dumps(request, _MARSHAL_VERSION)


def pack_answer(answer: dict[str, Any]) -> bytes:
    """A message of the guard's that is no report."""
    return json.dumps(answer).encode()


def pack_report(
    stopped: str, status: int, cpu_s: float, wall_s: float, memory_kib: int, largest: int, stderr: bytes,
    stdout: bytes = b"", value: bytes = b"",
) -> bytes:  # fmt: skip
    """A message about a test that has ended.

    Args:
        stopped: Which limit it was stopped for; one of `STOPPED`.
        status: As `wait` gives it.
        cpu_s, wall_s: Seconds.
        memory_kib: Peak resident memory.
        largest: Bytes of the largest file that it wrote.
        stderr: The end of it.
        stdout, value: All of them, unless they come as files.
    """
    sizes = len(stderr), len(stdout), len(value)
    head = _REPORT.pack(_MARK, STOPPED.index(stopped), status, cpu_s, wall_s, memory_kib, largest, *sizes)
    return head + stderr + stdout + value


def unpack_answer(message: bytes) -> dict[str, Any]:
    """A message of the guard's; of a report the fields are named as the arguments of `pack_report`.

    Raises:
        ValueError: If it is none.
    """
    if not message.startswith(_MARK):
        answer = json.loads(message)
        if not isinstance(answer, dict):
            raise ValueError(f"an answer of type {type(answer).__name__}")
        return answer
    try:
        _, stopped, status, cpu_s, wall_s, memory_kib, largest, *sizes = _REPORT.unpack_from(message)
    except struct.error as error:
        raise ValueError(str(error)) from None
    report = {
        "stopped": STOPPED[stopped], "status": status, "cpu_s": cpu_s, "wall_s": wall_s, "memory_kib": memory_kib,
        "largest": largest,
    }  # fmt: skip
    start = _REPORT.size
    for name, size in zip(("stderr", "stdout", "value"), sizes):  # noqa: B905  `strict` is newer than Python 3.9
        report[name] = message[start : start + size]
        start += size
    return report


def receive(control: _socket.socket) -> tuple[dict[str, Any], list[int]]:
    """The judge's next message and the descriptors that came with it; ends this process if the judge is gone."""
    message, ancillary, _, _ = control.recvmsg(MESSAGE_BYTES, 64)
    if not message:
        os._exit(0)
    fds = memoryview(ancillary[0][2]).cast("i").tolist() if ancillary else []
    return marshal.loads(message), fds


def send_files(control: _socket.socket, message: bytes, fds: list[int]) -> None:
    """Send a message with descriptors."""
    control.sendmsg([message], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, struct.pack(f"{len(fds)}i", *fds))])
