"""From rows to candidates: what can be decided about each row alone.

Covered: reading a row by its source, tests that the judge can use and that are within bounds, the length of the
prompt, an id from the content.  Not covered: what takes a look at other rows (`select`).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from code_rlvr.data.prepare.bounding import bound_tests, count_tests
from code_rlvr.data.prepare.prompt_length import PromptLength
from code_rlvr.data.prepare.spool import Candidate, DroppedRow, PartSummary, Split, Spool
from code_rlvr.data.prompts import build_prompt
from code_rlvr.data.rows import Batch, DataFile
from code_rlvr.data.sources.columns import name_of
from code_rlvr.data.sources.source import Drop, Reason, Row, Source
from code_rlvr.errors import DataError, TestsFormatError
from code_rlvr.ground_truth import Tests
from code_rlvr.types import Problem
from code_rlvr.verifier.assertions.cases import take_apart

ID_DIGITS = 16  # of a hash, in hexadecimal: two of a million problems share one with a chance of 1 in 10 million


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a problem may be like.

    Args:
        max_prompt_tokens: The longest prompt, template included.
        max_tests, max_test_bytes: See `bound_tests`.
        seed: Of the samples of tests.
        instruction: See `build_prompt`.
    """

    max_prompt_tokens: int
    max_tests: int
    max_test_bytes: int
    seed: int
    instruction: str | None = None


@dataclass(frozen=True, slots=True)
class Scanner:
    """Reads files into a spool.

    Args:
        spool: Where candidates go.
        bounds: What they have to be like.
        lengths: Counts the tokens of prompts.
    """

    spool: Spool
    bounds: Bounds
    lengths: PromptLength

    def scan(self, split: Split, number: int, file: DataFile, source: Source) -> Iterator[PartSummary]:
        """Read what of one file has not been read before.

        Args:
            split: What its rows are for.
            number: Which file of this split it is.
            file, source: Its rows and their layout.

        Yields:
            What became of each block, also of those that were read before.

        Raises:
            DataError: The file or a row of it is not of that layout; what was read so far is kept.
        """
        finished = self.spool.finished(split, number)
        yield from finished.values()
        for block, batches in file.blocks(source, done=finished.keys()):
            with self.spool.part(split, number, block) as part:
                for batch in batches:
                    part.rows += len(batch.rows) + batch.left_out
                    part.not_code += batch.left_out
                    candidates, dropped = self._sort(batch, source)
                    part.add(candidates)
                    for row in dropped:
                        if row.reason is Reason.NOT_CODE:
                            part.not_code += 1
                        else:
                            part.dropped.append(row)
            yield PartSummary(part.rows, part.not_code, tuple(part.dropped), part.candidates)

    def _sort(self, batch: Batch, source: Source) -> tuple[list[Candidate], list[DroppedRow]]:
        """The candidates among some rows, and the others."""
        usable: list[_Usable] = []
        dropped: list[DroppedRow] = []
        for place, row in batch.rows:
            found = self._look_at(place, row, source)
            if isinstance(found, _Usable):
                usable.append(found)
            else:
                dropped.append(found)
        instruction = self.bounds.instruction
        prompts = [build_prompt(one.problem.statement, one.tests, instruction) for one in usable]
        tokens = self.lengths.count(prompts)
        candidates = []
        for one, length in zip(usable, tokens, strict=True):
            if length > self.bounds.max_prompt_tokens:
                detail = f"{length} tokens, {self.bounds.max_prompt_tokens} allowed"
                dropped.append(DroppedRow(one.place, one.problem.problem_id, Reason.OVERLONG, detail))
            else:
                candidates.append(one.candidate(length))
        return candidates, dropped

    def _look_at(self, place: str, row: Row, source: Source) -> _Usable | DroppedRow:
        try:
            row_id = name_of(row)
            problem = source.read(row)
            if isinstance(problem, Drop):
                return DroppedRow(place, row_id, problem.reason, problem.detail)
            if problem.tests.kind == "assert":
                take_apart(problem.tests)  # the judge would refuse them when their turn comes
        except TestsFormatError as error:
            return DroppedRow(place, row_id, Reason.MALFORMED_TESTS, str(error))
        except DataError as error:
            raise DataError(f"{place}: {error}") from None
        problem = _encodable(problem)
        identity, bounds = content_id(problem), self.bounds
        tests = bound_tests(problem.tests, bounds.max_tests, bounds.max_test_bytes, f"{bounds.seed}/{identity}")
        if tests is None:
            detail = f"each alone is larger than {bounds.max_test_bytes} bytes"
            return DroppedRow(place, row_id, Reason.TESTS_TOO_LARGE, detail)
        return _Usable(place, problem, identity, tests)


@dataclass(frozen=True, slots=True)
class _Usable:
    """A row that is a candidate if its prompt is short enough."""

    place: str
    problem: Problem
    problem_id: str
    tests: Tests

    def candidate(self, tokens: int) -> Candidate:
        problem = self.problem
        return Candidate(
            problem_id=self.problem_id,
            row_id=problem.problem_id,
            place=self.place,
            data_source=problem.data_source,
            statement=problem.statement,
            tests=self.tests.to_json(),
            references=problem.references,
            tokens=tokens,
            tests_given=count_tests(problem.tests),
            tests_kept=count_tests(self.tests),
        )


def content_id(problem: Problem) -> str:
    """An id that depends on nothing but the statement and the tests."""
    content = f"{problem.statement}\0{problem.tests.to_json()}".encode()
    name = re.sub(r"[^A-Za-z0-9]+", "_", problem.data_source).strip("_").lower() or "problem"
    return f"{name}-{hashlib.sha256(content).hexdigest()[:ID_DIGITS]}"


def _encodable(problem: Problem) -> Problem:
    """The same without halves of characters, which JSON can hold and no file of text can."""

    def fixed(text: str) -> str:
        return text.encode("utf-8", "replace").decode()

    return replace(
        problem,
        problem_id=fixed(problem.problem_id),
        statement=fixed(problem.statement),
        data_source=fixed(problem.data_source),
        references=tuple(map(fixed, problem.references)),
    )
