"""Which program is taken out of which response."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from code_rlvr import extract_code
from code_rlvr.verifier.extract import Extraction, extract

FENCE = "`" * 3
SOLUTION = "n = int(input())\nprint(n * 2)"
FUNCTION = "def double(n):\n    return n * 2"


def fenced(code: str, language: str = "python") -> str:
    return f"{FENCE}{language}\n{code}\n{FENCE}"


@pytest.mark.parametrize("language", ["python", "py", "python3", "Python", "python3.11", ""])
def test_fences_of_python_and_of_no_language_are_code(language: str) -> None:
    assert extract_code(f"Here:\n{fenced(SOLUTION, language)}\nDone.") == SOLUTION


@pytest.mark.parametrize(
    ("response", "code"),
    [
        (f"~~~python\n{SOLUTION}\n~~~", SOLUTION),
        (f"{FENCE}`\n{FENCE}\n{FENCE}`", FENCE),
        (f"Solution: {fenced('print(2)')}", "print(2)"),
        (f"{FENCE}python\nprint(2){FENCE}\nThat is all.", "print(2)"),
        (f"{FENCE}python print(2) {FENCE}", "print(2)"),
        (f"1. First:\n   {FENCE}python\n   if 1:\n       print(2)\n   {FENCE}", "if 1:\n    print(2)"),
        (fenced(SOLUTION).replace("\n", "\r\n"), SOLUTION),
        (f"{FENCE}python title=x\n{SOLUTION}\n{FENCE}  ", SOLUTION),
        (f"Mind the {FENCE} in this sentence.\n{fenced(SOLUTION)}", SOLUTION),
    ],
)
def test_fences_are_read_as_models_write_them(response: str, code: str) -> None:
    assert extract_code(response) == code


def test_indented_code_in_an_unindented_fence_stays_as_it_is() -> None:
    assert extract_code(fenced("    x = 1")) == "    x = 1"


def test_usage_demo_at_the_end_is_not_the_solution() -> None:
    demo = fenced("print(double(4))  # 8")
    assert extract_code(f"{fenced(FUNCTION)}\nUsage:\n{demo}", "double") == FUNCTION
    assert extract_code(f"{fenced(FUNCTION)}\nUsage:\n{demo}") == FUNCTION
    assert extract_code(f"{fenced(SOLUTION)}\nFor example:\n{fenced('print(8)')}") == SOLUTION
    assert extract_code(f"{fenced(SOLUTION)}\nOutput:\n{fenced('8', '')}") == SOLUTION


def test_demo_with_a_main_of_its_own_is_not_the_solution() -> None:
    demo = fenced("def main():\n    n = int(input())\n    print(double(n))\nmain()")
    assert extract_code(f"{fenced(FUNCTION)}\n{demo}", "double") == FUNCTION


def test_last_of_several_full_solutions_is_taken() -> None:
    better = SOLUTION.replace("n * 2", "n + n")
    assert extract_code(f"{fenced(SOLUTION)}\nBetter:\n{fenced(better)}") == better


def test_block_that_parses_is_taken_before_one_that_does_not() -> None:
    assert extract_code(f"{fenced(SOLUTION)}\n{fenced('n = input(')}") == SOLUTION


def test_method_of_solution_is_an_entry_point() -> None:
    code = "class Solution:\n    def double(self, n):\n        return n * 2"
    assert extract_code(f"{fenced(code)}\n{fenced('def helper(): pass')}", "double") == code


def test_other_languages_are_left_aside() -> None:
    assert extract_code(f"{fenced(SOLUTION)}\n{fenced('g++ a.cpp', 'bash')}") == SOLUTION
    assert extract_code(fenced("int main() {}", "cpp")) is None
    assert extract_code(fenced(SOLUTION, "solution")) == SOLUTION


def test_thoughts_are_not_answers() -> None:
    thought = f"<think>Try\n{fenced('print(0)')}\n</think>"
    assert extract_code(f"{thought}\n{fenced(SOLUTION)}") == SOLUTION
    assert extract_code(f"{fenced('print(0)')} is wrong.</think>\n{fenced(SOLUTION)}") == SOLUTION
    assert extract_code(thought) is None
    assert extract_code(f"<think>\n{fenced(SOLUTION)}") is None


def test_cut_answer_is_code_without_format() -> None:
    extraction = extract(f"{FENCE}python\n{SOLUTION}")
    assert (extraction.code, extraction.fenced) == (SOLUTION, False)


def test_bare_program_is_code_without_format() -> None:
    extraction = extract(SOLUTION)
    assert (extraction.code, extraction.fenced) == (SOLUTION, False)
    assert extract(fenced(SOLUTION)).fenced


@pytest.mark.parametrize("prose", ["", "  \n", "Yes", "42", "I do not know.", f"{FENCE}python\n{FENCE}", "'''text'''"])
def test_prose_is_no_code(prose: str) -> None:
    assert extract(prose) == extract("")
    assert extract_code(prose) is None


def test_only_program_is_taken_even_if_it_does_not_parse() -> None:
    assert extract_code(fenced("print(")) == "print("


def test_warnings_of_the_parser_stay_inside() -> None:
    code = r"import re" + "\n" + r"print(re.sub('\d', '', input()))"
    assert extract_code(f"{fenced(code)}\n{fenced('1')}") == code
    assert extract_code(code) == code


@pytest.mark.parametrize("bomb", ["(" * 50_000, "-" * 150_000 + "1", "x" + ".y" * 90_000, "[" * 90 + "]" * 90, "a\0b"])
def test_hostile_text_is_survived(bomb: str) -> None:
    extract(bomb)
    assert extract_code(f"{fenced(bomb)}\n{fenced(SOLUTION)}") == SOLUTION


@pytest.mark.parametrize("long", ["+".join(["x"] * 500), "x" + ".real" * 800, "-" * 700 + "x"])
def test_expressions_that_parse_and_cannot_be_written_again_are_survived(long: str) -> None:
    code = f"def f(x):\n    return {long}"
    assert extract_code(fenced(code), "f") == code


DOCUMENTED = (Path(__file__).parents[2] / "docs" / "extraction.md").read_text(encoding="utf-8")
PROGRAMS = {"\\n": "\n", "\\r": "\r", "Ω": "n = int(input())\nprint(n)", "Φ": "def f(n):\n    return n"}


def documented() -> list[tuple[str, str | None, str | None, bool]]:
    """The example rows of the docs page, their cells without the marks of Markdown."""
    rows = re.findall(r"^\|(.*)\|(.*)\|(.*)\| (yes|no) \|$", DOCUMENTED, re.MULTILINE)
    assert len(rows) == len(re.findall(r"(?:yes|no) \|$", DOCUMENTED, re.MULTILINE)) > 50
    return [(cell(a) or "", cell(b), cell(c), closed == "yes") for a, b, c, closed in rows]


def cell(text: str) -> str | None:
    span = re.fullmatch(r" (`+)(.+?)\1 ", text)
    if span is None:
        assert not text.strip()
        return None
    content = span[2][1:-1] if len(span[1]) > 1 else span[2]
    for written, meant in PROGRAMS.items():
        content = content.replace(written, meant)
    return content


@pytest.mark.parametrize(("response", "entry_point", "code", "closed"), documented())
def test_programs_are_taken_as_documented(
    response: str, entry_point: str | None, code: str | None, closed: bool
) -> None:
    assert extract(response, entry_point) == Extraction(code, closed)


PARTS = st.sampled_from([
    SOLUTION, FUNCTION, "print(double(4))", "Some prose's end.", "```", "```python", "````", "~~~", "~~~py", "`",
    '"""', "'''", "<think>", "</think>",
    "<think a=1>", "\r\n", "\n", "\n", "\n", " ", "    ", "> ", "1. ", "```cpp",
    "```python x```",
    "\0", "\ud800", "\ufeff", "(", "x = ", "# c", "\u2028", "\x0c", "\\",
])  # fmt: skip


@given(st.lists(PARTS, max_size=40).map("".join), st.sampled_from([None, "double", "Solution.double", "("]))
@settings(deadline=None, max_examples=300)
def test_any_text_is_survived_and_nothing_is_invented(response: str, entry_point: str | None) -> None:
    code = extract_code(response, entry_point)
    if code is not None:
        blanks = re.compile(r"[\s>]+")  # indentation, quoting and line ends are taken away
        assert code.strip()
        assert "think" in response or blanks.sub("", code) in blanks.sub("", response)


@given(st.lists(PARTS, max_size=25).map("".join))
@settings(deadline=None, max_examples=200)
def test_extracted_code_is_extracted_from_a_fence_of_its_own(response: str) -> None:
    code = extract_code(response)
    if code is not None and "think" not in code:
        long = "`" * 60
        assert extract_code(f"{long}python\n{code}\n{long}") == code


LONG = 1 << 17


@pytest.mark.parametrize(
    "part",
    [
        "`", "`~", "~", "```\n", "```a ", "```" + "a" * 5000 + "`", "``` ", " ", "\n", "<think>", "</think>",
        "'<think>'", "<think ", '```python\nx = """\n```\n', "```python\nx = 1\n```\n", "```py x```\n", "> ```\n",
        "(", "input ", "input(", "stdin=StringIO(", "def f", "x = 1\n", "if 1:\n ", "-", "f(", "1,", "elif x:\n 1\n",
        '\\"""',
    ],
)  # fmt: skip
@pytest.mark.parametrize("start", ["", "```python\n"])
def test_long_responses_are_read_in_time_that_grows_with_their_length(part: str, start: str) -> None:
    response = start + part * (LONG // len(part)) + "x~`"
    started = time.process_time()
    extract(response)
    extract(response, "f")
    assert time.process_time() - started < 5  # at most 0.6 s; what grows with the square takes minutes
