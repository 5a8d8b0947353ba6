"""Checkers run for real, both processes forked from this one, without a sandbox; no solution forges a verdict."""

from __future__ import annotations

import contextlib
import functools
import io
import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from code_rlvr import JudgeFault, Tests, TestsFormatError, Verdict
from code_rlvr.verifier.assertions.cases import take_apart
from code_rlvr.verifier.assertions.checker import CheckedCase, CheckerUnit, Findings, relay
from code_rlvr.verifier.guard.dialogue import checker_names, serve
from code_rlvr.verifier.guard.frames import receive, send
from code_rlvr.verifier.guard.pytest_stand_in import module as stand_in

RIGHT, WRONG, ERROR, CUT = (
    Verdict.ACCEPTED,
    Verdict.WRONG_ANSWER,
    Verdict.RUNTIME_ERROR,
    Verdict.TIME_LIMIT_EXCEEDED,
)


@contextlib.contextmanager
def forked(work: Callable[[int], None]) -> Iterator[socket.socket]:
    """A process that does some work with the other end of a socket, and dies with the block."""
    ours, theirs = socket.socketpair()
    pid = os.fork()
    if pid == 0:
        try:
            ours.close()
            sys.stdin, sys.stdout, sys.stderr = io.StringIO(), io.StringIO(), io.StringIO()
            work(theirs.fileno())
        finally:
            os._exit(0)
    theirs.close()
    try:
        yield ours
    finally:
        ours.close()
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def check(unit: CheckerUnit, prelude: str, fd: int) -> None:
    names: dict[str, Any] = {"__name__": "__main__", **checker_names(fd, unit.stubs)}
    exec(compile(prelude, "<prelude>", "exec"), names)
    exec(compile(unit.source, "<checker>", "exec"), names)


def solve(program: str, prelude: str, fd: int) -> None:
    names: dict[str, Any] = {"__name__": "__main__"}
    sys.modules["__main__"].__dict__.update(names)
    exec(compile(prelude, "<prelude>", "exec"), names)
    exec(compile(program, "<solution>", "exec"), names)
    serve(fd, names)


def run(
    unit: CheckerUnit, program: str | Callable[[int], None], prelude: str | None = None, timeout_s: float = 20
) -> Findings:
    answer = program if callable(program) else lambda fd: solve(program, prelude or "", fd)
    with forked(lambda fd: check(unit, prelude or "", fd)) as checker, forked(answer) as solution:
        return relay(checker, solution, time.monotonic() + timeout_s)


def units(source: str, entry_point: str | None = "f", prelude: str | None = None) -> list[CheckedCase]:
    cases = take_apart(Tests("assert", asserts=(source,), entry_point=entry_point, prelude=prelude))
    return [case for case in cases if isinstance(case, CheckedCase)]


def verdicts(
    source: str,
    program: str | Callable[[int], None],
    entry_point: str | None = "f",
    prelude: str | None = None,
) -> list[Verdict]:
    """The verdicts on the assertions that were not taken apart."""
    found = units(source, entry_point, prelude)
    assert found, "nothing is left for a checker"
    findings = run(found[0].unit, program, prelude)
    if findings.unsupported:
        raise TestsFormatError(findings.unsupported)
    cut = None if findings.finished else CUT
    return [verdict for verdict, _ in findings.verdicts(found[0].unit, cut)]


IDENTITY = "def f(x):\n    return x\n"
SWALLOWING = "def f(g, x):\n    try: g()\n    except AssertionError: pass\n    return x"


@pytest.mark.parametrize(
    ("source", "right", "wrong"),
    [
        ("for i in range(3):\n    assert f(i) == i", IDENTITY, "def f(x): return 0"),
        ("assert all(f(x) == x for x in range(5))", IDENTITY, "def f(x): return 0"),
        ("assert f(f(2)) == 2", IDENTITY, "def f(x): return x + 1"),
        ("x = [3, 1]\nf(x)\nassert x == [1, 3]", "def f(x): x.sort()", "def f(x): sorted(x)"),
        ("x = {'a': [1]}\nf(x)\nassert x == {'a': [1, 2]}", "def f(x): x['a'].append(2)", "def f(x): x['a'].append(3)"),
        ("x = bytearray(b'a')\nf(x)\nassert x == b'ab'", "def f(x): x += b'b'", "def f(x): pass"),
        ("x = {1}\nf(x)\nassert x == {1, 2}", "def f(x): x.add(2)", "def f(x): x.add(3)"),
        ("x = [1]\nassert f(x) is x", IDENTITY, "def f(x): return [1]"),
        ("x = [[3], [1]]\ny = x[0]\nf(x)\nassert x[1] is y and y == [3]", "def f(x): x.sort()", "def f(x): pass"),
        ("x = [1]\nassert f(x, x) == [1, 2]", "def f(a, b):\n    a.append(2)\n    return b", "def f(a, b): return b"),
        ("def g(x): return x + 1\nassert g(f(1)) == 2", IDENTITY, "def f(x): return 0"),
        ("assert f(lambda x: x + 1, 3) == 4", "def f(g, x): return g(x)", "def f(g, x): return x"),
        ("assert f([2, 3, 1], key=lambda x: -x) == [3, 2, 1]", "def f(x, key): return sorted(x, key=key)", IDENTITY),
        (
            ("for t in [int]:\n    assert f((1, b'a'), t) == (1,) and f((1, b'a'), bytes) == (b'a',)"),
            "def f(x, t): return tuple(i for i in x if type(i) is t)",
            IDENTITY,
        ),
        ("add = f(5)\nassert add(3) == 8", "def f(n): return lambda x: x + n", "def f(n): return lambda x: x"),
        (
            ("g = f()\nassert [next(g) for _ in range(4)] == [0, 1, 2, 3]"),
            "from itertools import count as f",
            "def f(): yield 0",
        ),
        (
            "assert list(f(3)) == [0, 1, 2] and f(3) != [0, 1, 2]",
            "def f(n): yield from range(n)",
            "def f(n): return [0, 1, 2]",
        ),
        ("import numpy as np\nassert f(np.arange(3)).sum() == 6", "def f(a): return a * 2", IDENTITY),
        ("import pytest\nassert f(1) == pytest.approx(0.3333333)", "def f(x): return 1 / 3", IDENTITY),
        (
            (
                "import pytest\n@pytest.mark.parametrize('a, b', [(1, 2), (2, 4)])\n"
                "def test(a, b):\n    assert f(a) == b"
            ),
            "def f(x): return 2 * x",
            "def f(x): return 2",
        ),
        (
            (
                "from contextlib import redirect_stdout\nimport io\no = io.StringIO()\n"
                "with redirect_stdout(o):\n    f()\nassert o.getvalue() == 'hi\\n'"
            ),
            "def f(): print('hi')",
            "def f(): print('ho')",
        ),
        (
            ("import io, sys\nsys.stdin = io.StringIO('1 2\\n3')\nassert f() == '1 2'\nassert sys.stdin.read() == '3'"),
            "def f(): return input()",
            "def f(): return open(0).read()",
        ),
        (
            "calls = []\nassert f(lambda: calls.append(1)) is None\nassert calls == [1]",
            "def f(g): g()",
            "def f(g): pass",
        ),
        ("def g(): assert False\nfor x in [1]:\n    assert f(g, x) == 1", "def f(g, x): return x", SWALLOWING),
        ("for x in ['1 + 1']:\n    assert f(eval, x) == 2", "def f(e, x): return e(x)", "def f(e, x): return x"),
        (
            (
                "import unittest\nclass T(unittest.TestCase):\n    def setUp(self):\n"
                "        self.x = 3\n    def test_a(self):\n"
                "        self.assertEqual(f(self.x), 3)\nunittest.main()"
            ),
            IDENTITY,
            "def f(x): return 2",
        ),
    ],
)
def test_every_form_passes_a_right_program_and_fails_a_wrong_one(source: str, right: str, wrong: str) -> None:
    assert set(verdicts(source, right)) == {RIGHT}
    assert set(verdicts(source, wrong)) != {RIGHT}
    assert set(verdicts(source, "def f(*args, **kwargs): raise OSError('no')")) <= {ERROR, WRONG}
    assert set(verdicts(source, "import os\ndef f(*args, **kwargs): os._exit(0)")) == {CUT}


STACK = """
class Empty(ValueError):
    def __init__(self, code):
        super().__init__('empty')
        self.code = code

class Stack:
    def __init__(self): self.items = []
    def push(self, x): self.items.append(x)
    def pop(self):
        if not self.items: raise Empty(3)
        return self.items.pop()
    def __len__(self): return len(self.items)
    def __eq__(self, other): return self.items == other.items
    def __hash__(self): return 1
"""


@pytest.mark.parametrize(
    "source",
    [
        (
            "s = Stack()\ns.push(1)\ns.push([2])\nassert s.pop() == [2]\nassert len(s) == 1\n"
            "assert s.items == [1]\nassert bool(s)"
        ),
        (
            "a, b = Stack(), Stack()\nassert a == b\na.push(1)\n"
            "assert a != b and isinstance(a, Stack) and type(a).__name__ == 'Stack'"
        ),
        "s = Stack()\ns.items = [4]\nassert s.pop() == 4 and not hasattr(s, 'other')",
        (
            "import pytest\ns = Stack()\nwith pytest.raises(Empty, match='empt') as caught:\n"
            "    s.pop()\nassert caught.value.code == 3"
        ),
        (
            "try:\n    Stack().pop()\nexcept Empty as e:\n"
            "    assert e.code == 3 and isinstance(e, ValueError)\nelse:\n"
            "    raise AssertionError"
        ),
        (
            "try:\n    Stack().pop()\n    assert False, 'nothing was raised'\n"
            "except ValueError as e:\n    assert str(e) == 'empty'"
        ),
        "import solution\ntry:\n    solution.Stack().pop()\n    assert False\nexcept solution.Empty:\n    pass",
        "from solution import Stack as S, Empty as E\ntry:\n    S().pop()\n    assert False\nexcept E:\n    pass",
        (
            "import unittest\nclass T(unittest.TestCase):\n    def test_a(self):\n"
            "        with self.assertRaises(ValueError):\n            Stack().pop()"
        ),
        "import copy\na = Stack()\nb = copy.deepcopy(a)\na.push(1)\nassert len(b) == 0",
        "def test_a(n=2):\n    stacks = {Stack() for _ in range(n)}\n    assert len(stacks) == 1\ntest_a()",
    ],
)
def test_objects_of_the_solution_stay_there_and_can_be_used(source: str) -> None:
    assert set(verdicts(source, STACK, entry_point="Stack")) == {RIGHT}


COUNTED = """
class C:
    def __init__(self, n): self.n = n
    def __iter__(self): return iter(range(self.n))
    def __eq__(self, other): return self.n == other.n
    def __mul__(self, k): return C(self.n * k)
    __rmul__ = __mul__
    def __sub__(self, k): return 0
"""


def test_an_object_of_a_class_that_tests_name_computes_with_plain_data_and_is_not_compared_with_it() -> None:
    for assertion in ("C(3) == C(3)", "list(C(3)) == [0, 1, 2]", "C(2) * 2 == C(4)", "2 * C(2) == C(4)", "1 in C(3)"):
        assert verdicts(f"assert {assertion}", COUNTED, entry_point="C") == [RIGHT]
    wrong = COUNTED.replace("self.n * k", "self.n").replace("== other.n", "is not None")
    for assertion in ("C(3) == 3", "abs(C(3) - 3) < 1", "C(3) * 2 == 6"):
        assert verdicts(f"assert {assertion}", wrong, entry_point="C") != [RIGHT]


def test_values_that_are_objects_too_are_both() -> None:
    program = (
        "from collections import namedtuple\nfrom enum import Enum\nPoint = namedtuple('Point', 'x y')\n"
        "class Colour(str, Enum):\n    RED = 'red'\ndef f(p): return Point(p.y, p.x)\ndef g(): return Colour.RED\n"
    )
    source = (
        "p = f(Point(1, 2))\nassert p == (2, 1) and p.x == 2 and p == Point(2, 1)\n"
        "assert g() == 'red' and g().name == 'RED'"
    )
    assert verdicts(source, program) == [RIGHT, RIGHT]


def test_classes_of_the_prelude_are_the_solution_s_own() -> None:
    prelude = "class Node:\n    def __init__(self, value, next=None):\n        self.value, self.next = value, next\n"
    helper = "def items(node):\n    while node:\n        yield node.value\n        node = node.next\n"
    program = (
        "def f(node):\n    last = None\n    while node:\n"
        "        node.next, last, node = last, node, node.next\n    return last"
    )
    assert verdicts("assert list(items(f(Node(1, Node(2))))) == [2, 1]", program, prelude=prelude + helper) == [RIGHT]


def test_tests_may_evaluate_their_own_text_before_they_call_the_solution() -> None:
    source = (
        "def check(g):\n    n = 3\n    inputs = [eval(f'[{i}]') for i in '12']\n"
        "    for x in inputs:\n        assert g(x) == x"
    )
    assert verdicts(source + "\n    assert eval", IDENTITY) == [RIGHT, RIGHT]


def test_the_run_goes_on_after_a_failure() -> None:
    source = (
        "def same(a, b):\n    assert a == b\nfor i in [1]:\n    assert f(i) == 2\n"
        "    assert f(i) == 1\nsame(f(3), 4)\nsame(f(3), 3)"
    )
    assert verdicts(source, IDENTITY) == [WRONG, RIGHT, WRONG, RIGHT]


def test_an_exception_fails_its_statement_only() -> None:
    source = "for i in [0]:\n    assert 1 // f(i) == 2\nfor i in [0]:\n    assert 1 // f(1 + i) == 1"
    assert verdicts(source, IDENTITY) == [WRONG, RIGHT]
    assert verdicts(source, "def f(x): return 1 // x") == [ERROR, RIGHT]


def test_a_statement_without_assertions_fails_the_next_one() -> None:
    source = "s = f(0)\nfor i in [1]:\n    assert f(i) == i\nfor i in [1]:\n    assert f(i) == i"
    assert verdicts(source, "def f(x):\n    if not x: raise ValueError\n    return x") == [ERROR, RIGHT]


def test_an_exception_that_tests_print_away_is_a_failure() -> None:
    source = "try:\n    assert f(1) == f(1)\nexcept Exception as e:\n    print(e)"
    assert verdicts(source, IDENTITY) == [RIGHT]
    assert verdicts(source, "def f(x): raise ValueError") == [ERROR]
    assert verdicts(source, "def f(x): raise SystemExit(0)") == [ERROR]


def test_an_assertion_that_is_not_reached_does_not_pass() -> None:
    source = "def test_a():\n    if f(1):\n        return\n    assert f(2) == 2"
    assert verdicts(source, IDENTITY) == [ERROR]


def test_a_loop_that_counts_on_its_assertion_ends() -> None:
    assert verdicts("i = 0\nwhile i < 5:\n    i = f(i)\n    assert i > 0", "def f(x): return 0") == [WRONG]


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("class P:\n    pass\nassert f(P()) == 1", "type P"),
        ("from collections import namedtuple\nP = namedtuple('P', 'x')\nassert f([P(1)]) == 1", "P .* plain tuple"),
        ("import enum\nclass E(enum.IntEnum):\n    A = 1\nassert f(E.A) == 1", "E .* plain int"),
        ("class L(list):\n    pass\nassert f(L()) == []", "L .* plain list"),
        ("for x in [1]:\n    assert eval(f('1')) == 1", "use eval"),
        ("import not_installed_anywhere\nfor i in [1]:\n    assert f(i)", "not installed"),
    ],
)
def test_what_a_checker_cannot_do_is_no_fault_of_the_program(source: str, why: str) -> None:
    with pytest.raises(TestsFormatError, match=why):
        verdicts(source, IDENTITY)


@pytest.mark.parametrize(
    ("got", "expected", "equal"),
    [
        ([1.0, 2], "[1, 2.0000001]", True), ((1.0,), "[1]", True), ([1], "[1, 2]", False), ([], "[]", True),
        ({1.0, 2.0}, "[1.0, 2.0]", False), (frozenset([1.0]), "[1.0]", False), ({1.0: 2}, "[1.0]", False),
        ({"a": 1.0}, "{'a': 1.0000001}", True), ({"a": 1.0}, "{'b': 1.0}", False), ("a", "'a'", True),
        ([[1.0], [2.0]], "[[1.0], [2.0]]", True), ([[1.0], 2.0], "[[1.0], [2.0]]", False), (True, "2", False),
        (float("nan"), "float('nan')", False), (float("nan"), "float('nan'), nan_ok=True", True),
        ("nan", "float('nan'), nan_ok=True", False), (None, "1.0", False), ([1.0], "np.array([1.0000001])", True),
        ([], "np.empty((0, 3))", False), ([], "np.empty(0)", True), (1.0, "np.array([1.0])", False),
        ([[1.0, 2.0]], "np.array([1.0, 2.0])", False), ([1.0], "np.array([])", False),
    ],
)  # fmt: skip
def test_what_is_close_is_equal_to_what_pytest_expects(got: object, expected: str, equal: bool) -> None:
    np = pytest.importorskip("numpy")
    names = {"approx": stand_in.__dict__["approx"], "np": np, "got": got}
    assert eval(f"got == approx({expected})", names) is equal
    assert eval(f"approx({expected}) == got", names) is equal
    if isinstance(got, list) and got and not any(isinstance(item, list) for item in got):
        assert eval(f"np.array(got) == approx({expected})", names) is equal


@pytest.mark.parametrize("dtype", ["<M8", "<V4", "", "i", "<", "i8,i8", "?"])
def test_an_array_of_anything_but_plain_data_is_not_made(dtype: str) -> None:
    reply = framed(b'["value", {"array": ["%s", [1], ["1"]]}, [], null, null]' % dtype.encode())
    assert verdicts("for x in [1]:\n    assert f(f(x)) == 1", raw(reply)) in ([ERROR], [WRONG])


AGREEABLE = """
class Agreeable{base}:
    def __eq__(self, other): return True
    def __ne__(self, other): return True
    def __lt__(self, other): return True
    __le__ = __gt__ = __ge__ = __contains__ = __lt__
    def __hash__(self): return hash({{}}.get)
    def __sub__(self, other): return 0
    __rsub__ = __add__ = __radd__ = __mul__ = __mod__ = __abs__ = __sub__
    def __iter__(self): return iter([Agreeable()])
    def __getattr__(self, name): return Agreeable()
    def __instancecheck__(self, other): return True
def f(*args): return Agreeable()
def g(*args): return [Agreeable()]
"""


@pytest.mark.parametrize("base", ["", "(int)", "(str)", "(list)", "(tuple)", "(dict)"])
@pytest.mark.parametrize(
    "assertion",
    [
        "f(x) == 3", "3 == f(x)", "f(x) in [3, 4]", "3 in f(x)", "f(x) != 0 and f(x) == 3", "abs(f(x) - 3) < 1e-6",
        "f(x) > 10 ** 6", "g(x) == [3]", "{3: 1}[f(x)]", "{3} == {f(x)}", "sorted(f(x)) == [1, 2]",
        "isinstance(f(x), float)",
        "f(x).value == 3", "f(x) + 1 == 4", "pytest.approx(3) == f(x)", "(f(x), 1) == (3, 1)", "not [3] != g(x)",
    ],
)  # fmt: skip
def test_an_object_that_agrees_with_everything_passes_nothing(base: str, assertion: str) -> None:
    source = f"for x in [1]:\n    assert {assertion}"
    assert RIGHT not in verdicts(source, AGREEABLE.format(base=base))


def raw(*parts: bytes) -> Callable[[int], None]:
    """A solution that answers every call with these bytes."""

    def answer(fd: int) -> None:
        while receive(fd) is not None:
            for part in parts:
                os.write(fd, part)

    return answer


def framed(text: bytes) -> bytes:
    return len(text).to_bytes(4, "big") + text


@pytest.mark.parametrize(
    "text",
    [
        b"", b"garbage", b"\xff\xff", b"R[]", b"[]", b"null", b'["value"]', b'["value", 1, 2, 3, 4]', b'["done", 0]',
        b'R["done", 0]', b'R["finish"]', b'["finish"]', b'["value", {"object": [0, "x y", false]}, [], null, null]',
        b'["value", {"object": ["a", "b", false]}, [], null, null]', b'["value", {"arg": 7}, [], null, null]',
        b'["value", 1, [[0, {"dict": []}]], null, null]', b'["raised", [[], 1, 1, {"dict": []}], [], null, null]',
        b'["raised", [["HungUp"], [], "", {"dict": [["relayed", 0], ["__class__", 3]]}], [], null, null]',
        b'["raised", [["AssertionError", "Exception"], [], "", {"dict": []}], [], null, null]',
        b'["raised", [["SystemExit", "BaseException"], [0], "0", {"dict": []}], [], null, null]',
        b'["callback", [0, [], {"dict": []}], [], null, null]', b'["value", {"type": "eval"}, [], null, null]',
        b"[" * 10_000, b'["value", {"kept": [{"object": [0, "A", false]}, [1]]}, [], null, null]',
    ],
)  # fmt: skip
def test_an_answer_that_is_garbage_passes_nothing(text: bytes) -> None:
    source = "for x in [[1]]:\n    assert f(x) == [3]\nassert f(f(1)) == 3"
    assert RIGHT not in verdicts(source, raw(framed(text)))


@pytest.mark.parametrize("part", [b"\xff\xff\xff\xff", b"\0\0\0\x09abc", b"\0\0"])
def test_a_solution_that_breaks_off_or_announces_too_much_is_cut(part: bytes) -> None:
    def answer(fd: int) -> None:
        receive(fd)
        os.write(fd, part)

    source = "for x in [1]:\n    assert f(x) == 3"
    (case,) = units(source)
    findings = run(case.unit, answer)
    assert findings.hung_up
    assert not findings.finished
    assert findings.verdicts(case.unit, ERROR, "hung up") == [(ERROR, "hung up")]


def test_answers_that_nobody_asked_for_are_taken_for_later_ones_and_for_nothing_else() -> None:
    reply = framed(b'["value", 1, [], null, null]')
    source = "for x in [1]:\n    assert f(x) == 1\nfor x in [1]:\n    assert f(x) == 2"
    assert verdicts(source, raw(reply, reply, framed(b'R["done", 1]'))) == [RIGHT, WRONG]


def test_a_solution_that_ends_in_a_call_passes_only_what_was_done() -> None:
    source = (
        "for x in [1]:\n    assert f(x) == 1\ntry:\n    f(0)\n    assert False\nexcept:\n"
        "    pass\nfor x in [1]:\n    assert f(x) == 1"
    )
    program = "import os\ndef f(x):\n    if not x: os._exit(0)\n    return x"
    assert verdicts(source, program) == [RIGHT, CUT, CUT]


def test_a_solution_that_is_silent_meets_the_deadline() -> None:
    (case,) = units("for x in [1]:\n    assert f(x) == 3")
    started = time.monotonic()
    findings = run(case.unit, "import time\ndef f(x): time.sleep(60)", timeout_s=0.5)
    assert findings.timed_out
    assert findings.calls == 1
    assert time.monotonic() - started < 10


def test_values_too_long_to_cross_are_an_exception_in_the_test() -> None:
    source = "for n in [2, 10 ** 8]:\n    assert len(f(n)) == n"
    assert verdicts(source, "def f(n): return 'a' * n") == [ERROR]


def test_a_checker_that_ends_by_itself_is_a_fault_of_the_judge() -> None:
    unit = CheckerUnit(
        "__begin__(globals())\nraise SystemExit", {"functions": {}, "exceptions": {}, "modules": []}, (0,), ("",)
    )
    findings = run(unit, IDENTITY)
    assert findings.began
    assert not findings.finished
    with pytest.raises(JudgeFault):
        findings.verdicts(unit, None)


def test_a_checker_that_sends_what_it_may_not_is_a_fault_of_the_judge() -> None:
    for frame in (b"?", b'R["done", []]', b"R", b'R["escaped", 1, "FINE", ""]'):
        checks = functools.partial(send, frame=frame)
        with forked(checks) as checker, forked(raw()) as solution, pytest.raises(JudgeFault):
            relay(checker, solution, time.monotonic() + 10)
