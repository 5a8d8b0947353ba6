"""Steps and values in words, the same way in every rule.

Covered: formatting.  Not covered: what is said.
"""

from __future__ import annotations

import numpy as np

from code_rlvr.health.signals import Signal


def number(value: float) -> str:
    """Write a value with three digits that matter: ``0.0123``, ``4.57``, ``138``."""
    if value == 0:
        return "0"
    if abs(value) >= 1e5 or abs(value) < 1e-3:
        return f"{value:.1e}"
    digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2 if abs(value) >= 0.1 else 4
    return f"{value:.{digits}f}"


def share(value: float) -> str:
    """Write a share as a percentage."""
    return f"{value:.0%}"


def span(first: int, last: int) -> str:
    """Write a window of steps."""
    return f"at step {first}" if first == last else f"from step {first} to step {last}"


def moved(signal: Signal, before: int, after: int, width: int) -> tuple[float, float]:
    """Return the medians of a signal up to one step and from another on, of `width` points each."""
    at, then = signal.index_at(before) + 1, signal.index_at(after)
    return _median(signal, max(0, at - width), at), _median(signal, then, then + width)


def _median(signal: Signal, start: int, stop: int) -> float:
    return float(np.median(signal.values[start:stop]))
