"""verl's trainer with its programs judged by `code-rlvr serve` and every logger: one run of two steps.

Covered: every sample has its verdict from the server; TensorBoard and wandb, offline, have what `metrics.jsonl` holds,
read back from their own files.  Not covered: wandb's server.
"""

from __future__ import annotations

import json
import struct
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from code_rlvr.report.catalogue import describe
from code_rlvr.reward import METRIC_KEYS
from code_rlvr.runs import RunFolder, read_metrics
from code_rlvr.train.launch import train
from tests.integration.conftest import read_verdicts, training_config
from tests.integration.judge_server import TOKEN, metric, serving

pytest.importorskip("tensorboard", reason="verl's logger `tensorboard` needs it")
pytest.importorskip("wandb", reason="verl's logger `wandb` needs it")

pytestmark = [pytest.mark.training, pytest.mark.filterwarnings("ignore"), pytest.mark.timeout(900)]

Steps = dict[int, dict[str, float]]

WANDB_BLOCK = 32768  # LevelDB's log format, which wandb's offline file has behind a header of 7 bytes
WANDB_FULL, WANDB_FIRST, WANDB_LAST = 1, 2, 4


@dataclass(frozen=True)
class Logged:
    """Two steps with every logger, judged by a server: one run that all tests here look at.

    Args:
        run: The run.
        folder: Where the command was called; the run lies below.
        judged: How many programs the server judged.
    """

    run: RunFolder
    folder: Path
    judged: float


@pytest.fixture(scope="module")
def logged(inputs: Path, tmp_path_factory: pytest.TempPathFactory) -> Logged:
    folder = tmp_path_factory.mktemp("logged")
    with pytest.MonkeyPatch.context() as patch, serving() as served:
        patch.setenv("WANDB_MODE", "offline")
        patch.setenv("CODE_RLVR_TOKEN", TOKEN)
        patch.chdir(folder)
        words = ['trainer.loggers=["tensorboard","wandb"]', f"reward.judge_url={served.url}"]
        train(training_config(inputs, folder / "runs", *words), say=lambda _: None)
        return Logged(RunFolder(folder / "runs" / "run"), folder, metric(served, "verdicts_total"))


def in_metrics_file(run: RunFolder) -> Steps:
    return {metrics.step: metrics.data for metrics in read_metrics(run.metrics)}


def in_tensorboard(run: RunFolder) -> Steps:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(run.path / "tensorboard")).Reload()
    steps: Steps = defaultdict(dict)
    for name in events.Tags()["scalars"]:
        for event in events.Scalars(name):
            steps[event.step][name] = event.value
    return dict(steps)


def wandb_records(file: Path) -> Iterator[bytes]:
    """The records of an offline run, put together from their pieces."""
    content, position, record = file.read_bytes(), 7, b""
    while position + 7 <= len(content):
        room = WANDB_BLOCK - position % WANDB_BLOCK
        if room < 7:
            position += room
            continue
        length, kind = struct.unpack_from("<HB", content, position + 4)  # a checksum of 4 bytes is before them
        piece = content[position + 7 : position + 7 + length]
        record = piece if kind in (WANDB_FULL, WANDB_FIRST) else record + piece
        position += 7 + length
        if kind in (WANDB_FULL, WANDB_LAST):
            yield record


def in_wandb(folder: Path) -> Steps:
    from wandb.proto.wandb_internal_pb2 import Record

    (file,) = folder.glob("**/offline-run-*/*.wandb")
    steps: Steps = {}
    for content in wandb_records(file):
        record = Record.FromString(content)
        if record.HasField("history"):
            items = {item.key or "/".join(item.nested_key): json.loads(item.value_json) for item in record.history.item}
            step = record.history.step.num
            steps.setdefault(step, {}).update((name, value) for name, value in items.items() if name[0] != "_")
    return steps


def assert_same(shown: Steps, file: Steps, rel: float) -> None:
    assert shown.keys() == file.keys()
    for step, metrics in file.items():
        assert shown[step].keys() == metrics.keys()
        assert shown[step] == pytest.approx(metrics, rel=rel, nan_ok=True), step


def test_the_file_has_the_rewards_and_the_validation_under_names_of_the_catalogue(logged: Logged) -> None:
    steps = in_metrics_file(logged.run)
    assert sorted(steps) == [0, 1, 2]
    assert {f"reward/{key}" for key in METRIC_KEYS} <= steps[1].keys()
    assert {f"val-aux/starter/{key}/mean@1" for key in ("pass_rate", "accepted")} <= steps[2].keys()
    assert [name for metrics in steps.values() for name in metrics if describe(name) is None] == []


def test_tensorboard_shows_what_the_file_has(logged: Logged) -> None:
    assert_same(in_tensorboard(logged.run), in_metrics_file(logged.run), rel=1e-6)  # event files hold floats of 32 bits


def test_wandb_shows_what_the_file_has(logged: Logged) -> None:
    assert_same(in_wandb(logged.folder), in_metrics_file(logged.run), rel=1e-12)


def test_a_run_is_rewarded_by_a_server(logged: Logged) -> None:
    records = [record for step in range(3) for record in read_verdicts(logged.run.verdicts, step)]
    assert logged.judged >= len(records) >= 2 * 16  # the checks before a run may have had programs judged too
    assert not [record for record in records if record["verdict"] == "UNJUDGED"]
    last = [metrics for metrics in read_metrics(logged.run.metrics) if metrics.step == 2]
    assert last[-1].data["reward/samples"] == 16


def test_the_servers_token_is_in_no_file_of_the_run(logged: Logged) -> None:
    for file in logged.folder.rglob("*"):
        assert not file.is_file() or TOKEN.encode() not in file.read_bytes(), file
