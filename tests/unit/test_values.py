"""Values come out of the sandbox as they were returned, or not at all."""

from __future__ import annotations

import datetime
import json
import math
import re
import time
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable
from decimal import Decimal
from enum import IntEnum
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from code_rlvr import Tests
from code_rlvr.verifier.compare import value_matches
from code_rlvr.verifier.guard.array import Array
from code_rlvr.verifier.guard.decoding import MAX_COMMAS, MAX_CONTAINERS, TooLarge, decode, require_buildable
from code_rlvr.verifier.guard.frames import MAX_FRAME_BYTES
from code_rlvr.verifier.guard.opaque import MAX_WHY, Opaque, OutOfReach, decode_answer, encode_answer
from code_rlvr.verifier.guard.values import MAX_ITEMS, encode

HASHABLE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.binary() | st.text(),
    lambda inner: st.lists(inner, max_size=3).map(tuple) | st.frozensets(inner, max_size=3),
    max_leaves=5,
)
VALUES = st.recursive(
    HASHABLE
    | st.complex_numbers(allow_nan=False)
    | st.text(st.characters())
    | st.binary().map(bytearray)
    | st.decimals(allow_nan=False)
    | st.fractions()
    | st.datetimes()
    | st.timedeltas(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(HASHABLE, inner, max_size=3)
        | st.sets(HASHABLE, max_size=3)
        | st.lists(inner, max_size=3).map(deque)
        | st.dictionaries(HASHABLE, inner, max_size=3).map(OrderedDict)
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


@pytest.mark.parametrize(
    "value",
    [
        range(3, 9, 2),
        Counter("aab"),
        OrderedDict(b=1, a=2),
        datetime.date(2024, 2, 29),
        datetime.time(23, 59, 1, 7),
        int,
        type(None),
        Decimal("-1.50"),
        Decimal("inf"),
        Fraction(10**30, 7),
    ],
)
def test_other_kinds_of_plain_data_come_back(value: Any) -> None:
    assert crossed(value) == value
    assert type(crossed(value)) is type(value)


def test_ordered_dicts_differ_by_their_order() -> None:
    assert crossed(OrderedDict(b=1, a=2)) != OrderedDict(a=2, b=1)
    assert crossed({"b": 1, "a": 2}) == OrderedDict(a=2, b=1)


@pytest.mark.parametrize(
    "value", [iter("ab"), (x for x in "ab"), map(str, "ab"), reversed("ba"), iter({"a": 1, "b": 2})]
)
def test_iterators_arrive_as_iterators_and_equal_no_list(value: Any) -> None:
    arrived = crossed(value)
    assert arrived != ["a", "b"]
    assert iter(arrived) is arrived
    assert list(arrived) == ["a", "b"]


def test_endless_iterators_are_refused() -> None:
    with pytest.raises(ValueError, match=f"more than {MAX_ITEMS} items"):
        encode(iter(int, 1))


def test_views_of_dicts_compare_as_python_says() -> None:
    assert crossed({1: 2}.keys()) == {1}
    assert crossed({1: 2}.items()) == {(1, 2)}
    assert crossed({1: 2}.values()) != [2]
    assert list(crossed({1: 2}.values())) == [2]


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
        (defaultdict(int, a=1), {"a": 1}),
        (namedtuple("Point", "x y")(1, 2), (1, 2)),
        (Colour.RED, 3),
    ],
)
def test_kinds_of_plain_types_come_back_as_those(value: Any, plain: Any) -> None:
    assert crossed(value) == plain
    assert type(crossed(value)) is type(plain)


def test_numpy_scalars_come_back_as_numbers() -> None:
    np = pytest.importorskip("numpy")
    assert crossed([np.int64(3), np.float64(0.5), np.bool_(True)]) == [3, 0.5, True]
    with pytest.raises(TypeError, match="cannot leave the sandbox"):
        encode(np.datetime64("2020-01-01"))


def test_numpy_arrays_can_be_read_and_equal_no_list() -> None:
    np = pytest.importorskip("numpy")
    array = crossed(np.arange(6).reshape(2, 3))
    assert isinstance(array, Array)
    assert (array.shape, len(array), array[1][2]) == ((2, 3), 2, 5)
    assert array.tolist() == [list(row) for row in array] == [[0, 1, 2], [3, 4, 5]]
    with pytest.raises(ValueError, match="ambiguous"):
        assert array == [[0, 1, 2], [3, 4, 5]]
    assert crossed(np.array([3])) == [3]
    assert crossed(np.array("text")).tolist() == "text"


@pytest.mark.parametrize("value", [object(), len, lambda: 0, math, [object()], {1: object()}, Array, ValueError])
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
        b'{"int": "' + b"f" * 5000 + b'"',
        b'{"range": [0, 1000001, 1]}',
        b'{"range": [0, 1, 0]}',
        b'{"Decimal": ["1e999999999"]}',
        b'{"Decimal": [[]]}',
        b'{"Fraction": [1, 0]}',
        b'{"date": [0, 0, 0]}',
        b'{"type": "type"}',
        b'{"type": "eval"}',
        b'{"array": ["<i8", [3], [1]]}',
        b'{"array": ["<i8", [-1], []]}',
        b'{"array": ["<i8", [1000000000, 1000000000], []]}',
        b'{"object": [0, "int", false]}',
        b"NaN",
        b"[1] [2]",
        b'{"set": [1, 1]}',
        b'{"frozenset": [1, true]}',
        b'{"dict": [["a", [[], []]], ["a", 1]]}',
        b'{"OrderedDict": [[1, 2], [1.0, 2]]}',
        b'{"Counter": [["a", 2], ["a", 1]]}',
        b'{"dict_keys": [1, 1]}',
        b'{"dict_items": [{"tuple": [1, 2]}, {"tuple": [1, 3]}]}',
        b'{"tuple": [[], []], "tuple": []}',
        b'{"tuple": [{}], "tuple": []}',
    ],
)
def test_forged_values_are_an_error_and_nothing_worse(forged: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  any message will do
        decode(forged)


def test_a_large_value_does_not_meet_the_bound_of_a_frame_by_itself() -> None:
    assert len(encode([*range(1_000_000)])) < MAX_FRAME_BYTES


def test_keys_that_are_equal_to_nothing_come_back() -> None:
    nan = float("nan")
    for value in ({float("nan"), nan, 1}, {nan: 1, float("nan"): 2}, {(nan,), (float("nan"),)}):
        assert len(crossed(value)) == len(value)


def listed(item: bytes, count: int) -> bytes:
    return b"[" + b",".join([item] * count) + b"]"


@pytest.mark.parametrize(
    "value",
    [
        [[i, -i] for i in range(200_000)],
        {(i, -i) for i in range(200_000)},
        [*range(1_000_000)],
        {i: [] for i in range(200_000)},
        ["[{,"] * 500_000,
        "[{," * 2_000_000,
        '\\"[[' * 1_000_000,
        "\\" * 1_000_001 + '"[{,' * 500_000,
    ],
    ids=["lists", "tuples", "numbers", "dict", "texts", "brackets", "quotes", "backslashes"],
)
def test_large_honest_answers_come_back(value: Any) -> None:
    assert answered(value) == value


@pytest.mark.parametrize(
    "forged",
    [
        listed(b"[]", 5_000_000),
        listed(b'{"deque":[]}', 1_200_000),
        listed(b"0", 7_000_000),
        listed(b'""', 5_000_000),
        listed(b'","', 4_000_000),
        listed(b'"\\\\",[]', 1_700_000),
        listed(b'"\\\\\\"",[]', 1_300_000),
        b'{"dict_values":' + listed(b"0", 7_000_000) + b"}",
        b'{"dict":[["a",' + listed(b"[]", 1_300_000) + b'],["a",1]]}',
        b'{"opaque":' + listed(b"[]", 5_000_000) + b"}",
        listed(b"[]", 5_000_000) + b'"',
    ],
    ids=lambda forged: forged[:12].decode(),
)
def test_an_answer_of_too_many_parts_is_refused_before_it_is_built(forged: bytes) -> None:
    started = time.thread_time()
    with pytest.raises(TooLarge):
        decode_answer(forged)
    assert time.thread_time() - started < 0.8  # building the first takes 4 s


def test_the_bounds_of_an_answer_are_what_they_say() -> None:
    require_buildable(listed(b"[]", MAX_CONTAINERS - 1))
    require_buildable(listed(b'"[{,"', MAX_COMMAS + 1))
    for forged in (listed(b"[]", MAX_CONTAINERS), listed(b'"[{,"', MAX_COMMAS + 2)):
        with pytest.raises(TooLarge):
            require_buildable(forged)


def answered(value: Any) -> Any:
    """What the judge gets for a value that a call returned."""
    return decode_answer(encode_answer(value).encode("ascii"))


class Truth:
    """An object whose truth is whatever a function says."""

    def __init__(self, says: Callable[[], Any]) -> None:
        self._says = says

    def __bool__(self) -> Any:
        return self._says()


def cyclic() -> list[Any]:
    endless: list[Any] = []
    endless.append(endless)
    return endless


def raised(error: type[BaseException], text: str = "no truth") -> Any:
    raise error(text)


@given(VALUES)
def test_an_answer_of_plain_data_is_that_data(value: Any) -> None:
    assert encode_answer(value) == encode(value)
    assert answered(value) == value


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (re.match("a", "a"), "type Match"),
        (object(), "type object"),
        (len, "type builtin_function_or_method"),
        (lambda: 0, "type function"),
        (math, "type module"),
        (ValueError, "type type"),
        ([object()], "type object"),
        ({1: {2: len}}, "type builtin_function_or_method"),
        ((object() for _ in "ab"), "type object"),
        (iter(int, 1), f"more than {MAX_ITEMS} items"),
        (cyclic(), "nested too deeply"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_of_a_value_that_cannot_cross_its_truth_arrives_and_why_it_cannot(value: Any, why: str) -> None:
    opaque = answered(value)
    assert type(opaque) is Opaque
    assert bool(opaque) is True
    assert why in str(opaque.out_of_reach())


@pytest.mark.parametrize("says", [False, True])
def test_an_object_is_as_true_as_it_says_and_is_asked_once(says: bool) -> None:
    asked = []
    opaque = answered(Truth(lambda: asked.append(1) or says))
    assert [bool(opaque), bool(opaque), not opaque] == [says, says, not says]
    assert asked == [1]


@pytest.mark.parametrize("says", [lambda: raised(ValueError), lambda: raised(RecursionError), lambda: 2])
def test_an_object_that_has_no_truth_still_is_not_none(says: Callable[[], Any]) -> None:
    opaque = answered(Truth(says))
    assert opaque.compare("IsNot", None)
    with pytest.raises(OutOfReach, match=r"its truth value: (Value|Recursion|Type)Error: "):
        bool(opaque)


@pytest.mark.parametrize("error", [MemoryError, SystemExit, KeyboardInterrupt])
def test_what_ends_a_program_ends_it_while_it_says_what_is_true(error: type[BaseException]) -> None:
    with pytest.raises(error):
        encode_answer(Truth(lambda: raised(error)))


class Anything:
    """Equals everything, None included."""

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = None  # type: ignore[assignment]


class Nothing:
    """Differs from nothing."""

    def __ne__(self, other: object) -> bool:
        return False


@pytest.mark.parametrize("value", [object(), re.match("a", "a"), math, [len], {1: len}, (len, len), {len}, Truth(bool)])
def test_what_compares_as_python_itself_does_never_equals_none(value: Any) -> None:
    assert answered(value).compare("NotEq", None) is (value != None) is True  # noqa: E711
    assert answered(value).compare("Eq", None) is (value == None) is False  # noqa: E711


@pytest.mark.parametrize("value", [Anything(), Nothing()])
def test_whether_an_object_with_an_equality_of_its_own_equals_none_is_not_known(value: Any) -> None:
    for symbol in ("Eq", "NotEq"):
        with pytest.raises(OutOfReach):
            answered(value).compare(symbol, None)


def test_an_opaque_value_equals_no_expected_output() -> None:
    opaque = answered(Anything())
    for expected in (None, True, False, 0, 1, "", [], [1], {}, {"opaque": ["", True, True]}):
        assert not value_matches(opaque, expected, Tests.call("f", [[]], [expected]))


def test_a_reason_is_short_and_can_be_written_down() -> None:
    name = "\ud800\n" * 10**5
    (why, *_) = json.loads(encode_answer(type("Long", (), {})()))["opaque"]
    assert why.startswith("a value of type Long cannot leave the sandbox")
    text = encode_answer(Truth(lambda: raised(ValueError, name)))
    assert len(text) < 6 * MAX_WHY + 100
    str(decode_answer(text.encode("ascii")).out_of_reach()).encode("ascii")


@pytest.mark.parametrize(
    "forged",
    [
        b'{"opaque": null}',
        b'{"opaque": true}',
        b'{"opaque": []}',
        b'{"opaque": ["", true]}',
        b'{"opaque": ["", true, true, true]}',
        b'{"opaque": ["", 1, true]}',
        b'{"opaque": ["", "yes", true]}',
        b'{"opaque": ["", true, null]}',
        b'{"opaque": ["", true, {}]}',
        b'{"opaque": [[], true, true]}',
        b'{"opaque": ["' + b"x" * (MAX_WHY + 1) + b'", true, true]}',
        b'{"opaque": ["", true, true], "int": "1"}',
        b'{"tuple": [{"opaque": ["", true, true]}]}',
        b'[{"opaque": ["", true, true]}]',
        b'{"opaque": ["", {"opaque": ["", true, true]}, true]}',
    ],
)
def test_a_forged_answer_is_an_error_and_nothing_worse(forged: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  any message will do
        decode_answer(forged)


def test_only_a_whole_answer_can_be_opaque_and_no_argument() -> None:
    for text in (b'{"opaque": ["", true, true]}', b'[{"opaque": ["", true, true]}]'):
        with pytest.raises(ValueError, match="the tag 'opaque'"):
            decode(text)
