"""Whatever happens to one file of a run, its report is made in every form."""

from __future__ import annotations

import copy
import json
import os
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from code_rlvr.health import HealthThresholds
from code_rlvr.report.as_json import to_json
from code_rlvr.report.as_text import to_text
from code_rlvr.report.html import render_report
from code_rlvr.report.run_state import RunState, read_state
from code_rlvr.report.sources import Source
from tests.synthetic_run import make_run

FILES = (
    "metrics.jsonl",
    "config.json",
    "data.json",
    "start.json",
    "versions.json",
    "command.txt",
    "merged/merge.json",
    "verdicts/step_1.jsonl",
    "verdicts/step_3.jsonl",
    "eval/before/heldout.json",
    "eval/after/heldout.json",
    "eval/after/heldout_greedy.json",
    "data/train.parquet",
)
STRANGE: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 3, 0.5, 1e308, -1e308, 1e-320, float("nan"), float("inf"), 10**18, 10**30, 10**400,
    "", "x", "\ud800", "\u202e", [], {}, [[]], {"a": 1}, [1, "a", None],
)  # fmt: skip
OPENINGS = ("[", '{"a": ', "[{")


@pytest.fixture(autouse=True, scope="module")
def fewer_draws() -> Iterator[None]:
    """Intervals as quick as can be: none of them is looked at."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("code_rlvr.evaluate.scores.BOOTSTRAP_DRAWS", 100)
        yield


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = make_run(tmp_path_factory.mktemp("runs") / "sound", steps=3, heldout=4, batch=4, group=2, problems=3)
    run.merge_record.parent.mkdir()
    run.merge_record.write_text('{"step": 3}', encoding="utf-8")
    return run.path


def state_of(path: Path) -> RunState:
    return read_state(Source("run", path), HealthThresholds())


def make_every_form(path: Path) -> None:
    state = state_of(path)
    assert to_text([state])
    assert render_report(state)
    json.loads(to_json([state]), parse_constant=pytest.fail)


def cut(content: bytes, rng: random.Random) -> bytes:
    return content[: rng.randrange(len(content) + 1)]


def replace_bytes(content: bytes, rng: random.Random) -> bytes:
    start = rng.randrange(len(content) + 1)
    return content[:start] + rng.randbytes(rng.choice((1, 4, 200))) + content[start + rng.randrange(50) :]


def nest(content: bytes, rng: random.Random) -> bytes:
    return content + rng.choice(OPENINGS).encode() * rng.choice((60, 1_000, 100_000)) + b"\n"


def replace_values(content: bytes, rng: random.Random) -> bytes:
    """Values anywhere in the JSON of the file, or of its lines, by values of any type and size."""
    try:
        whole = [json.loads(content)]
    except ValueError:
        try:
            whole = [json.loads(line) for line in content.splitlines()]
        except ValueError:
            return replace_bytes(content, rng)
    for _ in range(rng.choice((1, 1, 3, 20))):
        _replace_one(whole, rng)
    return "\n".join(json.dumps(one) for one in whole).encode("utf-8", "surrogatepass")


def _replace_one(tree: Any, rng: random.Random) -> None:
    while isinstance(tree, (list, dict)) and tree:
        key = rng.choice(list(tree) if isinstance(tree, dict) else range(len(tree)))
        if not isinstance(tree[key], (list, dict)) or not tree[key] or rng.random() < 0.15:
            tree[key] = copy.deepcopy(rng.choice(STRANGE))
            return
        tree = tree[key]


DAMAGES: tuple[Callable[[bytes, random.Random], bytes], ...] = (cut, replace_bytes, replace_values, nest)


@settings(max_examples=15, deadline=None)
@given(st.sampled_from(FILES), st.sampled_from((*DAMAGES, replace_values)), st.integers(0, 2**32))
def test_a_run_one_file_of_which_is_damaged_at_random_has_a_report_in_every_form(
    sound: Path, name: str, damage: Callable[[bytes, random.Random], bytes], seed: int
) -> None:
    file = sound / name
    content = file.read_bytes()
    file.write_bytes(damage(content, random.Random(seed)))
    try:
        make_every_form(sound)
    finally:
        file.write_bytes(content)


@pytest.mark.parametrize("name", FILES)
def test_a_pipe_in_place_of_a_file_is_not_waited_for_and_is_said(tmp_path: Path, sound: Path, name: str) -> None:
    run = tmp_path / "run"
    shutil.copytree(sound, run)
    for place in [run / name, *([sound / name] if name.startswith("data/") else [])]:
        place.rename(place.with_name("kept"))
        os.mkfifo(place)
    try:
        make_every_form(run)
        assert [loss for loss in state_of(run).losses if Path(name).name in loss]
    finally:
        if (sound / name).is_fifo():
            (sound / name).with_name("kept").replace(sound / name)


@pytest.mark.parametrize(
    ("field", "said"),
    [
        ("problems", "cannot be read as scores"),
        ("pass_at", "has figures that cannot be"),
        ("low", "has figures that cannot be"),
        ("temperature", "has figures that cannot be"),
    ],
)
def test_scores_that_cannot_be_are_left_out_and_said(tmp_path: Path, sound: Path, field: str, said: str) -> None:
    run = tmp_path / "run"
    shutil.copytree(sound, run)
    file = run / "eval" / "after" / "heldout.json"
    scores = json.loads(file.read_text(encoding="utf-8"))
    first = next(iter(scores["problems"].values()))
    if field == "problems":
        first["accepted"] = first["samples"] + 1
    elif field == "pass_at":
        scores["overall"]["pass_at"]["pass@1"] = 7.5
    elif field == "low":
        scores["overall"]["pass_at_1_interval"]["low"] = float("nan")
    else:
        scores["temperature"] = float("inf")
    file.write_text(json.dumps(scores), encoding="utf-8")
    make_every_form(run)
    assert [one for one in state_of(run).losses if one.startswith(f"eval/after/heldout.json {said}")]
