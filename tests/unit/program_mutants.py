"""Small changes of a program: wrong ones that nobody thought of, to find out what tests let pass."""

from __future__ import annotations

import re
from collections.abc import Iterator

TOKEN = re.compile(r'\w+|"[^"]*"|\*\*|//|<=|>=|==|!=|[+*]=|\s+|.')
OPERATORS = ("+", "-", "*", "//", "%", "<", ">", "<=", ">=", "==", "!=")
FUNCTIONS = ("min", "max", "sum", "len", "sorted", "abs", "set", "list", "str", "int", "map")
AFTER_A_NAME = ("+1", "-1", "[1:]", "[:-1]", "[0]", "[-1]")
AT_A_BRACKET = ("+1", "-1", "[1:]", "[:-1]", "[::-1]")


def mutants(program: str) -> list[str]:
    """List the programs that differ from `program` by one token put in, left out or replaced."""
    found = {*_replacements(program), *_insertions(program)}
    return sorted(found - {program})


def _replacements(program: str) -> Iterator[str]:
    tokens = TOKEN.findall(program)
    names = sorted(set(re.findall(r"\b[a-z]\b", program)))
    for i, token in enumerate(tokens):
        for other in ("", *_alternatives(token, names)):
            yield "".join((*tokens[:i], other, *tokens[i + 1 :]))


def _alternatives(token: str, names: list[str]) -> tuple[str, ...]:
    if token.isdigit():
        return (str(int(token) + 1), str(int(token) - 1), "0", "1", "2")
    if token in names:
        return (*names, "0", "1")
    if token == '"aeiou"':
        return tuple('"aeiou"'.replace(vowel, "") for vowel in "aeiou")
    for group in (
        OPERATORS,
        FUNCTIONS,
        ("+=", "*=", "="),
        ('"YES"', '"NO"'),
        ("in", "not in"),
        ("count", "find"),
    ):
        if token in group:
            return group
    return ()


def _insertions(program: str) -> Iterator[str]:
    for place, texts in ((r"\b[a-z]\b", AFTER_A_NAME), (r"\)", AT_A_BRACKET), (r"(?=\))", AT_A_BRACKET)):
        for match in re.finditer(place, program):
            for text in texts:
                yield program[: match.end()] + text + program[match.end() :]
