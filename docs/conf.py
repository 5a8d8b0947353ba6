"""The guide as a site: `make docs`.

Covered: Sphinx's settings; the table of contents, which is the list of pages in `index.md`; links to code.
Not covered: the pages, which are plain Markdown and read the same on a code host.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

DOCS = Path(__file__).parent

project = "code-rlvr"
author = "the authors of code-rlvr"
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
language = "en"
html_theme = "furo"
html_title = "code-rlvr"
html_copy_source = False
myst_heading_anchors = 4  # the anchors that code hosts give to headings


def add_contents(_app: Sphinx, page: str, source: list[str]) -> None:
    """Append to the start page a table of contents for each of its lists, so that there is one list of pages only."""
    if page != "index":
        return
    for section in source[0].split("\n## ")[1:]:
        title, _, text = section.partition("\n")
        found = re.findall(r"^(?:\d+\.|-) \[([^]]+)\]\(([^)#]+)\.md\)", text, re.MULTILINE)
        entries = [f"{name} <{page}>" for name, page in found]
        if entries:
            source[0] += "\n".join(["\n\n```{toctree}", ":hidden:", f":caption: {title}", "", *entries, "```\n"])


class TextOfFolders(SphinxPostTransform):
    """Leave only the text of a link to a folder of the repository, for which a site has no page.

    Links to files of the repository need nothing: they become downloads.
    """

    default_priority = 8  # before myst-parser, at 9, looks for a page

    def run(self, **_: Any) -> None:
        """Replace them on one page."""
        for link in list(self.document.findall(pending_xref)):
            if (DOCS / link["refdoc"]).parent.joinpath(link["reftarget"]).is_dir():
                link.replace_self(link.children)


def setup(app: Sphinx) -> None:
    """Register both."""
    app.connect("source-read", add_contents)
    app.add_post_transform(TextOfFolders)
