"""Times what a step of training does with its samples, in one process, without Ray, sampling or judging.

    python benchmarks/passes.py --samples 256 --prompt-tokens 170 --response-tokens 195 --profile passes.txt \\
        -- --preset single-gpu-0.5b --config run.toml model=FOLDER

The work is verl's: the workers of actor and critic, configured as `code-rlvr train` with the words behind `--` would
have them, get one made-up batch, of random tokens and of random lengths around the given ones.  The passes: the actor's
log-probabilities, the critic's values, an update of either.  Seconds are medians of passes after those that warm up,
the device's work done; `GiB` is the most memory of the GPU that tensors took meanwhile.  With `--profile`, `busy` is
the share of a pass in which the GPU computes, by torch's profiler in one more pass, and the file tells where the time
of that pass went, and of another in Python.
"""

from __future__ import annotations

import argparse
import cProfile
import io
import os
import pstats
import socket
import statistics
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch.autograd import DeviceType

from code_rlvr.config import load_config
from code_rlvr.train.config import TrainConfig
from code_rlvr.train.fit_gpu import fit_gpu
from code_rlvr.train.overrides import verl_overrides
from code_rlvr.train.presets import find_preset

Pass = Callable[[Any], Any]


def configuration(words: list[str]) -> tuple[TrainConfig, Any]:
    """Our configuration and verl's, of the words for `code-rlvr train`."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--preset")
    parser.add_argument("--config", type=Path)
    options, given = parser.parse_known_args(words)
    base = find_preset(options.preset) if options.preset else None
    config = fit_gpu(load_config(TrainConfig, options.config, ["data.train_file=none", *given], base=base))
    from hydra import compose, initialize_config_module  # noqa: PLC0415  behind the settings of the environment

    with initialize_config_module("verl.trainer.config", version_base=None):
        return config, compose("ppo_trainer", overrides=verl_overrides(config))


def one_rank(device: str) -> None:
    """Set the environment of verl's only process."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    os.environ |= {
        "RANK": "0",
        "LOCAL_RANK": "0",
        "WORLD_SIZE": "1",
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(port),
    }
    if device == "cuda":
        os.environ["VERL_USE_EXTERNAL_MODULES"] = "code_rlvr.train.verl_gpu"
    else:
        plugin = "code_rlvr.train.verl_cpu.plugin"
        os.environ |= {"VERL_USE_EXTERNAL_MODULES": plugin, "VERL_PLATFORM": "cpu", "VERL_ENGINE_DEVICE": "cuda"}


def workers(config: Any) -> tuple[Any, Any]:
    """verl's workers of actor and critic, built as its trainer builds them."""
    from verl.utils.config import omega_conf_to_dataclass  # noqa: PLC0415
    from verl.workers.config import TrainingWorkerConfig  # noqa: PLC0415
    from verl.workers.engine_workers import TrainingWorker  # noqa: PLC0415
    from verl.workers.utils.losses import ppo_loss, value_loss  # noqa: PLC0415

    actor = omega_conf_to_dataclass(config.actor_rollout_ref.actor)
    rollout = config.actor_rollout_ref.rollout
    actor.engine.use_dynamic_bsz = config.actor_rollout_ref.actor.use_dynamic_bsz
    actor.engine.max_token_len_per_gpu = config.actor_rollout_ref.actor.ppo_max_token_len_per_gpu
    actor.engine.micro_batch_size_per_gpu = config.actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu
    actor.engine.infer_max_token_len_per_gpu = rollout.log_prob_max_token_len_per_gpu
    actor.engine.infer_micro_batch_size_per_gpu = rollout.log_prob_micro_batch_size_per_gpu
    critic = omega_conf_to_dataclass(config.critic)
    critic.engine.infer_max_token_len_per_gpu = critic.ppo_infer_max_token_len_per_gpu
    critic.engine.max_token_len_per_gpu = critic.ppo_infer_max_token_len_per_gpu
    made = []
    models = (omega_conf_to_dataclass(config.actor_rollout_ref.model), critic.model)
    for kind, part, model, loss in zip(
        ("language_model", "value_model"), (actor, critic), models, (ppo_loss, value_loss), strict=True
    ):
        worker = TrainingWorker(
            TrainingWorkerConfig(
                model_type=kind,
                model_config=model,
                engine_config=part.engine,
                optimizer_config=part.optim,
                checkpoint_config=part.checkpoint,
            )
        )
        worker.reset()
        worker.set_loss_fn(partial(loss, config=part))
        made.append(worker)
    return made[0], made[1]


def made_up_batch(options: argparse.Namespace, vocabulary: int) -> Any:
    """All fields that reach a worker, of random tokens; lengths are spread by half around the given ones."""
    from verl.utils import tensordict_utils as tu  # noqa: PLC0415

    random = torch.Generator().manual_seed(0)

    def lengths(mean: int) -> list[int]:
        low, high = mean - mean // 2, mean + mean // 2 + 1
        return torch.randint(low, high, (options.samples,), generator=random).tolist()

    def jagged(parts: list[torch.Tensor]) -> torch.Tensor:
        return torch.nested.as_nested_tensor(parts, layout=torch.jagged)

    prompts = [torch.randint(vocabulary, (n,), generator=random) for n in lengths(options.prompt_tokens)]
    responses = [torch.randint(vocabulary, (n,), generator=random) for n in lengths(options.response_tokens)]
    both = [torch.cat(pair) for pair in zip(prompts, responses, strict=True)]
    fields = {
        "prompts": jagged(prompts),
        "responses": jagged(responses),
        "input_ids": jagged(both),
        "position_ids": jagged([torch.arange(len(tokens)) for tokens in both]),
        "response_mask": jagged([torch.ones_like(tokens) for tokens in responses]),
        "loss_mask": jagged([torch.ones_like(tokens) for tokens in responses]),
    }
    for name in ("old_log_probs", "ref_log_prob", "rollout_log_probs", "values", "returns", "advantages", "rm_scores"):
        fields[name] = jagged([torch.randn(len(tokens), generator=random) / 10 - 1 for tokens in responses])
    return tu.get_tensordict(fields, {"temperature": 1.0})


def passes(actor: Any, critic: Any, config: TrainConfig) -> dict[str, Pass]:
    """The passes of a step, by name; each takes a batch that is its own."""
    from verl.utils import tensordict_utils as tu  # noqa: PLC0415

    size = config.actor.mini_batch * config.rollout.samples_per_prompt
    update = {"mini_batch_size": size, "global_batch_size": size, "epochs": 1, "seed": 1, "dataloader_kwargs": {}}

    def with_words(call: Pass, **words: Any) -> Pass:
        def given(batch: Any) -> Any:
            tu.assign_non_tensor(batch, **words)
            return call(batch)

        return given

    return {
        "log-probs": with_words(actor.infer_batch, compute_loss=False, calculate_entropy=True),
        "values": with_words(critic.infer_batch, compute_loss=False),
        "critic": with_words(critic.train_mini_batch, **update),
        "actor": with_words(actor.train_mini_batch, **update, calculate_entropy=False),
    }


def clock(device: str) -> float:
    """Seconds, all work of the device done."""
    if device == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter()


def profiled(run: Callable[[], Any], device: str) -> tuple[float, str]:
    """Seconds of work on the GPU in one call, and tables of where the time of another went: operations, Python."""
    kinds = [torch.profiler.ProfilerActivity.CPU]
    if device == "cuda":
        kinds.append(torch.profiler.ProfilerActivity.CUDA)
    with torch.profiler.profile(activities=kinds) as profile:
        run()
        clock(device)
    rows = profile.key_averages()
    kernels = [row for row in rows if row.device_type == DeviceType.CUDA and not row.is_user_annotation]
    busy = sum(row.self_device_time_total for row in kernels) / 1e6
    orders = ["self_cpu_time_total"] + (["self_device_time_total"] if device == "cuda" else [])
    tables = [rows.table(sort_by=order, row_limit=25, max_name_column_width=70) for order in orders]
    python = cProfile.Profile()
    python.runcall(run)
    python_table = io.StringIO()
    pstats.Stats(python, stream=python_table).sort_stats("cumulative").print_stats(60)
    return busy, "\n".join([*tables, python_table.getvalue()])


def main() -> None:
    """Time every pass and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=256)
    parser.add_argument("--prompt-tokens", type=int, default=170)
    parser.add_argument("--response-tokens", type=int, default=195)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--warm-up", type=int, default=2)
    parser.add_argument("--profile", type=Path, help="file for tables of one more pass of each kind")
    parser.add_argument("train", nargs="+", help="behind '--': words for code-rlvr train")
    options = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    one_rank(device)
    config, verl_config = configuration(options.train)
    actor, critic = workers(verl_config)
    batch = made_up_batch(options, actor.model_config.hf_config.vocab_size)
    print(f"{batch['input_ids'].values().numel():,} tokens, {torch.get_num_threads()} threads, {device}")
    print("| pass | seconds | from | to | GiB | busy |\n|---|---|---|---|---|---|")
    for name, call in passes(actor, critic, config).items():
        seconds = []
        if device == "cuda":
            torch.cuda.reset_peak_memory_stats()
        for _ in range(options.warm_up + options.repeats):
            given = batch.copy()
            started = clock(device)
            call(given)
            seconds.append(clock(device) - started)
        seconds = seconds[options.warm_up :]
        median, share, peak = statistics.median(seconds), "–", "–"
        if device == "cuda":
            peak = f"{torch.cuda.max_memory_allocated() / 2**30:.1f}"
        if options.profile:
            busy, tables = profiled(lambda call=call: call(batch.copy()), device)
            share = f"{busy / median:.0%}" if device == "cuda" else "–"
            with options.profile.open("a", encoding="utf-8") as file:
                file.write(f"# {name}\n{tables}\n")
        print(f"| {name} | {median:.3f} | {min(seconds):.3f} | {max(seconds):.3f} | {peak} | {share} |", flush=True)


if __name__ == "__main__":
    main()
