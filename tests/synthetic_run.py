"""A run's folder as training would have left it, made up from a seed: for tests of the report only.

The numbers are invented.  They have the shapes of a run that learns: a score that rises and levels off,
verdicts that add up, stages that fill a step.
"""

from __future__ import annotations

import json
import math
import random
from pathlib import Path

import numpy as np

from code_rlvr.data.hashes import hash_of
from code_rlvr.data.parquet import write_parquet
from code_rlvr.evaluate.scores import GroupScore, ProblemScore, Scores, bootstrap_mean
from code_rlvr.ground_truth import Tests
from code_rlvr.reward import METRIC_KEYS
from code_rlvr.runs import RunFolder
from code_rlvr.train.batch_metrics import reward_metrics
from code_rlvr.types import Problem

FAILURES = {
    "wrong_answer": ("WRONG_ANSWER", 0.55),
    "runtime_error": ("RUNTIME_ERROR", 0.2),
    "compile_error": ("COMPILE_ERROR", 0.14),
    "no_code": ("NO_CODE", 0.06),
    "time_limit": ("TIME_LIMIT_EXCEEDED", 0.035),
    "memory_limit": ("MEMORY_LIMIT_EXCEEDED", 0.01),
    "output_limit": ("OUTPUT_LIMIT_EXCEEDED", 0.005),
}
TALK = ("First", "we", "read", "the", "numbers", "and", "then", "add", "those", "that", "fit", "condition", "task")
START = {
    "started": "2026-01-02T03:04:05+00:00",
    "preset": "laptop",
    "machine": {"cpu": "Made-up CPU", "cores": 2, "memory_gib": 7.8, "gpus": []},
    "commit": {"sha": "0123456789abcdef0123456789abcdef01234567", "changed": False},
}
STATEMENT = "Read an integer n, then n integers on one line. Print the sum of those that are divisible by {k}."
RIGHT = "n = int(input())\nnumbers = map(int, input().split())\nprint(sum(x for x in numbers if x % {k} == 0))"
READ = "n = int(input())\nnumbers = map(int, input().split())\n"
WRONG = {
    "WRONG_ANSWER": READ + "print(sum(x for x in numbers if x % {k} == 1))",
    "RUNTIME_ERROR": READ.replace("map(int, input().split())", "input().split()") + "print(sum(numbers) % {k})",
    "COMPILE_ERROR": "n = int(input())\nfor x in input().split()\n    print(x)",
    "TIME_LIMIT_EXCEEDED": "total = 0\nwhile True:\n    total += {k}",
    "MEMORY_LIMIT_EXCEEDED": "cache = [0] * 10**10\nprint(len(cache))",
    "OUTPUT_LIMIT_EXCEEDED": "while True:\n    print({k})",
}
STDERR = {
    "RUNTIME_ERROR": """Traceback (most recent call last):
  File "solution.py", line 3, in <module>
TypeError: unsupported operand type(s) for +: 'int' and 'str'""",
    "COMPILE_ERROR": """  File "solution.py", line 2
    for x in input().split()
                            ^
SyntaxError: expected ':'""",
    "MEMORY_LIMIT_EXCEEDED": "MemoryError",
}


def make_run(
    path: Path,
    *,
    steps: int = 80,
    seed: int = 0,
    evaluated: bool = True,
    heldout: int = 660,
    planned: int | None = None,
    batch: int = 64,
    group: int = 1,
    problems: int = 10,
    padding: int = 0,
) -> RunFolder:
    """Write the folder of an invented run.

    Args:
        path: Where to; made if missing.
        steps: Steps that were trained.
        seed: Same seed, same folder.
        evaluated: Whether evaluations before and after are there.
        heldout: Held-out problems in them.
        planned: Steps that the configuration asks for; `steps` if None.
        batch: Problems of a step.
        group: Samples of each.
        problems: Training problems.
        padding: Characters of talk around each program.
    """
    run = RunFolder(path)
    for folder in (path, run.verdicts, run.logs, path / "data"):
        folder.mkdir(parents=True, exist_ok=True)
    rng = random.Random(seed)
    _write_data(path, problems)
    run.config.write_text(json.dumps(_config(path, planned or steps, batch, group)), encoding="utf-8")
    run.command.write_text("python -m verl.trainer.main_ppo data.train_batch_size=64 algorithm.adv_estimator=gae\n")
    run.versions.write_text(json.dumps({"verl": "0.9.1", "torch": "2.13.0", "Python": "3.11.2"}))
    (path / "start.json").write_text(json.dumps(START))
    _write_steps(run, steps, batch, group, problems, padding, rng)
    if evaluated:
        _write_evaluations(run, heldout, rng)
    return run


def _write_steps(
    run: RunFolder, steps: int, batch: int, group: int, problems: int, padding: int, rng: random.Random
) -> None:
    order = [k for _ in range(1 + steps * batch // problems) for k in rng.sample(range(2, 2 + problems), problems)]
    with run.metrics.open("w", encoding="utf-8") as file:
        for step in range(steps + 1):
            records = []
            if step:
                drawn = order[(step - 1) * batch : step * batch]
                records = [_sample(step, k, step / steps, rng, padding) for k in drawn for _ in range(group)]
            file.write(json.dumps({"step": step, "data": _metrics(step, steps, records, rng)}) + "\n")
            text = "".join(json.dumps(one) + "\n" for one in records)
            (run.verdicts / f"step_{step}.jsonl").write_text(text, encoding="utf-8")


def _write_data(path: Path, count: int) -> None:
    described = {}
    tests = Tests.stdio(["1\n2\n"], ["2\n"])
    problems = [Problem(f"sum-divisible/{k}", STATEMENT.format(k=k), tests, "starter") for k in range(2, 2 + count)]
    for split in ("train", "validation"):
        file = path / "data" / f"{split}.parquet"
        write_parquet(file, problems, split=split, instruction="")
        described[split] = {"file": file.name, "problems": count, "sha256": hash_of(file), "prepared": None}
    (path / "data.json").write_text(json.dumps(described))


def _sample(step: int, k: int, progress: float, rng: random.Random, padding: int) -> dict[str, object]:
    """One sample of problem k; one in eight is never solved, one always, one less and less often."""
    kind = k % 8
    chance = {7: 0.0, 1: 1.0, 4: 0.8 - 0.7 * progress}.get(kind, 0.06 * kind + 0.65 * (1 - math.exp(-2.2 * progress)))
    verdict = "ACCEPTED"
    if rng.random() >= chance:
        verdict = rng.choices([name for name, _ in FAILURES.values()], [share for _, share in FAILURES.values()])[0]
    one = record(step, verdict, k, rng)
    if padding:
        talk = " ".join(rng.choices(TALK, k=padding // 6))
        one["response"] = f"{talk}\n\n{one['response']}"
    return one


def _config(path: Path, steps: int, batch: int, group: int) -> dict[str, object]:
    return {
        "name": path.name,
        "seed": 0,
        "model": str(path / "warm_start"),
        "data": {
            "train_file": str(path / "data/train.parquet"),
            "validation_file": str(path / "data/validation.parquet"),
        },
        "algorithm": {"estimator": "gae", "kl_coef": 0.001},
        "rollout": {"samples_per_prompt": group, "temperature": 1.0},
        "reward": {"policy": "pass_rate"},
        "trainer": {"steps": steps, "batch": batch, "device": "cpu"},
    }


def _metrics(step: int, steps: int, records: list[dict[str, object]], rng: random.Random) -> dict[str, float]:
    data: dict[str, float] = {}
    if step % 20 == 0 or step == steps:
        expected = 0.34 + 0.36 * (1 - math.exp(-2.2 * step / max(steps, 1)))
        level = min(1.0, expected + rng.gauss(0.0, 0.02))
        for key, value in {"accepted": level, "score": level + 0.1, "pass_rate": level + 0.1, "format": 0.97}.items():
            data[f"val-aux/starter/{key}/mean@1"] = value
        data["val-core/starter/reward/mean@1"] = level + 0.1
        data["timing_s/testing"] = 6 + rng.random()
    if step == 0:
        return data
    data |= _reward_metrics(records)
    progress = step / steps
    data |= {
        "actor/reward_kl_penalty": 0.12 * progress + abs(rng.gauss(0, 0.006)) - 0.002,
        "actor/entropy": 0.42 - 0.16 * progress + rng.gauss(0, 0.012),
        "actor/grad_norm": 0.6 + rng.random() * 0.3,
        "actor/pg_loss": rng.gauss(0, 0.02),
        "actor/pg_clipfrac": abs(rng.gauss(0.004, 0.002)),
        "actor/lr": 2e-4,
        "critic/vf_loss": 0.1 + 0.3 * math.exp(-step / 5) + rng.random() * 0.02,
        "critic/vf_explained_var": 0.45 - math.exp(-step / 8) + rng.gauss(0, 0.05),
        "critic/grad_norm": 2 + 30 * math.exp(-step / 3) + rng.random(),
        "critic/advantages/mean": rng.gauss(0, 1e-8),
        "critic/advantages/max": 2.5 + rng.random(),
        "critic/advantages/min": -2.5 - rng.random(),
        "response_length/mean": 27 + 2.5 * progress + rng.gauss(0, 0.6),
        "rollout/truncated": max(0.0, 0.05 - 0.04 * progress + rng.gauss(0, 0.008)),
        "perf/total_num_tokens": float(rng.randrange(90, 110) * len(records)),
        "training/global_step": float(step),
    }
    return data | _timings(step, rng)


def _reward_metrics(records: list[dict[str, object]]) -> dict[str, float]:
    rewards = [{**dict.fromkeys(METRIC_KEYS, 0.0), **_reward(one)} for one in records]
    sources = [str(one["data_source"]) for one in records]
    groups = [str(one["problem_id"]) for one in records]
    return {**reward_metrics(rewards, sources, groups), "reward/unjudged": 0.0}


def _reward(one: dict[str, object]) -> dict[str, float]:
    key = str(one["verdict"]).lower().removesuffix("_exceeded")
    numbers = {name: float(one[name]) for name in ("score", "pass_rate", "format", "judge_s")}  # type: ignore[arg-type]
    return {**numbers, key: 1.0, "compiled": float(key not in ("no_code", "compile_error")), "tests_run": 6.0}


def _timings(step: int, rng: random.Random) -> dict[str, float]:
    usual = {
        "gen": 1.1,
        "old_log_prob": 0.3,
        "ref": 0.28,
        "values": 0.12,
        "verify": 0.1,
        "adv": 0.02,
        "update_critic": 0.45,
        "update_actor": 0.75,
        "update_weights": 0.05,
    }
    timings = {f"timing_s/{stage}": seconds * rng.uniform(0.9, 1.15) for stage, seconds in usual.items()}
    if step % 20 == 0:
        timings["timing_s/save_checkpoint"] = 0.8
    timings["timing_s/step"] = sum(timings.values()) + 0.03
    return timings


def record(step: int, verdict: str, k: int, rng: random.Random) -> dict[str, object]:
    """One verdict record, as `verdict_log` writes it."""
    passed = 6 if verdict == "ACCEPTED" else rng.choice([0, 0, 1, 2]) if verdict == "WRONG_ANSWER" else 0
    tests = [] if verdict in ("NO_CODE", "COMPILE_ERROR") else ["ACCEPTED"] * passed + [verdict] * (6 - passed)
    code = RIGHT if verdict == "ACCEPTED" else WRONG.get(verdict, "")
    response = f"```python\n{code.format(k=k)}\n```" if code else "The sum is found by adding the numbers."
    return {
        "step": step, "split": "train", "problem_id": f"sum-divisible/{k}",
        "data_source": "starter" if k % 3 else "starter/more", "verdict": verdict,
        "score": passed / 6, "pass_rate": passed / 6, "format": float(bool(code)),
        "judge_s": 0.05, "tests": tests,
        "tests_total": 6, "stderr": STDERR.get(verdict, ""),
        "response_sha256": f"{rng.getrandbits(64):016x}", "response": response,
    }  # fmt: skip


def _write_evaluations(run: RunFolder, count: int, rng: random.Random) -> None:
    novelties = ("combination", "paraphrase", "parameter", "paraphrase and parameter")
    heldout = {f"heldout/{i}": novelties[i % 4] for i in range(count)}
    unseen = dict.fromkeys((f"unseen/{i}" for i in range(100)), "starter")
    for name, groups, samples, levels in (
        ("heldout", heldout, 4, (0.36, 0.61)),
        ("heldout_greedy", heldout, 1, (0.59, 0.75)),
        ("unseen", unseen, 4, (0.04, 0.045)),
    ):
        for stage, level in zip(("before", "after"), levels, strict=True):
            write_scores(run, stage, name, groups, samples, level, rng)


def write_scores(
    run: RunFolder,
    stage: str,
    name: str,
    groups: dict[str, str],
    samples: int,
    level: float,
    rng: random.Random,
) -> None:
    """Write the scores of one evaluation in which a sample is accepted with probability `level`."""
    problems = {
        problem: ProblemScore(group=group, samples=samples, accepted=sum(rng.random() < level for _ in range(samples)))
        for problem, group in groups.items()
    }
    members = {group: [one for one in problems.values() if one.group == group] for group in groups.values()}
    scores = Scores(
        model=str(run.path / stage), fingerprint="made-up", samples_per_problem=samples,
        temperature=0.0 if name.endswith("greedy") else 1.0, top_p=1.0, top_k=-1,
        max_new_tokens=64, seed=0,
        overall=_group(list(problems.values())),
        groups={group: _group(ones) for group, ones in members.items()},
        format=0.97, truncated=0.02, mean_tokens=28.0, unjudged=0, problems=problems,
    )  # fmt: skip
    (run.eval / stage).mkdir(parents=True, exist_ok=True)
    (run.eval / stage / f"{name}.json").write_text(scores.model_dump_json(), encoding="utf-8")


def _group(problems: list[ProblemScore]) -> GroupScore:
    rates = np.array([one.accepted / one.samples for one in problems])
    return GroupScore(
        problems=len(problems), samples=sum(one.samples for one in problems),
        pass_at={"pass@1": float(rates.mean())},
        pass_at_1_interval=bootstrap_mean(rates), test_pass_rate=float(rates.mean()), verdicts={},
    )  # fmt: skip
