"""What room a model's context leaves for responses; the same for every engine.

Covered: how long each response may become, which prompts leave no room.  Not covered: sampling (`engine`,
`vllm_engine`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from code_rlvr.sampling import Sampling


def fit_to_context(lengths: Sequence[int], sampling: Sampling, context: int | None) -> dict[int, Sampling]:
    """Shorten the longest response of each prompt to what its context leaves.

    Args:
        lengths: Tokens of each prompt.
        sampling: How to sample where there is room.
        context: Tokens of prompt and response together that the model takes; None for no bound.

    Returns:
        How to sample, by the number of the prompt, in order.  A prompt that fills the context is left out: its
        response is empty, counts as cut off, and `Scores.without_room` says how many those are.
    """
    if context is None:
        return dict.fromkeys(range(len(lengths)), sampling)
    room = {number: min(sampling.max_new_tokens, context - length) for number, length in enumerate(lengths)}
    return {number: replace(sampling, max_new_tokens=tokens) for number, tokens in room.items() if tokens > 0}
