"""Which standard modules are imported before a program runs, and which names it may use without importing.

Covered: the tables, and a look at a program's text for what it needs of them.
Not covered: third-party packages other than numpy, which a program imports at its own cost.
"""

from __future__ import annotations

import re

from code_rlvr.verifier.program import Provide

# Imported by a program's supervisor if the program imports them: once a program, not once a test.  What most programs
# use, the zygote has imported already (`guard.zygote.PRELOADED`), so that it costs nothing here.
_PRELOADED = (
    "abc", "array", "ast", "bisect", "cmath", "collections", "copy", "ctypes", "dataclasses", "datetime",
    "decimal", "enum", "fractions", "functools", "hashlib", "heapq", "inspect", "io", "itertools", "json",
    "math", "numpy", "operator", "os", "pprint", "queue", "random", "re", "statistics", "string", "struct",
    "sys", "textwrap", "threading", "time", "traceback", "typing", "unittest", "uuid", "warnings",
)  # fmt: skip

_TYPING = {
    "typing": (
        "Any", "Callable", "Deque", "DefaultDict", "Dict", "FrozenSet", "Generator", "Iterable", "Iterator",
        "List", "Optional", "Sequence", "Set", "Tuple", "Union",
    ),
}  # fmt: skip
# What LeetCode has imported before a solution starts; data sets of its kind count on it.
_LEETCODE = {
    "bisect": ("bisect_left", "bisect_right", "insort"),
    "collections": ("Counter", "OrderedDict", "defaultdict", "deque", "namedtuple"),
    "functools": ("cache", "cmp_to_key", "lru_cache", "reduce"),
    "heapq": ("heapify", "heappop", "heappush", "heappushpop", "heapreplace", "nlargest", "nsmallest"),
    "itertools": (
        "accumulate", "chain", "combinations", "count", "cycle", "groupby", "islice", "pairwise",
        "permutations", "product", "zip_longest",
    ),
    "math": ("ceil", "comb", "factorial", "floor", "gcd", "inf", "isqrt", "lcm", "log", "log2", "sqrt"),
}  # fmt: skip
_MODULES = (*_LEETCODE, "operator", "random", "re", "string", "sys", "typing")

_IMPORT = re.compile(r"^[ \t]*(?:import|from)[ \t]+([\w., \t]+)", re.MULTILINE)
_WORD = re.compile(r"[A-Za-z_]\w*")


def imports_for(source: str, provide: Provide) -> list[tuple[str, str, str]]:
    """What to import before a program runs, by a look at its text.

    Args:
        source: The program.
        provide: Which names it may use without importing them.

    Returns:
        (name, module, attribute): the name under which the program finds it, "" for none; no attribute means
        the module itself.
    """
    imported = {word for found in _IMPORT.findall(source) for word in _WORD.findall(found)}
    imports = [("", module, "") for module in _PRELOADED if module in imported]
    if provide == "none":
        return imports
    used = set(_WORD.findall(source))
    homes = _TYPING if provide == "typing" else {**_TYPING, **_LEETCODE}
    imports += [(name, home, name) for home, names in homes.items() for name in names if name in used]
    if provide == "leetcode":
        imports += [(module, module, "") for module in _MODULES if module in used]
    return imports
