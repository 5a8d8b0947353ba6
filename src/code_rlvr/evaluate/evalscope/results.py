"""What EvalScope left on the disk, as our samples: its predictions, its reviews, and the report that they add up to.

    FOLDER/predictions/model/code_rlvr_NAME_default.jsonl   a response a line, with its length
    FOLDER/reviews/model/code_rlvr_NAME_default.jsonl       its score, and what our judge said about it
    FOLDER/reports/model/code_rlvr_NAME.json                EvalScope's own figures

Covered: joining them, and that the report's number is that of the samples.  Not covered: figures (`evaluate.scores`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from code_rlvr.errors import DataError
from code_rlvr.evaluate.evalscope import PINNED_EVALSCOPE
from code_rlvr.evaluate.evalscope.job import MODEL_ID, PREFIX, SUBSET, BenchmarkName, Piece
from code_rlvr.evaluate.numbers import has_mark
from code_rlvr.evaluate.scores import SampleRecord
from code_rlvr.evaluate.task import AnyVerdict, NumberVerdict
from code_rlvr.types import Verdict
from code_rlvr.verifier.extract import extract

ROUNDING = 1e-4
"""EvalScope writes four digits."""


@dataclass(frozen=True, slots=True)
class Expected:
    """What EvalScope was asked for.

    Args:
        problem_ids: In the order of the rows.
        groups: Group of a problem by its id.
        samples: How many of each problem.
        seed: Of the evaluation.
        fingerprint: See `SampleRecord`.
        batch: How many samples were drawn at once, each of which EvalScope gives all the seconds that it waited.
    """

    problem_ids: tuple[str, ...]
    groups: dict[str, str]
    samples: int
    seed: int
    fingerprint: str
    batch: int


def read_records(piece: Piece, expected: Expected) -> list[SampleRecord]:
    """Read the samples of one benchmark.

    Args:
        piece: Which.
        expected: What it has to be.

    Returns:
        Every sample, problem by problem.

    Raises:
        DataError: A file is missing or is not EvalScope's, or a sample is missing or of another problem.
    """
    name = f"{PREFIX}{piece.benchmark}_{SUBSET}.jsonl"
    drawn = dict(_read(piece.folder / "predictions" / MODEL_ID / name))
    reviewed = dict(_read(piece.folder / "reviews" / MODEL_ID / name))
    records = []
    for number in range(len(expected.problem_ids) * expected.samples):
        if number not in drawn or number not in reviewed:
            raise DataError(f"{piece.folder} lacks sample {number} of {piece.benchmark}; start anew with --overwrite")
        record = _record(piece.benchmark, number, drawn[number]["model_output"], reviewed[number], expected)
        if record is None:
            raise DataError(f"{piece.folder} is of other problems; start anew with --overwrite")
        records.append(record)
    return records


def _record(
    benchmark: BenchmarkName, number: int, output: dict[str, Any], reviewed: dict[str, Any], expected: Expected
) -> SampleRecord | None:
    """One sample; None if it is of another problem than its number says."""
    score, choice = reviewed["sample_score"]["score"], output["choices"][0]
    told = score.get("metadata") or {}
    problem_id = expected.problem_ids[number // expected.samples]
    if told.get("problem_id") != problem_id:
        return None
    is_number = benchmark == "gsm8k"
    response = _text_of(choice["message"]["content"])
    verdict, rate = _number_grade(score) if is_number else _program_grade(told)
    return SampleRecord(
        problem_id=problem_id,
        group=expected.groups[problem_id],
        sample=number % expected.samples,
        seed=expected.seed,
        fingerprint=expected.fingerprint,
        response=response,
        tokens=(output.get("usage") or {}).get("output_tokens", 0),
        truncated=choice.get("stop_reason") == "max_tokens",
        fenced=has_mark(response) if is_number else extract(response).fenced,
        verdict=verdict,
        test_pass_rate=rate,
        fault=None
        if verdict
        else str(told.get("fault") or told.get(str(score["main_score_name"])) or "EvalScope gave no score"),
        generate_s=(output.get("time") or 0.0) / expected.batch,
        judge_s=told.get("judge_s", 0.0),
    )


def read_report(piece: Piece, records: list[SampleRecord]) -> dict[str, str | int]:
    """What EvalScope reports, for `Scores.benchmark`.

    Args:
        piece: Which benchmark.
        records: Its samples.

    Raises:
        DataError: There is no report, or its number is not that of the samples.
    """
    file = piece.folder / "reports" / MODEL_ID / f"{PREFIX}{piece.benchmark}.json"
    try:
        report = json.loads(file.read_bytes())
        figures = {_name_of(metric): float(metric["score"]) for metric in report["metrics"]}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(f"{file} is no report of EvalScope {PINNED_EVALSCOPE}: {error}; see its log") from None
    judged = [record.verdict is Verdict.ACCEPTED for record in records if record.verdict]
    mean = next((value for name, value in figures.items() if "mean" in name), None)
    if judged and (mean is None or abs(mean - sum(judged) / len(judged)) > ROUNDING):
        raise DataError(f"{file} reports {figures}, and its samples give {sum(judged)} of {len(judged)}")
    return {"evalscope": PINNED_EVALSCOPE, **{f"evalscope {name}": f"{value:.4f}" for name, value in figures.items()}}


def _name_of(metric: dict[str, Any]) -> str:
    identity = metric["identity"]
    dimensions = identity.get("dimensions") or {}
    return " ".join([identity["aggregation"], identity["name"], *(f"{key}={one}" for key, one in dimensions.items())])


def _program_grade(told: dict[str, Any]) -> tuple[AnyVerdict | None, float | None]:
    return (Verdict(told["verdict"]), told["test_pass_rate"]) if "verdict" in told else (None, None)


def _number_grade(score: dict[str, Any]) -> tuple[AnyVerdict | None, float | None]:
    value = (score.get("value") or {}).get(score["main_score_name"])
    if value is None:
        return None, None
    if value:
        return Verdict.ACCEPTED, 1.0
    return (Verdict.WRONG_ANSWER if score.get("extracted_prediction") else NumberVerdict.NO_ANSWER), 0.0


def _text_of(content: Any) -> str:
    """A message is a text, or a list of parts."""
    if isinstance(content, str):
        return content
    return "".join(str(part.get("text", "")) for part in content or () if isinstance(part, dict))


def _read(file: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Lines by sample; of a sample that stands there twice, the later counts for whoever makes a dictionary of them."""
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
        for line in lines:
            row = json.loads(line)
            yield int(row["index"]), row
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(
            f"{file} is not of EvalScope {PINNED_EVALSCOPE}: {error}; start anew with --overwrite"
        ) from None
