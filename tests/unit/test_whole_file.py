"""A file appears whole or not at all; what is no file is left what it is."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from code_rlvr.whole_file import whole_file


def write(file: Path, text: str) -> None:
    with whole_file(file) as unfinished:
        unfinished.write_text(text, encoding="utf-8")


def test_a_file_is_replaced_and_nothing_else_is_left(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    write(file, "old")
    write(file, "new")
    assert file.read_text() == "new"
    assert list(tmp_path.iterdir()) == [file]


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    write(file, "old")
    with pytest.raises(UnicodeEncodeError):
        write(file, "half of it, and \ud800")
    assert file.read_text() == "old"
    assert list(tmp_path.iterdir()) == [file]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    file, link = tmp_path / "real" / "a.txt", tmp_path / "link.txt"
    file.write_text("old")
    link.symlink_to(file)
    write(link, "new")
    assert link.is_symlink()
    assert file.read_text() == "new"


def test_a_pipe_stays_a_pipe_and_is_written_to(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    heard: list[str] = []
    reader = threading.Thread(target=lambda: heard.append(pipe.read_text()))
    reader.start()
    write(pipe, "through")
    reader.join(10)
    assert heard == ["through"]
    assert pipe.is_fifo()


def test_a_folder_is_not_replaced(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError):
        write(tmp_path, "text")
