"""Programs with known verdicts, from outside of this project: right ones pass, wrong ones do not.

Reads the folder that the environment variable CODE_RLVR_ORACLE names; skipped without it.  `benchmarks/oracle.py` says
what it has to hold, and judges all of it; here it is every tenth problem.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from benchmarks.oracle import FILES, is_surprise, judged, labelled

FOLDER = os.environ.get("CODE_RLVR_ORACLE")

pytestmark = [
    pytest.mark.skipif(not FOLDER, reason="CODE_RLVR_ORACLE names no folder of problems with known verdicts"),
    pytest.mark.slow,
    pytest.mark.timeout(900),
]


@pytest.mark.parametrize("name", FILES)
def test_known_verdicts_are_found_again(name: str) -> None:
    share = 1 if "rllm" in name else int(os.environ.get("CODE_RLVR_ORACLE_SHARE", "10"))
    outcomes = list(judged(list(labelled(Path(FOLDER or ""), name, share))))
    assert outcomes
    assert not [(known.problem, known.label, verdict) for known, verdict in outcomes if is_surprise(known, verdict)]
