"""Decoder layers compiled whole, as functions of their weights.

A layer is some sixty short operations, and as many backward; of a small model the GPU does each sooner than Python asks
for the next.  Compiled, they are a dozen.  torch's compiler refuses modules whose weights FSDP1 manages: views of flat
tensors, made anew for each pass.  So it is given a copy of the layer without weights, and the weights as arguments.
Layers that differ in nothing but weights share that copy and its code: those of a model, and those of actor, critic and
reference.

Covered: layers of `SAME_AT_ANY_DEPTH` with `packed_attention`; passes over rows of any length, with and without
gradients, and with activations computed twice.  Not covered: adapters and dropout, with which no layer is compiled;
masks and caches, with which a pass goes on as it would.
"""

from __future__ import annotations

import copy
from typing import Any

import torch
from torch.func import functional_call

from code_rlvr.train.packed_attention import borders

SAME_AT_ANY_DEPTH = frozenset({"LlamaDecoderLayer", "MistralDecoderLayer", "Qwen2DecoderLayer", "Qwen3DecoderLayer"})
"""Layers of transformers whose number decides about nothing but the cache, which training does without."""

Layer = torch.nn.Module


class CompiledLayer:
    """What a layer does, compiled; weights are arguments.

    Args:
        layer: Any of the layers of a kind.
    """

    def __init__(self, layer: Layer) -> None:
        # In eval mode, or the copy would compute activations twice itself, inside of what does that already.
        self._without_weights = copy.deepcopy(layer).to("meta").eval()
        self._compiled = torch.compile(self._run)
        self._room = 1024

    def __call__(
        self,
        weights: dict[str, torch.Tensor],
        hidden_states: torch.Tensor,
        rotation: tuple[torch.Tensor, torch.Tensor],
        position_ids: torch.Tensor,
    ) -> torch.Tensor:
        """Return the new hidden states.

        Args:
            weights: By their names in the layer.
            hidden_states: Of a packed row, shape [1, tokens, size].
            rotation: Cosines and sines of the positions, shape [1, tokens, size of a head].
            position_ids: See `borders`.
        """
        edges, longest = borders(position_ids)  # out here, since finding them waits for the GPU
        for tensor, dimension in ((hidden_states, 1), (rotation[0], 1), (rotation[1], 1), (edges, 0)):
            torch._dynamo.maybe_mark_dynamic(tensor, dimension)
        while self._room < longest:  # code is compiled anew for each number, so there are to be few
            self._room *= 2
        result: torch.Tensor = self._compiled(weights, hidden_states, rotation, (edges, self._room))
        return result

    def _run(self, weights: Any, hidden_states: torch.Tensor, rotation: Any, packed: Any) -> Any:
        given = {"position_embeddings": rotation, "packed": packed}
        return functional_call(self._without_weights, weights, (hidden_states,), given)


_of_a_kind: dict[tuple[Any, ...], CompiledLayer] = {}


def compile_layers(model: torch.nn.Module) -> int:
    """Let the layers of a model run compiled, those that can; to be called before FSDP wraps them.

    Args:
        model: A model of transformers whose attention is `packed_attention`; its layers' `forward` is replaced.

    Returns:
        How many layers were replaced.
    """
    layers = [part for part in model.modules() if type(part).__name__ in SAME_AT_ANY_DEPTH and not _drops(part)]
    for layer in layers:
        kind = _kind(layer)
        if kind not in _of_a_kind:
            _of_a_kind[kind] = CompiledLayer(layer)
        _replace_forward(layer, _of_a_kind[kind])
    return len(layers)


def _drops(layer: Layer) -> bool:
    return any(getattr(part, "attention_dropout", 0) or getattr(part, "p", 0) for part in layer.modules())


def _kind(layer: Layer) -> tuple[Any, ...]:
    """All that tells one layer from another, but for the values of its weights, its number and its mode."""
    simple = (bool, int, float, str, type(None))
    told = [
        (name, type(part).__name__, key, value)
        for name, part in layer.named_modules()
        for key, value in vars(part).items()
        if isinstance(value, simple) and key not in ("layer_idx", "training")
    ]
    return (*told, *((name, tuple(weight.shape)) for name, weight in layer.named_parameters()))


def _replace_forward(layer: Layer, compiled: CompiledLayer) -> None:
    original = layer.forward
    places = [(name, layer.get_submodule(name.rpartition(".")[0])) for name, _ in layer.named_parameters()]

    def forward(hidden_states: torch.Tensor, *args: Any, **given: Any) -> Any:
        if args or given.get("attention_mask") is not None or given.get("past_key_values") is not None:
            return original(hidden_states, *args, **given)
        weights = {name: getattr(part, name.rpartition(".")[2]) for name, part in places}
        return compiled(weights, hidden_states, given["position_embeddings"], given["position_ids"])

    layer.forward = forward
