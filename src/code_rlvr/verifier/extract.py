"""Takes the program out of a model's response; the same for training, validation and evaluation.

| response | program |
|---|---|
| `<think>…</think>`, `<thinking>`, several, with no opening or closing tag | what stands outside of it |
| one fence (`fences` has how they may look) | its content; `fenced` is false where it was not opened or not closed |
| several fences | one of them, never several joined: the last of the most useful (`usefulness`) |
| fences in other languages | left aside, unless there are no others and the content parses as Python |
| no fence | the whole response, if it parses as Python and does more than name things; `fenced` is false |
| nothing of these; only comments, literals or names in the fences | None: NO_CODE |

docs/extraction.md says why and has examples of each line, which the tests read.

Covered: choosing, in time that grows with the response's length.
Not covered: repairing; a program that does not compile is a COMPILE_ERROR later on.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from code_rlvr.parsing import parsed
from code_rlvr.verifier.fences import Block, blocks_of, is_python
from code_rlvr.verifier.usefulness import does_something, usefulness

_THOUGHT = re.compile(r"<(/?)think(?:ing)?(?:[ \t][^<>\n]{0,200})?(?<!/)>", re.IGNORECASE)
_TAG_CONTEXT = 120  # characters before and after a tag in which it may be quoted
_QUOTED = re.compile(r"""(?<![^\W_])(?:[rbfuRBFU]{1,2})?(["']|(?<!`)`(?!`))(?:(?!\1).)*\1""")


@dataclass(frozen=True, slots=True)
class Extraction:
    """The program in a response.

    Args:
        code: The program, or None if there is none.
        fenced: Whether it stood in a fence that was closed.
    """

    code: str | None
    fenced: bool


def extract_code(response: str, entry_point: str | None = None) -> str | None:
    """The program in a model's response, or None; the arguments are those of `extract`."""
    return extract(response, entry_point).code


def extract(response: str, entry_point: str | None = None) -> Extraction:
    """The program in a model's response, and whether it was formatted as asked.

    Args:
        response: What the model wrote.
        entry_point: The function that the tests call, where there is one.
    """
    answer = _without_thoughts(response.replace("\r\n", "\n").replace("\r", "\n"))
    blocks = blocks_of(answer)
    if "~~~" not in answer or not blocks:  # Markdown does not parse, but for ~~~, which are operators
        for bare in (answer.strip("\ufeff \t\n"), textwrap.dedent(answer).strip()):
            if does_something(parsed(bare)):
                return Extraction(bare, False)
    best = _best([block for block in blocks if is_python(block.language)], entry_point) or _best(
        [block for block in blocks if not is_python(block.language) and parsed(block.code)], entry_point
    )
    return Extraction(best.code, best.closed) if best else Extraction(None, False)


def _without_thoughts(response: str) -> str:
    kept: list[str] = []
    start, thinking = 0, False
    for tag in _THOUGHT.finditer(response):
        if _is_quoted(response, tag):  # a program or a sentence about such tags
            continue
        if tag[1]:
            if not thinking:  # a chat template may have written the opening tag
                kept.clear()
            start, thinking = tag.end(), False
        elif not thinking:
            kept.append(response[start : tag.start()])
            thinking = True
    return "".join(kept) if thinking else "".join([*kept, response[start:]])


def _is_quoted(text: str, tag: re.Match[str]) -> bool:
    before = text[max(0, tag.start() - _TAG_CONTEXT) : tag.start()].rpartition("\n")[2]
    after = text[tag.end() : tag.end() + _TAG_CONTEXT].partition("\n")[0]
    return any(quote.start() < len(before) < quote.end() for quote in _QUOTED.finditer(before + tag[0] + after))


def _best(blocks: Sequence[Block], entry_point: str | None) -> Block | None:
    ranked = ((usefulness(block, entry_point), i, block) for i, block in enumerate(blocks))
    useful, _, block = max(ranked, default=(0, 0, None), key=lambda item: item[:2])
    return block if useful else None
