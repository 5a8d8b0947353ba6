"""The real thing: verl's PPO with Ray and FSDP on a CPU, two steps, checkpoint, resume, merge."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from code_rlvr.errors import UsageError
from code_rlvr.reward import METRIC_KEYS
from code_rlvr.runs import RunFolder, read_metrics
from code_rlvr.train.launch import train
from code_rlvr.train.merge import merge_checkpoint, verify_generates
from tests.integration.conftest import read_verdicts, training_config

pytestmark = [pytest.mark.training, pytest.mark.filterwarnings("ignore"), pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def trained(inputs: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """Train two steps; return the runs' folder and the lines that were shown."""
    runs_dir = tmp_path_factory.mktemp("runs")
    lines: list[str] = []
    train(training_config(inputs, runs_dir), say=lines.append)
    return runs_dir, lines


def test_each_step_shows_one_line_and_logs_the_rewards_of_its_samples(trained: tuple[Path, list[str]]) -> None:
    runs_dir, lines = trained
    assert [line.split(" | ")[0] for line in lines if "] train" in line] == ["[step 1/2] train", "[step 2/2] train"]
    run = RunFolder(runs_dir / "run")
    for metrics in read_metrics(run.metrics):
        if metrics.step == 0:
            continue
        assert {f"reward/{key}" for key in METRIC_KEYS} <= metrics.data.keys()
        assert metrics.data["reward/samples"] == 16
        assert 0 <= metrics.data["rollout/truncated"] <= 1
        assert metrics.data["reward/score"] == pytest.approx(metrics.data["critic/score/mean"])
        trained_on = [record for record in read_verdicts(run.verdicts, metrics.step) if record["split"] == "train"]
        assert len(trained_on) == 16
        mean = sum(record["pass_rate"] for record in trained_on) / 16
        assert metrics.data["reward/pass_rate"] == pytest.approx(mean)


def test_a_run_is_not_overwritten(trained: tuple[Path, list[str]], inputs: Path) -> None:
    with pytest.raises(UsageError, match="--resume"):
        train(training_config(inputs, trained[0]))


def test_a_resume_goes_on_and_keeps_the_earlier_metrics(trained: tuple[Path, list[str]], inputs: Path) -> None:
    run = RunFolder(trained[0] / "run")
    earlier = run.metrics.read_bytes()
    lines: list[str] = []
    result = train(training_config(inputs, trained[0], "trainer.steps=3"), resume=True, say=lines.append)
    assert result.steps == 3
    assert [line.split(" | ")[0] for line in lines if "] train" in line] == ["[step 3/3] train"]
    assert run.metrics.read_bytes().startswith(earlier)
    assert [metrics.step for metrics in read_metrics(run.metrics)] == [0, 1, 2, 3]
    assert json.loads(run.config.read_text(encoding="utf-8"))["trainer"]["steps"] == 3


def test_the_merged_checkpoint_loads_and_generates(trained: tuple[Path, list[str]]) -> None:
    run = RunFolder(trained[0] / "run")
    merged = merge_checkpoint(run)
    assert merged == run.merged
    verify_generates(merged)
    assert (merged / "chat_template.jinja").is_file()
