"""verl's trainer with its programs judged by `code-rlvr serve`: two steps, every sample with its verdict from there."""

from __future__ import annotations

from pathlib import Path

import pytest

from code_rlvr.runs import RunFolder, read_metrics, read_verdicts
from code_rlvr.train.launch import train
from tests.integration.conftest import training_config
from tests.integration.judge_server import TOKEN, metric, serving

pytestmark = [pytest.mark.training, pytest.mark.filterwarnings("ignore"), pytest.mark.timeout(900)]


def test_a_run_is_rewarded_by_a_server(inputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CODE_RLVR_TOKEN", TOKEN)
    with serving() as served:
        train(training_config(inputs, tmp_path, f"reward.judge_url={served.url}"))
        judged = metric(served, "verdicts_total")
    run = RunFolder(tmp_path / "run")
    records = [record for step in range(3) for record in read_verdicts(run.verdicts, step)]
    assert judged >= len(records) >= 2 * 16  # the checks before a run may have had programs judged too
    assert not [record for record in records if record["verdict"] == "UNJUDGED"]
    last = [metrics for metrics in read_metrics(run.metrics) if metrics.step == 2]
    assert last[-1].data["reward/samples"] == 16
    for file in tmp_path.rglob("*"):
        assert not file.is_file() or TOKEN.encode() not in file.read_bytes(), file
