"""Reading rows of files: any size, any of three formats, and one clear message for what cannot be read."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from code_rlvr.data import rows
from code_rlvr.data.rows import Batch, DataFile
from code_rlvr.data.sources.source import Drop, Reason, Row, Source
from code_rlvr.errors import DataError


def _read(row: Row) -> Drop:
    return Drop(Reason.NO_TESTS)


SOURCE = Source("tried", _read, frozenset({"a"}), ("a", "b"))
GLANCING = Source("tried", _read, frozenset({"a"}), ("a", "b"), lambda row: row["ability"] == "code", ("ability",))


def local(path: Path) -> DataFile:
    return DataFile(str(path), lambda: path.open("rb"))


def parquet(path: Path, table: dict[str, list[Any]], group: int = 100) -> DataFile:
    pq.write_table(pa.table(table), path, row_group_size=group)
    return local(path)


def read_all(file: DataFile, source: Source = SOURCE, done: tuple[int, ...] = ()) -> dict[int, list[Batch]]:
    return {number: list(batches) for number, batches in file.blocks(source, done)}


def values(blocks: dict[int, list[Batch]]) -> list[Any]:
    return [row["a"] for batches in blocks.values() for batch in batches for _, row in batch.rows]


def test_rows_of_parquet_come_by_row_group_with_their_numbers(tmp_path: Path) -> None:
    file = parquet(tmp_path / "x.parquet", {"a": list(range(7)), "b": [0] * 7, "huge": ["x"] * 7}, group=3)
    blocks = read_all(file)
    assert list(blocks) == [0, 1, 2]
    assert values(blocks) == list(range(7))
    assert blocks[1][0].rows[0] == (f"{tmp_path}/x.parquet: row 4", {"a": 3, "b": 0})
    assert file.count() == 7


def test_rows_that_a_glance_rules_out_are_not_read_but_counted(tmp_path: Path) -> None:
    abilities = ["math", "code", "math", "math", "math", "math", "code"]
    file = parquet(tmp_path / "x.parquet", {"a": list(range(7)), "ability": abilities}, group=3)
    blocks = read_all(file, GLANCING)
    assert values(blocks) == [1, 6]
    assert [sum(batch.left_out for batch in batches) for batches in blocks.values()] == [2, 3, 0]
    assert blocks[2][0].rows[0][0].endswith(": row 7")


def test_blocks_that_are_done_are_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "LINES", 2)
    lines = tmp_path / "x.jsonl"
    lines.write_text("".join(json.dumps({"a": i}) + "\n" for i in range(5)))
    assert values(read_all(local(lines), done=(1,))) == [0, 1, 4]
    groups = parquet(tmp_path / "x.parquet", {"a": list(range(5))}, group=2)
    assert values(read_all(groups, done=(0, 2))) == [2, 3]


def test_lines_may_be_zipped_and_blank(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"a": 1}\n\n  \n{"a": 2}', mtime=0))
    assert values(read_all(local(path))) == [1, 2]
    assert local(path).count() is None


def test_a_list_of_objects_is_read_too(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text('\n [{"a": 1}, {"a": 2}]')
    assert values(read_all(local(path))) == [1, 2]


@pytest.mark.parametrize("content", ['[{"a": 1}, {"a": 2}]', '{"a": 1}\n{"a": 2}\n', "\n" * 9 + '[{"a": 1}, {"a": 2}]'])
def test_a_byte_order_mark_says_nothing(tmp_path: Path, content: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(content, encoding="utf-8-sig")
    assert values(read_all(local(path))) == [1, 2]


def test_a_hash_stands_for_the_content_and_a_revision_comes_before_it(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(b'{"a": 1}\n')
    assert local(path).content_hash().startswith("sha256:")
    assert DataFile("x", lambda: path.open("rb"), "commit:1").content_hash() == "commit:1"


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("x.jsonl", b'{"a": 1}\n{"a": ', "x.jsonl:2 is not JSON"),
        ("x.jsonl", b"[" * 10 + b"\n", "not JSON"),
        ("x.jsonl", b'{"a": 1}\n3\n', "line 2 is a JSON int"),
        ("x.json", b'[{"a": 1}, [2]]', "row 2 is a JSON list"),
        ("x.jsonl.gz", gzip.compress(b'{"a": 1}\n' * 1000, mtime=0)[:40], "cannot read"),
        ("x.jsonl.gz", b"no gzip at all", "cannot read"),
        ("x.parquet", b"no parquet at all", "not a parquet file"),
        ("x.csv", b"statement,tests\na,b\n", "CSV is not read; write each row as one JSON object a line"),
        ("x.parquet", b"PAR1 and then nothing", "cannot read"),
    ],
)
def test_what_cannot_be_read_is_one_message_with_its_place(
    tmp_path: Path, name: str, content: bytes, said: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(DataError, match=said) as caught:
        read_all(local(path))
    assert name in str(caught.value)


def test_a_damaged_row_group_is_named(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"a": ["x" * 100] * 4}), path, row_group_size=2, compression="none", use_dictionary=False)
    content = bytearray(path.read_bytes())
    with pq.ParquetFile(path) as whole:
        start = whole.metadata.row_group(1).column(0).data_page_offset
    content[start : start + 40] = b"\xff" * 40
    path.write_bytes(content)
    with pytest.raises(DataError, match="row group 1"):
        read_all(local(path))


def test_a_missing_column_is_named_with_those_that_are_there(tmp_path: Path) -> None:
    file = parquet(tmp_path / "x.parquet", {"other": [1]})
    with pytest.raises(DataError, match="has no column a, only other; the layout tried needs a"):
        read_all(file)


@pytest.mark.parametrize("name", ["x.jsonl", "x.json"])
def test_an_empty_file_has_no_layout(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(b"")
    with pytest.raises(DataError, match="holds no row"):
        local(path).detect_source()


def test_a_file_that_is_not_there_is_one_message(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="No such file"):
        read_all(local(tmp_path / "missing.jsonl"))
