"""Values come out of the sandbox as they were returned, or not at all."""

from __future__ import annotations

import math
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from enum import IntEnum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from code_rlvr.verifier.guard import encode
from code_rlvr.verifier.values import decode

HASHABLE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.binary() | st.text(),
    lambda inner: st.lists(inner, max_size=3).map(tuple) | st.frozensets(inner, max_size=3),
    max_leaves=5,
)
VALUES = st.recursive(
    HASHABLE | st.complex_numbers(allow_nan=False) | st.text(st.characters()),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(HASHABLE, inner, max_size=3)
        | st.sets(HASHABLE, max_size=3)
    ),
    max_leaves=10,
)


def crossed(value: Any) -> Any:
    return decode(encode(value).encode("ascii"))


@given(VALUES)
def test_plain_values_come_back_with_their_types(value: Any) -> None:
    assert crossed(value) == value
    assert repr(type(crossed(value))) == repr(type(value))


def test_integers_of_any_length_come_back() -> None:
    assert crossed([10**6000, -(10**6000)]) == [10**6000, -(10**6000)]


@pytest.mark.parametrize("value", [2**62, -(2**62), "\ud800", "\0", -0.0, float("inf"), b"\xff"])
def test_values_that_json_lacks_come_back(value: Any) -> None:
    assert repr(type(crossed(value))) == repr(type(value))
    assert crossed(value) == value


def test_nan_comes_back() -> None:
    assert math.isnan(crossed(float("nan")))


class Colour(IntEnum):
    RED = 3


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (Counter("aab"), {"a": 2, "b": 1}),
        (OrderedDict(a=1), {"a": 1}),
        (defaultdict(int, a=1), {"a": 1}),
        (namedtuple("Point", "x y")(1, 2), (1, 2)),
        (Colour.RED, 3),
        (bytearray(b"a"), b"a"),
    ],
)
def test_kinds_of_plain_types_come_back_as_those(value: Any, plain: Any) -> None:
    assert crossed(value) == plain
    assert type(crossed(value)) is type(plain)


def test_numpy_scalars_come_back_as_numbers() -> None:
    np = pytest.importorskip("numpy")
    assert crossed([np.int64(3), np.float64(0.5), np.bool_(True)]) == [3, 0.5, True]
    with pytest.raises(TypeError, match="cannot leave the sandbox"):
        encode(np.arange(3))


@pytest.mark.parametrize("value", [object(), deque([1]), range(3), (x for x in "a"), len, [object()], {1: object()}])
def test_anything_else_is_refused_with_its_type(value: Any) -> None:
    with pytest.raises(TypeError, match="cannot leave the sandbox"):
        encode(value)


def test_endless_nesting_is_refused() -> None:
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(ValueError, match="nested too deeply"):
        encode(endless)


@pytest.mark.parametrize(
    "forged",
    [
        b"",
        b"{",
        b"\xff",
        b'{"object": 1}',
        b'{"int": 1}',
        b'{"int": "zz"}',
        b'{"dict": [[[], 1]]}',
        b'{"dict": [1]}',
        b'{"set": [[]]}',
        b'{"set": 1}',
        b'{"complex": [1]}',
        b'{"list": [], "tuple": []}',
        b"{}",
        b"[" * 100_000,
        b'{"tuple": ' * 5000 + b"[]" + b"}" * 5000,
        b"1" * 5000,
    ],
)
def test_forged_values_are_an_error_and_nothing_worse(forged: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  any message will do
        decode(forged)
