"""What modules say of themselves leads somewhere: those that a line "Covered … Not covered …" names are there."""

from __future__ import annotations

import ast
import re
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

import code_rlvr

PACKAGE = Path(code_rlvr.__file__).parent
FILES = sorted(PACKAGE.rglob("*.py"))
MODULES = {".".join(file.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__"): file for file in FILES}
IN_BRACKETS = re.compile(r"\(((?:`[a-z0-9_.*]+`(?:, | and )?)+)[^)]*\)")
"""Names in brackets are of the modules that do what the words before say: ``verdicts (`job`)``."""


def named_modules(text: str) -> list[str]:
    """The modules that the lines "Covered … Not covered …" of a module's docstring name."""
    told = [part for part in (ast.get_docstring(ast.parse(text)) or "").split("\n\n") if "overed:" in part]
    return [name for part in told for group in IN_BRACKETS.findall(part) for name in re.findall(r"`(.+?)`", group)]


def is_there(name: str, folder: Path) -> bool:
    """Whether a name is of a module beside, above or in a folder of the package, or of something in such a module."""
    above = folder.relative_to(PACKAGE).parts
    places = [".".join((*above[:depth], name.removeprefix("code_rlvr."))) for depth in range(len(above) + 1)]
    if any(fnmatchcase(module, place) for module in MODULES for place in places):
        return True
    homes = [(MODULES.get(home), member) for home, _, member in (place.rpartition(".") for place in places)]
    return any(
        home is not None and re.search(rf"(?m)^(def|class) {member}\b", home.read_text()) for home, member in homes
    )


@pytest.mark.parametrize("module", MODULES)
def test_modules_that_a_docstring_names_are_there(module: str) -> None:
    file = MODULES[module]
    assert [name for name in named_modules(file.read_text()) if not is_there(name, file.parent)] == []


def test_a_module_that_is_not_there_is_found() -> None:
    text = (
        '"""Serves.\n\nCovered: it.  Not covered: signals (`listen`), a port (`address`, `run.port`), (`*_app`).\n"""'
    )
    names = named_modules(text)
    assert names == ["listen", "address", "run.port", "*_app"]
    assert [name for name in names if is_there(name, PACKAGE / "serve")] == ["address"]
