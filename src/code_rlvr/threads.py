"""How many CPU threads torch uses, for a while.

Torch's threads wait for each other after every operation; if another process takes a core from one, all wait.
On two cores the warm start did 10,300 tokens a second with one thread and 16,100 with two while little else ran.
With other work on the machine, of an amount that varied, runs in turn gave 2,200 to 6,500 with one thread and 180
to 4,500 with two (six of each).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def torch_threads(count: int) -> Iterator[None]:
    """Let torch use `count` CPU threads (at least 1) inside a `with` block; holds for the whole process."""
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)
