"""Text that others wrote, made fit to be shown: nothing in it can hide, reorder or break what a reader sees.

Covered: control characters, characters that change the reading direction, lone surrogates, length.
Not covered: HTML, which the template and Pygments escape.
"""

from __future__ import annotations

import re

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_HIDDEN = re.compile("[\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\ud800-\udfff]")


def make_visible(text: str, limit: int) -> str:
    """Return `text` with invisible characters named and its end cut off.

    Args:
        text: Anything, e.g. what a model wrote.
        limit: Longest result, in characters of `text`, before the note about the rest.
    """
    kept = text[:limit].replace("\r\n", "\n")
    kept = _CONTROL.sub(lambda match: _picture(match[0]), kept)
    kept = _HIDDEN.sub(lambda match: f"⟨U+{ord(match[0]):04X}⟩", kept)
    rest = len(text) - limit
    return kept if rest <= 0 else f"{kept}\n… {rest:,} more characters"


def _picture(character: str) -> str:
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)  # Unicode's pictures of control characters
    return "␡" if code == 0x7F else f"⟨U+{code:04X}⟩"
