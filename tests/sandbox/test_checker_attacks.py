"""Planted programs against checkers, assertions that run beside the solution: by the protocol itself and by values.

A program must not pass what a right comparison rejects, nor dodge its 0 by a fault of the judge or of the tests, nor
hold the judge up.  Then programs that are honest: what plain Python says of tests and program in one process is what
the judge has to say.  Holes that are open are expected failures; the reason says where.
Not covered: attacks on the sandbox itself (`test_attacks`), checkers without one (`tests/unit/test_checker`).
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
import threading
import time
import venv
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from code_rlvr import Judge, Judgement, Limits, Tests, TestsFormatError, Verdict
from tests.sandbox.checker_pairs import PAIRS

WA, RE, OK = Verdict.WRONG_ANSWER, Verdict.RUNTIME_ERROR, Verdict.ACCEPTED
TLE, MLE, OLE = Verdict.TIME_LIMIT_EXCEEDED, Verdict.MEMORY_LIMIT_EXCEEDED, Verdict.OUTPUT_LIMIT_EXCEEDED
FAILURES = {WA, RE, TLE, MLE, OLE}
LIMITS = Limits(cpu_s=0.4, wall_s=1.0, memory_mib=256, output_mib=1.0, deadline_s=10)
PATIENT = Limits(cpu_s=2, wall_s=8, memory_mib=512, output_mib=1.0)

# Speaks the protocol itself, at import, so that it is never asked by the guard.
RAW = """
import os, sys
def read(n):
    b = b""
    while len(b) < n:
        part = os.read(3, n - len(b))
        if not part: os._exit(0)
        b += part
    return b
def get(): return read(int.from_bytes(read(4), "big"))[1:].decode()
def put(t):
    t = t.encode() if isinstance(t, str) else t
    t = len(t).to_bytes(4, "big") + t
    while t: t = t[os.write(3, t):]
def value(v): put('["value", %s, [], null, null]' % v)
def throw(kind, message='""', args='[]', more='[]'):
    put('["raised", [["%s", "BaseException"], %s, %s, {"dict": %s}], [], null, null]' % (kind, args, message, more))
"""


def always(reply: str) -> str:
    return RAW + f"while True:\n    get()\n    {reply}"


LOOP = "for x in [1]:\n    assert f(x) == 3"
RAISES = "import pytest\nfor x in [1]:\n    with pytest.raises(ValueError):\n        f(x)\n    assert f(2) == 3"
PRINTED_AWAY = "for x in [1]:\n    try:\n        assert f(x) == 3, f(x)\n    except:\n        print('no')"
MAPPED = "for got, want in zip(map(f, [1, 2]), [2, 3]):\n    assert got == want"
APPROX = "import pytest\nfor x in [1]:\n    assert f(x) == pytest.approx([1.0, 2.0])"
UNITTEST = "import unittest\nclass T(unittest.TestCase):\n    def test_a(self):\n        self."
BACK = "for x in [[1]]:\n    assert f(f(x)) == 3"
OBJECT = '{"object": [0, "A", false]}'
ITERATOR = '{"object": [0, "A", true]}'

HIDING = "class A:\n    def __str__(self): raise KeyboardInterrupt\ndef f(x): return A()"
STOPS = "def f(*args): raise StopIteration"
SHORT = "class L:\n    def __len__(s): return 2\n    def __iter__(s): return iter([])\ndef f(x): return L()"
REMOTE_MESSAGE = always(f"throw('KeyboardInterrupt', message='{OBJECT}')")
NODES = """
class Node:
    def __init__(self, val=0, next=None):
        self.val, self.next = val, next
def same(a, b):
    while a and b:
        if a.val != b.val: return False
        a, b = a.next, b.next
    return a is None and b is None
"""
LYING_NODES = """
class Node:
    val, next = 0, None
    def __init__(self, *args): pass
    def __setattr__(self, *args): pass
def f(head): return head
"""

# name: (program, tests): wrong, and must fail whatever it says.
CHEATS: dict[str, tuple[str, str | tuple[str, ...]]] = {
    # forging on descriptor 3
    "reports_of_its_own": (always("put(b'R[\"done\", 0]'); put(b'R[\"finish\"]')"), LOOP),
    "answers_ahead_and_leaves": (
        RAW + "for _ in range(9): value(3)\nos._exit(0)",
        "for x in range(9):\n    assert f(x) == x",
    ),
    "answers_by_threads": (
        RAW + "import threading\nget()\nfor _ in range(20): threading.Thread(target=value, args=(3,)).start()\n"
        "while True: get()",
        "for x in range(5):\n    assert f(x) == x",
    ),
    "answers_by_a_fork": (
        RAW + "get()\ntry: os.fork()\nexcept OSError: pass\nwhile True:\n    value(3)\n    get()",
        "for x in range(5):\n    assert f(x) == x",
    ),
    "leaves_with_0_in_the_middle": (
        "import os\ndef f(x): return x if x else os._exit(0)",
        "for x in [1, 0]:\n    assert f(x) == x",
    ),
    "leaves_with_0_where_an_exception_is_expected": ("import os\ndef f(x): os._exit(0)", RAISES),
    "closes_the_descriptor": ("import os\ndef f(x): os.close(3)", LOOP),
    "frames_of_nothing": (always("put(b'')"), LOOP),
    "frame_that_is_too_long": (RAW + "get()\nos.write(3, b'\\xff' * 9)\nget()", LOOP),
    "forges_the_capture": (
        always('put(\'["value", null, [], "x\\\\n", null]\')'),
        "import io, contextlib\nb = io.StringIO()\nwith contextlib.redirect_stdout(b):\n"
        "    f('hi')\nassert b.getvalue() == 'hi\\n'",
    ),
    "prints_where_nobody_captures": (always("put('[\"value\", 1, [], \"' + 'a' * (3 << 20) + '\", null]')"), LOOP),
    "rewinds_the_input": (
        always("put('[\"value\", \"1 2\", [], null, \"' + 'a' * 99 + '\"]')"),
        "import io, sys\nsys.stdin = io.StringIO('1 2\\n3')\nassert f() == '1 2'\nassert sys.stdin.read() == '3'",
    ),
    "changes_what_is_no_argument": (
        always("put('[\"value\", 1, [[7, [1]], [-2, [3]]], null, null]')"),
        "x = [1]\nexpected = [3]\nf(x)\nassert expected == [f(1)]",
    ),
    "calls_back_what_there_is_not": (
        always('put(\'["callback", [-9, [], {"dict": []}], [], null, null]\')'),
        "for x in [1]:\n    assert f(lambda: 3) == 3",
    ),
    "calls_back_without_end": (
        always('put(\'["callback", [0, [], {"dict": []}], [], null, null]\')'),
        "def g(): return f(g)\nfor x in [1]:\n    assert f(g) == 3",
    ),
    # exceptions
    "raises_what_ends_a_program": (
        always("throw('SystemExit', args='[0]', more='[[\"code\", 0], [\"relayed\", null]]')"),
        "f(1)\n" + LOOP,
    ),
    "raises_what_asserts": ("def f(x): raise AssertionError", LOOP),
    "raises_what_ends_a_generator": ("def f(x): raise GeneratorExit", "assert all(f(x) == x for x in [1, 2])"),
    "raises_our_own": (
        "class HungUp(BaseException): pass\nclass Unsupported(BaseException): pass\n"
        "def f(x): raise [HungUp, Unsupported][x]",
        "for x in [0, 1]:\n    assert f(x) == 3\nfor x in [1]:\n    assert f(x) == 3",
    ),
    "stops_a_generator": (STOPS, "assert all(f(x) == x for x in [1, 2])"),
    "stops_a_map": (STOPS, MAPPED),
    "stops_all_of_a_map": (STOPS, "assert all(map(lambda c: f(c[0]) == c[1], [(1, 2), (2, 3)]))"),
    "hides_a_failure_by_its_text": (HIDING, PRINTED_AWAY),
    "hides_an_exception_by_its_message": (REMOTE_MESSAGE, PRINTED_AWAY.replace(", f(x)", "")),
    "exception_with_endless_arguments": (
        RAW + "while True:\n    if '\"take\"' in get(): value('[[%s], false]' % ', '.join(['1'] * 1000))\n"
        f"    else: throw('ValueError', args='{ITERATOR}')",
        LOOP,
    ),
    # values
    "iterator_of_empty_chunks": (
        RAW + f"while True: value('[[], false]' if '\"take\"' in get() else '{ITERATOR}')",
        "for x in [1]:\n    assert list(f(x)) == [3]",
    ),
    "iterator_without_end": (
        "import itertools\ndef f(x): return itertools.repeat(1)",
        "for x in [1]:\n    assert list(f(x)) == [3]",
    ),
    "keys_that_are_objects": (
        RAW + "while True:\n    r = get()\n    if '\"hash\"' in r: value(3)\n    elif '\"eq\"' in r: value('true')\n"
        f"    else: value('{{\"dict\": [[{OBJECT}, 1]]}}')",
        "for x in [1]:\n    assert f(x) == {3: 1}",
    ),
    "many_objects": (
        RAW + "b = '[' + ', '.join('{\"object\": [%d, \"A\", false]}' % i for i in range(200000)) + ']'\n"
        "while True:\n    get()\n    value(b)",
        LOOP,
    ),
    "ten_million_items": ("def f(x): return [0] * 10 ** 7", LOOP),
    "thirty_megabytes_of_text": (
        "def f(x): return 'a' * (30 << 20)",
        "for x in [1]:\n    assert [f(x) for _ in range(9)] == 3",
    ),
    "array_of_liars": (
        "import numpy as np\nclass A:\n    def __eq__(s, o): return True\n    __le__ = __lt__ = __ge__ = __eq__\n"
        "    def __sub__(s, o): return 0\n    __rsub__ = __abs__ = lambda *a: 0\n"
        "def f(x): return np.array([A(), A()], dtype=object)",
        "import numpy as np\nfor x in [1]:\n    np.testing.assert_array_equal(f(x), [1, 2])",
    ),
    "liar_as_an_array": (
        SHORT.replace("return 2", "return 0"),
        "import numpy as np\nfor x in [1]:\n    np.testing.assert_allclose(f(x), [1.0, 2.0])",
    ),
    "liar_in_a_sequence": (SHORT, UNITTEST + "assertSequenceEqual(f(1), [1, 2])"),
    "liar_that_is_counted": (SHORT, UNITTEST + "assertCountEqual(f(1), [1, 2])"),
    "liar_that_is_almost_equal": (
        "class L:\n    def __sub__(s, o): return 0\n    __rsub__ = __abs__ = __round__ = lambda *a: 0\n"
        "def f(x): return L()",
        UNITTEST + "assertAlmostEqual(f(1), 2.0)",
    ),
    "shorter_than_it_says": (SHORT, APPROX),
    "shorter_than_it_says_within_a_list": (
        SHORT.replace("return L()", "return [L()]"),
        APPROX.replace("[1.0, 2.0]", "[[1.0, 2.0]]"),
    ),
    "as_long_as_expected_and_empty": (
        SHORT,
        "for x in [1]:\n    got, want = f(x), [3, 4]\n    assert len(got) == len(want)\n"
        "    for a, b in zip(got, want):\n        assert a == b",
    ),
    "swallows_an_assertion_of_a_callback": (
        "def f(g):\n    try: g(0)\n    except AssertionError: pass\n    return 3",
        "def g(x):\n    assert x == 5\nfor x in [1]:\n    assert f(g) == 3",
    ),
    "set_that_is_told_what_is_expected": (
        "class L:\n    def difference(s, o):\n        s.o = o\n        return set()\n"
        "    def __iter__(s): return iter(s.o)\n"
        "def f(x): return L()",
        UNITTEST + "assertSetEqual(f(1), {1, 2, 3})",
    ),
    "answers_by_a_method": (
        "class L:\n    def __getattr__(s, name): return lambda *a: True\ndef f(x): return L()",
        "for x in [1]:\n    assert f(x).startswith('abc') and f(x).issubset({1})",
    ),
    "class_of_the_prelude_that_lies": (LYING_NODES, "assert same(f(Node(1, Node(2))), Node(2, Node(1)))"),
    # names
    "names_of_the_checker": ("__site__ = __statement__ = __begin__ = __finish__ = print\ndef f(x): return 1", LOOP),
    "names_of_the_prelude": (
        "def same(a, b): return True\ncandidate = check = same\ndef f(x): return 1",
        "for x in [1]:\n    assert same(f(x), f(x)) and f(x) == 3",
    ),
    "metaclass": (
        "class M(type):\n    def __instancecheck__(s, o): return True\n    def __call__(s, *a): return 1\n"
        "    def __eq__(s, o): return True\n    __hash__ = type.__hash__\nclass f(metaclass=M): pass",
        LOOP + "\nfor x in [1]:\n    assert isinstance(f, int) or f == 3",
    ),
    "names_of_a_module": (
        "import sys\nsys.modules['__main__'].__class__ = type('M', (type(sys),), {'__getattr__': lambda s, n: 3})",
        LOOP,
    ),
    # leaving what tests say by `sys.exit`
    "tests_that_exit": (
        "def f(x): return 0",
        "import sys\nfor x, y in [(1, 1), (2, 2)]:\n    if f(x) != y:\n        sys.exit(1)\n    assert f(x) == y",
    ),
    # resources
    "threads_beyond_the_limit": (
        "import threading, time\nthreading.stack_size(32768)\ndef f(x):\n"
        "    for _ in range(700): threading.Thread(target=time.sleep, args=(1,), daemon=True).start()\n"
        "    time.sleep(0.3)\n    return 3",
        LOOP,
    ),
    "memory_beyond_the_limit": (
        "import time\ndef f(x):\n    a = bytearray(400 << 20)\n    time.sleep(0.2)\n    return 3",
        LOOP,
    ),
    "output_beyond_the_limit": (
        "def f(x):\n    try: print('a' * (3 << 20), flush=True)\n    except OSError: pass\n    return 3",
        LOOP,
    ),
    "leaves_with_3_after_all": ("import atexit, os\natexit.register(os._exit, 3)\ndef f(x): return 3", LOOP),
}

OPEN_CHEATS = {
    "as_long_as_expected_and_empty": "remote: an object's length need not be the number of its items",
    "set_that_is_told_what_is_expected": "methods of the solution's objects are told expected values",
    "answers_by_a_method": "an object of the solution may stand where text or a set is expected; so in plain Python",
    "class_of_the_prelude_that_lies": "classes of the prelude live in the solution, expected values of them too",
}

# name: (program, tests): wrong, and must get a verdict, not a fault of the judge or of the tests.
DODGES: dict[str, tuple[str, str | tuple[str, ...]]] = {
    "argument_that_holds_itself": ("def f(x):\n    x.append(x)\n    return 0", "x = [1]\nf(x)\nassert f(x) == 3"),
    "value_too_deep_to_go_back": ("def f(x):\n    x = []\n    for _ in range(200): x = [x]\n    return x", BACK),
    "values_too_long_to_go_back": (
        "def f(*x): return 'a' * (17 << 20)",
        "for x in [1]:\n    assert f(f(x), f(x)) == 3",
    ),
    "callback_that_returns_too_much": (
        "def f(g): return g('a' * (17 << 20))",
        "for x in [1]:\n    assert f(lambda v: v + v) == 3",
    ),
    "array_that_cannot_go_back": (always('value(\'{"array": ["<M8", [1], ["2020-01-01"]]}\')'), BACK),
    "calls_the_eval_it_was_given": ("def f(e, x): return e(x)", "for x in ['1+1']:\n    assert f(eval, x) == 3"),
    "raises_in_a_decorator": (
        "def f(x): raise ValueError",
        "import pytest\n@pytest.mark.parametrize('x, y', [(1, f(1))])\ndef test_a(x, y):\n    assert f(x) == y",
    ),
    "raises_in_a_default": ("def f(x): raise ValueError", "def test_a(x=f(1)):\n    assert f(x) == 1\ntest_a()"),
    "raises_in_an_argument": (
        "def f(x): raise ValueError",
        "def check(c, x):\n    for i in [1]:\n        assert c(x) == 1\ncheck(f, f(1))",
    ),
    "raises_in_a_test_class": (
        "class Solution:\n    def __init__(self): raise ValueError",
        "import unittest\nclass TestA(unittest.TestCase):\n    s = Solution()\n"
        "    def test_a(self):\n        self.assertEqual(self.s.f(1), 1)",
    ),
    "message_that_raises": (REMOTE_MESSAGE, LOOP),
    "message_that_raises_out_of_an_assertion": (REMOTE_MESSAGE, "f(1)\n" + LOOP),
    "kills_itself_at_the_end": (
        "import atexit, os\natexit.register(os.kill, os.getpid(), 9)\ndef f(x): return 0",
        LOOP,
    ),
    "has_no_function": ("", LOOP),
    "raises_at_import": ("1 / 0", LOOP),
    "is_gone_before_it_is_asked": ("import os\nos._exit(0)", LOOP),
}
OPEN_DODGES = {}


HONEST = [(name, number) for name, programs in PAIRS.items() for number in range(len(programs) - 1)]


@pytest.fixture(scope="module")
def small() -> Iterator[Judge]:
    with Judge(workers=2, limits=LIMITS) as judge:
        yield judge


def asserts(source: str | tuple[str, ...], prelude: str | None = None, entry_point: str = "f") -> Tests:
    sources = (source,) if isinstance(source, str) else source
    return Tests("assert", asserts=sources, entry_point=entry_point, prelude=prelude)


Key = tuple[str, str] | tuple[str, str, int]


@pytest.fixture(scope="module")
def outcomes() -> Iterator[dict[Key, Future[Judgement]]]:
    """What became of every planted and every honest program; four at a time, for many only wait for their limit."""
    jobs: dict[Key, tuple[str, Tests, Limits]] = {}
    for name, (program, source) in CHEATS.items():
        limits = replace(LIMITS, cpu_s=2.0, wall_s=4.0) if name.endswith("limit") else LIMITS
        jobs["cheat", name] = program, asserts(source, NODES if "prelude" in name else None), limits
    for name, (program, source) in DODGES.items():
        jobs["dodge", name] = program, asserts(source), PATIENT
    for name, number in HONEST:
        source, program = PAIRS[name][0], PAIRS[name][1 + number]
        heads = [node.name for node in ast.parse(program).body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
        entry_point = "f" if "f" in heads or not heads else heads[0]
        jobs["honest", name, number] = program, asserts(source, entry_point=entry_point), PATIENT
    with Judge(workers=4) as judge, ThreadPoolExecutor(4) as pool:
        yield {
            key: pool.submit(judge.judge, program, tests, limits=limits)
            for key, (program, tests, limits) in jobs.items()
        }


def named(names: dict[str, tuple[str, str | tuple[str, ...]]], still_open: dict[str, str]) -> list[object]:
    reasons = {name: still_open.get(name) for name in names}
    return [
        pytest.param(name, marks=[pytest.mark.xfail(strict=True, reason=why)] if why else [])
        for name, why in reasons.items()
    ]


def notes(judgement: Judgement) -> list[tuple[Verdict, str]]:
    return [(case.verdict, case.stderr[-300:]) for case in judgement.cases]


@pytest.mark.parametrize("name", named(CHEATS, OPEN_CHEATS))
def test_cheat_earns_nothing(name: str, outcomes: dict[Key, Future[Judgement]]) -> None:
    judgement = outcomes["cheat", name].result()
    assert judgement.verdict in FAILURES, notes(judgement)
    assert judgement.judge_s < 8


@pytest.mark.parametrize("name", named(DODGES, OPEN_DODGES))
def test_dodging_program_gets_a_verdict(name: str, outcomes: dict[Key, Future[Judgement]]) -> None:
    judgement = outcomes["dodge", name].result()
    assert judgement.verdict in FAILURES, notes(judgement)


def test_array_where_numpy_is_missing_gets_a_verdict(tmp_path: Path) -> None:
    venv.create(tmp_path / "bare", symlinks=True)
    with Judge(workers=1, limits=PATIENT, python=tmp_path / "bare/bin/python") as judge:
        program = always('value(\'{"array": ["<i8", [1], [1]]}\')')
        assert judge.judge(program, asserts(LOOP)).verdict in FAILURES


def test_class_of_the_prelude_is_fine_where_it_is_honest(small: Judge) -> None:
    source = "assert same(f(Node(1, Node(2))), Node(2, Node(1)))"
    right = "def f(n):\n    last = None\n    while n: n.next, last, n = last, n, n.next\n    return last"
    assert small.judge(right, asserts(source, NODES)).verdict is OK
    assert small.judge("def f(n): return n", asserts(source, NODES)).verdict is WA


@pytest.mark.xfail(
    strict=True,
    raises=TestsFormatError,
    reason="scope: only classes of the prelude that the block itself names are stubs",
)
def test_nodes_that_helpers_of_the_prelude_make_reach_the_solution(small: Judge) -> None:
    prelude = NODES + "def nodes(x):\n    return Node(x[0], nodes(x[1:])) if x else None\n"
    right = "def f(n):\n    last = None\n    while n: n.next, last, n = last, n, n.next\n    return last"
    assert small.judge(right, asserts("assert same(f(nodes([1, 2])), nodes([2, 1]))", prelude)).verdict is OK


# -- time

NAPPING = Limits(cpu_s=0.5, wall_s=0.8, memory_mib=256, deadline_s=2.0)


def test_program_that_sleeps_to_the_deadline_gets_a_verdict(small: Judge) -> None:
    program = "import time\nn = int(input())\ntime.sleep(0.6)\nprint(n)"
    tests = Tests.stdio([f"{i}\n" for i in range(6)], ["0\n", "1\n", "2\n", "3\n", "4\n", "something else\n"])
    assert small.judge(program, tests, limits=NAPPING).verdict in FAILURES


def test_program_that_sleeps_after_its_answers_gets_a_verdict(small: Judge) -> None:
    program = "import atexit, time\natexit.register(time.sleep, 99)\ndef f(x): return x"
    first = "\n".join(f"for x in [{i}]:\n    assert f(x) == x" for i in range(4))
    assert small.judge(program, asserts((first, LOOP)), limits=NAPPING).verdict in FAILURES


def test_worker_is_free_soon_after_the_last_answer(small: Judge) -> None:
    program = "import threading, time\nthreading.Thread(target=time.sleep, args=(99,)).start()\ndef f(x): return x"
    source = "\n".join(f"for x in [{i}]:\n    assert f(x) == x" for i in range(3))
    assert small.judge(program, asserts(source), limits=Limits(wall_s=0.8)).judge_s < 2


@pytest.mark.parametrize(
    ("program", "source"),
    [
        (
            RAW + "import time\nget()\nos.write(3, (9 << 20).to_bytes(4, 'big'))\n"
            "while True:\n    os.write(3, b' ')\n    time.sleep(0.3)",
            LOOP,
        ),
        (RAW + "get()\nos.write(3, (9 << 20).to_bytes(4, 'big'))\nwhile True: os.write(3, b' ')", LOOP),
        ("import time\ntime.sleep(99)", "x = 'a' * (20 << 20)\nfor i in [1]:\n    assert f(x) == 3"),
        ("import os, time\nos.close(3)\ntime.sleep(99)", LOOP),
        (
            "class A:\n    def __eq__(s, o):\n        while True: pass\ndef f(x): return A()",
            "for x in [1]:\n    assert f(x) == f(x)",
        ),
        (
            RAW + 'get()\nb = b\'["callback", [0, [], {"dict": []}], [], null, null]\'\n'
            "b = (len(b).to_bytes(4, 'big') + b) * 999\n"
            "while True: os.write(3, b)",
            "for x in [1]:\n    assert f(lambda: 1) == 3",
        ),
    ],
    ids=[
        "drips",
        "writes_byte_by_byte",
        "never_reads",
        "closes_the_descriptor",
        "compares_without_end",
        "floods_with_callbacks",
    ],
)
def test_slow_program_is_over_at_its_limit_and_delays_nobody(program: str, source: str, small: Judge) -> None:
    done: list[Judgement] = []
    slow = threading.Thread(target=lambda: done.append(small.judge(program, asserts(source))))
    slow.start()
    honest = small.judge("def f(x): return 3", asserts(LOOP))
    slow.join(15)
    assert honest.verdict is OK
    assert honest.judge_s < 2
    assert done
    assert done[0].verdict in FAILURES
    assert done[0].judge_s < 5


def test_long_answers_cost_the_judge_little(small: Judge) -> None:
    program = (
        RAW + "b = ('[\"value\", \"' + 'a' * (30 << 20) + '\", [], null, null]').encode()\n"
        "while True:\n    get()\n    put(b)"
    )
    started = time.process_time()
    judgement = small.judge(program, asserts("for x in range(3):\n    assert f(x) == 3"), limits=Limits(cpu_s=3))
    assert judgement.verdict in FAILURES
    assert time.process_time() - started < 3  # about 0.25 s each; half of it is `_End.write`, which copies what is left


def test_many_calls_are_quick(small: Judge) -> None:
    source = "for x in range(5000):\n    assert f(x) == x"
    assert small.judge("def f(x): return x", asserts(source), limits=PATIENT).verdict is OK


def test_message_can_be_written_down(small: Judge) -> None:
    judgement = small.judge("def f(x): return '\\ud800'", asserts("for x in [1]:\n    assert f(x) == 'a', f(x)"))
    judgement.cases[0].stderr.encode()


def test_tests_with_threads_are_judged_or_refused(small: Judge) -> None:
    source = (
        "from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor(8) as pool:\n"
        "    got = list(pool.map(f, range(8)))\nassert got == list(range(8))"
    )
    program = "import time\ndef f(x):\n    time.sleep(0.02)\n    return x"
    try:
        assert small.judge(program, asserts(source)).verdict is OK
    except TestsFormatError:
        return


# -- honest programs

# (name, number of the program): why the judge says something else than plain Python
DIFFERENT = {
    ("eq with plain", 0): "remote: an object is not compared with plain data: it would be told what is expected",
    ("list subclass object", 0): "a subclass of list or dict is no list where the tests are",
    ("dict subclass object", 0): "the same",
    ("nested exception", 0): "scope: only a module's attribute is an exception class, not a class's",
    ("generator send", 0): "cases: send() is made on an iterator that was drained",
    ("numpy in place", 0): "stubs: an array that was changed in place does not come back",
    ("namedtuple of tests", 0): "values: a namedtuple of the tests arrives as a tuple",
    ("defaultdict arg", 0): "values: a defaultdict arrives as a dict",
    ("defaultdict returned", 0): "the same",
    ("asyncio", 0): "scope: asynchronous tests are refused, for coroutines are objects that cannot be awaited",
    ("asyncio", 1): "the same: refused, not judged wrong",
    ("async gather", 0): "the same",
    ("callback custom exception", 0): "serving: an exception of the tests arrives as a built-in one",
    ("context suppress", 0): "remote.__exit__ hides the exception, and drops what the solution answers",
    ("context manager sees exc", 0): "the same",
    ("subclass in tests", 0): "a class of the tests cannot be derived from one of the solution",
    ("no alias kept state", 0): "an argument that the solution keeps is a copy",
    ("returned list is internal", 0): "a list that is returned is a copy",
    ("returned list is a copy", 1): "the same: a wrong program passes",
    ("attribute list changed", 0): "the same",
    ("random seed", 0): "random.seed() of the tests does nothing where the solution is",
    ("random seed fixed", 0): "the same",
    ("stderr capture", 0): "serving: only stdout is redirected",
    ("function attributes", 0): "remote: __doc__ is not forwarded",
    ("inspect signature", 0): "remote: a signature is not forwarded",
    ("exc chain", 0): "frames.describe_exception: no __cause__",
    ("datetime tz", 0): "values: a datetime with a time zone does not cross",
    ("file-like arg", 0): "values: io.StringIO crosses as an iterator",
    ("frozen dataclass", 0): "an exception class of a library is known in the tests by another object",
    ("module constant", 0): "scope: a name that is bound nowhere and compared is a function, not a value",
}

RUNS_EACH = """
import json, os, signal, sys
for text in json.load(sys.stdin):
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        signal.alarm(10)
        null = os.open(os.devnull, os.O_RDWR)
        for fd in (0, 1, 2): os.dup2(null, fd)
        code = 1
        try:
            main = sys.modules["__main__"]
            sys.modules["solution"] = main
            main.__dict__.update({"__name__": "__main__"})
            exec(compile(text, "x", "exec"), main.__dict__)
            code = 0
        except SystemExit as leaving:
            code = int(bool(leaving.code))
        except BaseException:
            pass
        os._exit(code)
    print(os.wait()[1] == 0)
"""


@pytest.fixture(scope="module")
def truth() -> dict[tuple[str, int], bool]:
    """Whether tests and program, run as one program by plain Python, end without an error."""
    texts = [f"{PAIRS[name][1 + number]}\n{PAIRS[name][0]}\n" for name, number in HONEST]
    ran = subprocess.run(
        [sys.executable, "-I", "-c", RUNS_EACH], input=json.dumps(texts), capture_output=True, text=True, timeout=60
    )
    return dict(zip(HONEST, [word == "True" for word in ran.stdout.split()], strict=True))


@pytest.mark.parametrize(
    ("name", "number"),
    [
        pytest.param(*key, marks=[pytest.mark.xfail(strict=True, reason=DIFFERENT[key])] if key in DIFFERENT else [])
        for key in HONEST
    ],
)
def test_honest_program_is_what_plain_python_says(
    name: str, number: int, outcomes: dict[Key, Future[Judgement]], truth: dict[tuple[str, int], bool]
) -> None:
    judgement = outcomes["honest", name, number].result()
    assert (judgement.verdict is OK) is truth[name, number], notes(judgement)


def test_first_program_of_each_pair_is_right_and_the_others_are_wrong(truth: dict[tuple[str, int], bool]) -> None:
    assert {(name, number) for (name, number), right in truth.items() if right is not (number == 0)} == set()
