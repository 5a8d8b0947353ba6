"""Numbers as a reader likes them: few digits, a real minus sign, units that fit."""

from __future__ import annotations

import math


def format_duration(seconds: float) -> str:
    """Write a time with its two largest units."""
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02} s"
    minutes = round(seconds / 60)
    return f"{minutes // 60} h {minutes % 60:02} min"


def format_number(value: float) -> str:
    """Write a number with three digits that matter."""
    if not math.isfinite(value):
        return "–" if math.isnan(value) else ("∞" if value > 0 else "−∞")
    size = abs(value)
    if size >= 1000:
        text = f"{value:,.0f}" if size < 1e7 else f"{value:.2e}"
    elif value == int(value) or size >= 100:
        text = f"{value:.0f}"
    elif size >= 10:
        text = f"{value:.1f}"
    elif size >= 0.001:
        text = f"{value:.{2 if size >= 0.1 else 3 if size >= 0.01 else 4}f}"
    else:
        text = f"{value:.1e}"
    return text.replace("-", "−")


def format_ends(ends: tuple[float | None, float | None]) -> tuple[str, str]:
    """Write two numbers either of which may be missing."""
    first, last = (format_number(math.nan if one is None else one) for one in ends)
    return first, last


NOISE = 1e-9
"""What is smaller is 0 up to the rounding of floats."""


def side_of_zero(low: float, high: float) -> int:
    """Return on which side of 0 an interval is: 1 above, -1 below, 0 if it includes 0."""
    return int(low > NOISE) - int(high < -NOISE)


def digits_for(low: float, high: float) -> int:
    """Return how many digits it takes to tell the ends of an interval from 0: 2, or up to 4."""
    digits = 2
    while digits < 4 and any(abs(bound) > NOISE and round(bound, digits) == 0 for bound in (low, high)):
        digits += 1
    return digits


def format_signed(value: float, digits: int = 2) -> str:
    """Write a difference: always with a sign, unless it is 0 to the last digit."""
    rounded = round(value, digits)
    return f"{rounded:+.{digits}f}".replace("-", "−") if rounded else f"{0:.{digits}f}"
