"""From `--on` to benchmarks: by name, by file, by folder.

| word | means |
|---|---|
| `humaneval`, … | a name of the `catalogue`, read from the hub |
| `humaneval=FILE` | the same from a file or folder: the data set's own rows, or plain ones |
| `NAME=PATH` | any file of problems, or a folder that `prepare` wrote: of that its validation problems |

Covered: finding the rows, which of them count, one message for what cannot be used.  Not covered: layouts
(`data.sources`), what is particular to a benchmark (`catalogue`).
"""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from code_rlvr.data.hub import open_dataset
from code_rlvr.data.rows import DataFile
from code_rlvr.data.set_files import MANIFEST, VALIDATION
from code_rlvr.data.sources import Drop, Row, Source
from code_rlvr.data.starter import build_starter
from code_rlvr.errors import ConfigError, DataError, TestsFormatError
from code_rlvr.evaluate.benchmark import Benchmark, Numbers, Programming
from code_rlvr.evaluate.catalogue import ENTRIES, HELDOUT, Entry, Window, contest_date, release_of
from code_rlvr.evaluate.gsm8k import LAYOUT as GSM8K_LAYOUT
from code_rlvr.evaluate.gsm8k import NumberProblem, read_number_problem
from code_rlvr.evaluate.kept_files import keep
from code_rlvr.types import Problem
from code_rlvr.verifier.job import cases_of

HELDOUT_SIZE = 660
LIVECODEBENCH = "livecodebench"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_SUFFIXES = (".parquet", ".jsonl", ".jsonl.gz", ".json")


@dataclass(frozen=True, slots=True)
class Selection:
    """Which problems of a benchmark.

    Args:
        limit: Only so many, the first ones; None for all.
        window: LiveCodeBench only: contests of these dates.
        release: LiveCodeBench only: nothing newer than that release, from 1; None for the newest.
        revision: Of data sets on the hub.
    """

    limit: int | None = None
    window: Window = field(default_factory=Window)
    release: int | None = None
    revision: str | None = None


def parse_words(words: Sequence[str]) -> dict[str, Path | None]:
    """Names of benchmarks, each with the path where its rows are, if it was given.

    Args:
        words: Of `--on`; each may hold several, with commas between.

    Raises:
        ConfigError: A name is not known, cannot name a file, or stands there twice.
    """
    found: dict[str, Path | None] = {}
    for word in (part.strip() for text in words for part in text.split(",")):
        name, equals, path = word.partition("=")
        if name in found:
            raise ConfigError(
                f"--on names {name} twice; leave one out"
                + (f", or give it a name of its own, as in other={path}" if path else "")
            )
        if not equals and name not in (HELDOUT, *ENTRIES):
            raise ConfigError(_unknown(word))
        if equals and name == HELDOUT:
            raise ConfigError(f"--on {word}: {HELDOUT} is the starter problems; choose another name for yours")
        if equals and (not _NAME.fullmatch(name) or not path):
            raise ConfigError(f"--on {word}: write NAME=PATH, with a NAME of letters, digits, '.', '_' and '-'")
        found[name] = Path(path) if equals else None
    return found


def _unknown(word: str) -> str:
    known = [HELDOUT, *ENTRIES]
    if word and Path(word).exists():
        return f"--on {word} is a path; give it a name, as in --on mine={word}"
    near = difflib.get_close_matches(word, known, n=1)
    guess = f"; did you mean {near[0]}?" if near else ""
    return f"there is no benchmark {word!r}{guess}; known are {', '.join(known)}, and NAME=PATH for problems of yours"


def load_benchmark(name: str, path: Path | None, selection: Selection) -> Benchmark:
    """Read a benchmark.

    Args:
        name: What to call it; one of the catalogue gets what is particular to it.
        path: Where its rows are; the hub if None.
        selection: Which of them.

    Raises:
        DataError: Nothing is there, a row cannot be read, ids are not unique, or no problem is left.
        ConfigError: The benchmark has no dates or releases.
    """
    if name == HELDOUT:
        return _heldout(selection)
    entry = ENTRIES.get(name)
    files = _local_files(path, entry) if path else _hub_files(name, selection)
    if selection.release is not None and name == LIVECODEBENCH:  # files of other names are of no release
        files = [file for file in files if (release_of(file.label) or 0) <= selection.release]
    reading = _Reading(name, entry, files, selection)
    if entry is not None and entry.layout is GSM8K_LAYOUT:
        return reading.numbers()
    return reading.programming()


def _heldout(selection: Selection) -> Programming:
    starter = build_starter(0, 1, 1, HELDOUT_SIZE, 1)
    problems = tuple(starter.heldout[: selection.limit])
    about: dict[str, str | int] = {"problems": "held-out starter problems, seed 0"}
    if len(problems) < len(starter.heldout):
        about["limit"] = len(problems)
    return Programming(HELDOUT, problems, starter.novelty, about)


def _hub_files(name: str, selection: Selection) -> list[DataFile]:
    entry = ENTRIES[name]
    found = open_dataset(entry.dataset, selection.revision)
    chosen = [keep(one, found.name, found.commit) for one in found.files if re.search(entry.files, one.label)]
    if not chosen:
        there = ", ".join(file.label for file in found.files)
        raise DataError(
            f"{entry.dataset} has no file of {name}, only {there}; fetch its rows and give --on {name}=FILE"
        )
    return sorted(chosen, key=lambda file: (release_of(file.label) or 0, file.label))


def _local_files(path: Path, entry: Entry | None) -> list[DataFile]:
    if path.is_file():
        return [_local(path, path.name)]
    if not path.is_dir():
        raise DataError(f"{path} is no file or folder here; give NAME=PATH with a file of problems")
    if entry is None and (path / VALIDATION).is_file():
        return [_local(path / VALIDATION, VALIDATION)]
    found = sorted(file for file in path.rglob("*") if file.is_file() and file.name.endswith(_SUFFIXES))
    files = [_local(file, str(file.relative_to(path))) for file in found if file.name != MANIFEST]
    if entry is not None:
        files = [file for file in files if re.search(entry.files, file.label)] or files
    if not files:
        raise DataError(f"{path} holds none of {', '.join(_SUFFIXES)}; give the folder that does, or a file")
    if entry is None and len(files) > 1:
        names = ", ".join(file.label for file in files[:5])
        raise DataError(f"{path} holds several files ({names}); name the one to evaluate on, as in NAME={path}/FILE")
    return sorted(files, key=lambda file: (release_of(file.label) or 0, file.label))


def _local(path: Path, label: str) -> DataFile:
    return DataFile(str(path), lambda: path.open("rb"), label=label)


class _Reading:
    """Rows of a benchmark's files, turned into problems."""

    def __init__(self, name: str, entry: Entry | None, files: Sequence[DataFile], selection: Selection) -> None:
        self._name, self._entry, self._files, self._selection = name, entry, files, selection
        self._left_out: Counter[str] = Counter()
        self._cut = False

    def programming(self) -> Programming:
        problems: dict[str, Problem] = {}
        groups: dict[str, str] = {}
        statements: dict[str, tuple[str, ...]] = {}
        for place, row, source in self._rows():
            read = self._problem(place, row, source)
            if read is None:
                continue
            if self._is_enough(problems):
                break
            asked = self._entry.ask(row, read) if self._entry else read
            name = self._free_id(asked, place, problems)
            problems[name] = replace(asked, problem_id=name)
            group = self._entry.group if self._entry else lambda _, source=read.data_source: source
            groups[name] = group(row) if group else self._name
            statements[name] = (read.statement,)
        self._require_any(problems)
        return Programming(self._name, tuple(problems.values()), groups, self._about(), statements)

    def numbers(self) -> Numbers:
        problems: dict[str, NumberProblem] = {}
        for number, (place, row, _) in enumerate(self._rows()):
            if self._is_enough(problems):
                break
            try:
                problem = read_number_problem(row, f"{self._name}/{number}")
            except DataError as error:
                raise DataError(f"{place}: {error}") from None
            if problem.problem_id in problems:
                raise DataError(f"{place}: the id {problem.problem_id} stands there twice; each problem needs its own")
            problems[problem.problem_id] = problem
        self._require_any(problems)
        return Numbers(self._name, tuple(problems.values()), self._about())

    def _is_enough(self, problems: Mapping[str, object]) -> bool:
        """Whether one problem more would be more than was asked for; then there are more than that."""
        self._cut = len(problems) == self._selection.limit
        return self._cut

    def _rows(self) -> Iterator[tuple[str, Row, Source]]:
        for file in self._files:
            source = self._layout_of(file)
            for _, batches in file.blocks(source):
                for place, row in (one for batch in batches for one in batch.rows):
                    if self._is_wanted(place, row):
                        yield place, row, source

    def _layout_of(self, file: DataFile) -> Source:
        """The benchmark's own layout if the file has it, else what the file has."""
        if self._entry is None or self._entry.layout is GSM8K_LAYOUT:
            return self._entry.layout if self._entry else file.detect_source()
        found = file.detect_source()
        return self._entry.layout if found.name == self._entry.layout.name else found

    def _is_wanted(self, place: str, row: Row) -> bool:
        try:
            if self._entry and not self._entry.counts(row):
                return False
            window = self._selection.window
            return not (window and self._name == LIVECODEBENCH) or contest_date(row) in window
        except DataError as error:
            raise DataError(f"{place}: {error}") from None

    def _problem(self, place: str, row: Row, source: Source) -> Problem | None:
        """The problem of a row; None, and counted, if it has none that can be judged."""
        if self._entry is ENTRIES.get("mbpp") or self._entry is ENTRIES.get("mbpp-sanitized"):
            row = {**row, "challenge_test_list": []}  # the benchmark is judged without them
        try:
            read = source.read(row)
            if isinstance(read, Drop):
                self._left_out[read.reason.value] += 1
                return None
            cases_of(read.tests)
        except TestsFormatError:
            self._left_out["malformed_tests"] += 1
            return None
        except DataError as error:
            raise DataError(f"{place}: {error}") from None
        return read

    def _free_id(self, problem: Problem, place: str, taken: dict[str, Problem]) -> str:
        for name in (problem.problem_id, f"{problem.data_source}/{problem.problem_id}"):
            if problem.problem_id and name not in taken:
                return name
        if problem.problem_id:
            raise DataError(f"{place}: the id {problem.problem_id} stands there twice; each problem needs its own")
        return f"{self._name}/{len(taken)}"

    def _require_any(self, problems: dict[str, Problem] | dict[str, NumberProblem]) -> None:
        if not problems:
            why = ", ".join(f"{count} {reason}" for reason, count in self._left_out.items())
            window = f" in {self._selection.window}" if self._selection.window else ""
            raise DataError(
                f"{self._name} has no problem{window} to evaluate on"
                + (f" ({why})" if why else "")
                + ("; questions whose answers are numbers are read as gsm8k=FILE" if self._left_out["not_code"] else "")
                + "; see what the options and the file leave"
            )

    def _about(self) -> dict[str, str | int]:
        about: dict[str, str | int] = {
            "files": ", ".join(file.label or file.name for file in self._files),
            "content": ", ".join(dict.fromkeys(file.content_hash() for file in self._files)),
        }
        if self._name == LIVECODEBENCH and self._selection.window:
            about["window"] = str(self._selection.window)
        if self._cut and self._selection.limit is not None:
            about["limit"] = self._selection.limit
        return about | {f"left out: {reason}": count for reason, count in self._left_out.items()}
