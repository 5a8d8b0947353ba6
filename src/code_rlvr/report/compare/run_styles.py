"""How a run is told from the others: one colour and one pattern of dashes for each.

The colours keep a contrast of 3 to the page in either mode.  Any two of them differ for readers who lack the cones for
red or for green too, as far as a model of their sight says (Machado et al. 2009); a test computes both.  The dashes
are for prints in grey, and for eyes that no model knows.
"""

from __future__ import annotations

from typing import NamedTuple

from code_rlvr.report.palette import Tone


class RunStyle(NamedTuple):
    """Looks of one run.

    Args:
        name: Of the colour, as a custom property.
        tone: The colour.
        dash: Lengths of line and gap in pixels; empty for a solid line.
    """

    name: str
    tone: Tone
    dash: tuple[int, ...]


RUN_STYLES = (
    RunStyle("run-1", Tone("#1f6feb", "#58a6ff"), ()),
    RunStyle("run-2", Tone("#c2500a", "#ff9d4d"), (9, 4)),
    RunStyle("run-3", Tone("#0b7d5d", "#35c79a"), (2, 3)),
    RunStyle("run-4", Tone("#8a2a6b", "#e08bc4"), (10, 3, 2, 3)),
    RunStyle("run-5", Tone("#5a8daf", "#cef3f3"), (16, 4)),
    RunStyle("run-6", Tone("#5a2416", "#8a5f42"), (5, 2)),
    RunStyle("run-7", Tone("#080868", "#395def"), (10, 3, 2, 3, 2, 3)),
    RunStyle("run-8", Tone("#3912d9", "#c3ed1d"), (2, 6)),
)
"""In the order in which the runs were named."""
