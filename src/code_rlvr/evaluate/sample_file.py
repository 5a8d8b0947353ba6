"""The samples of an evaluation on the disk: what a stop leaves there is gone on with.

A response is written as soon as it is drawn, with no verdict, and once more when it is graded; the later line of a
sample counts.  At the end the file is written anew with one line a sample, in the order of the problems.  A file has
one writer at a time.

Covered: adding, reading back, half a line at the end.  Not covered: opening and appending (`one_writer`), which
samples are of this evaluation (`generate`).
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType

from code_rlvr.errors import DataError
from code_rlvr.evaluate.scores import SampleRecord, read_samples
from code_rlvr.one_writer import append, open_alone
from code_rlvr.whole_file import whole_file

Key = tuple[str, int]
"""Problem and number of a sample."""

_REMEDY = "; name another folder with --out"


class SampleFile:
    """A file of samples that is being added to; a context manager.

    Args:
        path: JSONL of `SampleRecord`; made if it is not there, with its folder.
        overwrite: Whether what is there is thrown away.

    Attributes:
        records: The last line of each sample, by its key.

    Raises:
        DataError: It cannot be read or written, holds something else, or another process has it.
    """

    def __init__(self, path: Path, overwrite: bool = False) -> None:
        self._path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise DataError(f"cannot write {path}: {error.strerror}{_REMEDY}") from None
        self._fd = open_alone(path, _REMEDY)
        with ExitStack() as on_failure:
            on_failure.callback(os.close, self._fd)
            if overwrite:
                os.ftruncate(self._fd, 0)
            self._cut_half_a_line()
            self.records: dict[Key, SampleRecord] = {(one.problem_id, one.sample): one for one in read_samples(path)}
            on_failure.pop_all()

    def __enter__(self) -> SampleFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._fd)

    def add(self, records: Iterable[SampleRecord]) -> None:
        """Append some samples, whole.

        Raises:
            DataError: The disk is full, or the like; what was there before stays.
        """
        records = list(records)
        content = "".join(record.model_dump_json() + "\n" for record in records).encode("utf-8")
        append(self._fd, content, self._path)
        self.records.update({(one.problem_id, one.sample): one for one in records})

    def settle(self, first: Iterable[Key]) -> None:
        """Leave one line a sample.

        Args:
            first: In this order; samples of other problems that the file has come after them.

        Raises:
            DataError: It cannot be written; the file stays as it was.
        """
        keys = dict.fromkeys([*first, *self.records])
        try:
            with whole_file(self._path) as unfinished, unfinished.open("w", encoding="utf-8") as stream:
                stream.writelines(self.records[key].model_dump_json() + "\n" for key in keys)
        except OSError as error:
            raise DataError(f"cannot write {self._path}: {error.strerror}; make room and try again") from None

    def _cut_half_a_line(self) -> None:
        """A kill leaves half a line at the end."""
        size = os.fstat(self._fd).st_size
        with self._path.open("rb") as stream:
            end = size
            while end > 0:
                start = max(0, end - (1 << 16))
                stream.seek(start)
                at = stream.read(end - start).rfind(b"\n")
                if at >= 0:
                    end = start + at + 1
                    break
                end = start
        if end < size:
            os.ftruncate(self._fd, end)
