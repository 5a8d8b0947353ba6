"""What a report is made from: folders of runs, and plain files of metrics that verl wrote.

Covered: finding them from the words of a command, their names, and what is wrong with one, with the remedy.
Not covered: what is in them (`run_state`).
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from code_rlvr.errors import DataError
from code_rlvr.report.inputs import read_good_metrics
from code_rlvr.runs import RunFolder

MAX_SOURCES = 8
"""Runs of one comparison: more colours than that cannot be told apart."""


@dataclass(frozen=True)
class Missing:
    """What keeps a source from being reported.

    Args:
        sentence: What is wrong, with the remedy.
        may_come: Whether nothing is there, nor anything spelt like it: it may be a run that is still to come.
    """

    sentence: str
    may_come: bool = False


@dataclass(frozen=True)
class Source:
    """One run, or one file of metrics.

    Args:
        name: What the report calls it.
        path: The run's folder, or the file.
    """

    name: str
    path: Path

    @property
    def is_file(self) -> bool:
        """Whether it is a plain file of metrics, of which nothing else is known."""
        return self.path.is_file()

    @property
    def run(self) -> RunFolder:
        """The folder's files; of no use for a plain file."""
        return RunFolder(self.path)

    @property
    def metrics(self) -> Path:
        """Where the metrics are, or will be."""
        return self.path if self.is_file else self.run.metrics

    def missing(self) -> Missing | None:
        """What keeps it from being reported; None if nothing does."""
        if self.is_file:
            return None if read_good_metrics(self.path, []) else Missing(_not_metrics(self.path))
        if not self.path.exists():
            return _not_there(self.path)
        if not self.path.is_dir():
            return Missing(
                f"{self.path} is neither a folder nor a file that can be read again; copy it to a file first"
            )
        return None if _is_run(self.path) else Missing(_not_a_run(self.path))


def find_sources(words: Sequence[str]) -> list[Source]:
    """Take the words of a command: ``PATH``, or ``NAME=PATH`` to call it something else.

    Args:
        words: At least one.

    Returns:
        One source a word, whether it is there already or not.

    Raises:
        DataError: There are more than `MAX_SOURCES`, or two of one name.
    """
    if len(words) > MAX_SOURCES:
        raise DataError(f"{len(words)} runs are too many to tell apart in one chart; name {MAX_SOURCES} at most")
    sources = [_find(word) for word in words]
    for number, source in enumerate(sources):
        for other in sources[:number]:
            if source.path.resolve() == other.path.resolve():
                raise DataError(f"{source.path} was given twice; name each run once")
            if source.name == other.name:
                raise DataError(
                    f"{other.path} and {source.path} are both called {source.name}; "
                    f"give one another name: second={source.path}"
                )
    return sources


def stem_of(file: Path) -> str:
    """The name of a file without its ending, ``.jsonl`` and ``.jsonl.gz`` alike."""
    return Path(file.name.removesuffix(".gz")).stem


def require(sources: Sequence[Source]) -> None:
    """Refuse what cannot be reported.

    Raises:
        DataError: A source is not there, or not what it should be; the message has the remedy.
    """
    for source in sources:
        if missing := source.missing():
            raise DataError(missing.sentence + ("; --watch waits for a run still to come" if missing.may_come else ""))


def without_metrics(sources: Sequence[Source]) -> list[str]:
    """Say of each run that has no metrics what to look at instead; its report has little in it."""
    return [
        f"{source.path} has no metrics: training did not finish its first step. {source.run.logs} says why; "
        "--watch shows the run when it goes on"
        for source in sources
        if _is_empty(source.metrics)
    ]


def _is_empty(file: Path) -> bool:
    try:
        return not file.stat().st_size
    except OSError:
        return True


def _find(word: str) -> Source:
    name, equals, rest = word.partition("=")
    if equals and name and rest and not Path(word).exists():
        return Source(name, Path(rest))
    path = Path(word)
    whole = path.resolve()
    return Source(stem_of(whole) if path.is_file() else whole.name or str(whole), path)


def _is_run(folder: Path) -> bool:
    run = RunFolder(folder)
    return any(path.exists() for path in (run.metrics, run.config, run.verdicts, run.eval))


def _not_metrics(file: Path) -> str:
    line = '{"step": 1, "data": {"critic/score/mean": 0.3}}'
    return (
        f"{file} holds no line of metrics, which are like {line}; verl writes such a file with the logger `file`: "
        "trainer.logger=[console,file]"
    )


def _not_a_run(folder: Path) -> str:
    runs = [name for name in _names(folder) if (folder / name).is_dir() and _is_run(folder / name)]
    files = [name for name in _names(folder) if name.endswith(".jsonl")]
    remedy = "name the folder of a run, e.g. runs/NAME, or a metrics file of verl"
    if runs or files:
        remedy = f"did you mean {folder / (runs or files)[0]}?" + _others((runs or files)[1:])
    return f"{folder} is not the folder of a run: there is neither metrics.jsonl nor config.json in it; {remedy}"


def _not_there(path: Path) -> Missing:
    """Names the entry beside it that is spelt most like it."""
    near = difflib.get_close_matches(path.name, _names(path.absolute().parent), n=1)
    if near:
        return Missing(f"{path} does not exist; did you mean {path.with_name(near[0])}?")
    return Missing(f"{path} does not exist", may_come=True)


def _names(folder: Path) -> list[str]:
    """What is in a folder, if that can be seen."""
    try:
        return sorted(child.name for child in folder.iterdir())
    except OSError:
        return []


def _others(names: Sequence[str]) -> str:
    return f" There are also {', '.join(names[:5])}" + (" and more." if len(names) > 5 else ".") if names else ""
