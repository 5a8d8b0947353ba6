"""What TensorBoard and wandb are shown is what `metrics.jsonl` holds, read back from their own files.

Covered: the two steps of `logged` (conftest), wandb offline.  Not covered: wandb's server.
"""

from __future__ import annotations

import json
import struct
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from code_rlvr.report.catalogue import describe
from code_rlvr.reward import METRIC_KEYS
from code_rlvr.runs import RunFolder, read_metrics
from tests.integration.conftest import Logged

pytest.importorskip("tensorboard", reason="verl's logger `tensorboard` needs it")
pytest.importorskip("wandb", reason="verl's logger `wandb` needs it")

pytestmark = [pytest.mark.training, pytest.mark.filterwarnings("ignore"), pytest.mark.timeout(600)]

Steps = dict[int, dict[str, float]]

WANDB_BLOCK = 32768  # LevelDB's log format, which wandb's offline file has behind a header of 7 bytes
WANDB_FULL, WANDB_FIRST, WANDB_LAST = 1, 2, 4


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
