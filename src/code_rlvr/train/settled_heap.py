"""Python's collector of cyclic garbage, kept from what a process of a run has loaded.

After its first step such a process holds half a million objects, nearly all of them to its end.  Python looks at all of
them whenever a quarter of so many are new, every two or three steps, and does nothing else for 0.3 to 0.45 s; each of
the processes that a step waits for has its turn.

Covered: the objects that are there at the first call.  Not covered: later ones, which are collected as ever; processes
of Ray's and of verl's queue that never load verl.
"""

from __future__ import annotations

import gc
from functools import cache


@cache
def settle_heap() -> None:
    """Collect garbage, and leave what remains out of every later collection; once in each process.

    To be called between two steps: a cycle that is alive now is never freed.
    """
    gc.collect()
    gc.freeze()
