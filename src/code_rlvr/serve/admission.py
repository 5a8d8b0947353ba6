"""How much work a server takes on, and what it counts.

Every request takes a ticket, which is charged for the programs it brings and for the bytes it sends, as they arrive.
Beyond the bounds it is refused with `Busy`, and the client comes again: memory stays bounded whatever is sent.

Covered: bounds, counters, the text that a monitor reads.  Not covered: HTTP (`app`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from code_rlvr.errors import CodeRlvrError


class Busy(CodeRlvrError):  # noqa: N818  named for the state
    """There is too much to do already; to be asked again later."""


class Stopping(CodeRlvrError):  # noqa: N818  named for the state
    """The server is being stopped; another, or the next one, may be asked."""


@dataclass(frozen=True, slots=True)
class Capacity:
    """What a server takes at most.

    Args:
        programs: Waiting and running together.
        pending_bytes: Of all request bodies together that are not yet answered.
        body_bytes: Of one request.
        items: Programs in one request.
    """

    programs: int
    pending_bytes: int = 1 << 30
    body_bytes: int = 64 << 20
    items: int = 256


class Ticket:
    """What one request is charged for."""

    def __init__(self, admission: Admission) -> None:
        self._admission = admission
        self.programs = 0
        self.size = 0

    def charge(self, programs: int = 0, size: int = 0) -> None:
        """Take room for so many more programs and bytes of a body.

        Raises:
            Busy: There is none.
            Stopping: The server takes nothing more.
        """
        self._admission.take(programs, size)
        self.programs += programs
        self.size += size

    def handed_over(self) -> Ticket:
        """A ticket for all that this one was charged for, which now owes nothing."""
        other = Ticket(self._admission)
        other.programs, other.size = self.programs, self.size
        self.programs = self.size = 0
        return other

    def give_back(self) -> None:
        """Free what was taken."""
        self._admission.free(self.programs, self.size)
        self.programs = self.size = 0


@dataclass(slots=True)
class Admission:
    """Bounds and counters of one server; for the thread of its event loop only.

    Args:
        capacity: The bounds.
    """

    capacity: Capacity
    stopping: bool = False
    programs: int = 0
    pending_bytes: int = 0
    verdicts: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    judge_s: float = 0.0

    @contextmanager
    def ticket(self) -> Iterator[Ticket]:
        """A ticket for the time of a `with` block."""
        ticket = Ticket(self)
        try:
            yield ticket
        finally:
            ticket.give_back()

    def take(self, programs: int, size: int) -> None:
        """Take room; see `Ticket.charge`."""
        if self.stopping:
            raise Stopping("the server is being stopped")
        if self.programs + programs > self.capacity.programs:
            raise Busy(f"{self.programs} programs are waiting or running; come again")
        if self.pending_bytes + size > self.capacity.pending_bytes:
            raise Busy(f"{self.pending_bytes >> 20} MiB of requests are waiting; come again")
        self.programs += programs
        self.pending_bytes += size

    def free(self, programs: int, size: int) -> None:
        """Free what was taken."""
        self.programs -= programs
        self.pending_bytes -= size

    def metrics(self, running: int) -> str:
        """Everything that is counted, in Prometheus's text format.

        Args:
            running: Programs that are being judged now.
        """
        lines = _metric("programs", "gauge", "Programs that are being judged, or wait for it.")
        lines += [f'code_rlvr_programs{{state="running"}} {running}']
        lines += [f'code_rlvr_programs{{state="waiting"}} {max(0, self.programs - running)}']
        lines += _metric("pending_bytes", "gauge", "Bytes of requests that are not yet answered.")
        lines += [f"code_rlvr_pending_bytes {self.pending_bytes}"]
        lines += _metric("verdicts_total", "counter", "Programs that were judged, by verdict.")
        lines += [f'code_rlvr_verdicts_total{{verdict="{name}"}} {count}' for name, count in self.verdicts.items()]
        lines += _metric("refused_total", "counter", "Requests and items without a verdict, by reason.")
        lines += [f'code_rlvr_refused_total{{reason="{name}"}} {count}' for name, count in self.refused.items()]
        lines += _metric("judge_seconds_total", "counter", "Wall seconds of judging, without waiting.")
        lines += [f"code_rlvr_judge_seconds_total {self.judge_s:.6f}"]
        return "\n".join(lines) + "\n"


def _metric(name: str, kind: str, meaning: str) -> list[str]:
    return [f"# HELP code_rlvr_{name} {meaning}", f"# TYPE code_rlvr_{name} {kind}"]
