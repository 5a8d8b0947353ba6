"""What one process of EvalScope is to do: one model, some benchmarks; crosses to it as a JSON file.

Covered: the format.  Not covered: doing it (`worker`), starting it (`process`).
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from code_rlvr.types import Limits
from code_rlvr.verifier.judge import Judge
from code_rlvr.verifier.sandbox import Isolation

BenchmarkName = Literal["humaneval", "live_code_bench", "gsm8k"]
"""Of EvalScope."""

MODEL_ID = "model"
"""What EvalScope calls every model in its folders."""
SUBSET = "default"
"""What EvalScope calls the one part of each benchmark."""
PREFIX = "code_rlvr_"
"""Before the names of its benchmarks where ours judge."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class Piece(_Part):
    """One benchmark."""

    benchmark: BenchmarkName
    rows: Path
    """JSONL, as `rows` writes it."""
    folder: Path
    """Where EvalScope puts what it makes; gone on with if it is there."""


class Judging(_Part):
    """How programs are judged."""

    workers: int | None = None
    """As for `Judge`."""
    limits: dict[str, Any]
    """Fields of `Limits`."""
    python: Path | None = None
    """As for `Judge`."""
    isolation: Isolation = "full"
    """As for `Judge`."""

    @classmethod
    def of(
        cls,
        workers: int | None = None,
        limits: Limits | None = None,
        python: Path | None = None,
        isolation: Isolation = "full",
    ) -> Judging:
        """From the arguments of a `Judge`."""
        return cls(workers=workers, limits=asdict(limits or Limits()), python=python, isolation=isolation)

    def judge(self) -> Judge:
        """The judge, as for `Judge`."""
        return Judge(self.workers, Limits(**self.limits), python=self.python, isolation=self.isolation)


class Job(_Part):
    """All of it."""

    model: str
    """A model folder; of a server, the name that it has there."""
    api_url: str | None = None
    """Of an OpenAI-compatible server; None to load the model with transformers."""
    system_role: bool = True
    """Whether its chat template takes a system message; else that goes ahead of the user's."""
    pieces: tuple[Piece, ...]
    samples: int = Field(ge=1)
    """Of each problem."""
    temperature: float = Field(ge=0)
    """0 is greedy."""
    top_p: float = Field(gt=0, le=1)
    max_new_tokens: int = Field(ge=1)
    seed: int = Field(ge=0)
    batch: int = Field(ge=1)
    """Samples drawn at once, or requests under way."""
    judging: Judging
    failure: Path
    """Where the process says, in one line of JSON, which of our errors ended it."""
