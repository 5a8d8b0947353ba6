"""Measures what carrying samples between sampler, reward and trainer costs, on verl's trainer on a CPU.

    python benchmarks/carrying.py --steps 8

The model is not asked: a sampler answers each prompt at once, with tokens that mean nothing.  So the phase of sampling
(`gen`, median over the steps but the first) is what is done for each sample around that, and the table shows the CPU
time for it: seconds a step, by process, between the ends of the second and the last step.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
from pathlib import Path

import psutil
from overlap import make_inputs

from code_rlvr.config import load_config
from code_rlvr.runs import read_metrics
from code_rlvr.train.config import TrainConfig
from code_rlvr.train.launch import train

AT_ONCE = '''
"""Found by each of the run's processes when Python starts: the sampler answers without its model."""
import random

from wrapt import when_imported


@when_imported("code_rlvr.train.verl_cpu.rollout")
def answer_at_once(module):
    async def generate(self, prompt_ids, sampling_params, request_id, **_unused):
        tokens = [5 + 7 * number % 90 for number in range(random.randint(20, 60))]
        extra = {"global_steps": self._step, "generate_s": 0.0}
        return module.TokenOutput(
            token_ids=tokens, log_probs=[-1.0] * len(tokens), stop_reason="completed", extra_fields=extra
        )

    module.HfServer.generate = generate
'''

PROCESSES = ("DeferredRewardWorker", "TransferQueueController", "SimpleStorageUnit", "RewardLoopWorker", "TaskRunner")


def cpu_seconds(names: dict[int, str]) -> dict[int, float]:
    """CPU time so far of each process of the run.

    Args:
        names: Gets the names of those that a sample passes through; what a process is called changes as it works.
    """
    spent = {}
    for process in psutil.Process().children(recursive=True):
        try:
            title, times = " ".join(process.cmdline()), process.cpu_times()
        except psutil.Error:  # ended meanwhile
            continue
        spent[process.pid] = times.user + times.system
        for name in PROCESSES:
            if title.startswith(f"ray::{name}"):
                names[process.pid] = name
    return spent


def main() -> None:
    """Train once and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prompts", type=int, default=64)
    parser.add_argument("--samples", type=int, default=4, help="to each prompt")
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--workers", type=int, default=1, help="processes that carry samples (rollout.workers)")
    given = parser.parse_args()
    at_step: dict[str, dict[int, float]] = {}
    names: dict[int, str] = {}

    def say(line: str) -> None:
        print(line)
        if line.startswith("[step"):
            at_step.setdefault(line.split("/")[0], cpu_seconds(names))

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_inputs(folder, argparse.Namespace(hidden_size=64, layers=2, warm_steps=2))
        (folder / "sitecustomize.py").write_text(AT_ONCE, encoding="utf-8")
        os.environ["PYTHONPATH"] = f"{folder}:{os.environ.get('PYTHONPATH', '')}"
        words = [
            f"runs_dir={folder / 'runs'}",
            f"model={folder / 'model'}",
            f"data.train_file={folder / 'train.parquet'}",
            f"data.validation_file={folder / 'validation.parquet'}",
            f"rollout.workers={given.workers}",
            f"rollout.samples_per_prompt={given.samples}",
            f"trainer.batch={given.prompts}",
            f"actor.mini_batch={given.prompts}",
            f"trainer.steps={given.steps}",
            "trainer.validate_every=1000",
            "reward.workers=2",
            'verl=["trainer.val_before_train=false","trainer.save_freq=-1"]',
        ]
        result = train(load_config(TrainConfig, None, words), say=say)
        gen = statistics.median(step.data["timing_s/gen"] for step in read_metrics(result.run.metrics)[1:])
    before, after = at_step["[step 2"], at_step[f"[step {given.steps}"]
    print(f"\n{given.prompts * given.samples} samples a step, gen {gen:.2f} s\n\n| process | CPU s a step |\n|---|---|")
    for name in PROCESSES:
        spent = sum(after[pid] - before[pid] for pid, named in names.items() if named == name)
        print(f"| {name} | {spent / (given.steps - 2):.2f} |")


if __name__ == "__main__":
    main()
