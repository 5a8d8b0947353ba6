"""Responses as HTML: the program that was judged marked, code in colour, the rest as it is, everything escaped.

Covered: display.  The program is extracted again, by the verifier's own extractor; where a problem's tests call a
function by name, the name is not known here, and of several fences another may have been judged.  Other fences are
found line by line.  Not covered: choosing the program (`verifier.extract`).
"""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup, escape
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from code_rlvr.report.visible import make_visible
from code_rlvr.verifier.extract import extract_code

_LEXER = PythonLexer(stripnl=False, ensurenl=False)
_FORMATTER = HtmlFormatter(nowrap=True, classprefix="hl-")


@dataclass(frozen=True)
class ShownResponse:
    """A response fit to be shown inside ``<pre>``.

    Args:
        text: The response.
        program: The program in it, if it does not stand there in one piece, e.g. because it was indented; else None.
        marked: Whether the program is marked in the text.
    """

    text: Markup
    program: Markup | None = None
    marked: bool = False


def highlight_response(response: str, limit: int) -> ShownResponse:
    """Prepare a response for display.

    Args:
        response: What the model wrote.
        limit: Characters that are shown; a longer response has no program marked, since its end decides too.
    """
    text = response.replace("\r\n", "\n").replace("\r", "\n")
    program = (extract_code(text) or "").strip("\n") if len(text) <= limit else ""
    if not program:
        return ShownResponse(_show(make_visible(text, limit), inside=False)[0])
    start = text.rfind(program)
    if start < 0:
        return ShownResponse(_show(make_visible(text, limit), inside=False)[0], _colour(make_visible(program, limit)))
    before, inside = _show(make_visible(text[:start], limit), inside=False)
    after, _ = _show(make_visible(text[start + len(program) :], limit), inside=inside)
    judged = Markup('<span class="judged">{}</span>').format(_colour(make_visible(program, limit)))
    return ShownResponse(before + judged + after, marked=True)


def _show(text: str, *, inside: bool) -> tuple[Markup, bool]:
    """Colour what stands in fences; `inside` says whether the text begins, and the result whether it ends, in one."""
    parts: list[Markup] = []
    code: list[str] = []
    for line in text.splitlines(keepends=True):
        if line.lstrip().startswith("```"):
            parts += [_colour("".join(code)), Markup('<span class="fence">{}</span>').format(line)]
            code, inside = [], not inside
        elif inside:
            code.append(line)
        else:
            parts.append(escape(line))
    return Markup("").join([*parts, _colour("".join(code))]), inside


def _colour(code: str) -> Markup:
    # Pygments escapes what it is given; nothing else here is taken for HTML.
    if not code:
        return Markup()
    shown = highlight(code, _LEXER, _FORMATTER)
    return Markup(shown if code.endswith("\n") else shown.removesuffix("\n"))  # Pygments ends every line
