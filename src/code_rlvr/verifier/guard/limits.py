"""Resource limits that are only ever lowered.

Covered: setrlimit within the inherited hard limit; what the judge has to know of them too.  Not covered: the other
limits (`zygote`, `supervisor`, `child`).
"""

from __future__ import annotations

import resource

COMPILE_MIB = 1024
"""What the compiler may hold; the bound on a control group has to leave room for it."""


def clamp(value: int, hard: int) -> int:
    """A limit that does not exceed the inherited one."""
    return value if hard == resource.RLIM_INFINITY else min(value, hard)


def lower(kind: int, value: int) -> None:
    """Set a limit, soft and hard, that is never above the inherited one."""
    value = clamp(value, resource.getrlimit(kind)[1])
    resource.setrlimit(kind, (value, value))
