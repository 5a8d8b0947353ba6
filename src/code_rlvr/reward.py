"""Scores: from a judgement to what reinforcement learning is given.

| policy | score |
|---|---|
| pass_rate | the share of tests passed |
| binary | 1 if all tests passed, else 0; judging stops at the first failure |
| tiered | format_weight × closed fence + compile_weight × compiles + tests_weight × share of tests passed |

Covered: the pure step from judgement to score and metrics; `compute_score`, which verl calls per response.
Not covered: judging (`verifier`).  A judge fault is raised, never scored; malformed tests likewise.
"""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar, get_args

from code_rlvr.errors import ConfigError, JudgeFault, TestsFormatError
from code_rlvr.ground_truth import Tests
from code_rlvr.remote_judge import RemoteJudge, shared_remote_judge
from code_rlvr.types import Judgement, Limits, Verdict
from code_rlvr.verdict_log import VerdictLog
from code_rlvr.verifier.assertions.cases import solution_name
from code_rlvr.verifier.extract import Extraction, extract
from code_rlvr.verifier.judge import Judge
from code_rlvr.verifier.sandbox import Isolation

PolicyName = Literal["pass_rate", "binary", "tiered"]

# The keys of every score, in order; verl takes them from the first row, so all rows have to have the same.
METRIC_KEYS = (
    "score", "pass_rate", "format", "compiled", "accepted", "no_code", "compile_error", "runtime_error",
    "wrong_answer", "time_limit", "memory_limit", "output_limit", "tests_run", "judge_s",
)  # fmt: skip
_VERDICT_METRICS = {
    Verdict.ACCEPTED: "accepted",
    Verdict.NO_CODE: "no_code",
    Verdict.COMPILE_ERROR: "compile_error",
    Verdict.RUNTIME_ERROR: "runtime_error",
    Verdict.WRONG_ANSWER: "wrong_answer",
    Verdict.TIME_LIMIT_EXCEEDED: "time_limit",
    Verdict.MEMORY_LIMIT_EXCEEDED: "memory_limit",
    Verdict.OUTPUT_LIMIT_EXCEEDED: "output_limit",
}


@dataclass(frozen=True, slots=True)
class RewardPolicy:
    """How a judgement becomes a score between 0 and 1.

    Args:
        name: pass_rate, binary or tiered.
        format_weight, compile_weight, tests_weight: For tiered; they add up to 1, and what format and
            compiling earn together is less than what the tests earn.

    Raises:
        ConfigError: If the name is unknown or the weights would make form worth more than function.
    """

    name: PolicyName = "pass_rate"
    format_weight: float = 0.05
    compile_weight: float = 0.05
    tests_weight: float = 0.9

    def __post_init__(self) -> None:
        if self.name not in get_args(PolicyName):
            raise ConfigError(f"reward policy {self.name!r} is unknown; known are {', '.join(get_args(PolicyName))}")
        weights = (self.format_weight, self.compile_weight, self.tests_weight)
        if not all(0 <= weight <= 1 for weight in weights) or abs(sum(weights) - 1) > 1e-9:
            raise ConfigError(f"reward weights (format, compile, tests) = {weights}; they have to add up to 1")
        form = self.format_weight + self.compile_weight
        if form >= self.tests_weight:
            raise ConfigError(
                f"reward weights: format + compile = {form:g} has to be below tests = {self.tests_weight:g}, "
                "or a program that passes nothing earns as much as passing does"
            )

    def score(self, judgement: Judgement, fenced: bool) -> float:
        """The score of one response.

        Args:
            judgement: What the judge said.
            fenced: Whether the program stood in a closed fence.

        Returns:
            A number from 0 to 1.
        """
        if self.name == "binary":
            return float(judgement.accepted)
        if self.name == "pass_rate":
            return judgement.test_pass_rate
        return (
            self.format_weight * fenced
            + self.compile_weight * judgement.compiled
            + self.tests_weight * judgement.test_pass_rate
        )


@dataclass(frozen=True, slots=True)
class ScoredResponse:
    """One response with everything that was found out about it; `metrics` has the keys `METRIC_KEYS`."""

    extraction: Extraction
    judgement: Judgement
    metrics: dict[str, float]


def metrics_of(judgement: Judgement, fenced: bool, policy: RewardPolicy) -> dict[str, float]:
    """The score and the metrics of one judgement: always the keys `METRIC_KEYS`, always floats."""
    metrics = dict.fromkeys(METRIC_KEYS, 0.0)
    metrics.update(
        score=policy.score(judgement, fenced),
        pass_rate=judgement.test_pass_rate,
        format=float(fenced),
        compiled=float(judgement.compiled),
        tests_run=float(len(judgement.cases)),
        judge_s=judgement.judge_s,
    )
    metrics[_VERDICT_METRICS[judgement.verdict]] = 1.0
    return metrics


def score_response(
    response: str,
    tests: Tests,
    judge: Judge | RemoteJudge,
    policy: RewardPolicy | None = None,
    *,
    limits: Limits | None = None,
    max_tests: int | None = None,
) -> ScoredResponse:
    """Extract, judge and score one response.

    Args:
        response: What the model wrote.
        tests: What its program has to pass.
        judge: Who judges.
        policy: How the judgement becomes a score; the share of tests passed if None.
        limits: In place of the judge's own.
        max_tests: Of more tests, judge by a sample of this size, the same for every response.

    Raises:
        Unjudged: If the judge broke.
        TestsFormatError: If an assertion has a form that is not supported.
    """
    policy = policy or RewardPolicy()
    extraction = extract(response, solution_name(tests))
    judgement = judge.judge(
        extraction.code,
        tests,
        limits=limits,
        max_tests=max_tests,
        stop_at_first_failure=policy.name == "binary",
    )
    return ScoredResponse(extraction, judgement, metrics_of(judgement, extraction.fenced, policy))


def compute_score(
    data_source: str,
    solution_str: str,
    ground_truth: str | Mapping[str, Any] | Sequence[Any] | None,
    extra_info: Mapping[str, Any] | None = None,
    *,
    policy: str | Mapping[str, Any] = "pass_rate",
    limits: Mapping[str, Any] | None = None,
    workers: int | None = None,
    max_tests: int | None = None,
    python: str | None = None,
    isolation: Isolation = "full",
    judge_url: str | None = None,
    verdict_dir: str | None = None,
    keep_text: bool = False,
    **unknown: Any,
) -> dict[str, float]:
    """Score one response; verl's `custom_reward_function`, safe from many threads at once.

    Args:
        data_source, solution_str: The row's data source, which is only noted, and what the model wrote.
        ground_truth: The tests, in any layout that `Tests.parse` reads.
        extra_info: The row's; `problem_id`, `split` and `global_steps` are noted, `tests` may be used.
        policy, limits: A policy's name, or a mapping with `name` and weights; fields of `Limits` to change.
        workers, python, isolation, max_tests: As for `shared_judge` and `score_response`.
        judge_url: A server that judges in place of this machine, see `RemoteJudge`; its own are then the workers, the
            interpreter and the isolation.
        verdict_dir, keep_text: Where to append one JSON line per sample, and whether with the response.

    Returns:
        `METRIC_KEYS`, on every path.

    Raises:
        Unjudged: If the judge broke, or the server did not answer; verl then drops the sample.
        TestsFormatError: If the tests are malformed.
        ConfigError, PreflightError: If a keyword argument is wrong; if this machine cannot isolate programs.
    """
    rules, bounds = _settings(policy, limits, unknown)
    log = None if verdict_dir is None else VerdictLog(verdict_dir, keep_text)
    try:
        tests = Tests.parse(ground_truth, extra_info)
        judge = shared_remote_judge(judge_url) if judge_url else shared_judge(workers, python, isolation)
        scored = score_response(solution_str, tests, judge, rules, limits=bounds, max_tests=max_tests)
    except (JudgeFault, TestsFormatError) as error:
        named = _named(error, extra_info or {})
        if log:
            log.unjudged(data_source, solution_str, extra_info or {}, named)
        raise named from error
    if log:
        log.judged(data_source, solution_str, extra_info or {}, scored.judgement, scored.metrics)
    return scored.metrics


def _named(error: JudgeFault | TestsFormatError, extra_info: Mapping[str, Any]) -> JudgeFault | TestsFormatError:
    """An error that says which problem's tests are malformed."""
    if isinstance(error, TestsFormatError) and error.row is None:
        return TestsFormatError(error.message, error.field, extra_info.get("problem_id", extra_info.get("index")))
    return error


def _settings(
    policy: str | Mapping[str, Any], limits: Mapping[str, Any] | None, unknown: Mapping[str, Any]
) -> tuple[RewardPolicy, Limits]:
    if unknown:
        raise ConfigError(f"compute_score knows no {', '.join(sorted(unknown))}")
    rules = _made(RewardPolicy, {"name": policy} if isinstance(policy, str) else policy, "policy")
    return rules, _made(Limits, limits or {}, "limits")


Made = TypeVar("Made")


def _made(kind: Callable[..., Made], settings: Mapping[str, Any], name: str) -> Made:
    try:
        return kind(**settings)
    except TypeError as error:
        raise ConfigError(f"{name}: {error}") from None


_shared: dict[int, Judge] = {}  # by process id: a fork must not use its parent's threads
_shared_lock = threading.Lock()


def shared_judge(workers: int | None = None, python: str | None = None, isolation: Isolation = "full") -> Judge:
    """The judge of this process, made when it is first asked for and closed when the process ends.

    Args:
        workers, python, isolation: As for `Judge`; only the first call's count.

    Raises:
        JudgeFault, ConfigError, PreflightError: As `Judge`.
    """
    with _shared_lock:
        judge = _shared.get(os.getpid())
        if judge is None:
            judge = _shared[os.getpid()] = Judge(workers, python=python, isolation=isolation)
            atexit.register(judge.close)
        return judge
