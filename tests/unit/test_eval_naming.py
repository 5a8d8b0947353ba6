"""Names of results: evaluations that draw otherwise lie side by side, and older names stay what they were."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

pytest.importorskip("torch")

from code_rlvr.evaluate.generate import EvaluationSettings
from code_rlvr.evaluate.naming import benchmark_of, file_name

NAMES = {
    "humaneval": {},
    "humaneval_greedy": {"temperature": 0.0, "samples": 1},
    "humaneval_t0.6": {"temperature": 0.6},
    "humaneval_t0.6_p0.95": {"temperature": 0.6, "top_p": 0.95},
    "humaneval_p0.95": {"top_p": 0.95},
    "humaneval_seed3": {"seed": 3},
    "humaneval_t1e-05_seed12": {"temperature": 1e-5, "seed": 12},
    "humaneval_greedy_seed3": {"temperature": 0.0, "samples": 1, "seed": 3},
}


@pytest.mark.parametrize("name", NAMES)
def test_a_name_tells_how_samples_were_drawn(name: str) -> None:
    settings = EvaluationSettings(**NAMES[name])
    assert file_name("humaneval", settings) == name
    assert file_name("humaneval", settings, 44) == f"{name}_first44"


def test_no_two_ways_to_draw_share_a_name() -> None:
    values: list[list[Any]] = [[0.0, 0.6, 0.61, 1.0, 1.5], [0.9, 0.95, 1.0], [0, 1, 10]]
    ways = [
        EvaluationSettings(temperature=t, top_p=p, seed=seed, samples=1) for t, p, seed in itertools.product(*values)
    ]
    assert len({file_name("mbpp", one) for one in ways}) == len(ways)


@pytest.mark.parametrize("benchmark", ["humaneval", "mbpp-sanitized", "my_test", "x_p", "v0.6", "evalscope-gsm8k"])
@pytest.mark.parametrize("name", NAMES)
def test_a_name_leads_back_to_its_benchmark(benchmark: str, name: str) -> None:
    settings = EvaluationSettings(**NAMES[name])
    assert benchmark_of(file_name(benchmark, settings)) == benchmark
    assert benchmark_of(file_name(benchmark, settings, 7)) == benchmark
