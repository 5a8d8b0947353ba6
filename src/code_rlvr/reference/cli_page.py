"""The page of commands: what typer says about each of them, with an introduction and links.

Covered: the text.  Not covered: what options mean, which stands at the options (`commands`).
"""

from __future__ import annotations

import re
import subprocess
import sys

INTRODUCTION = """# Commands

`code-rlvr COMMAND --help` says the same as this page, which is made from it by `python -m code_rlvr.reference
docs/reference`.

Exit codes: 0 done, 1 it ran and failed, 2 what was given cannot be used, 130 interrupted; some commands say more below.

| command | what it does |
|---|---|
"""


def cli_markdown() -> str:
    """Return the page of all commands.

    Raises:
        subprocess.CalledProcessError: The commands cannot be imported; its output is on standard error.
    """
    command = [sys.executable, "-m", "typer", "code_rlvr.cli", "utils", "docs", "--name", "code-rlvr"]
    text = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, timeout=120).stdout
    sections = re.split(r"^## ", text, flags=re.MULTILINE)[1:]  # the first part is about the application
    rows = [_row(*section.split("\n", 2)) for section in sections]
    return INTRODUCTION + "\n".join(rows) + "\n\n" + "".join(f"## {section}" for section in sections).rstrip() + "\n"


def _row(title: str, _blank: str, text: str) -> str:
    name = title.strip("`")
    first_sentence = text.split("\n", 1)[0]
    return f"| [`{name}`](#{name.replace(' ', '-')}) | {first_sentence} |"
