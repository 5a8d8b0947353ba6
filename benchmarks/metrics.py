"""Measures what metrics and verdict files cost a training step, on a synthetic stream.

    python benchmarks/metrics.py [--samples 1024] [--steps 20]

Each step logs one verdict a sample, with ten tests and a response of 2,000 characters kept, as `compute_score` does,
and computes the metrics of the batch, as the sampler does.  The share is of a step of 8 s, the bar for 256 samples on
one GPU; a step of 1,024 samples takes longer.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from random import Random

from code_rlvr.reward import RewardPolicy, metrics_of
from code_rlvr.train.batch_metrics import reward_metrics
from code_rlvr.types import CaseJudgement, Judgement, Verdict
from code_rlvr.verdict_log import VerdictLog

STEP_S = 8.0


def judgements(samples: int) -> list[Judgement]:
    """Judgements of a batch in which half of the tests pass."""
    rng = Random(0)
    made = []
    for _ in range(samples):
        verdicts = rng.choices([Verdict.ACCEPTED, Verdict.WRONG_ANSWER], k=10)
        cases = tuple(CaseJudgement(verdict, 0.01, 0.02, 12.0, "Traceback: none\n" * 20) for verdict in verdicts)
        overall = next((one for one in verdicts if one is not Verdict.ACCEPTED), Verdict.ACCEPTED)
        made.append(Judgement(overall, cases, 10, 0.05))
    return made


def main() -> None:
    """Print the cost of a step."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=1024)
    parser.add_argument("--steps", type=int, default=20)
    given = parser.parse_args()
    batch, policy, response = judgements(given.samples), RewardPolicy(), "print(1)  # a response\n" * 87
    logged, computed = [], []
    with tempfile.TemporaryDirectory() as folder:
        log = VerdictLog(folder, keep_text=True)
        for step in range(given.steps):
            started = time.perf_counter()
            rewards = []
            for number, judgement in enumerate(batch):
                metrics = metrics_of(judgement, True, policy)
                info = {"problem_id": f"p{number % 128}", "split": "train", "global_steps": step}
                log.judged("benchmark", response, info, judgement, metrics)
                rewards.append(metrics)
            logged.append(time.perf_counter() - started)
            started = time.perf_counter()
            reward_metrics(rewards, ["a", "b"] * (given.samples // 2), [n // 8 for n in range(given.samples)])
            computed.append(time.perf_counter() - started)
    verdicts_s, metrics_s = statistics.median(logged), statistics.median(computed)
    share = (verdicts_s + metrics_s) / STEP_S
    print(f"{given.samples} samples a step, medians of {given.steps} steps:")
    print(f"verdict files {1000 * verdicts_s:.0f} ms, metrics {1000 * metrics_s:.1f} ms")
    print(f"together {share:.2%} of a step of {STEP_S:.0f} s")


if __name__ == "__main__":
    main()
