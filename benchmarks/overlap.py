"""Measures how much of the judging is hidden behind the rest of a step, on verl's trainer on a CPU.

    python benchmarks/overlap.py --delays 0 0.05 0.1 --steps 4

The same run again and again, but for how long a program takes to judge: a reward function that calls ours and then
sleeps so many seconds, as many at a time as there are judge workers.  Asked for all at once, after the last sample
is there, the delays of a step would take *samples × delay / workers* longer than without.  What of it does not show
in the time of a step was hidden, behind the generation of other samples and behind the models' passes over all:

    hidden = 1 - (step(delay) - step(0)) / (samples × delay / workers)

`gen` is the time until all responses are there, of which decoding took `generate`; `verify` is the wait for verdicts
after the passes (`timing_s/verify`).  Medians over the steps, the first one left out because it warms up.  The model
is warm-started for a few steps only, so that some of its programs end early and some late, and large enough to take
seconds for a batch.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from pathlib import Path

from code_rlvr.config import load_config
from code_rlvr.data.parquet import write_parquet
from code_rlvr.data.starter import build_starter, imperfect_corpus
from code_rlvr.runs import RunFolder, StepMetrics, read_metrics
from code_rlvr.train.config import TrainConfig
from code_rlvr.train.launch import train
from code_rlvr.train.warmstart import WarmStartSettings, warm_start

SLOW_REWARD = '''
"""Our reward function for programs that take {delay} s longer, {workers} of them at a time."""
import threading
import time

from code_rlvr import reward

working = threading.BoundedSemaphore({workers})


def compute_score(*args, **kwargs):
    score = reward.compute_score(*args, **kwargs)
    with working:
        time.sleep({delay})
    return score
'''

COLUMNS = ("timing_s/step", "rollout/generate_s/total", "timing_s/gen", "timing_s/verify")


def make_inputs(folder: Path, given: argparse.Namespace) -> None:
    """Make a model that takes seconds to write a batch, and problems for it."""
    size = given.hidden_size
    settings = WarmStartSettings(
        steps=given.warm_steps, hidden_size=size, intermediate_size=3 * size, layers=given.layers, batch=8, lr=1e-3
    )
    warm_start(folder / "model", imperfect_corpus(0, 4000), settings)
    problems = build_starter(0, 512, 32, 1, 1)
    write_parquet(folder / "train.parquet", problems.train, split="train", instruction="")
    write_parquet(folder / "validation.parquet", problems.validation, split="validation", instruction="")


def steps_with(folder: Path, delay: float, given: argparse.Namespace) -> list[StepMetrics]:
    """Train with so long a delay; return the metrics of the steps but the first."""
    slow = folder / f"reward_{delay:g}.py"
    slow.write_text(SLOW_REWARD.format(delay=delay, workers=given.workers), encoding="utf-8")
    words = [
        f"name=delay_{delay:g}",
        f"runs_dir={folder / 'runs'}",
        f"model={folder / 'model'}",
        f"data.train_file={folder / 'train.parquet'}",
        f"data.validation_file={folder / 'validation.parquet'}",
        f"reward.file={slow}",
        f"reward.workers={given.workers}",
        f"trainer.batch={given.batch}",
        f"actor.mini_batch={given.batch}",
        f"data.max_response_tokens={given.response_tokens}",
        f"trainer.steps={given.steps}",
        "trainer.save_every=1000",
        "trainer.validate_every=1000",
    ]
    train(load_config(TrainConfig, None, words), say=lambda line: print(line, flush=True))
    logged = read_metrics(RunFolder(folder / "runs" / f"delay_{delay:g}").metrics)
    return [metrics for metrics in logged if metrics.step > 1]


def main() -> None:
    """Print one row for each delay."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--delays", type=float, nargs="+", default=[0, 0.05, 0.1])
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--batch", type=int, default=64, help="samples a step")
    parser.add_argument("--workers", type=int, default=2, help="programs judged at a time")
    parser.add_argument("--hidden-size", type=int, default=256, help="of the model")
    parser.add_argument("--layers", type=int, default=6, help="of the model")
    parser.add_argument("--response-tokens", type=int, default=128, help="longest response")
    parser.add_argument("--warm-steps", type=int, default=60, help="of supervised training before; few: lengths differ")
    given = parser.parse_args()
    if given.delays[0] != 0:
        parser.error("the first delay has to be 0: the others are compared with it")
    rows = []
    with tempfile.TemporaryDirectory() as name:
        make_inputs(Path(name), given)
        for delay in given.delays:
            steps = steps_with(Path(name), delay, given)
            rows.append((delay, *(median(steps, key) for key in COLUMNS)))
    print(f"\n{given.batch} samples a step, {given.workers} judge workers, medians of {given.steps - 1} steps")
    print("| delay s | delays / workers, s | step s | generate s | gen s | verify s | hidden |")
    print("|---|---|---|---|---|---|---|")
    without = rows[0][1]
    for delay, step_s, *phases in rows:
        work_s = given.batch * delay / given.workers
        hidden = f"{1 - (step_s - without) / work_s:.0%}" if delay else ""
        print(f"| {delay:g} | {work_s:.2f} | {step_s:.2f} | {' | '.join(f'{s:.2f}' for s in phases)} | {hidden} |")


def median(steps: list[StepMetrics], key: str) -> float:
    """The median of a metric over steps."""
    return statistics.median(metrics.data[key] for metrics in steps)


if __name__ == "__main__":
    main()
