"""What breaks in a run ends it, in bounded time, with one clear message and nothing left behind."""

from __future__ import annotations

import json
import os
import shutil
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from code_rlvr.errors import TrainingError
from code_rlvr.runs import RunFolder, read_metrics
from code_rlvr.train import overrides
from code_rlvr.train.launch import train
from tests.integration.conftest import training_config

pytestmark = [pytest.mark.training, pytest.mark.filterwarnings("ignore"), pytest.mark.timeout(600)]


def descendants(name: str) -> list[psutil.Process]:
    """Return the processes below this one whose title contains `name`."""
    found = []
    for process in psutil.Process().children(recursive=True):
        try:
            if name in " ".join(process.cmdline()):
                found.append(process)
        except psutil.Error:
            continue
    return found


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    """What is there afterwards was there before: the judge that this process shares between its tests."""
    before = descendants("")
    yield
    assert [process for process in descendants("") if process not in before] == []


def test_a_killed_worker_ends_the_run_with_a_message(inputs: Path, tmp_path: Path) -> None:
    killed_at: list[float] = []

    def kill_after_first_step(line: str) -> None:
        if "step 1/" in line and not killed_at:
            (worker,) = descendants("ray::WorkerDict")
            killed_at.append(time.monotonic())
            worker.send_signal(signal.SIGKILL)

    with pytest.raises(TrainingError, match="after step 1"):
        train(training_config(inputs, tmp_path, "trainer.steps=50"), say=kill_after_first_step)
    assert time.monotonic() - killed_at[0] < 120


def test_a_trainer_that_hangs_is_ended(inputs: Path, tmp_path: Path) -> None:
    # It cannot start within a second, which is all that it is given.
    started = time.monotonic()
    with pytest.raises(TrainingError, match="no sign of life"):
        train(training_config(inputs, tmp_path, "trainer.start_timeout_s=1"))
    assert time.monotonic() - started < 60


RAISING_REWARD = '''
"""Our reward function, but it raises for one sample of the first step and for two of the second.

The score is by the response's length, so that each sample can be told by it.
"""
import itertools

from code_rlvr import reward

calls = itertools.count()
VALIDATION = 16

def compute_score(*args, **kwargs):
    if next(calls) - VALIDATION in (5, 20, 30):
        raise RuntimeError("planted: the reward function broke")
    found = reward.compute_score(*args, **kwargs)
    return {**found, "score": (1 + len(kwargs["solution_str"]) % 9) / 10}
'''


def test_samples_get_their_own_scores_one_lost_sample_is_left_out_and_more_stop_the_run(
    inputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    planted = tmp_path / "planted_reward.py"
    planted.write_text(RAISING_REWARD, encoding="utf-8")
    honest = overrides._reward

    def reward(config: object) -> dict[str, object]:
        return {**honest(config), "reward.custom_reward_function.path": str(planted)}  # type: ignore[arg-type]

    monkeypatch.setattr(overrides, "_reward", reward)
    words = ["trainer.batch=8", "actor.mini_batch=8", "rollout.samples_per_prompt=2", "rollout.workers=2"]
    config = training_config(inputs, tmp_path, *words)
    with pytest.raises(TrainingError, match="3 of 48 samples were lost"):
        train(config.model_copy(update={"verl": (f"trainer.rollout_data_dir={tmp_path / 'dump'}",)}))
    run = RunFolder(tmp_path / "run")
    (first,) = [metrics.data for metrics in read_metrics(run.metrics) if metrics.step == 1]
    assert first["reward/samples"] == 15
    assert first["reward/unjudged"] == pytest.approx(1 / 16)
    assert first["critic/score/mean"] == pytest.approx(first["reward/score"])
    dumped = (tmp_path / "dump" / "1.jsonl").read_text(encoding="utf-8").splitlines()
    samples = [json.loads(line) for line in dumped]
    scores = {sample["score"] for sample in samples if sample["score"]}
    assert len(scores) > 1, "equal scores would not show whose they are"
    others = [sample for sample in samples if sample["score"] != pytest.approx((1 + len(sample["output"]) % 9) / 10)]
    assert [sample["score"] for sample in others] == [0], "all samples have their own score but the one that was lost"
    assert "planted: the reward function broke" in (run.logs / "verl.log").read_text(encoding="utf-8")


def test_ctrl_c_ends_the_run_within_ten_seconds(inputs: Path, tmp_path: Path) -> None:
    interrupted: list[float] = []

    def interrupt() -> None:
        while not descendants("ray::"):
            time.sleep(0.2)
        interrupted.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt, daemon=True).start()
    with pytest.raises(KeyboardInterrupt):
        train(training_config(inputs, tmp_path))
    assert time.monotonic() - interrupted[0] < 10


def test_the_message_of_a_failure_names_the_log(inputs: Path, tmp_path: Path) -> None:
    shutil.copytree(inputs / "model", tmp_path / "model")
    (tmp_path / "model" / "model.safetensors").write_bytes(b"not a tensor file")
    with pytest.raises(TrainingError, match=r"exit code 1[\s\S]*verl\.log"):
        train(training_config(inputs, tmp_path, f"model={tmp_path / 'model'}"))
