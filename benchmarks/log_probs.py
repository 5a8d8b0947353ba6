"""Compares ways to get tokens' log probabilities and entropies from hidden states, without keeping the logits.

    python benchmarks/log_probs.py --tokens 20480 --hidden 896 --vocabulary 151936

The ways: verl's torch backend as it is and compiled, and verl's triton backend.  Milliseconds are medians of passes
after two that warm up, the device's work done.  Errors are relative, of the whole result, against the same arithmetic
in float32 on a part of the tokens.  Without a GPU the tensors are small and the times mean nothing; the errors do.
"""

from __future__ import annotations

import argparse
import functools
import statistics
import time
from collections.abc import Callable

import torch
from verl.utils.experimental import torch_functional as verl_backend

from code_rlvr.train.verl_patches_gpu import compile_fused_logits

Pass = Callable[[torch.Tensor, torch.Tensor, torch.Tensor], tuple[torch.Tensor, torch.Tensor]]
CHECKED = 1024
"""Tokens of which the result is compared."""


def as_it_is(hidden: torch.Tensor, weight: torch.Tensor, tokens: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """verl's torch backend, chunks of 512 tokens."""
    return verl_backend.FusedLinearForPPO()(hidden, weight, tokens, 1.0)


def compiled(hidden: torch.Tensor, weight: torch.Tensor, tokens: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The same as a run on a GPU has it.  It stays so, for the backward pass and all later ones."""
    compile_once()
    return as_it_is(hidden, weight, tokens)


@functools.cache
def compile_once() -> None:
    """Apply the patch of a run on a GPU."""
    compile_fused_logits(verl_backend)


def triton(hidden: torch.Tensor, weight: torch.Tensor, tokens: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """verl's triton backend."""
    from verl.utils.kernel.linear_cross_entropy import linear_cross_entropy  # noqa: PLC0415  needs a GPU

    return linear_cross_entropy(hidden, weight, tokens, 1.0, "none")


def clock(device: str) -> float:
    """Seconds, all work of the device done."""
    if device == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter()


def measure(way: Pass, given: tuple[torch.Tensor, ...], repeats: int) -> tuple[float, float]:
    """Milliseconds of a pass forward, and of one forward and backward."""
    hidden, weight, tokens = given
    forward, both = [], []
    for _ in range(repeats + 2):
        started = clock(hidden.device.type)
        with torch.no_grad():
            way(hidden, weight, tokens)
        forward.append(clock(hidden.device.type) - started)
        started = clock(hidden.device.type)
        log_probs = way(hidden.requires_grad_(), weight.requires_grad_(), tokens)[0]
        log_probs.backward(torch.ones_like(log_probs))
        both.append(clock(hidden.device.type) - started)
        hidden.grad = weight.grad = None
    return 1000 * statistics.median(forward[2:]), 1000 * statistics.median(both[2:])


def errors(way: Pass, given: tuple[torch.Tensor, ...]) -> list[float]:
    """Relative errors of log probabilities, entropies, and of the gradients of hidden states and weights."""
    hidden, weight, tokens = given[0][:, :CHECKED], given[1], given[2][:, :CHECKED]
    scale = torch.linspace(-1, 1, hidden.shape[1], device=hidden.device)
    results = []
    for dtype in (hidden.dtype, torch.float32):
        inputs = [one.detach().to(dtype).requires_grad_() for one in (hidden, weight)]
        if dtype == torch.float32:
            logits = inputs[0] @ inputs[1].T
            kept = logits.log_softmax(-1)
            entropy = -(kept.exp() * kept).sum(-1)
            log_probs = kept.gather(-1, tokens.unsqueeze(-1)).squeeze(-1)
        else:
            log_probs, entropy = way(inputs[0], inputs[1], tokens)
        (log_probs.flatten() * scale).sum().backward()
        results.append([log_probs.detach(), entropy.detach(), *(one.grad for one in inputs)])
    return [float((one.float() - two).norm() / two.norm()) for one, two in zip(*results, strict=True)]


def main() -> None:
    """Measure every way and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    gpu = torch.cuda.is_available()
    parser.add_argument("--tokens", type=int, default=20480 if gpu else 1100)
    parser.add_argument("--hidden", type=int, default=896 if gpu else 64)
    parser.add_argument("--vocabulary", type=int, default=151936 if gpu else 1000)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    device = "cuda" if gpu else "cpu"
    torch.manual_seed(0)
    hidden = torch.randn(1, options.tokens, options.hidden, device=device, dtype=torch.bfloat16)
    weight = torch.randn(options.vocabulary, options.hidden, device=device).mul(0.05).bfloat16()
    tokens = torch.randint(options.vocabulary, (1, options.tokens), device=device)
    ways: dict[str, Pass] = {"torch": as_it_is, "triton": triton, "torch, compiled": compiled}
    columns = ["backend", "forward ms", "and backward ms", "log prob", "entropy", "d hidden", "d weight"]
    print("| " + " | ".join(columns) + " |\n" + "|---" * len(columns) + "|")
    for name, way in ways.items():
        if way is triton and not gpu:
            continue
        compared = errors(way, (hidden, weight, tokens))
        forward, both = measure(way, (hidden.detach(), weight.detach(), tokens), options.repeats)
        figures = [f"{forward:.1f}", f"{both:.1f}", *(f"{error:.1e}" for error in compared)]
        print("| " + " | ".join([name, *figures]) + " |", flush=True)


if __name__ == "__main__":
    main()
