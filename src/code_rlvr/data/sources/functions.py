"""Functions that are tested by assertions: HumanEval, LeetCodeDataset, MBPP, and rows of a prompt with assertions.

| | statement | tests | what else runs |
|---|---|---|---|
| `humaneval` | `prompt` | `test`, `entry_point` | before the program: what the prompt has ahead of the function |
| `leetcode` | `problem_description` or `query`, `starter_code` | `test`, `entry_point` | before the program: `prompt` |
| `mbpp` | `text` or `prompt`, and a test | `test_list`, `challenge_test_list` | before each test: imports, setup |
| `asserts` | `prompt` | `tests`: source, or a list of it; `entry_point` | before the program: `prelude` |

HumanEval's tests call helpers that the prompt defines (`poly`, `encode_cyclic`); an answer need not repeat them.
LeetCodeDataset's `prompt` is imports and helpers only, and its `entry_point` an expression (`Solution().twoSum`).
MBPP's statements name no function; the first test shows its name, and what it takes, and no more of them is shown.
Its setup may use classes of the solution, so it runs with each test and not before the program.

Covered: the original and the sanitized MBPP.  Not covered: what assertions mean (`verifier.assertions`); the
additional tests of EvalPlus.
"""

from __future__ import annotations

import ast
from typing import Any

from code_rlvr.data.sources.cases import read_tests
from code_rlvr.data.sources.columns import need, read_id, read_text, read_texts, unfit
from code_rlvr.data.sources.references import REFERENCE_KEYS, read_references
from code_rlvr.data.sources.source import Drop, Reason, Row, Source
from code_rlvr.data.sources.statements import statement_of_either, with_starter_code, without_endings
from code_rlvr.errors import TestsFormatError
from code_rlvr.ground_truth import Tests
from code_rlvr.layouts import OPTIONS, from_json_if_any
from code_rlvr.parsing import parse
from code_rlvr.types import Problem

FIRST_TEST = "Your code has to pass this test, among others:"

_UNPARSABLE = (SyntaxError, ValueError, RecursionError, MemoryError)


def _read_humaneval(row: Row) -> Problem | Drop:
    for key in ("prompt", "test", "entry_point"):
        need(row, key)
    prompt, body, entry_point = (read_text(row, key) for key in ("prompt", "canonical_solution", "entry_point"))
    problem_id, source = read_id(row, "task_id"), read_text(row, "test")
    if not source.strip():
        return Drop(Reason.NO_TESTS, "its test is empty")
    if not prompt.strip():
        return Drop(Reason.NO_STATEMENT, "its prompt is empty")
    ahead = _ahead_of(entry_point, prompt, body)
    tests = Tests.assertions([source], entry_point=entry_point, prelude=ahead if ahead.strip() else None)
    return Problem(problem_id, prompt, tests, "humaneval", (prompt + body,) if body.strip() else ())


def _ahead_of(name: str, prompt: str, body: str) -> str:
    """What a prompt says before the function that it asks for, as source."""
    tree = _tree(prompt) or _tree(prompt + body)
    if tree is None:
        raise TestsFormatError("is not the beginning of a Python program", field="prompt")
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and node.name == name:
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            return "\n".join(prompt.split("\n")[: first - 1])
    raise TestsFormatError(f"is {name!r}, which the prompt does not define", field="entry_point")


def _read_leetcode(row: Row) -> Problem | Drop:
    source, entry_point = need(row, "test"), read_text(row, "entry_point")
    problem_id, ahead, body = read_id(row, "task_id"), read_text(row, "prompt"), read_text(row, "completion")
    statement = without_endings(read_text(row, "problem_description") or read_text(row, "query"))
    if not read_text(row, "test").strip():
        return Drop(Reason.NO_TESTS, "its test is empty")
    if not statement.strip():
        return Drop(Reason.NO_STATEMENT, "its problem_description and its query are empty")
    block = f"{source}\n\ncheck({entry_point})\n" if entry_point else source
    tests = Tests.assertions([block], prelude=ahead if ahead.strip() else None)
    if read_text(row, "problem_description"):
        statement = with_starter_code(statement, read_text(row, "starter_code"))
    return Problem(problem_id, statement, tests, "leetcode", (f"{ahead}\n{body}",) if body.strip() else ())


def _read_mbpp(row: Row) -> Problem | Drop:
    need(row, "test_list")
    if "text" not in row:
        need(row, "prompt")
    statement = without_endings(read_text(row, "text") or read_text(row, "prompt"))
    problem_id, code = read_id(row, "task_id"), read_text(row, "code")
    tests = [*read_texts(row, "test_list"), *read_texts(row, "challenge_test_list")]
    if not tests:
        return Drop(Reason.NO_TESTS, "its test_list is empty")
    if not statement.strip():
        return Drop(Reason.NO_STATEMENT, "its text is empty")
    ahead = [*read_texts(row, "test_imports"), read_text(row, "test_setup_code")]
    blocks = ["\n".join([*(part for part in ahead if part.strip()), test]) for test in tests]
    statement = f"{statement}\n\n{FIRST_TEST}\n{tests[0].strip()}"
    name = _function_called(tests[0], code)
    named: dict[str, Any] = {"entry_point": name} if name else {}
    references = (code,) if code.strip() else ()
    return Problem(problem_id, statement, Tests.assertions(blocks, **named), "mbpp", references)


def _function_called(test: str, code: str) -> str | None:
    """The only function of a program that a test calls."""
    tested, program = _tree(test), _tree(code)
    if tested is None or program is None:
        return None
    called = {
        node.func.id for node in ast.walk(tested) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    defined = {node.name for node in program.body if isinstance(node, ast.FunctionDef)}
    return (called & defined).pop() if len(called & defined) == 1 else None


def _read_asserts(row: Row) -> Problem | Drop:
    need(row, "prompt")
    given = from_json_if_any(need(row, "tests"))
    if given is not None and not isinstance(given, (str, list, tuple)):
        raise unfit("tests", given, "Python source with assertions, or a list of it")
    statement = statement_of_either(row, "prompt")
    problem_id, references = read_id(row, "problem_id", "id", "task_id"), read_references(row)
    blocks = [given] if isinstance(given, str) else list(given or [])
    told = {key: row[key] for key in ("entry_point", "prelude") if row.get(key) is not None}
    any_said = any(not isinstance(block, str) or block.strip() for block in blocks)
    options = {key: row.get(key) for key in OPTIONS}
    tests = read_tests({"assert_case": blocks, **told}, options=options) if any_said else None
    if tests is None:
        return Drop(Reason.NO_TESTS, "its tests are empty")
    if not statement.strip():
        return Drop(Reason.NO_STATEMENT, "its prompt is empty")
    return Problem(problem_id, statement, tests, read_text(row, "data_source") or "asserts", references)


def holds_assertions(row: Row) -> bool:
    """Whether the `tests` of a row are assertions, and not an object with inputs or other keys."""
    given = from_json_if_any(row.get("tests"))
    return isinstance(given, str) or (
        isinstance(given, (list, tuple)) and all(isinstance(block, str) for block in given)
    )


def _tree(source: str) -> ast.Module | None:
    try:
        return parse(source)
    except _UNPARSABLE:
        return None


HUMANEVAL = Source(
    "humaneval",
    _read_humaneval,
    marks=frozenset({"task_id", "prompt", "canonical_solution", "test", "entry_point"}),
    columns=("task_id", "prompt", "canonical_solution", "test", "entry_point"),
)
LEETCODE = Source(
    "leetcode",
    _read_leetcode,
    marks=frozenset({"task_id", "prompt", "completion", "test", "entry_point"}),
    columns=(
        *("task_id", "prompt", "completion", "test", "entry_point"),
        *("problem_description", "starter_code", "query"),
    ),
)
MBPP = Source(
    "mbpp",
    _read_mbpp,
    marks=frozenset({"task_id", "code", "test_list"}),
    columns=(
        *("task_id", "text", "prompt", "code", "test_list", "challenge_test_list"),
        *("test_setup_code", "test_imports"),
    ),
)
ASSERTS = Source(
    "asserts",
    _read_asserts,
    marks=frozenset({"prompt", "tests"}),
    columns=(
        *("problem_id", "id", "task_id", "prompt", "tests", "data_source", "entry_point", "prelude"),
        *OPTIONS,
        *REFERENCE_KEYS,
    ),
)
