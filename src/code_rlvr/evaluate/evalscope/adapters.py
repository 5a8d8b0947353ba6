"""EvalScope's benchmarks, registered once more under names of ours; imported only where EvalScope is installed.

Each is EvalScope's own class with its own prompt, extraction and metrics, of which two documented hooks are
overridden: `load`, so that rows come from a file and from no hub, and `match_score`, so that programs are run by our
judge.  Nothing of EvalScope is patched.  Its own ways to run programs are not used: one runs them in a child process
with some functions of `os` set to None, beside the verdict that it is about to give; the other needs Docker, and takes
HumanEval's exit status for the verdict.

A fault of the judge becomes a score that EvalScope leaves out of its figures, as for its own metrics that fail.

Covered: HumanEval, LiveCodeBench, GSM8K.  Not covered: few-shot examples, for which GSM8K's training rows are needed.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Mapping
from typing import Any

from evalscope.api.metric import Score
from evalscope.api.registry import BENCHMARK_REGISTRY, register_benchmark
from evalscope.benchmarks.gsm8k.gsm8k_adapter import GSM8KAdapter
from evalscope.benchmarks.humaneval.humaneval_adapter import HumanevalAdapter
from evalscope.benchmarks.live_code_bench.live_code_bench_adapter import LiveCodeBenchAdapter
from evalscope.constants import ScoreStatus

from code_rlvr.errors import Unjudged
from code_rlvr.evaluate.evalscope.job import PREFIX, SUBSET
from code_rlvr.ground_truth import Tests
from code_rlvr.verifier.judge import Judge

METRIC = "acc"


class _FromRows:
    """Loads rows from a file, and keeps the problem's id with each score."""

    save_metadata: bool

    def __init__(self, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.save_metadata = False  # it would put all tests beside each response

    def load(self) -> Any:
        return self.load_from_disk(use_local_loader=True)  # type: ignore[attr-defined]

    def record_to_sample(self, record: dict[str, Any]) -> Any:
        sample = super().record_to_sample(record)  # type: ignore[misc]
        own = {key: record[key] for key in ("problem_id", "ground_truth") if key in record}
        sample.metadata = {**(sample.metadata or {}), **own}
        return sample

    def match_score(self, original_prediction: str, filtered_prediction: str, reference: str, task_state: Any) -> Any:
        score = super().match_score(original_prediction, filtered_prediction, reference, task_state)  # type: ignore[misc]
        score.metadata = {**(score.metadata or {}), "problem_id": task_state.metadata["problem_id"]}
        return score


class _Judged(_FromRows):
    """Runs programs with our judge."""

    judge: Judge

    def match_score(self, original_prediction: str, filtered_prediction: str, reference: str, task_state: Any) -> Any:
        known: Mapping[str, Any] = task_state.metadata
        code = self.program(filtered_prediction, known) if filtered_prediction.strip() else None
        score = Score(extracted_prediction=filtered_prediction, prediction=original_prediction, main_score_name=METRIC)
        score.metadata = {"problem_id": known["problem_id"]}
        try:
            judged = self.judge.judge(code, Tests.parse(known["ground_truth"]))
        except Unjudged as fault:
            score.status = ScoreStatus.EXCLUDED
            score.metadata["fault"] = str(fault)
            return score
        score.value = {METRIC: float(judged.accepted)}
        score.metadata.update(
            verdict=judged.verdict.value, test_pass_rate=judged.test_pass_rate, judge_s=judged.judge_s
        )
        return score

    def program(self, answer: str, known: Mapping[str, Any]) -> str:
        """What EvalScope would run, without the tests."""
        return answer


class JudgedHumanEval(_Judged, HumanevalAdapter):  # type: ignore[misc]  # it has no types
    """An answer is put behind the prompt, so it may be a body or a whole function."""

    def program(self, answer: str, known: Mapping[str, Any]) -> str:
        return f"{known['prompt']}{answer}\n"


class JudgedLiveCodeBench(_Judged, LiveCodeBenchAdapter):  # type: ignore[misc]  # it has no types
    """An answer is a program of its own."""

    def sample_filter(self, sample: Any) -> bool:
        return True  # dates were chosen when the rows were written


class LocalGsm8k(_FromRows, GSM8KAdapter):  # type: ignore[misc]  # it has no types
    """No program is run."""


_ADAPTERS = {"humaneval": JudgedHumanEval, "live_code_bench": JudgedLiveCodeBench, "gsm8k": LocalGsm8k}


def register_benchmarks(judge: Judge) -> None:
    """Add our forms of the benchmarks to EvalScope; once a process.

    Args:
        judge: Runs the programs.
    """
    # EvalScope makes the adapters itself, so what they judge with hangs on their class.
    _Judged.judge = judge
    for name, adapter in _ADAPTERS.items():
        meta = dataclasses.replace(
            copy.deepcopy(BENCHMARK_REGISTRY[name]),
            name=PREFIX + name,
            data_adapter=None,
            subset_list=[SUBSET],
            few_shot_num=0,
        )
        register_benchmark(meta)(adapter)
