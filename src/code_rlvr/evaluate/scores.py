"""What an evaluation found: one line a sample, and `scores.json` for the whole.

Covered: both file formats, and the way from one to the other.  Not covered: making samples (`generate`),
comparing two evaluations (`compare`).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from code_rlvr.errors import DataError
from code_rlvr.evaluate.passk import mean_pass_at_k, pass_at_k
from code_rlvr.evaluate.task import AnyVerdict
from code_rlvr.types import Verdict

BOOTSTRAP_DRAWS = 10_000
BOOTSTRAP_SEED = 0


class SampleRecord(BaseModel):
    """One sample: a line of the samples file."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    problem_id: str
    group: str
    """What the sample is reported under, e.g. the data source."""
    sample: int = Field(ge=0)
    """Its number among the samples of the problem."""
    seed: int
    """Seed of its random numbers; depends on the evaluation's seed, the problem and `sample` only."""
    fingerprint: str
    """Names the model, the settings and the prompt that it was drawn with."""
    graded_by: str = ""
    """Names the tests and limits that the verdict is by."""
    response: str
    tokens: int = Field(ge=0)
    """Length of the response, the end token included."""
    truncated: bool
    """Whether it was cut at the longest length allowed."""
    fenced: bool
    """Whether it has a code block in the proper form; for numbers, the mark that was asked for."""
    verdict: AnyVerdict | None
    """None if it is not judged yet or the judge failed; such a sample is left out of every figure and counted."""
    test_pass_rate: float | None = Field(ge=0, le=1)
    """Share of the problem's tests that it passed."""
    fault: str | None = None
    """Why there is no verdict."""
    generate_s: float = Field(default=0.0, ge=0)
    """Its share of the wall seconds that its batch took to be drawn."""
    judge_s: float = Field(default=0.0, ge=0)
    """Its share of the wall seconds that its batch took to be judged."""


class Interval(BaseModel):
    """Bounds of a mean over problems: a percentile bootstrap, for none or all accepted the exact ones."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    low: float
    high: float
    level: float = Field(default=0.95, gt=0, lt=1)
    """Its nominal coverage."""


class ProblemScore(BaseModel):
    """The samples of one problem, counted."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    group: str
    samples: int = Field(ge=1)
    """Judged samples."""
    accepted: int = Field(ge=0)
    """Samples that passed every test."""

    @model_validator(mode="after")
    def _check_counts(self) -> ProblemScore:
        if self.accepted > self.samples:
            raise ValueError(f"{self.accepted} of {self.samples} samples cannot be accepted")
        return self


class GroupScore(BaseModel):
    """Figures of one group of problems, or of all."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    problems: int
    samples: int
    """Judged samples."""
    pass_at: dict[str, float]
    """`pass@k` by name, for every k asked for; the unbiased estimator, averaged over problems."""
    pass_at_1_interval: Interval
    """Of `pass@1`, by resampling problems."""
    pass_at_intervals: dict[str, Interval] = {}
    """The same for every `pass@k`."""
    test_pass_rate: float
    """Mean share of tests passed, over samples."""
    verdicts: dict[str, int]
    """How many samples got each verdict."""


class Cost(BaseModel):
    """What an evaluation took, over all calls that it was made in."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    generate_s: float = Field(ge=0)
    """Wall seconds of sampling; judging goes on meanwhile."""
    judge_s: float = Field(ge=0)
    """Wall seconds of judging."""
    tokens: int = Field(ge=0)
    """Tokens of all responses, end tokens included."""


class TrainingCheck(BaseModel):
    """Whether a benchmark's problems are among those that the model was trained on."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    checked: bool
    """Whether the training problems were there to be compared."""
    note: str
    """What they were compared with, or why they were not."""
    trained_on: tuple[str, ...] = ()
    """Ids of the benchmark's problems that were trained on."""


class Scores(BaseModel):
    """An evaluation: the content of `scores.json`."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    version: int = 1
    """Version of this format."""
    model: str
    """The model folder as it was named."""
    fingerprint: str
    """Names the model, the settings and the prompts."""
    asked: str = ""
    """Names the prompts, the tests and the limits, whatever the model; empty in older files."""
    samples_per_problem: int
    temperature: float
    top_p: float
    top_k: int
    max_new_tokens: int
    seed: int
    overall: GroupScore
    groups: dict[str, GroupScore]
    format: float
    """Share of all samples with a code block in the proper form."""
    truncated: float
    """Share of all samples that were cut at `max_new_tokens`."""
    mean_tokens: float
    """Mean length of a response."""
    without_room: int = 0
    """Samples whose prompt left no room for a response in the model's context; they count as failed."""
    unjudged: int
    """Samples that the judge failed on; they are in no other figure but the three above."""
    problems: dict[str, ProblemScore]
    """By problem id; what `compare` pairs."""
    cost: Cost | None = None
    """Not known of evaluations from before it was measured."""
    engine: str | None = None
    """What sampled, "vllm" or "transformers", as far as it was said."""
    benchmark: dict[str, str | int] = {}
    """Which problems these are: files and their revision, a window of dates, and how many rows were left out."""
    training_data: TrainingCheck | None = None
    """None if nobody looked."""


def score_group(records: Sequence[SampleRecord], ks: Sequence[int]) -> GroupScore:
    """Work out the figures of one group.

    Args:
        records: Judged samples, at least one.
        ks: Which pass@k to estimate, each over the problems with at least k judged samples; a k is left out
            if no problem has that many.

    Returns:
        The figures.
    """
    counts = {problem: (one.samples, one.accepted) for problem, one in count_problems(records).items()}
    rates = np.array([c / n for n, c in counts.values()])
    enough = {k: [(n, c) for n, c in counts.values() if n >= k] for k in ks}
    enough = {k: found for k, found in enough.items() if found}
    return GroupScore(
        problems=len(counts),
        samples=len(records),
        pass_at={f"pass@{k}": mean_pass_at_k(found, k) for k, found in enough.items()},
        pass_at_1_interval=bound_share(rates),
        pass_at_intervals={
            f"pass@{k}": bound_share(np.array([pass_at_k(n, c, k) for n, c in found])) for k, found in enough.items()
        },
        test_pass_rate=float(np.mean([record.test_pass_rate or 0.0 for record in records])),
        verdicts=dict(Counter(record.verdict.value for record in records if record.verdict).most_common()),
    )


def count_problems(records: Iterable[SampleRecord]) -> dict[str, ProblemScore]:
    """Count judged and accepted samples by problem, in the order of their first samples."""
    found: dict[str, list[SampleRecord]] = defaultdict(list)
    for record in records:
        if record.verdict is not None:
            found[record.problem_id].append(record)
    return {
        problem: ProblemScore(
            group=samples[0].group,
            samples=len(samples),
            accepted=sum(record.verdict is Verdict.ACCEPTED for record in samples),
        )
        for problem, samples in found.items()
    }


def bound_share(values: npt.NDArray[np.float64], level: float = 0.95) -> Interval:
    """Bound a mean of shares; where all are 0, or all 1, resampling would say that nothing is uncertain.

    Args:
        values: One share for each problem, in [0, 1], shape [problems], at least one.
        level: Nominal coverage, in (0, 1).

    Returns:
        `bootstrap_mean`, or for none or all of n the exact bound, 1 - ((1 - level) / 2) ** (1 / n) from the end.

    Source: Clopper and Pearson 1934, Biometrika 26:404, for none or all.
    """
    beyond = 1 - ((1 - level) / 2) ** (1 / len(values))
    if (values == 0).all():
        return Interval(low=0.0, high=beyond, level=level)
    if (values == 1).all():
        return Interval(low=1 - beyond, high=1.0, level=level)
    return bootstrap_mean(values, level)


def bootstrap_mean(values: npt.NDArray[np.float64], level: float = 0.95, seed: int = BOOTSTRAP_SEED) -> Interval:
    """Bound a mean by resampling its terms with replacement.

    Args:
        values: One term for each problem, shape [problems], at least one.
        level: Nominal coverage, in (0, 1).
        seed: Seed of the resampling.

    Returns:
        The percentile interval of 10,000 resamples.

    Source: Efron and Tibshirani 1993, An Introduction to the Bootstrap, chapter 13.
    """
    rng = np.random.default_rng(seed)
    # In slices, so that thousands of problems need megabytes and not gigabytes.
    slices = [
        values[rng.integers(len(values), size=(BOOTSTRAP_DRAWS // 100, len(values)))].mean(axis=1) for _ in range(100)
    ]
    low, high = np.quantile(np.concatenate(slices), [(1 - level) / 2, (1 + level) / 2])
    return Interval(low=float(low), high=float(high), level=level)


def read_samples(path: Path) -> list[SampleRecord]:
    """Read a samples file.

    Raises:
        DataError: If a line is not a sample.
    """
    records = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        try:
            records.append(SampleRecord.model_validate_json(line))
        except ValidationError as error:
            raise DataError(f"{path}, line {number} is not a sample of an evaluation: {error}") from None
    return records


def read_scores(path: Path) -> Scores:
    """Read a `scores.json`.

    Raises:
        DataError: If the file cannot be read or is of another format.
    """
    try:
        return Scores.model_validate_json(path.read_bytes())
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror}") from None
    except ValidationError as error:
        raise DataError(f"{path} is not the scores.json of an evaluation: {error}") from None
