"""Whether programs would be judged rightly: the judge, and a reward function of the user's own.

Covered: planted programs, right and wrong, through the judge of the run; a `reward.file` loaded and called as verl
does it, in a process of its own.  Not covered: each layer of isolation, which `code-rlvr doctor` tries.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from code_rlvr.errors import ConfigError, JudgeFault, PreflightError
from code_rlvr.ground_truth import Tests
from code_rlvr.remote_judge import RemoteJudge
from code_rlvr.reward import METRIC_KEYS
from code_rlvr.train.config import TrainConfig
from code_rlvr.types import Verdict

SERVER_S, UNREACHABLE_S = 60.0, 5.0

RIGHT, WRONG = "print(2 * int(input()))", "print(3 * int(input()))"
PLANTED = (
    (Tests.stdio(["4\n"], ["8"]), RIGHT, WRONG),
    (Tests.call("double", [[4]], [8]), "def double(n):\n    return 2 * n", "def double(n):\n    return 3 * n"),
    (
        Tests.assertions(["assert double(4) == 8"]),
        "def double(n):\n    return 2 * n",
        "def double(n):\n    return 3 * n",
    ),
)
"""One for each layout of tests, with a program that passes and one that does not."""

REWARD_FILE_S = 60.0
"""Longest wait for a reward function of the user's own, its imports included."""

_CALL = """
import importlib.util, json, sys
file, keywords = sys.argv[1], json.loads(sys.argv[2])
spec = importlib.util.spec_from_file_location("custom_module", file)
module = sys.modules["custom_module"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
score = module.compute_score(**keywords)
if hasattr(score, "__await__"):
    import asyncio
    async def wait(): return await score
    score = asyncio.run(wait())
print(f"\\n{sys.argv[3]}" + json.dumps({key: float(value) for key, value in score.items()}))
"""
_MARK = "score: "  # whatever else the function prints


def check_judge(config: TrainConfig) -> str:
    """Check that the judge of the run tells right programs from wrong ones, for each layout of tests.

    Returns:
        What was judged, how long it took and by which layers programs are held.

    Raises:
        ConfigError: `reward.python` or `reward.isolation` is wrong.
        PreflightError: Programs cannot be isolated here, the server of `reward.judge_url` cannot be used, or the judge
            is wrong about a program.
    """
    if config.reward.judge_url:
        url, limits = config.reward.judge_url, config.reward.limits()
        with RemoteJudge(url, limits=limits, timeout_s=SERVER_S, unreachable_s=UNREACHABLE_S) as server:
            return server.check()
    started = time.monotonic()
    settings = config.reward.model_copy(update={"workers": 1})
    try:
        with settings.judge() as judge:
            for tests, right, wrong in PLANTED:
                _expect(judge.judge(right, tests).verdict, Verdict.ACCEPTED, tests)
                _expect(judge.judge(wrong, tests).verdict, Verdict.WRONG_ANSWER, tests)
    except JudgeFault as error:
        raise PreflightError(f"the judge broke: {error}; see what this machine lacks with: code-rlvr doctor") from error
    spent = time.monotonic() - started
    layers = ", ".join(judge.layers) or "the limits of a process only"
    return f"right about {2 * len(PLANTED)} planted programs in {spent:.1f} s; held by {layers}"


def _expect(found: Verdict, expected: Verdict, tests: Tests) -> None:
    if found is not expected:
        raise PreflightError(
            f"the judge says {found.value} of a planted program that is {expected.value} ({tests.kind} tests); raise "
            "reward.time_limit_s or reward.memory_limit_mib if they are small, else see: code-rlvr doctor"
        )


def check_reward(config: TrainConfig) -> str:
    """Check the reward function: how much form is worth, or that one of the user's own can be called.

    Returns:
        What is rewarded, in a sentence.

    Raises:
        ConfigError: `reward.file` does not exist, cannot be loaded, raises, or returns other keys than ours.
    """
    if not config.reward.file:
        policy = config.reward.policy_settings()  # refuses form that is worth more than function
        if policy.name != "tiered":
            return f"{policy.name}: form earns nothing, tests everything"
        form = policy.format_weight + policy.compile_weight
        return f"tiered: form earns {form:g}, less than the {policy.tests_weight:g} of the tests"
    file = Path(config.reward.file)
    if not file.is_file():
        raise ConfigError(f"reward.file={file} does not exist; it names a Python file with a compute_score")
    score = _score_of(file, config)
    missing = [key for key in METRIC_KEYS if key not in score]
    if missing:
        raise ConfigError(
            f"compute_score in {file} returns no {', '.join(missing)}; it has to return every key of "
            "code_rlvr.reward.METRIC_KEYS, as by calling code_rlvr.reward.compute_score and changing the score"
        )
    return f"compute_score in {file} returns the keys of ours"


def _score_of(file: Path, config: TrainConfig) -> dict[str, float]:
    """Call the user's function as verl does, for a planted program.

    Raises:
        ConfigError: That fails, or takes for ever.
    """
    tests, right, _ = PLANTED[0]
    keywords: dict[str, Any] = {
        "data_source": "preflight",
        "solution_str": f"```python\n{right}\n```",
        "ground_truth": tests.to_json(),
        "extra_info": {"index": 0, "problem_id": "preflight", "split": "train"},
        **config.reward.keywords(),
        "workers": 1,
        "verdict_dir": None,
        "keep_text": False,
    }
    command = [sys.executable, "-c", _CALL, str(file.resolve()), json.dumps(keywords), _MARK]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=REWARD_FILE_S)
    except subprocess.TimeoutExpired:
        raise ConfigError(f"compute_score in {file} took more than {REWARD_FILE_S:.0f} s for one program") from None
    if done.returncode:
        last = (done.stderr.strip() or "no message").splitlines()[-1]
        raise ConfigError(
            f"compute_score in {file} cannot be called as verl calls it ({last}); it takes what "
            "code_rlvr.reward.compute_score takes"
        )
    printed = [line for line in done.stdout.splitlines() if line.startswith(_MARK)]
    score: dict[str, float] = json.loads(printed[-1].removeprefix(_MARK))
    return score
