"""Data sets on the hub, served from the loopback interface in exactly the hub's schema."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from code_rlvr.data.hub import open_dataset
from code_rlvr.data.sources import SOURCES
from code_rlvr.errors import DataError
from tests.unit.hub_server import COMMIT, HubServer

pytest.importorskip("huggingface_hub")

NAME = "PRIME-RL/Eurus-2-RL-Data"


def eurus_row(number: int, ability: str = "code") -> dict[str, Any]:
    return {
        "data_source": "taco" if ability == "code" else "numina",
        "prompt": [{"role": "system", "content": "[ASSESS]"}, {"role": "user", "content": f"Print {number}."}],
        "ability": ability,
        "reward_model": {"style": "rule", "ground_truth": '{"inputs": [""], "outputs": ["1"]}'},
        "extra_info": {"split": "dummy", "index": 0},
    }


def parquet_bytes(rows: list[dict[str, Any]], group: int = 1000) -> bytes:
    stream = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), stream, row_group_size=group)
    return stream.getvalue()


@pytest.fixture(scope="module")
def hub() -> Iterator[HubServer]:
    train = parquet_bytes([eurus_row(0), eurus_row(1, "math"), eurus_row(2)])
    files = {
        "data/train-00000-of-00001.parquet": train,
        "data/validation-00000-of-00001.parquet": train,
        "README.md": b"",
        "dataset_infos.json": b"{}",
    }
    with HubServer({NAME: files, "some/empty": {"README.md": b""}}).running() as server:
        yield server


def test_a_data_set_is_read_at_one_commit(hub: HubServer) -> None:
    found = open_dataset("eurus", endpoint=hub.endpoint)
    assert (found.name, found.commit) == (NAME, COMMIT)
    assert [file.name for file in found.files] == [
        f"{NAME}/data/train-00000-of-00001.parquet",
        f"{NAME}/data/validation-00000-of-00001.parquet",
    ]
    train = found.files[0]
    assert train.content_hash() == f"commit:{COMMIT}"
    assert train.count() == 3
    assert train.detect_source().name == "eurus"
    batches = [batch for _, batches in train.blocks(SOURCES["eurus"]) for batch in batches]
    assert [row["prompt"][1]["content"] for batch in batches for _, row in batch.rows] == ["Print 0.", "Print 2."]
    assert sum(batch.left_out for batch in batches) == 1


def test_of_a_large_file_only_what_is_wanted_travels(hub: HubServer) -> None:
    """Math rows with huge tests are not fetched, for there is no code in their row group."""
    rows = [eurus_row(0)] + [
        {**eurus_row(i, "math"), "reward_model": {"style": "rule", "ground_truth": f"{i}" * 3_000_000}}
        for i in range(1, 9)
    ]
    stream = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), stream, row_group_size=1, compression="none", use_dictionary=False)
    hub.datasets["some/large"] = {"train.parquet": stream.getvalue()}
    (file,) = open_dataset("some/large", endpoint=hub.endpoint).files
    before = hub.sent
    batches = [batch for _, batches in file.blocks(SOURCES["eurus"]) for batch in batches]
    assert [len(batch.rows) for batch in batches] == [1] + [0] * 8
    assert hub.sent - before < len(stream.getvalue()) / 2


def test_a_revision_may_be_named(hub: HubServer) -> None:
    assert open_dataset(NAME, "v1", hub.endpoint).commit == COMMIT


@pytest.mark.parametrize(
    ("name", "revision", "said"),
    [
        ("some/missing", None, "the hub has no data set some/missing"),
        ("not a name/at all", None, "the hub has no data set"),
        (NAME, "v7", "no revision v7"),
        ("some/gated", None, "agreement"),
        ("some/empty", None, "holds no .parquet"),
    ],
)
def test_what_the_hub_refuses_is_one_message(hub: HubServer, name: str, revision: str | None, said: str) -> None:
    with pytest.raises(DataError, match=said):
        open_dataset(name, revision, hub.endpoint)


def test_a_hub_that_cannot_be_reached_is_one_message_with_the_remedy() -> None:
    with pytest.raises(DataError, match=r"cannot be reached .* fetch the files elsewhere"):
        open_dataset(NAME, endpoint="http://127.0.0.1:9")
