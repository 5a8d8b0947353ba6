"""The sentences of the starter problems, and which of them each split may use.

A wording is a frame around a way to name the input (or the function) and a task phrase.  The split is a
property of the family and of nothing else, so no seed can leak a held-out sentence into a corpus that
another seed made:

- a *paraphrase* is the family's one task phrase that training never sees, in any frame;
- a *combination* is a frame and a task phrase that training sees only apart; each phrase leaves out one
  frame;
- validation leaves out one more frame of each task phrase;
- the rest is for training.

Not covered: parameter values, which `families` mark as seen or held out themselves.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple
from zlib import crc32

from code_rlvr.data.starter.family import Family, Values, fill

STDIN_FRAMES = (
    "Read {input}. Print {task}.",
    "Given {input}, print {task}.",
    "Input: {input}. Output: {task}.",
    "You get {input}. Output {task}.",
    "Print {task}. The input is {input}.",
    "Take {input} and print {task}.",
)
FUNCTION_FRAMES = (
    "Write {function} that returns {task}.",
    "Define {function} to return {task}.",
    "Function {function}: return {task}.",
    "Given {input}, {function} returns {task}.",
    "Return {task}. The function is {function}.",
    "Take {input} and return {task} with {function}.",
)
FUNCTION_NAMES = ("f", "g", "solve")

_VALIDATION_SHIFT = 3  # half of the frames: never the held-out frame of the same task phrase


class WordingSplit(str, Enum):
    """What a wording is for."""

    TRAIN = "train"
    VALIDATION = "validation"
    COMBINATION = "combination"
    PARAPHRASE = "paraphrase"


class Wording(NamedTuple):
    """The choices that make one sentence of a family, each an index from 0.

    Args:
        frame: Which sentence frame.
        name: Which way to name the input; of a function task, which name the function has.
        task: Which task phrase; `len(family.tasks)` is the held-out one.
    """

    frame: int
    name: int
    task: int


def split_of(family: Family, wording: Wording) -> WordingSplit:
    """Tell what a wording is for; the same for every seed."""
    frames = len(_frames(family))
    if wording.task == len(family.tasks):
        return WordingSplit.PARAPHRASE
    place = (wording.frame - wording.task - crc32(family.name.encode())) % frames
    if place == 0:
        return WordingSplit.COMBINATION
    return WordingSplit.VALIDATION if place == _VALIDATION_SHIFT else WordingSplit.TRAIN


def wordings(family: Family, split: WordingSplit | None = None) -> list[Wording]:
    """List the wordings of a family; of one split, or all."""
    names = FUNCTION_NAMES if family.function else family.shape.nouns
    every = (
        Wording(frame, name, task)
        for frame in range(len(_frames(family)))
        for name in range(len(names))
        for task in range(len(family.tasks) + 1)
    )
    return [wording for wording in every if split is None or split_of(family, wording) is split]


def function_name(family: Family, wording: Wording) -> str | None:
    """Name the function that a statement asks for; None in a stdin task."""
    return FUNCTION_NAMES[wording.name] if family.function else None


def write_statement(family: Family, wording: Wording, values: Values) -> str:
    """Write the problem statement of one wording and one choice of parameter values."""
    task = (*family.tasks, family.held_out_task)[wording.task]
    nouns = family.shape.nouns
    name = function_name(family, wording)
    return _frames(family)[wording.frame].format(
        input=nouns[wording.name % len(nouns)],
        function=f"{name}({family.shape.variables.replace(',', ', ')})",
        task=fill(task, values),
    )


def _frames(family: Family) -> tuple[str, ...]:
    return FUNCTION_FRAMES if family.function else STDIN_FRAMES
