"""The changes to verl that only a run on GPUs needs: memory, attention, the output layer and vLLM.

Each has the reason and what would remove it, as in `verl_patches`, which applies them.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from code_rlvr.errors import TrainingError

logger = logging.getLogger(__name__)

PACKED_ATTENTION = "torch_varlen"
"""Name of `packed_attention` for transformers."""


def attend_within_packed_samples(module: Any) -> None:
    """Let ``attn_implementation`` be ``torch_varlen``.

    Why: without flash-attn, transformers attends over packed samples with a mask of tokens × tokens.  Removed by:
    transformers using torch's kernel for them.
    """
    from code_rlvr.train.packed_attention import packed_attention  # noqa: PLC0415  torch, loaded by transformers already

    module.AttentionInterface.register(PACKED_ATTENTION, packed_attention)


def let_go_of_offloaded_weights(module: Any) -> None:
    """Free the GPU's memory when weights move to the CPU.

    Why: with one rank, FSDP1 shards nothing, and the layers' weights are views into its flat ones.  verl moves the flat
    ones and leaves the views, which hold the old memory until the next forward pass: after the start, and each time
    that weights were sent to the sampler, a whole copy of the model stays on the GPU.  Removed by: torch refreshing
    the views without ``use_orig_params`` as well, or verl doing it.
    """
    original: Callable[..., None] = module.offload_fsdp_model_to_cpu

    def offload_fsdp_model_to_cpu(model: Any, empty_cache: bool = True) -> None:
        import torch  # noqa: PLC0415  loaded already, where this is called

        if module.fsdp_version(model) != 1:
            original(model, empty_cache)
            return
        original(model, empty_cache=False)
        with torch.no_grad():
            for handle in model._all_handles:
                if not handle._use_orig_params and not handle.is_sharded(handle.flat_param):
                    handle._use_unsharded_views(as_params=False)
        if empty_cache:
            module.get_torch_device().empty_cache()

    module.offload_fsdp_model_to_cpu = offload_fsdp_model_to_cpu


def keep_the_reference_on_the_gpu(module: Any) -> None:
    """Let the weights of a model that is not trained stay on the GPU, unless they are to be offloaded.

    Why: whatever ``param_offload`` says, verl has FSDP fetch such weights from the CPU for each pass, in 32 bits.
    Removed by: verl asking its setting.
    """
    original: Callable[..., Any] = module.FSDPEngine._build_fsdp_module

    def build_fsdp_module(self: Any, model: Any) -> Any:
        config = self.engine_config
        if config.forward_only and not config.param_offload:
            self.engine_config = replace(config, forward_only=False)  # it decides nothing else in there
        try:
            return original(self, model)
        finally:
            self.engine_config = config

    module.FSDPEngine._build_fsdp_module = build_fsdp_module


def find_adapters_in_wrapped_layers(fsdp_utils: Any) -> None:
    """Send the sampler the adapters, by the names that they had before FSDP wrapped the layers.

    Why: verl asks peft for them, which looks for them by the names of modules.  FSDP1 adds a part of its own to these,
    and peft 0.21 finds none.  vLLM fails over an adapter without weights, and verl waits for it for ever.  Removed by:
    verl or peft leaving FSDP's part out of the names.
    """
    original: Callable[..., Any] = fsdp_utils.collect_lora_params

    def collect_lora_params(module: Any, layered_summon: bool, base_sync_done: bool) -> Any:
        if fsdp_utils.fsdp_version(module) != 1 or not base_sync_done:
            return original(module=module, layered_summon=layered_summon, base_sync_done=base_sync_done)
        with fsdp_utils.FSDP.summon_full_params(module, writeback=False):
            adapters = {name: weight for name, weight in module.named_parameters() if "lora_" in name}
            adapters = {name: weight.detach().to("cpu", copy=True) for name, weight in adapters.items()}
        if not adapters:
            raise TrainingError(
                "the model has no adapters that could be sent to the sampler; actor.lora_rank=0 trains all its weights"
            )
        wrapped, name_of_adapter = "_fsdp_wrapped_module.", ".default."
        return {name.replace(wrapped, "").replace(name_of_adapter, "."): weight for name, weight in adapters.items()}

    fsdp_utils.collect_lora_params = collect_lora_params


def ask_the_sampler_for_tokens_only(module: Any) -> None:
    """Have vLLM hand over the tokens of a response once, when it is complete, and no text.

    Why: verl reads nothing but the tokens of the last output.  By default vLLM decodes every token, and once more for
    its log probability, and wakes verl up for each; the process that does so is slower than the GPU if the model is
    small.  Not for a trainer that stops responses half-way; verl's synchronous one, the only one used here, does not.
    Removed by: verl asking so.
    """
    from vllm.sampling_params import RequestOutputKind  # noqa: PLC0415  heavy, and loaded by the module already

    original: Callable[..., Any] = module.SamplingParams

    def sampling_params(**given: Any) -> Any:
        tokens_only = {"detokenize": bool(given.get("stop")), "output_kind": RequestOutputKind.FINAL_ONLY}
        return original(**{**tokens_only, **given})

    module.SamplingParams = sampling_params


def compile_fused_logits(module: Any) -> None:
    """Compile what verl does with a chunk of the output layer: log-probabilities, entropies, gradients.

    Why: with a vocabulary of 150,000 tokens each of its operations goes through memory with hundreds of megabytes;
    compiled, several become one.  Removed by: verl compiling them.
    """
    import torch  # noqa: PLC0415  loaded by the module already

    for name in ("_fused_linear_for_ppo_fwd", "_fused_linear_for_ppo_bwd"):
        setattr(module, name, torch.compile(getattr(module, name)))


def compile_decoder_layers(module: Any) -> None:
    """Compile the layers of models with packed samples and without adapters, all weights of a layer at once.

    Why: of a small model the GPU waits for Python between the operations of a layer.  verl has no such setting for
    FSDP; ours follows its ``use_torch_compile``.  Removed by: verl compiling layers.
    """
    from code_rlvr.train.compiled_layers import compile_layers  # noqa: PLC0415  torch, loaded by the module already

    original: Callable[..., Any] = module.FSDPEngine._build_fsdp_module

    def build_fsdp_module(self: Any, model: Any) -> Any:
        packed = model.config._attn_implementation == PACKED_ATTENTION
        wanted = packed and self.engine_config.use_torch_compile and not hasattr(model, "peft_config")
        if wanted and compile_layers(model) == 0:
            name = type(model).__name__
            logger.warning("the layers of %s run uncompiled: they are of another kind, or have dropout", name)
        return original(self, model)

    module.FSDPEngine._build_fsdp_module = build_fsdp_module
