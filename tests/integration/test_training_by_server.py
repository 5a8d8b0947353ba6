"""verl's trainer with its programs judged by `code-rlvr serve`: two steps, every sample with its verdict from there."""

from __future__ import annotations

import pytest

from code_rlvr.runs import read_metrics, read_verdicts
from tests.integration.conftest import Logged
from tests.integration.judge_server import TOKEN

pytestmark = [pytest.mark.training, pytest.mark.filterwarnings("ignore"), pytest.mark.timeout(900)]


def test_a_run_is_rewarded_by_a_server(logged: Logged) -> None:
    records = [record for step in range(3) for record in read_verdicts(logged.run.verdicts, step)]
    assert logged.judged >= len(records) >= 2 * 16  # the checks before a run may have had programs judged too
    assert not [record for record in records if record["verdict"] == "UNJUDGED"]
    last = [metrics for metrics in read_metrics(logged.run.metrics) if metrics.step == 2]
    assert last[-1].data["reward/samples"] == 16


def test_the_servers_token_is_in_no_file_of_the_run(logged: Logged) -> None:
    for file in logged.folder.rglob("*"):
        assert not file.is_file() or TOKEN.encode() not in file.read_bytes(), file
