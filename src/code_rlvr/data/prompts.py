"""How a problem is put to a model: one user message, the same for training, validation and evaluation.

Covered: the default instruction of each kind of tests, and the chat list that the trainer's parquet holds.
Not covered: the chat template, which is the tokenizer's; refusing prompts that are no chat lists.
"""

from __future__ import annotations

from code_rlvr.ground_truth import Tests

STDIN_INSTRUCTION = (
    "Write a Python 3 program that reads from standard input and writes to standard output. "
    "Put the complete program in one ```python code block."
)
FUNCTION_INSTRUCTION = (
    "Write the Python 3 function `{name}`, with all imports and helpers that it needs. "
    "It must return its answer and read no input. Put the complete code in one ```python code block."
)
ASSERT_INSTRUCTION = (
    "Write Python 3 code that solves the problem, with the names that it asks for and all imports. "
    "Put the complete code in one ```python code block."
)


def default_instruction(tests: Tests) -> str:
    """Choose the instruction that fits what the tests need of a program.

    Args:
        tests: The tests of the problem. A function's name is taken from them where they have one.

    Returns:
        Text for the end of the user message; it holds nothing else of the tests.
    """
    if tests.kind == "stdio":
        return STDIN_INSTRUCTION
    name = tests.fn_name if tests.kind == "call" else tests.entry_point
    return FUNCTION_INSTRUCTION.format(name=name) if name else ASSERT_INSTRUCTION


def build_prompt(statement: str, tests: Tests, instruction: str | None = None) -> list[dict[str, str]]:
    """Build the chat that asks a model for a solution.

    Args:
        statement: What the problem says.
        tests: The tests of the problem; only their kind and the function's name reach the prompt.
        instruction: What to say about the form of the answer; None for the default of the tests' kind, empty
            for the bare statement.

    Returns:
        A chat list of one user message.
    """
    told = default_instruction(tests) if instruction is None else instruction
    content = f"{statement.strip()}\n\n{told}" if told else statement.strip()
    return [{"role": "user", "content": content}]
