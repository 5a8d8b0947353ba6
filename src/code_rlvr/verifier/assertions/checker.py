"""Checkers: assertions that run as they are, in a process which has the tests and calls the solution through here.

    checker (tests, no solution) ── socket ── relay (here) ── socket ── solution (no tests)

A `CheckerUnit` is what one block of tests leaves when its plain assertions are taken out (`cases`).  Its program
reports on each assertion as it goes; `relay` keeps the reports and passes calls and answers on, unread.  A solution
has no way to report: what it sends goes to the checker, which takes it for the answer to its last call.

Covered: relaying under a deadline, and the verdicts that follow from the reports.
Not covered: starting the two processes (`checking`), what they say (`guard.dialogue`).
"""

from __future__ import annotations

import select
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from code_rlvr.errors import JudgeFault
from code_rlvr.types import Verdict
from code_rlvr.verifier.guard.decoding import decode
from code_rlvr.verifier.guard.frames import CALL, MAX_FRAME_BYTES, REPORT

LOOK_S = 0.05  # between two looks at the processes


@dataclass(frozen=True, slots=True, eq=False)
class CheckerUnit:
    """The part of one block of tests that runs as a checker; equal to itself only.

    Args:
        source: Its program, which runs after the tests' prelude in the same namespace.
        stubs: For `guard.dialogue.checker_names`: JSON values.
        statements: For each assertion ("site"), the number of the statement that it belongs to.
        texts: For each assertion, its source, shortened.
    """

    source: str
    stubs: dict[str, Any]
    statements: tuple[int, ...]
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CheckedCase:
    """One assertion of a checker."""

    unit: CheckerUnit
    site: int


@dataclass(slots=True)
class Findings:
    """What a checker reported, and how the run ended.

    Attributes:
        began: The prelude of the tests ran in the checker.
        finished: The checker ran to its end.
        calls: How many calls of the solution it made; if none, the solution had no part in how the checker ended.
        hung_up: Why the solution is not to be called any more; "" if it is.
        timed_out: The deadline ended the run.
        unsupported: What the tests did that a checker cannot do; "" if nothing.
    """

    began: bool = False
    finished: bool = False
    calls: int = 0
    hung_up: str = ""
    timed_out: bool = False
    unsupported: str = ""
    _done: set[int] = field(default_factory=set)
    _escaped: dict[int, tuple[Verdict, str]] = field(default_factory=dict)
    _failed: dict[int, str] = field(default_factory=dict)
    _raised: dict[int, str] = field(default_factory=dict)

    def record(self, report: bytes) -> None:
        """Take in a report.

        Raises:
            JudgeFault: If it is none.
        """
        try:
            kind, *details = [_printable(part) for part in decode(report)]
            if kind == "done":
                self._done.add(*details)
            elif kind == "escaped":
                statement, verdict, message = details
                self._escaped.setdefault(statement, (Verdict(verdict), message))
            elif kind == "failed":
                site, message = details
                self._failed.setdefault(site, message)
            elif kind == "raised":
                site, message = details
                self._raised.setdefault(site, message)
            elif kind == "unsupported":
                (self.unsupported,) = details
            else:
                self.began, self.finished = True, kind == "finish"
        except (ValueError, TypeError) as error:
            raise JudgeFault(f"a checker sent a report that cannot be read: {error}") from None

    def verdicts(self, unit: CheckerUnit, cut: Verdict | None, message: str = "") -> list[tuple[Verdict, str]]:
        """The verdict on each assertion of the unit, with a message.

        Args:
            unit: What was run.
            cut: The verdict on assertions that the run did not come to; None if it was not cut.
            message: Goes with that verdict.

        Raises:
            JudgeFault: If the checker came to no end although nothing cut it.
        """
        if cut is None and not self.finished:
            raise JudgeFault("a checker ended before its last assertion")
        verdicts = [self._verdict(unit, site, cut, message) for site in range(len(unit.statements))]
        for statement, escaped in sorted(self._escaped.items()):
            if statement not in unit.statements:  # the tests would have ended there: the next assertion answers for it
                later = [site for site, owner in enumerate(unit.statements) if owner > statement]
                site = later[0] if later else len(verdicts) - 1
                verdicts[site] = escaped if verdicts[site][0] is Verdict.ACCEPTED else verdicts[site]
        return verdicts

    def _verdict(self, unit: CheckerUnit, site: int, cut: Verdict | None, message: str) -> tuple[Verdict, str]:
        statement, text = unit.statements[site], unit.texts[site]
        if site in self._failed:
            return Verdict.WRONG_ANSWER, f"{text}: {self._failed[site]}"
        if statement in self._escaped:
            verdict, escaped = self._escaped[statement]
            return verdict, f"{text}: {escaped}"
        if site in self._raised:
            return Verdict.RUNTIME_ERROR, f"{text}: {self._raised[site]}"
        if statement in self._done:
            return Verdict.ACCEPTED, ""
        if self.finished or cut is None:
            return Verdict.RUNTIME_ERROR, f"{text}: was not reached"
        return cut, message


def _printable(part: Any) -> Any:
    """A text without halves of surrogate pairs, which nothing could write down; anything else as it is."""
    return part.encode("utf-8", "backslashreplace").decode() if isinstance(part, str) else part


def relay(
    checker: socket.socket, solution: socket.socket, deadline: float, meanwhile: Callable[[], None] = lambda: None
) -> Findings:
    """Pass calls and answers on until the checker ends, the solution hangs up, or time is over.

    The caller closes both sockets afterwards, and decides by how the processes ended what cut the run.

    Args:
        checker: The judge's end of the checker's socket, a stream.
        solution: That of the solution's.
        deadline: As `time.monotonic` tells it.
        meanwhile: Called now and then, to look after the processes.

    Raises:
        JudgeFault: If the checker sends what no checker would.
    """
    findings = Findings()
    ends = _End(checker), _End(solution)
    awaited, looked = False, time.monotonic()
    while True:
        if time.monotonic() >= looked + LOOK_S:
            meanwhile()
            looked = time.monotonic()
        if not _wait(ends, awaited, deadline):
            findings.timed_out = True
            return findings
        awaited = _take_frames(findings, ends, awaited)
        if findings.finished or findings.unsupported:
            return findings
        answer = ends[1].take() if awaited else None
        if answer is not None:
            ends[0].put(answer)
            awaited = False
        elif awaited and ends[1].fault:
            findings.hung_up = ends[1].fault
            checker.shutdown(socket.SHUT_RDWR)
            return findings
        if ends[0].fault:
            return findings


def _take_frames(findings: Findings, ends: tuple[_End, _End], awaited: bool) -> bool:
    """Keep the checker's reports and pass its call on; whether a call waits for its answer then."""
    while not (findings.finished or findings.unsupported) and (frame := ends[0].take()) is not None:
        if frame[:1] == REPORT:
            findings.record(frame[1:])
        elif frame[:1] == CALL and not awaited:
            findings.calls, awaited = findings.calls + 1, True
            ends[1].put(frame)
        else:
            raise JudgeFault("a checker sent what is neither a call nor a report")
    return awaited


def _wait(ends: tuple[_End, _End], awaited: bool, deadline: float) -> bool:
    """Wait until bytes can move, and move them; False if time is over."""
    poll = select.poll()
    checker, solution = ends
    poll.register(checker.socket, select.POLLIN | (select.POLLOUT if checker.outbox else 0))
    if awaited:
        poll.register(solution.socket, select.POLLIN | (select.POLLOUT if solution.outbox else 0))
    left_s = deadline - time.monotonic()
    if left_s <= 0:
        return False
    for fd, events in poll.poll(1000 * min(left_s, LOOK_S)):
        end = checker if fd == checker.socket.fileno() else solution
        if events & select.POLLOUT:
            end.write()
        if events & ~select.POLLOUT:
            end.read()
    return True


class _End:
    """The judge's end of one socket: frames in, frames out, no more of either than one at a time."""

    def __init__(self, connection: socket.socket) -> None:
        connection.setblocking(False)
        self.socket = connection
        self.outbox = memoryview(b"")
        self.fault = ""
        self._inbox = bytearray()

    def put(self, frame: bytes) -> None:
        self.outbox = memoryview(b"".join([self.outbox, len(frame).to_bytes(4, "big"), frame]))
        self.write()

    def take(self) -> bytes | None:
        """The next whole frame, if it is there."""
        if len(self._inbox) < 4:
            return None
        size = int.from_bytes(self._inbox[:4], "big")
        if size > MAX_FRAME_BYTES:
            self.fault = f"sent a frame of {size} bytes, of {MAX_FRAME_BYTES} that it may"
            return None
        if len(self._inbox) < 4 + size:
            return None
        frame = bytes(self._inbox[4 : 4 + size])
        del self._inbox[: 4 + size]
        return frame

    def read(self) -> None:
        try:
            received = self.socket.recv(1 << 20)
        except BlockingIOError:
            return
        except OSError:
            received = b""
        self._inbox += received
        if not received:
            self.fault = self.fault or "hung up"

    def write(self) -> None:
        try:
            self.outbox = self.outbox[self.socket.send(self.outbox) :]
        except BlockingIOError:
            return
        except OSError:
            self.fault = self.fault or "hung up"
