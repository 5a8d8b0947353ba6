"""Writes the pages: ``python -m code_rlvr.reference docs/reference``."""

from __future__ import annotations

import sys
from pathlib import Path

from code_rlvr.reference.cli_page import cli_markdown
from code_rlvr.reference.config_page import config_markdown

PAGES = {"cli.md": cli_markdown, "config.md": config_markdown}
"""Each page's file and what makes its text."""


def main(folder: Path) -> None:
    """Write all pages into a folder."""
    for name, make in PAGES.items():
        (folder / name).write_text(make(), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
