"""Attention over packed samples by torch's own FlashAttention kernel, for GPUs without the flash-attn package.

Several samples lie one after the other in one row, and each may see itself only.  transformers' sdpa does that with a
mask of tokens × tokens, so that a row of 16,384 tokens pays for 268 million pairs, most of them masked.  The kernel
takes the borders between samples instead and never looks across them.

Covered: rows of packed samples in bf16 or fp16, causal, grouped heads, sliding windows.  Not covered: padding, which
this would attend to (`overrides_device` asks for it with packing only), dropout, attention sinks.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import torch
from torch.nn.attention.varlen import varlen_attn
from torch.utils.weak import WeakIdKeyDictionary

_kernel: Callable[..., torch.Tensor] = varlen_attn  # type: ignore[assignment]  # the tensor alone unless more is asked for
# It has always taken grouped heads; some versions of torch want it said.
_GROUPED = {"enable_gqa": True} if "enable_gqa" in inspect.signature(varlen_attn).parameters else {}

_borders_of: WeakIdKeyDictionary = WeakIdKeyDictionary()
"""Borders by the tensor of positions: each layer of a pass gets the same one, and finding borders waits for the GPU."""


def borders(position_ids: torch.Tensor) -> tuple[torch.Tensor, int]:
    """Return where samples begin and end, and the length of the longest.

    Args:
        position_ids: Position of each token in its sample, shape [1, tokens]; a sample begins at each 0.

    Returns:
        Borders as int32, shape [samples + 1], from 0 to the number of tokens; and a number of tokens.
    """
    known: tuple[torch.Tensor, int] | None = _borders_of.get(position_ids)  # type: ignore[no-untyped-call]
    if known is None:
        starts = (position_ids[0] == 0).nonzero().squeeze(1)
        edges = torch.cat([starts, starts.new_tensor([position_ids.shape[1]])]).to(torch.int32)
        known = (edges, int(edges.diff().max()))
        _borders_of[position_ids] = known
    return known


def packed_attention(
    _module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    *,
    position_ids: torch.Tensor | None = None,
    packed: tuple[torch.Tensor, int] | None = None,
    scaling: float | None = None,
    dropout: float = 0.0,
    sliding_window: int | None = None,
    **_kwargs: Any,
) -> tuple[torch.Tensor, None]:
    """Attend within each sample of a packed row; the signature is transformers'.

    Args:
        query: Shape [1, heads, tokens, size of a head].
        key: Shape [1, groups, tokens, size of a head]; as many heads share a group as it takes.
        value: As `key`.
        attention_mask: None; a mask would mean padding.
        position_ids: See `borders`; needed only without `packed`.
        packed: What `borders` returns, where it is known already; the length may be more than the longest sample's.
        scaling: Factor of the products; one over the root of a head's size when None.
        dropout: Must be 0.
        sliding_window: How many tokens back one can see, itself included; all when None.

    Returns:
        Shape [1, tokens, heads, size of a head], and no weights.

    Raises:
        ValueError: The row is not packed, dropout is asked for, or nothing says where samples begin.
    """
    if query.shape[0] != 1 or attention_mask is not None or dropout:
        raise ValueError("torch_varlen is for packed samples without padding or dropout; use attn_implementation=sdpa")
    if packed is None:
        if position_ids is None:
            raise ValueError("torch_varlen needs position_ids, or the borders between samples")
        packed = borders(position_ids)
    edges, longest = packed
    rows = [states.squeeze(0).transpose(0, 1) for states in (query, key, value)]
    window = (-1 if sliding_window is None else sliding_window - 1, 0)
    attended = _kernel(*rows, edges, edges, longest, longest, scale=scaling, window_size=window, **_GROUPED)
    return attended.unsqueeze(0), None
