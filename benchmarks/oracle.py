"""Judges programs whose verdicts are known from elsewhere, and prints label against verdict.

    python benchmarks/oracle.py FOLDER [--files humaneval mbpp] [--share 10]

The folder holds gzip'd JSONL, one problem a line: `id, kind, tests, checker, time_limit_s, solutions[{verdict,
language, code}]`.  A program labelled accepted has to be ACCEPTED, unless its problem is among `EXCEPTIONS`; any
other has not to be, but for `RIGHT_HERE`; each with its reason.  Every surprise is printed.  Time limits count
threefold, as they are of other machines.
"""

from __future__ import annotations

import argparse
import gzip
import json
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from code_rlvr import Judge, Judgement, Limits, Tests, TestsFormatError
from code_rlvr.data.sources import Drop, get_source

FILES = (
    "quixbugs", "humaneval", "mbpp", "mbppplus", "verl_rllm_reward_samples", "codecontests_graph",
    "stdio_kattis_contests",
)  # fmt: skip
LIMIT_FACTOR = 3
# Accepted elsewhere, and not here: the reason lies in the data.
EXCEPTIONS = {
    "mbppplus/255": "its reference solution needs more than 20 s",
    "mbppplus/599": "its reference solution needs more than 50 s",
    "mbppplus/737": "its tests assert nothing, so they are refused",
    "mbppplus/787": "its tests assert nothing, so they are refused",
    "mbppplus/794": "its tests assert nothing, so they are refused",
    "quixbugs/sqrt": "any value within the tolerance that the call names is right",
    "codecontests_graph/1325_d_ehab_the_xorcist_11372": "several right answers",
    "codecontests_graph/487_c_prefix_product_sequence_2443": "several right answers",
    "codecontests_graph/923_c_perfect_security_7561": "one line where several were expected",
    "codecontests_graph/288_c_polo_the_penguin_and_xor_operation_9826": "several lines where one was expected",
}


# Rejected elsewhere, and right here: the reason lies in how they were labelled.
RIGHT_HERE = {
    "kth-challenge-2016/nnnnn": "its labels are from a Python that reads no integers of more than 4,300 digits",
}


@dataclass(frozen=True, slots=True)
class Labelled:
    """A program with what is known of it."""

    problem: str
    label: str
    code: str
    tests: Tests | TestsFormatError


def read_tests(row: dict[str, Any], kattis: bool) -> Tests:
    """The tests of one problem, with the comparison that it declares, read as `prepare` reads them."""
    limit_s = row["time_limit_s"] and LIMIT_FACTOR * row["time_limit_s"]
    # A statement need not be there; outside of Kattis's files, `checker` holds notes.
    row = {**row, "statement": "any", "time_limit_s": limit_s, "checker": row["checker"] if kattis else ""}
    problem = get_source("plain").read(row)
    if isinstance(problem, Drop):
        raise TestsFormatError(f"{problem.reason.value}: {problem.detail}")
    return problem.tests


def labelled(folder: Path, name: str, share: int = 1) -> Iterator[Labelled]:
    """The Python programs of every `share`th problem of a file."""
    with gzip.open(folder / f"{name}.jsonl.gz", "rt", encoding="utf-8") as rows:
        for row in [json.loads(line) for line in rows][::share]:
            tests: Tests | TestsFormatError
            try:
                tests = read_tests(row, "kattis" in name)
            except TestsFormatError as error:
                tests = error
            for solution in row["solutions"]:
                if solution["language"].startswith("py") and solution.get("tle_robust", True):
                    yield Labelled(row["id"], solution["verdict"], solution["code"], tests)


def judged(programs: list[Labelled], **options: Any) -> Iterator[tuple[Labelled, str]]:
    """Each program with its verdict, "unjudged", or "unsupported" if its tests cannot be run."""
    with Judge(limits=Limits(cpu_s=5, memory_mib=2048, deadline_s=1200), **options) as judge:
        supported = []
        items = []
        for program in programs:
            try:
                if isinstance(program.tests, TestsFormatError):
                    raise program.tests
                judge.judge(None, program.tests)  # takes the tests apart, and runs nothing
                supported.append(program)
                items.append((program.code, program.tests))
            except TestsFormatError as error:
                yield program, f"unsupported: {error}"
        for program, outcome in zip(supported, judge.judge_many(items, stop_at_first_failure=True), strict=True):
            yield program, outcome.verdict.value if isinstance(outcome, Judgement) else f"unjudged: {outcome}"


def is_surprise(program: Labelled, verdict: str) -> bool:
    """Whether a verdict contradicts the label."""
    accepted = verdict == "ACCEPTED"
    reasons = RIGHT_HERE if accepted else EXCEPTIONS
    return accepted != (program.label == "accepted") and program.problem not in reasons


def main() -> None:
    """Print a confusion table for each file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--files", nargs="+", default=FILES)
    parser.add_argument("--share", type=int, default=1, help="judge every Nth problem only")
    options = parser.parse_args()
    print("| file | label | programs | verdicts | seconds |\n|---|---|---|---|---|")
    surprises = []
    for name in options.files:
        started = time.monotonic()
        table: dict[str, Counter[str]] = {}
        for program, verdict in judged(list(labelled(options.folder, name, options.share))):
            table.setdefault(program.label, Counter())[verdict.partition(":")[0]] += 1
            if is_surprise(program, verdict):
                surprises.append(f"{program.problem}: labelled {program.label}, judged {verdict}")
        for label, verdicts in sorted(table.items()):
            counts = ", ".join(f"{verdict} {count}" for verdict, count in verdicts.most_common())
            print(
                f"| {name} | {label} | {verdicts.total()} | {counts} | {time.monotonic() - started:.0f} |", flush=True
            )
    print("\n".join(["", f"{len(surprises)} surprises", *surprises]))


if __name__ == "__main__":
    main()
