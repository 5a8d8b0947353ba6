"""What a model is asked: one user message, with the form of the answer that the tests need."""

from __future__ import annotations

import pytest

from code_rlvr.data.prompts import ASSERT_INSTRUCTION, STDIN_INSTRUCTION, build_prompt
from code_rlvr.ground_truth import Tests

STDIO = Tests.stdio(["SECRET INPUT\n"], ["SECRET OUTPUT\n"])
CALL = Tests.call("find_it", [["SECRET INPUT"]], ["SECRET OUTPUT"])
NAMED_ASSERT = Tests.assertions(["assert candidate('SECRET INPUT') == 'SECRET OUTPUT'"], entry_point="find_it")
NAMELESS_ASSERT = Tests.assertions(["assert find_it('SECRET INPUT') == 'SECRET OUTPUT'"])
EVERY_KIND = (STDIO, CALL, NAMED_ASSERT, NAMELESS_ASSERT)


@pytest.mark.parametrize("tests", EVERY_KIND)
@pytest.mark.parametrize("instruction", [None, "", "Be brief."])
def test_prompt_is_a_chat_of_one_user_message_that_starts_with_the_statement(
    tests: Tests, instruction: str | None
) -> None:
    prompt = build_prompt(" Find it.\n", tests, instruction)
    assert [sorted(message) for message in prompt] == [["content", "role"]]
    assert prompt[0]["role"] == "user"
    assert prompt[0]["content"].startswith("Find it.")
    assert prompt[0]["content"] == prompt[0]["content"].strip()


@pytest.mark.parametrize("tests", EVERY_KIND)
def test_no_input_and_no_answer_reaches_the_prompt(tests: Tests) -> None:
    assert "SECRET" not in build_prompt("Find it.", tests)[0]["content"]


@pytest.mark.parametrize("tests", EVERY_KIND)
def test_default_instruction_asks_for_one_python_block(tests: Tests) -> None:
    assert "one ```python code block" in build_prompt("Find it.", tests)[0]["content"]


def test_stdin_problem_asks_for_a_program() -> None:
    assert build_prompt("Find it.", STDIO)[0]["content"] == f"Find it.\n\n{STDIN_INSTRUCTION}"


@pytest.mark.parametrize("tests", [CALL, NAMED_ASSERT])
def test_function_task_names_its_function_and_forbids_reading(tests: Tests) -> None:
    content = build_prompt("Find it.", tests)[0]["content"]
    assert "`find_it`" in content
    assert "standard input" not in content


def test_assertions_without_a_name_leave_the_names_to_the_statement() -> None:
    assert build_prompt("Find it.", NAMELESS_ASSERT)[0]["content"] == f"Find it.\n\n{ASSERT_INSTRUCTION}"


def test_empty_instruction_leaves_the_bare_statement() -> None:
    assert build_prompt("Find it.", STDIO, instruction="")[0]["content"] == "Find it."


def test_own_instruction_replaces_the_default() -> None:
    assert build_prompt("Find it.", CALL, instruction="Be brief.")[0]["content"] == "Find it.\n\nBe brief."


def test_braces_in_a_statement_stay_as_they_are() -> None:
    assert build_prompt("Print {name} and {0}.", CALL)[0]["content"].startswith("Print {name} and {0}.")
