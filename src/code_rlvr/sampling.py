"""From logits to tokens: temperature, top-k, top-p and the draw, a row at a time or a thousand.

Covered: settings that differ by row, fixed by numbers from outside so that a draw can be repeated.  Not
covered: where those numbers and the logits come from, see `decode`.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class Sampling:
    """How to sample one completion.

    Args:
        temperature: Divides the logits; 0 takes the most likely token.
        top_p: Share of probability to keep, in (0, 1]; 1 keeps all.
        top_k: Number of tokens to keep; 0 or less keeps all.
        max_new_tokens: The longest completion, in tokens, the end-of-sequence token included; at least 1.

    Raises:
        ValueError: If an argument is outside its range.
    """

    temperature: float = 1.0
    top_p: float = 1.0
    top_k: int = -1
    max_new_tokens: int = 64

    def __post_init__(self) -> None:
        if self.temperature < 0:
            raise ValueError(f"temperature must be at least 0, not {self.temperature}")
        if not 0 < self.top_p <= 1:
            raise ValueError(f"top_p must be in (0, 1], not {self.top_p}")
        if self.max_new_tokens < 1:
            raise ValueError(f"max_new_tokens must be at least 1, not {self.max_new_tokens}")


def draw_tokens(
    logits: torch.Tensor,
    uniform: torch.Tensor,
    *,
    temperature: torch.Tensor,
    top_k: torch.Tensor,
    top_p: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Draw one token a row by inverting its cumulative distribution.

    Args:
        logits: Shape [rows, vocabulary], fp32.
        uniform: Where to invert, shape [rows], in [0, 1), fp64.
        temperature: Shape [rows]; see `Sampling` for this and the next two.
        top_k: Shape [rows].
        top_p: Shape [rows].

    Returns:
        The tokens and their log-probabilities (see `Completion.log_probs`), each of shape [rows].
    """
    greedy = temperature == 0
    scaled = logits / torch.where(greedy, 1.0, temperature)[:, None]
    scaled = _keep_likely(scaled, top_k, top_p)
    log_probs = scaled.log_softmax(-1)
    # Sums in double precision: in single, the tail of a large vocabulary would drift by whole tokens.
    cumulative = log_probs.exp().cumsum(-1, dtype=torch.float64)
    target = uniform[:, None] * cumulative[:, -1:]
    token = torch.searchsorted(cumulative, target, right=True).squeeze(1).clamp(max=logits.shape[1] - 1)
    token = torch.where(greedy, logits.argmax(-1), token)
    return token, log_probs.gather(1, token[:, None]).squeeze(1)


def _keep_likely(logits: torch.Tensor, top_k: torch.Tensor, top_p: torch.Tensor) -> torch.Tensor:
    """Set what top-k, then top-p leave out to minus infinity; the most likely token always stays."""
    limits_k, limits_p = bool((top_k > 0).any()), bool((top_p < 1).any())
    if not (limits_k or limits_p):
        return logits
    ordered, index = logits.sort(-1, descending=True)
    rank = torch.arange(logits.shape[1], device=logits.device)
    ordered = ordered.masked_fill((top_k > 0)[:, None] & (rank >= top_k[:, None]), -torch.inf)
    probs = ordered.softmax(-1)
    before = probs.cumsum(-1) - probs
    drop = (top_p < 1)[:, None] & (before >= top_p[:, None]) & (rank > 0)
    return torch.empty_like(logits).scatter_(1, index, ordered.masked_fill(drop, -torch.inf))
