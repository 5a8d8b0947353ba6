"""Of the packages that lie in a folder, only those that programs may use can be found.

The others can be seen and not read, which raises PermissionError, where a package with an optional dependency expects
ImportError: pandas tries pyarrow.

Covered: that.  Not covered: keeping programs from reading the others (Landlock, in `zygote`).
"""

from __future__ import annotations

import importlib
import sys

TYPE_CHECKING = False  # importing typing costs 8 ms
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

_machinery: Any = importlib._bootstrap_external  # importlib.machinery costs an import


def offer_only(names: Sequence[str], folders: Sequence[str]) -> None:
    """Let imports from `folders`, entries of the module path, find modules with these names only."""

    class Finder(_machinery.FileFinder):  # type: ignore[misc]
        def find_spec(self, fullname: str, target: Any = None) -> Any:
            return super().find_spec(fullname, target) if fullname in names else None

    find_in = Finder.path_hook(*_machinery._get_supported_file_loaders())

    def hook(path: str) -> Any:
        if path not in folders:
            raise ImportError
        return find_in(path)

    sys.path_hooks.insert(0, hook)
