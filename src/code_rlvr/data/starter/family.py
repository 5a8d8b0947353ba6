"""What a family of starter problems is: one small task, its wordings, its inputs and its likely mistakes.

Covered: the three frozen types that the families are written in, and the text of their programs.
Not covered: sentences (`wordings`), test inputs (`cases`), the families themselves (`*_families`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

Value = int | str
"""One parameter of a family, written into its statement and its program."""

Values = tuple[Value, ...]
"""The values of all parameters of one instance: `()`, `(k,)` or `(k, m)`."""

Arguments = tuple[object, ...]
"""The input of one test, before it becomes text on stdin or the arguments of a call."""


def _no_edges(*values: Value) -> list[Arguments]:
    return []


@dataclass(frozen=True, slots=True)
class Shape:
    """The form of an input, shared by the families that read it.

    Args:
        name: Short name, unique among shapes.
        nouns: Ways to name the input in a sentence.
        variables: The names that the program gives to it, e.g. ``"a,b"``.
        reader: Lines that read it from stdin into those names.
        misreads: Lines that a careless author would write instead of `reader`.
        render: Text on stdin for the arguments.
        draw: A random input; gets the generator and the family's parameter values.
        edges: Inputs that every problem should be tested with.
    """

    name: str
    nouns: tuple[str, ...]
    variables: str
    reader: str
    misreads: tuple[str, ...]
    render: Callable[..., str]
    draw: Callable[..., Arguments]
    edges: Callable[..., list[Arguments]] = _no_edges


@dataclass(frozen=True, slots=True)
class Family:
    """One small task in many wordings, with a reference solution and plausible wrong programs.

    A program is `shape.reader`, a newline and a body; that of a function task is a `def` line over the body.
    In tasks and bodies ``{k}`` and ``{m}`` stand for the first and the second parameter.

    Args:
        name: Unique among families.
        shape: The form of its input.
        tasks: What to print or return, as phrases that training may see.
        held_out_task: One more such phrase, in known words, that training never sees.
        body: The reference solution.
        mistakes: Wrong bodies, each of them wrong at every parameter value.
        answer: The right answer, independent of `body`; gets the arguments and then the parameter values.
        seen: Parameter values for training; ``((),)`` for a family without parameters.
        held_out: Parameter values that training never sees.
        draw: A random input in place of the shape's.
        edges: Edge cases in place of the shape's.
        tolerates: Misreads of the shape that do no harm in this family.
        function: Whether it is a function task (call tests) and not a stdin/stdout one.
    """

    name: str
    shape: Shape
    tasks: tuple[str, ...]
    held_out_task: str
    body: str
    mistakes: tuple[str, ...]
    answer: Callable[..., object]
    seen: tuple[Values, ...] = ((),)
    held_out: tuple[Values, ...] = ()
    draw: Callable[..., Arguments] | None = None
    edges: Callable[..., list[Arguments]] | None = None
    tolerates: tuple[str, ...] = ()
    function: bool = False

    def draw_arguments(self, rng: Random, values: Values) -> Arguments:
        """Draw one random input."""
        return (self.draw or self.shape.draw)(rng, *values)

    def edge_arguments(self, values: Values) -> list[Arguments]:
        """List the inputs that every problem of these parameter values should be tested with."""
        return (self.edges or self.shape.edges)(*values)

    def misreads(self) -> tuple[str, ...]:
        """List the careless readings of the input that make a right body fail."""
        return tuple(lines for lines in self.shape.misreads if lines not in self.tolerates)

    def program(self, values: Values, body: str | None = None, reader: str | None = None, name: str = "f") -> str:
        """Write a complete program.

        Args:
            values: Parameter values.
            body: The body; None for the reference.
            reader: The lines that read stdin; None for the shape's. Unused in a function task.
            name: The function's name. Unused in a stdin task.

        Returns:
            Source text without a final newline.
        """
        lines = fill(self.body if body is None else body, values)
        if self.function:
            indented = lines.replace("\n", "\n ")
            return f"def {name}({self.shape.variables}):\n {indented}"
        return f"{self.shape.reader if reader is None else reader}\n{lines}"


def one_each(*values: Value) -> tuple[Values, ...]:
    """Give the only parameter of a family each of these values."""
    return tuple((value,) for value in values)


def fill(text: str, values: Values) -> str:
    """Write parameter values in place of ``{k}`` and ``{m}``; other braces stay."""
    for mark, value in zip(("{k}", "{m}"), values, strict=False):
        text = text.replace(mark, str(value))
    return text
