"""What a client may ask, read from JSON into types; everything that it sends is doubted.

| path | keys |
|---|---|
| judge | `code` (text, null is NO_CODE) or `response`; `tests`; and of the settings below |
| judge_many | `items`: a list of such objects; settings beside it hold for those that name none |
| score | `solution_str`, `ground_truth`, `data_source`, `extra_info`, `policy`; `limits`, `max_tests` |

Settings: `limits` (fields of `Limits`), `max_tests`, `stop_at_first_failure`.  Any other key is refused, so that a
typing error cannot quietly judge by other rules.  Limits are clamped to the server's maximum, those of the tests too,
and which ones were is told.

Covered: reading and clamping.  Not covered: the tests themselves (`ground_truth`), judging (`service`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from code_rlvr.errors import ConfigError, UsageError
from code_rlvr.ground_truth import Tests
from code_rlvr.reward import RewardPolicy
from code_rlvr.types import Limits

MAX_TESTS = 10_000
"""Tests of one program; more would make an answer without bounds."""
_SETTINGS = ("limits", "max_tests", "stop_at_first_failure")
_PLAIN = ("cpu_s", "memory_mib", "output_mib", "compile_s", "deadline_s")  # limits that are simply numbers


@dataclass(frozen=True, slots=True)
class Bounds:
    """What programs may use on this server.

    Args:
        default: Where neither the tests nor the client name a limit.
        maximum: Whatever they name.

    Raises:
        ConfigError: A default is above its maximum.
    """

    default: Limits
    maximum: Limits

    def __post_init__(self) -> None:
        for name in _clamped(self.default, self.maximum)[1]:
            raise ConfigError(
                f"the default {name} = {getattr(self.default, name)} is above the server's maximum "
                f"{getattr(self.maximum, name)}; raise the maximum or lower the default"
            )


def _clamped(asked: Limits, maximum: Limits) -> tuple[Limits, list[str]]:
    granted = {name: getattr(maximum, name) for name in _PLAIN if getattr(asked, name) > getattr(maximum, name)}
    if asked.wall_s is not None and asked.wall_s > maximum.wall_limit_s:
        granted["wall_s"] = maximum.wall_limit_s
    return replace(asked, **granted), [*granted]


@dataclass(frozen=True, slots=True)
class JudgeRequest:
    """One program with what it has to pass.

    Args:
        text: The program, or the response that holds it; None is no program.
        is_response: Which of the two.
        tests, limits: With nothing above the server's maximum.
        clamped: The names of limits that were.
        max_tests, stop_at_first_failure: As for `Judge.judge`.
        policy: Only where a score is wanted.
    """

    text: str | None
    is_response: bool
    tests: Tests
    limits: Limits
    clamped: tuple[str, ...]
    max_tests: int | None
    stop_at_first_failure: bool = False
    policy: RewardPolicy | None = None


def read_object(body: bytes, known: tuple[str, ...]) -> dict[str, Any]:
    """The JSON object of a request.

    Raises:
        UsageError: It is none, or has unknown keys.
    """
    try:
        asked = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"the body is not JSON: {_reason(error)}") from None
    return _object(asked, known)


def _reason(error: Exception) -> str:
    return error.msg if isinstance(error, json.JSONDecodeError) else type(error).__name__


def _object(asked: Any, known: tuple[str, ...]) -> dict[str, Any]:
    if not isinstance(asked, dict):
        raise UsageError(f"a request has to be a JSON object, not {type(asked).__name__}")
    unknown = [key for key in asked if key not in known]
    if unknown:
        raise UsageError(f"unknown key {unknown[0][:40]!r}; known are {', '.join(known)}")
    return asked


def read_judge(body: bytes, bounds: Bounds) -> JudgeRequest:
    """The request of the path judge.

    Raises:
        UsageError: It is malformed; TestsFormatError and ConfigError are among these.
    """
    return read_item(read_object(body, ("code", "response", "tests", *_SETTINGS)), bounds)


def read_many(body: bytes, max_items: int) -> list[dict[str, Any]]:
    """The items of the path judge_many, each for `read_item`, with the settings that they share.

    Raises:
        UsageError: It is malformed, or there are more than `max_items`.
    """
    asked = read_object(body, ("items", *_SETTINGS))
    items = asked.pop("items", None)
    if not isinstance(items, list) or not items:
        raise UsageError("items has to be a list of objects, at least one")
    if len(items) > max_items:
        raise UsageError(f"{len(items)} items at once; this server takes up to {max_items}: send them in parts")
    return [{**asked, **_object(item, ("code", "response", "tests", *_SETTINGS))} for item in items]


def read_item(asked: Mapping[str, Any], bounds: Bounds) -> JudgeRequest:
    """One program of a request whose keys are known to be right.

    Raises:
        UsageError: As `read_judge`.
    """
    if ("code" in asked) == ("response" in asked):
        raise UsageError("give either code (null if there is none) or response")
    is_response = "response" in asked
    text = asked["response"] if is_response else asked["code"]
    if not (isinstance(text, str) or (text is None and not is_response)):
        raise UsageError(f"{'response' if is_response else 'code'} has to be a text")
    stop = asked.get("stop_at_first_failure", False)
    if not isinstance(stop, bool):
        raise UsageError("stop_at_first_failure has to be true or false")
    tests, limits, clamped = _within(bounds, _tests(asked.get("tests"), None), asked.get("limits"))
    return JudgeRequest(text, is_response, tests, limits, clamped, _max_tests(asked), stop)


def read_score(body: bytes, bounds: Bounds) -> JudgeRequest:
    """The request of the path score, with the names of `compute_score`'s arguments.

    Raises:
        UsageError: As `read_judge`.
    """
    asked = read_object(
        body, ("data_source", "solution_str", "ground_truth", "extra_info", "policy", "limits", "max_tests")
    )
    text, extra = asked.get("solution_str"), asked.get("extra_info")
    if not isinstance(text, str):
        raise UsageError("solution_str has to be a text")
    if not (extra is None or isinstance(extra, dict)):
        raise UsageError("extra_info has to be an object")
    tests, limits, clamped = _within(bounds, _tests(asked.get("ground_truth"), extra), asked.get("limits"))
    policy = _policy(asked.get("policy", "pass_rate"))
    return JudgeRequest(text, True, tests, limits, clamped, _max_tests(asked), policy.name == "binary", policy)


def _policy(asked: Any) -> RewardPolicy:
    settings = {"name": asked} if isinstance(asked, str) else asked
    try:
        return RewardPolicy(**settings)
    except TypeError:
        raise ConfigError("policy has to be a name, or an object with name and weights") from None


def _tests(ground_truth: Any, extra_info: Mapping[str, Any] | None) -> Tests:
    tests = Tests.parse(ground_truth, extra_info)
    if max(len(tests.inputs), len(tests.asserts)) > MAX_TESTS:
        raise UsageError(f"a problem with more than {MAX_TESTS:,} tests; send a sample of them")
    return tests


def _max_tests(asked: Mapping[str, Any]) -> int | None:
    count = asked.get("max_tests")
    if count is None or (isinstance(count, int) and not isinstance(count, bool) and count >= 1):
        return count
    raise UsageError("max_tests has to be a whole number, at least 1")


def _within(bounds: Bounds, tests: Tests, asked: Any) -> tuple[Tests, Limits, tuple[str, ...]]:
    """Tests and limits with nothing above the maximum, and the names of what was."""
    if not (asked is None or isinstance(asked, dict)):
        raise ConfigError('limits has to be an object, e.g. {"cpu_s": 2}')
    unknown = [name for name in asked or () if name not in Limits.__slots__]
    if unknown:
        raise ConfigError(f"limits knows no {unknown[0][:40]!r}; known are {', '.join(Limits.__slots__)}")
    try:
        limits, clamped = _clamped(replace(bounds.default, **(asked or {})), bounds.maximum)
    except OverflowError:  # an integer that no float can hold
        raise ConfigError("limits holds a number beyond reason") from None
    changes: dict[str, Any] = {}
    if tests.time_limit_s is not None and tests.time_limit_s > bounds.maximum.cpu_s:
        changes["time_limit_s"] = bounds.maximum.cpu_s
    if tests.memory_limit_mib is not None and tests.memory_limit_mib > bounds.maximum.memory_mib:
        changes["memory_limit_mib"] = bounds.maximum.memory_mib
    return replace(tests, **changes) if changes else tests, limits, (*clamped, *changes)
