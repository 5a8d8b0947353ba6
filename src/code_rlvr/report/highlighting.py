"""Responses as HTML: fenced code in colour, the rest as it is, everything escaped.

The fences are found line by line for display only; which part was judged is `verifier.extract`'s business.
"""

from __future__ import annotations

from markupsafe import Markup, escape
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from code_rlvr.report.visible import make_visible

_LEXER = PythonLexer(stripnl=False, ensurenl=False)
_FORMATTER = HtmlFormatter(nowrap=True, classprefix="hl-")


def highlight_response(response: str, limit: int) -> Markup:
    """Return a response for display inside ``<pre>``.

    Args:
        response: What the model wrote.
        limit: Characters that are shown.
    """
    parts: list[Markup] = []
    code: list[str] | None = None
    lines = make_visible(response, limit).splitlines(keepends=True)
    fenced = any(line.lstrip().startswith("```") for line in lines)
    if not fenced:
        return _colour(lines)
    for line in lines:
        if line.lstrip().startswith("```"):
            parts.append(_colour(code or []) + Markup('<span class="fence">{}</span>').format(line))
            code = [] if code is None else None
        elif code is not None:
            code.append(line)
        else:
            parts.append(escape(line))
    return Markup("").join([*parts, _colour(code or [])])


def _colour(lines: list[str]) -> Markup:
    # Pygments escapes what it is given; nothing else here is taken for HTML.
    return Markup(highlight("".join(lines), _LEXER, _FORMATTER)) if lines else Markup()
