"""The interpreter that runs solutions: which one, and what of the file system it needs to read.

Solutions may import the standard library and packages.  With an interpreter of the user's choice these are all the
packages that it has.  By default it is this process's own, and then they are the ones below, as contest
judges offer them: an environment for training holds much that a program has no business with, this project's
own problems among it.

Covered: finding out.  Not covered: allowing it (`guard.zygote`).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from code_rlvr.errors import ConfigError

OFFERED = (
    "numpy", "numpy.libs", "scipy", "scipy.libs", "sympy", "mpmath", "networkx", "sortedcontainers",
    "more_itertools", "pandas", "pandas.libs", "dateutil", "pytz", "tzdata", "six.py",
)  # fmt: skip
_LIBRARIES = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib")
_SYSTEM = ("/etc/ld.so.cache", "/etc/localtime", "/usr/share/zoneinfo", "/dev/urandom", "/dev/random")
_ASK = """
import json, sys, sysconfig
print(json.dumps({"version": sys.version_info[:2], "prefix": sys.base_prefix, "paths": sysconfig.get_paths()}))
"""


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A Python that can run solutions.

    Args:
        executable: Its path.
        packages: Folders of third-party packages.
        readable: Files and folders that programs may read.
        listable: Folders whose entries they may see.
        offered: Modules that they may import from `packages`; None for all.
    """

    executable: str
    packages: tuple[str, ...]
    readable: tuple[str, ...]
    listable: tuple[str, ...] = ()
    offered: tuple[str, ...] | None = None


def find_interpreter(python: str | os.PathLike[str] | None = None) -> Interpreter:
    """The interpreter for solutions.

    Args:
        python: Path of one, e.g. of an environment with numpy; this process's own if None.

    Raises:
        ConfigError: If it cannot be run, or is older than Python 3.9.
    """
    return _ask(sys.executable if python is None else os.fspath(python), python is None)


@lru_cache(maxsize=8)
def _ask(executable: str, own: bool) -> Interpreter:
    try:
        answer = subprocess.run([executable, "-c", _ASK], capture_output=True, text=True, check=True, timeout=60)
        about = json.loads(answer.stdout)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        raise ConfigError(f"{executable} cannot run solutions; name a Python 3.9 or newer ({error})") from None
    if about["version"] < [3, 9]:
        raise ConfigError(f"{executable} is Python {'.'.join(map(str, about['version']))}; solutions need 3.9 or newer")
    paths = about["paths"]
    packages = tuple(dict.fromkeys([paths["purelib"], paths["platlib"]]))
    standard = tuple(dict.fromkeys([paths["stdlib"], paths["platstdlib"]]))
    readable = [*_SYSTEM]
    for folder in standard:
        readable += _entries(folder, lambda name: name not in ("site-packages", "dist-packages"))
    for folder in (*(str(Path(about["prefix"], name)) for name in ("lib", "lib64")), *_LIBRARIES):
        readable += _entries(folder, _is_library)
    if not own:
        return Interpreter(executable, packages, (*dict.fromkeys(readable), *packages), standard)
    readable += [str(Path(folder, name)) for folder in packages for name in OFFERED]
    modules = tuple(name.removesuffix(".py") for name in OFFERED)
    return Interpreter(executable, packages, tuple(dict.fromkeys(readable)), (*standard, *packages), modules)


def _entries(folder: str, wanted: Callable[[str], bool]) -> list[str]:
    """What lies in a folder; rules are made for each, as no rule can take a part of a folder away again."""
    try:
        return [str(Path(folder, name)) for name in sorted(os.listdir(folder)) if wanted(name)]
    except OSError:
        return []


def _is_library(name: str) -> bool:
    return ".so" in name or "-linux-" in name or name in ("locale", "gconv")
