"""The tests of a row in any of the forms that `layouts` knows, with what stands beside them.

Null, empty text, `{}`, `[]`, and neither inputs nor outputs are no tests.

Covered: options and tests beside the ground truth.  Not covered: the forms (`layouts`), the values (`ground_truth`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from code_rlvr.ground_truth import Tests
from code_rlvr.layouts import as_layout, holds_tests


def read_tests(
    given: Any,
    extra_info: Mapping[str, Any] | None = None,
    options: Mapping[str, Any] | None = None,
    fn_name: object = None,
) -> Tests | None:
    """The tests of a row in any of the forms of `layouts`.

    Args:
        given: The ground truth.
        extra_info: The row's `extra_info`, whose `tests` count if the ground truth holds none.
        options: Time limits and comparisons that hold unless the ground truth itself says otherwise.
        fn_name: The function that is called, if the ground truth does not say otherwise.

    Returns:
        None if there are no tests.

    Raises:
        TestsFormatError: There are some, and they are malformed.
    """
    beside = None if extra_info is None or extra_info.get("tests") in (None, "", []) else extra_info
    found = as_layout(given, fn_name, beside_others=beside is not None)
    if isinstance(found, Mapping):
        if beside is None and not holds_tests(found):
            return None
        found = {**{key: value for key, value in (options or {}).items() if value is not None}, **found}
    elif found is None or (isinstance(found, str) and not found.strip()):
        return None
    return Tests.parse(found, beside)
