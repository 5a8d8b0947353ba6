"""One JSON line per judged sample, appended by any number of processes to one file per training step.

| field | meaning |
|---|---|
| step, split, problem_id, data_source | the sample's origin; 0 or null where `extra_info` lacks it |
| verdict | the overall verdict, or UNJUDGED with `error`: the judge broke or the tests are malformed |
| score, pass_rate, format | as in `reward.METRIC_KEYS`; absent if UNJUDGED |
| tests | the verdict of each test that was run |
| stderr | the end of what the first failing test, or the compiler, said |
| response_sha256 | the first 16 hex digits; response: the text itself, if asked for |
| judge_s | wall seconds, without queueing |

Covered: writing.  Not covered: reading and summing up (the report).
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from code_rlvr.types import Judgement, Verdict

STDERR_CHARS = 500


class VerdictLog:
    """Appends to `<folder>/step_<N>.jsonl`; N is the training step, or the step after which a validation ran.

    Args:
        folder: Made if missing.
        keep_text: Whether each line holds the response too.
    """

    def __init__(self, folder: str | Path, keep_text: bool = False) -> None:
        self._folder = Path(folder)
        self._keep_text = keep_text

    def judged(
        self,
        data_source: str,
        response: str,
        extra_info: Mapping[str, Any],
        judgement: Judgement,
        metrics: Mapping[str, float],
    ) -> None:
        """Append the line of a sample that has a verdict.

        Raises:
            OSError: If the file cannot be written.
        """
        failed = [case.stderr for case in judgement.cases if case.verdict is not Verdict.ACCEPTED]
        findings = {
            "verdict": judgement.verdict.value,
            **{key: metrics[key] for key in ("score", "pass_rate", "format", "judge_s")},
            "tests": [case.verdict.value for case in judgement.cases],
            "tests_total": judgement.tests_total,
            "stderr": (failed[0] if failed else judgement.message)[-STDERR_CHARS:],
        }
        self._append(data_source, response, extra_info, findings)

    def unjudged(self, data_source: str, response: str, extra_info: Mapping[str, Any], error: Exception) -> None:
        """Append the line of a sample that has none, with the reason.

        Raises:
            OSError: If the file cannot be written.
        """
        self._append(data_source, response, extra_info, {"verdict": "UNJUDGED", "error": str(error)})

    def _append(
        self, data_source: str, response: str, extra_info: Mapping[str, Any], findings: Mapping[str, Any]
    ) -> None:
        # verl says which version of the model wrote the response: 0 before the first step, N after step N.
        version = int(extra_info.get("global_steps") or 0)
        step = version + 1 if extra_info.get("split") == "train" else version
        line = {
            "step": step,
            "split": extra_info.get("split"),
            "problem_id": extra_info.get("problem_id"),
            "data_source": data_source,
            **findings,
            "response_sha256": hashlib.sha256(response.encode("utf-8", "surrogatepass")).hexdigest()[:16],
        }
        if self._keep_text:
            line["response"] = response
        self._folder.mkdir(parents=True, exist_ok=True)
        fd = os.open(self._folder / f"step_{step}.jsonl", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            os.write(fd, json.dumps(line, default=str).encode("ascii") + b"\n")  # one write: lines never mix
        finally:
            os.close(fd)
