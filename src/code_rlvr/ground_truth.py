"""The tests of a problem: every layout that data sets use, read once into one type.

| layout | keys |
|---|---|
| stdio  | `inputs: [str]`, `outputs: [str]`; a list of lines for a text is joined with newlines |
| call   | `fn_name: str`, `inputs: [[argument, …]]`, `outputs: [value]`, or `[[value]]` as Eurus wraps them |
| call   | the same, each input a text with an argument in JSON a line, each output a text in JSON (LiveCodeBench) |
| assert | `asserts: str` or `assert_case: [str]`; `entry_point: str?`, `prelude: str?` |
| assert | `assert_case: [str]` beside `inputs` that are empty and `outputs` that are null (verl's sandbox_fusion) |
| assert | `extra_info["tests"]: str or [str]`, if the ground truth itself holds no tests |
| these  | written otherwise, as lists of cases or as source: see `layouts` |

Line ends of standard input are newlines, whatever system the tests were written on.

Outputs of calls are unwrapped only if every one of them is a list of length one.  `fn_name` may name a function of the
program or a method of its `class Solution`; which one is found out when it runs.  Beside any of them: `OPTIONS`.

Anything else is a `TestsFormatError` that names the field: malformed tests score neither 0 nor 1.
Not covered: taking assertions apart (`verifier.assertions.cases`).
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal, get_args

from code_rlvr.errors import TestsFormatError
from code_rlvr.layouts import OPTIONS, as_layout
from code_rlvr.parsing import parse

Kind = Literal["stdio", "call", "assert"]
Comparison = Literal["default", "exact", "tokens", "float", "unordered_lines"]

MAX_INT_BITS = 14_000  # Python reads and writes no more than 4,300 digits
_TESTS_KEYS = ("inputs", "outputs", "fn_name", "asserts", "assert_case")


@dataclass(frozen=True, slots=True)
class Tests:
    """What a right program has to pass; make one with `parse`, `stdio`, `call` or `assertions`.

    Args:
        kind: Which of the fields below are in use.
        inputs: stdio: what goes to standard input. call: lists of positional arguments, plain JSON values.
        outputs: stdio: the expected output. call: the expected return values, not wrapped.
        fn_name: call: the function or the method of `class Solution`.
        asserts: assert: blocks of Python source, each with at least one assertion.
        entry_point: assert: what a checker calls `candidate`.
        prelude: assert: source that runs before the program.
        time_limit_s: CPU seconds per test, in place of the judge's default.
        memory_limit_mib: Resident memory per test, in place of the judge's default.
        compare: The comparison by name.
        rel_tol, abs_tol: Tolerances for floats; None is the comparison's own.
        case_sensitive: Whether upper and lower case differ in output.
    """

    __test__ = False  # not a test class, whatever pytest thinks of its name

    kind: Kind
    inputs: tuple[Any, ...] = ()
    outputs: tuple[Any, ...] = ()
    fn_name: str | None = None
    asserts: tuple[str, ...] = ()
    entry_point: str | None = None
    prelude: str | None = None
    time_limit_s: float | None = None
    memory_limit_mib: int | None = None
    compare: Comparison = "default"
    rel_tol: float | None = None
    abs_tol: float | None = None
    case_sensitive: bool = True

    @classmethod
    def stdio(cls, inputs: Iterable[str], outputs: Iterable[str], **options: Any) -> Tests:
        """Tests that feed standard input and read standard output.

        Raises:
            TestsFormatError: If they are malformed.
        """
        return _read({**options, "inputs": list(inputs), "outputs": list(outputs)})

    @classmethod
    def call(cls, fn_name: str, inputs: Iterable[Sequence[Any]], outputs: Iterable[Any], **options: Any) -> Tests:
        """Tests that call one function; `outputs` are the plain return values, not wrapped.

        Raises:
            TestsFormatError: If they are malformed, or a value is not a JSON value.
        """
        wrapped = [[value] for value in outputs]
        return _read({**options, "fn_name": fn_name, "inputs": list(inputs), "outputs": wrapped})

    @classmethod
    def assertions(cls, blocks: Iterable[str], **options: Any) -> Tests:
        """Tests written as Python assertions; options may hold `entry_point` and `prelude` too.

        Raises:
            TestsFormatError: If they are malformed.
        """
        return _read({**options, "assert_case": list(blocks)})

    @classmethod
    def parse(
        cls,
        ground_truth: str | Mapping[str, Any] | Sequence[Any] | None,
        extra_info: Mapping[str, Any] | None = None,
    ) -> Tests:
        """Read the tests of one data set row.

        Args:
            ground_truth: JSON text, source or the object itself, in any layout of the module's docstring.
            extra_info: The row's `extra_info`; its `tests` are used if the ground truth holds none.

        Raises:
            TestsFormatError: If there are no tests, or anything about them is malformed or unknown.
        """
        beside = None if extra_info is None else extra_info.get("tests")
        layout = as_layout(ground_truth, beside_others=beside is not None)
        if not isinstance(layout, Mapping):
            raise _not_an_object(layout)
        if beside is not None and not any(key in layout for key in _TESTS_KEYS):
            layout = {**layout, "asserts" if isinstance(beside, str) else "assert_case": beside}
            if extra_info and extra_info.get("entry_point") is not None:
                layout.setdefault("entry_point", extra_info["entry_point"])
        return _read(dict(layout))

    def to_json(self) -> str:
        """The canonical text, for which ``Tests.parse(tests.to_json()) == tests``."""
        layout: dict[str, Any] = {}
        if self.kind == "assert":
            layout["assert_case"] = list(self.asserts)
        else:
            wrapped = [[value] for value in self.outputs] if self.kind == "call" else list(self.outputs)
            layout.update(inputs=list(self.inputs), outputs=wrapped)
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name not in ("kind", "inputs", "outputs", "asserts") and value != field.default:
                layout[field.name] = value
        return json.dumps(layout, sort_keys=True)


def _not_an_object(found: object) -> TestsFormatError:
    """What is wrong with a ground truth that is no form of tests."""
    what = "is null: this row has no tests" if found is None else "has to be an object, e.g. {'inputs': …}"
    if isinstance(found, str):
        try:
            json.loads(found)
        except (ValueError, RecursionError) as error:
            what = f"is not JSON, nor Python with assertions: {error}"
    return TestsFormatError(what, field="ground_truth")


def _read(layout: dict[str, Any]) -> Tests:
    try:
        return _read_kind(layout)
    except (RecursionError, OverflowError) as error:  # nested beyond reason; an option that no float can hold
        raise TestsFormatError(f"cannot be read: {error}", field="ground_truth") from None


def _read_kind(layout: dict[str, Any]) -> Tests:
    kind: Kind
    known: tuple[str, ...]
    if "assert_case" in layout or "asserts" in layout:
        key = "assert_case" if "assert_case" in layout else "asserts"
        idle = (name for name in ("inputs", "outputs") if _is_idle(layout, name))
        kind, known = "assert", (key, "entry_point", "prelude", *idle)
    elif "fn_name" in layout:
        kind, known = "call", ("fn_name", "inputs", "outputs")
    elif "inputs" in layout or "outputs" in layout:
        kind, known = "stdio", ("inputs", "outputs")
    else:
        raise TestsFormatError(f"holds no tests; its keys are {sorted(map(str, layout))}", field="ground_truth")
    for key in layout:
        if key not in known and key not in OPTIONS:
            raise TestsFormatError(f"is not a key of {kind} tests; known are {[*known, *OPTIONS]}", field=str(key))
    options = _read_options(layout)
    if kind == "assert":
        return Tests("assert", **_read_asserts(layout), **options)
    inputs, outputs = _items(layout, "inputs"), _items(layout, "outputs")
    if len(inputs) != len(outputs):
        raise TestsFormatError(f"there are {len(outputs)} outputs for {len(inputs)} inputs", field="outputs")
    if kind == "call":
        return Tests("call", *_read_calls(inputs, outputs), fn_name=_name(layout, "fn_name"), **options)
    fed = tuple(_text(value, f"inputs[{i}]").replace("\r\n", "\n") for i, value in enumerate(inputs))
    expected = tuple(_text(value, f"outputs[{i}]") for i, value in enumerate(outputs))
    return Tests("stdio", fed, expected, **options)


def _is_idle(layout: Mapping[str, Any], key: str) -> bool:
    """Whether a list of inputs or outputs says nothing, as beside the assertions of verl's sandbox_fusion."""
    return isinstance(layout.get(key), (list, tuple)) and all(value in ("", None) for value in layout[key])


def _items(layout: Mapping[str, Any], key: str) -> list[Any]:
    values: Any = layout.get(key)
    values = values.tolist() if hasattr(values, "tolist") else values  # parquet gives arrays
    if not isinstance(values, (list, tuple)):
        raise TestsFormatError(f"has to be a list, not {type(values).__name__}", field=key)
    if not values:
        raise TestsFormatError("is empty: no test, no score", field=key)
    return list(values)


def _text(value: object, field: str) -> str:
    value = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(value, (list, tuple)) and all(isinstance(line, str) for line in value):
        value = "\n".join(value)
    if not isinstance(value, str):
        raise TestsFormatError(f"has to be a text or a list of lines, not {type(value).__name__}", field=field)
    try:
        value.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise TestsFormatError(f"holds what is no text: {error}", field=field) from None
    return value


def _name(layout: Mapping[str, Any], key: str) -> str:
    value = layout[key]
    if not isinstance(value, str) or not all(part.isidentifier() for part in value.split(".")):
        raise TestsFormatError(f"has to be the name of a function, not {value!r}", field=key)
    return value


def _read_calls(inputs: list[Any], outputs: list[Any]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    if all(isinstance(value, str) for value in inputs):
        arguments = [_from_lines(text, f"inputs[{i}]") for i, text in enumerate(inputs)]
        values = [_from_lines(text, f"outputs[{i}]") for i, text in enumerate(outputs)]
        for i, lines in enumerate(values):
            if len(lines) != 1:
                raise TestsFormatError("has to be one value in JSON, as the inputs are text", field=f"outputs[{i}]")
        return tuple(arguments), tuple(value for (value,) in values)
    arguments = [_plain(value, f"inputs[{i}]") for i, value in enumerate(inputs)]
    for i, value in enumerate(arguments):
        if not isinstance(value, list):
            raise TestsFormatError("has to be the list of positional arguments", field=f"inputs[{i}]")
    values = [_plain(value, f"outputs[{i}]") for i, value in enumerate(outputs)]
    if all(isinstance(value, list) and len(value) == 1 for value in values):
        values = [value[0] for value in values]
    return tuple(arguments), tuple(values)


def _from_lines(text: object, field: str) -> list[Any]:
    """One JSON value from each line."""
    if not isinstance(text, str):
        raise TestsFormatError(f"has to be a text in JSON, as the inputs are, not {type(text).__name__}", field=field)
    try:
        return [_plain(json.loads(line), field) for line in text.split("\n") if line.strip()]
    except (ValueError, RecursionError) as error:
        raise TestsFormatError(f"is not one JSON value a line: {error}", field=field) from None


def _plain(value: Any, field: str) -> Any:
    """A copy made of JSON's types only, tuples and arrays as lists."""
    value = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(value, int) and value.bit_length() > MAX_INT_BITS:
        raise TestsFormatError("holds an integer too long for JSON; write an assertion instead", field=field)
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)):
        return [_plain(item, field) for item in value]
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return {key: _plain(item, field) for key, item in value.items()}
    raise TestsFormatError(f"holds {value!r}, which is not a JSON value; write an assertion instead", field=field)


def _read_asserts(layout: Mapping[str, Any]) -> dict[str, Any]:
    key = "assert_case" if "assert_case" in layout else "asserts"
    blocks = [layout[key]] if key == "asserts" else _items(layout, key)
    sources = {key if key == "asserts" else f"{key}[{i}]": block for i, block in enumerate(blocks)}
    if layout.get("prelude") is not None:
        sources["prelude"] = layout["prelude"]
    for field, source in sources.items():
        if not isinstance(source, str):
            raise TestsFormatError(f"has to be Python source, not {type(source).__name__}", field=field)
        try:
            parse(source)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise TestsFormatError(f"is not Python: {error}", field=field) from None
    entry = None if layout.get("entry_point") is None else _name(layout, "entry_point")
    return {"asserts": tuple(blocks), "entry_point": entry, "prelude": layout.get("prelude")}


def _read_options(layout: Mapping[str, Any]) -> dict[str, Any]:
    options = {key: layout[key] for key in OPTIONS if key in layout}
    for key, value in options.items():
        if key == "compare":
            if value not in get_args(Comparison):
                raise TestsFormatError(f"is {value!r}; known are {get_args(Comparison)}", field=key)
        elif key == "case_sensitive":
            if not isinstance(value, bool):
                raise TestsFormatError(f"has to be true or false, not {value!r}", field=key)
        else:
            number = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
            if not number or value < 0 or (value == 0 and not key.endswith("_tol")):
                raise TestsFormatError(f"has to be a positive number, not {value!r}", field=key)
    if "memory_limit_mib" in options:
        options["memory_limit_mib"] = math.ceil(options["memory_limit_mib"])
    return options
