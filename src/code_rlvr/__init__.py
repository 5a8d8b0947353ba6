"""Code-generation reinforcement learning with verifiable rewards: run the programs, reward what passes.

Covered: the public names of the verifier and the reward, without torch, verl or ray.
Not covered: the commands (`code-rlvr --help`), training and evaluation.
"""

from code_rlvr.errors import (
    CodeRlvrError,
    ConfigError,
    DataError,
    JudgeFault,
    ModelError,
    PreflightError,
    TestsFormatError,
    TrainingError,
    Unjudged,
    UsageError,
    VersionMismatch,
)
from code_rlvr.ground_truth import Tests
from code_rlvr.remote_judge import RemoteJudge
from code_rlvr.reward import RewardPolicy, compute_score, score_response
from code_rlvr.types import CaseJudgement, Judgement, Limits, Problem, RunResult, RunStatus, Verdict
from code_rlvr.verifier.extract import Extraction, extract_code
from code_rlvr.verifier.judge import Judge

__all__ = [
    "CaseJudgement",
    "CodeRlvrError",
    "ConfigError",
    "DataError",
    "Extraction",
    "Judge",
    "JudgeFault",
    "Judgement",
    "Limits",
    "ModelError",
    "PreflightError",
    "Problem",
    "RemoteJudge",
    "RewardPolicy",
    "RunResult",
    "RunStatus",
    "Tests",
    "TestsFormatError",
    "TrainingError",
    "Unjudged",
    "UsageError",
    "Verdict",
    "VersionMismatch",
    "compute_score",
    "extract_code",
    "score_response",
]
