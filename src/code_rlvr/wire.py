"""What a judging server and its clients say to each other: paths, and judgements as JSON.

A judgement as JSON:

| field | meaning |
|---|---|
| verdict, accepted | the name of a `Verdict`; whether that is ACCEPTED |
| test_pass_rate, tests_passed, tests_total | a test that was not run did not pass |
| judge_s | wall seconds, without queueing |
| message | what the compiler said |
| cases | for each test that was run: verdict, cpu_s, wall_s, memory_mib, the end of stderr; "" of a checker's |
| clamped | limits that were asked for and not granted, e.g. ["cpu_s"] |
| format | only if a response was sent: 1 if its program stood in a closed fence, else 0 |

What is no judgement is `{"error": {"type": …, "message": …, "field": …}}`, with a status other than 200.

Covered: the form of answers, the same for both sides.
Not covered: the form of requests, which only the server has to understand (`serve.requests`); HTTP.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from importlib.metadata import version
from typing import Any

from code_rlvr.types import CaseJudgement, Judgement, Verdict

API = 1
"""Counts changes that an older client or server would misunderstand; part of every path but health and metrics."""
JUDGE, JUDGE_MANY, SCORE = f"/v{API}/judge", f"/v{API}/judge_many", f"/v{API}/score"
HEALTH, METRICS = "/health", "/metrics"
TOKEN_VARIABLE = "CODE_RLVR_TOKEN"
MESSAGE_CHARS = 500
STDERR_CHARS = 1 << 20
"""Of one judgement in all; later tests lose theirs, so that many tests cannot make an answer without bounds."""


def package_version() -> str:
    """The version of this package, which decides verdicts."""
    return version("code-rlvr")


def judgement_to_json(judgement: Judgement) -> dict[str, Any]:
    """A judgement in the form of the module's docstring, without `clamped` and `format`."""
    left = STDERR_CHARS
    cases = []
    for case in judgement.cases:
        kept = case.stderr if len(case.stderr) <= left else ""
        left -= len(kept)
        cases.append({**asdict(case), "verdict": case.verdict.value, "stderr": kept})
    return {
        "verdict": judgement.verdict.value,
        "accepted": judgement.accepted,
        "test_pass_rate": judgement.test_pass_rate,
        "tests_passed": judgement.tests_passed,
        "tests_total": judgement.tests_total,
        "judge_s": judgement.judge_s,
        "message": judgement.message,
        "cases": cases,
    }


def judgement_from_json(answer: Any) -> Judgement:
    """The judgement that an answer holds.

    Raises:
        ValueError: It holds none, or contradicts itself.
    """
    try:
        judgement = Judgement(
            Verdict(answer["verdict"]),
            tuple(_case_from_json(case) for case in answer["cases"]),
            int(answer["tests_total"]),
            float(answer["judge_s"]),
            str(answer["message"]),
        )
        passed = answer["tests_passed"]
        told = (answer["accepted"], answer["test_pass_rate"])
    except (KeyError, TypeError, OverflowError, RecursionError) as error:
        raise ValueError(f"{type(error).__name__}: {error}") from None
    whole = len(judgement.cases) == judgement.tests_total == judgement.tests_passed
    if judgement.tests_passed != passed or judgement.tests_total < max(1, len(judgement.cases)):
        raise ValueError(f"{passed} of {judgement.tests_total} tests passed does not fit its cases")
    if judgement.accepted != whole or told != (judgement.accepted, judgement.test_pass_rate):
        raise ValueError(f"{judgement.verdict.value} does not fit its cases")
    return judgement


def _case_from_json(case: Mapping[str, Any]) -> CaseJudgement:
    return CaseJudgement(
        Verdict(case["verdict"]),
        float(case["cpu_s"]),
        float(case["wall_s"]),
        float(case["memory_mib"]),
        str(case["stderr"]),
    )


def error_to_json(error: Exception, field: str | None = None) -> dict[str, Any]:
    """What went wrong, in the form of the module's docstring."""
    message = str(getattr(error, "message", None) or error)
    message = message if len(message) <= MESSAGE_CHARS else f"{message[:MESSAGE_CHARS]}…"
    message = message.encode("utf-8", "replace").decode()  # half a character cannot be sent
    return {"error": {"type": type(error).__name__, "message": message, "field": getattr(error, "field", field)}}
