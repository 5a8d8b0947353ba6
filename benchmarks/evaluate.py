"""What an evaluation takes: judging stored responses, and sampling on a CPU.

    python benchmarks/evaluate.py judge --humaneval humaneval.jsonl.gz [--rounds 5] [--workers 2]
    python benchmarks/evaluate.py sample [--rounds 5]

`judge` evaluates 164 problems x 10 responses that are known beforehand: for each problem the right program and one
with a bug in turn, no two of them equal; programs that loop for ever are left out.  The file is of rows as
`benchmarks/oracle.py` reads them.  `sample` draws the held-out problems' responses from a model of the quickstart's
size, all at once as `code-rlvr eval` does and one after another with transformers' `generate`, in turn.

Covered: wall seconds, medians of several rounds.  Not covered: GPUs.
"""

from __future__ import annotations

import argparse
import gzip
import json
import statistics
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from code_rlvr.data.starter import build_starter, imperfect_corpus
from code_rlvr.evaluate.benchmarks import Selection, load_benchmark
from code_rlvr.evaluate.engine import Generated, HuggingFaceEngine
from code_rlvr.evaluate.generate import EvaluationSettings, evaluate_task
from code_rlvr.sampling import Sampling
from code_rlvr.threads import torch_threads
from code_rlvr.train.warmstart import WarmStartSettings, warm_start
from code_rlvr.types import Limits
from code_rlvr.verifier.judge import Judge

SAMPLES = 10
CHATS = 64
MAX_NEW_TOKENS = 48


class Stored:
    """An engine that has its responses already: the samples of a problem in turn."""

    identity = "stored"

    def __init__(self, responses: Mapping[str, Sequence[str]]) -> None:
        self._responses = {chat: iter(texts) for chat, texts in responses.items()}

    def generate(self, chats: Sequence[Any], sampling: Sampling, seeds: Sequence[int]) -> list[Generated]:
        return [Generated(next(self._responses[chat[-1]["content"]]), 1, False) for chat in chats]


def stored_responses(file: Path) -> dict[str, list[str]]:
    """Ten different responses to each problem, by its id."""
    found = {}
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            programs = [one["code"] for one in row["solutions"] if one["verdict"] in ("accepted", "wrong_answer")]
            turns = [programs[i % 2 and -1] for i in range(SAMPLES)]
            found[row["id"]] = [f"```python\n{code}\n# {i}\n```" for i, code in enumerate(turns)]
    return found


def measure_judging(file: Path, rounds: int, workers: int) -> None:
    """Print the wall seconds of each round."""
    benchmark = load_benchmark("humaneval", file, Selection())
    responses = stored_responses(file)
    settings = EvaluationSettings(samples=SAMPLES, ks=(1, SAMPLES), temperature=1.0)
    seconds = []
    for _ in range(rounds):
        started = time.monotonic()
        with (
            tempfile.TemporaryDirectory() as folder,
            Judge(workers, Limits(timeouts_before_stop=1)) as judge,
        ):
            task = benchmark.task(judge, None)
            known = {one.chat[-1]["content"]: responses[one.problem_id] for one in task.questions}
            scores = evaluate_task(Stored(known), "stored", task, settings, Path(folder) / "samples.jsonl")
        seconds.append(time.monotonic() - started)
        print(f"{scores.overall.samples} samples, {scores.overall.verdicts}: {seconds[-1]:.1f} s", flush=True)
    print(f"median {statistics.median(seconds):.1f} s, {min(seconds):.1f} to {max(seconds):.1f}, {workers} workers")


def measure_sampling(rounds: int) -> None:
    """Print tokens per second, all at once and one after another, and their quotient."""
    with tempfile.TemporaryDirectory() as folder:
        model_dir = warm_start(Path(folder) / "model", imperfect_corpus(0, 4000), WarmStartSettings(steps=100)).path
        engine = HuggingFaceEngine(model_dir, threads=1)
        statements = [one.statement for one in build_starter(0, 1, 1, CHATS, 1).heldout]
        chats = [[{"role": "user", "content": statement}] for statement in statements]
        batched, sequential = [], []
        for number in range(rounds):
            batched.append(_batched_speed(engine, chats, number))
            sequential.append(_sequential_speed(engine, chats))
            print(f"{batched[-1]:.0f} and {sequential[-1]:.0f} tokens/s", flush=True)
    quotients = [one / other for one, other in zip(batched, sequential, strict=True)]
    print(
        f"median {statistics.median(batched):.0f} tokens/s at once, {statistics.median(sequential):.0f} one after "
        f"another: {statistics.median(quotients):.1f} times ({min(quotients):.1f} to {max(quotients):.1f})"
    )


def _batched_speed(engine: HuggingFaceEngine, chats: list[Any], seed: int) -> float:
    seeds = [len(chats) * seed + i for i in range(len(chats))]
    started = time.monotonic()
    answers = engine.generate(chats, Sampling(max_new_tokens=MAX_NEW_TOKENS), seeds)
    return sum(answer.tokens for answer in answers) / (time.monotonic() - started)


def _sequential_speed(engine: HuggingFaceEngine, chats: list[Any]) -> float:
    tokenizer, model = engine._tokenizer, engine._model
    tokens = 0
    started = time.monotonic()
    with torch_threads(1), torch.inference_mode():
        for chat in chats:
            prompt = tokenizer.apply_chat_template(chat, add_generation_prompt=True, return_dict=False)
            ids = torch.tensor([prompt])
            output = model.generate(  # type: ignore[operator]
                ids, attention_mask=torch.ones_like(ids), do_sample=True, top_k=0, max_new_tokens=MAX_NEW_TOKENS
            )
            tokenizer.decode(output[0, len(prompt) :], skip_special_tokens=True)
            tokens += output.shape[1] - len(prompt)
    return tokens / (time.monotonic() - started)


def main() -> None:
    """Measure what the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("judge", "sample"))
    parser.add_argument("--humaneval", type=Path, help="gzip'd JSONL of HumanEval with programs")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    if options.what == "sample":
        measure_sampling(options.rounds)
    elif options.humaneval is None:
        parser.error("judge needs --humaneval")
    else:
        measure_judging(options.humaneval, options.rounds, options.workers)


if __name__ == "__main__":
    main()
