"""How many CPU threads torch uses, for a while.

Torch's threads wait for each other after every operation.  If another process takes a core from one of them,
all wait: with two threads on two busy cores the warm start did 775 tokens a second, with one thread 9,050.
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
