"""Objects that cannot leave the sandbox are asked there whether they are true, by code that may be hostile.

A program can say no more about such a value than by returning 2 or 0; what it does while it is asked is its own doing,
under the limits of every test.

Covered: `__bool__`, `__len__`, `__eq__` and type names made to hurt, forged answers.
Not covered: values that cross (`test_reward_cheats`), objects in a checker (`test_checker_attacks`).
"""

from __future__ import annotations

import pytest

from code_rlvr import Judge, Limits, Tests, Verdict

OK, WA, RE = Verdict.ACCEPTED, Verdict.WRONG_ANSWER, Verdict.RUNTIME_ERROR
TLE, MLE, OLE = Verdict.TIME_LIMIT_EXCEEDED, Verdict.MEMORY_LIMIT_EXCEEDED, Verdict.OUTPUT_LIMIT_EXCEEDED
LIMITS = Limits(cpu_s=0.5, wall_s=1.5, memory_mib=256, output_mib=1.0)


def truth(*body: str) -> str:
    """A program whose `f` returns an object with such a `__bool__`."""
    lines = "\n        ".join(body)
    head = "import ctypes, os, signal, sys, threading, time\nclass T:\n    def __bool__(self):\n        "
    return f"{head}{lines}\ndef f(x): return T()"


def forging(answer: str) -> str:
    return f"import os\ndef f(x):\n    os.write(3, {answer.encode()!r})\n    os._exit(0)"


# name: (program, the verdict on `assert f(1)`)
HOSTILE: dict[str, tuple[str, Verdict]] = {
    "computes_for_ever": (truth("while True: pass"), TLE),
    "sleeps_for_ever": (truth("time.sleep(99)"), TLE),
    "computes_in_threads": (
        truth("for _ in range(4): threading.Thread(target=exec, args=('while 1: pass',)).start()", "time.sleep(99)"),
        TLE,
    ),
    "ignores_signals": (truth("signal.signal(signal.SIGTERM, signal.SIG_IGN)", "while True: pass"), TLE),
    "recurses": (truth("return bool(self)"), RE),
    "recurses_deeply": (truth("sys.setrecursionlimit(10**9)", "return bool(self)"), RE),
    "fills_memory": (truth("x = [0] * 10**6", "while True: x += x"), MLE),
    "raises_memory_error": (truth("raise MemoryError"), MLE),
    "fills_stdout": (truth("while True: os.write(1, b'x' * 65536)"), OLE),
    "raises": (truth("raise ValueError('no')"), RE),
    "raises_what_says_nothing": (
        "class E(Exception):\n    def __str__(self): raise E\nclass T:\n    def __bool__(self): raise E\n"
        "def f(x): return T()", RE),
    "raises_what_speaks_for_ever": (
        "class E(Exception):\n    def __str__(self):\n        while True: pass\nclass T:\n"
        "    def __bool__(self): raise E\ndef f(x): return T()", TLE),
    "raises_what_says_very_much": (truth("raise ValueError('x' * 10**7)"), RE),
    "raises_no_exception": (truth("raise KeyboardInterrupt"), RE),
    "returns_no_truth": (truth("return 2"), RE),
    "returns_itself": (truth("return self"), RE),
    "has_a_huge_length": ("class T:\n    def __len__(self): return 1 << 70\ndef f(x): return T()", RE),
    "has_a_negative_length": ("class T:\n    def __len__(self): return -1\ndef f(x): return T()", RE),
    "exits": (truth("sys.exit(0)"), RE),
    "exits_at_once": (truth("os._exit(0)"), RE),
    "exits_by_the_kernel": (truth("ctypes.CDLL(None)._exit(0)"), RE),
    "aborts": (truth("os.abort()"), RE),
    "crashes": (truth("ctypes.string_at(0)"), RE),
    "forks": (truth("os.fork()", "return True"), RE),
    "starts_a_program": (truth("os.execv('/bin/true', ['true'])"), RE),
    "kills_its_parent": (truth("os.kill(os.getppid(), 9)", "return True"), RE),
    "closes_the_answer": (truth("os.close(3)", "return True"), RE),
    "answers_before_it_answers": (truth("os.write(3, b'true')", "return True"), RE),
    "answers_after_it_answered": (
        "import atexit, os\natexit.register(os.write, 3, b'true')\nclass T: pass\ndef f(x): return T()", RE),
    "type_that_hides_its_equality": (
        "class M(type):\n    def __getattribute__(c, name): raise ValueError\nclass T(metaclass=M): pass\n"
        "def f(x): return T()", RE),
    "encoder_that_is_no_encoder": (
        "import sys\nfor m in list(sys.modules.values()):\n    if hasattr(m, 'encode_answer'): m.encode_answer = None\n"
        "def f(x): return object()", RE),
    "forged_with_a_number_for_its_truth": (forging('{"opaque": ["", 1, true]}'), RE),
    "forged_with_a_long_reason": (forging('{"opaque": ["' + "x" * 10**5 + '", true, true]}'), RE),
    "forged_in_a_list": (forging('[{"opaque": ["", true, true]}]'), RE),
    "forged_with_another_tag": (forging('{"opaque": ["", true, true], "int": "1"}'), RE),
    "forged_and_nested": (forging('{"opaque": ' * 10**4 + "1" + "}" * 10**4), RE),
}  # fmt: skip
CLAIMS = {
    "equals_none": "class T:\n    def __eq__(self, other): return True\n    __hash__ = None\ndef f(x): return T()",
    "differs_from_none": "class T:\n    def __ne__(self, other): return True\ndef f(x): return T()",
    "equality_of_a_metaclass": (
        "class M(type):\n    def __eq__(c, other): return True\n    __hash__ = type.__hash__\nclass T(metaclass=M):\n"
        "    __eq__ = lambda s, other: True\ndef f(x): return T()"
    ),
    "forged": forging('{"opaque": ["", true, true]}'),
    "forged_with_a_claim": forging('{"opaque": ["3", true, false]}'),
    "class_of_another": "class T:\n    __class__ = int\n    def __eq__(s, other): return True\ndef f(x): return T()",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_truth_meets_the_limits_and_leaves_the_next_program_alone(name: str) -> None:
    program, verdict = HOSTILE[name]
    tests = Tests("assert", asserts=("assert f(1)",), entry_point="f")
    with Judge(workers=1, limits=LIMITS) as judge:
        judgement = judge.judge(program, tests)
        assert judgement.verdict is verdict, [case.stderr[-500:] for case in judgement.cases]
        assert len(judgement.cases[0].stderr) < 3000
        assert judgement.judge_s < 8
        assert judge.judge("def f(x): return object()", tests).verdict is OK
        assert judge.judge("def f(x): return None", tests).verdict is WA


def test_truth_is_asked_for_once_however_often_the_test_asks(judge: Judge) -> None:
    program = "import os\nasked = []\n" + truth("asked.append(1)", "return len(asked) == 1 or os._exit(1)")
    source = "r = f(1)\nassert r and r and bool(r) and not (not r)"
    assert judge.judge(program, Tests("assert", asserts=(source,), entry_point="f")).verdict is OK


@pytest.mark.parametrize("name", CLAIMS)
@pytest.mark.parametrize("condition", ["f(1) == 3", "f(1) == None and f(1) == 3", "f(1) in [3]", "f(1) is None"])
def test_a_value_that_cannot_cross_earns_nothing_where_a_value_is_wanted(
    name: str, condition: str, judge: Judge
) -> None:
    tests = Tests("assert", asserts=(f"assert {condition}",), entry_point="f")
    assert judge.judge(CLAIMS[name], tests).verdict in (WA, RE)
    for expected in (3, None, True, {"opaque": ["", True, True]}):
        assert judge.judge(CLAIMS[name], Tests.call("f", [[1]], [expected])).verdict in (WA, RE)


@pytest.mark.parametrize("name", ["equals_none", "differs_from_none", "equality_of_a_metaclass"])
@pytest.mark.parametrize("condition", ["f(1) == None", "f(1) != None"])
def test_an_equality_of_its_own_is_not_asked(name: str, condition: str, judge: Judge) -> None:
    judgement = judge.judge(CLAIMS[name], Tests("assert", asserts=(f"assert {condition}",), entry_point="f"))
    assert judgement.verdict is RE
    assert "cannot leave the sandbox" in judgement.cases[0].stderr
