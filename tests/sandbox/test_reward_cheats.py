"""Planted programs that want a reward they did not earn: by a lie about a value, an early exit, a forged message.

`CHEATS` are wrong programs that must not pass; `HONEST` are right ones that do odd things and must.
Not covered: attacks on the sandbox itself (`test_attacks`).
"""

from __future__ import annotations

import contextlib
import os
import time

import pytest

from code_rlvr import Judge, Limits, Tests, Verdict
from code_rlvr.verifier.program import Call, Program
from code_rlvr.verifier.sandbox import Sandbox

WA, RE, CE = Verdict.WRONG_ANSWER, Verdict.RUNTIME_ERROR, Verdict.COMPILE_ERROR
TLE, MLE, OLE = Verdict.TIME_LIMIT_EXCEEDED, Verdict.MEMORY_LIMIT_EXCEEDED, Verdict.OUTPUT_LIMIT_EXCEEDED
LIMITS = Limits(cpu_s=0.5, wall_s=1.5, memory_mib=256, output_mib=1.0, compile_s=1.0)

SQUARE = Tests.stdio(["3\n", "4\n"], ["9\n", "16\n"])
NOTHING = Tests.stdio(["3\n"], [""])
WORD = Tests.stdio(["x\n", "y\n"], ["yes\n", "no\n"])
CALL = Tests.call("f", [[3], [4]], [9, 16])
ITEMS = Tests.call("f", [[3]], [[1, 2, 3]])
TEXT = Tests.call("f", [["a"]], ["right"])
TABLE = Tests.call("f", [[1]], [{"a": 1, "b": 2}])
ASSERTS = Tests.parse({"asserts": "assert f(3) == 9\nassert f(4) == 16", "entry_point": "f"})

LIAR = """
class Liar{base}:
    __class__ = int
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __hash__(self): return 9
    def __bool__(self): return True
    def __len__(self): return 1
    def __lt__(self, other): return True
    __le__ = __gt__ = __ge__ = __lt__
    def __repr__(self): return "9"
    __str__ = __repr__
    def __int__(self): return 9
    __index__ = __int__
    def __float__(self): return 9.0
    def __iter__(self): return iter([1, 2, 3])
    def __getattribute__(self, name): return object.__getattribute__(self, name)
    def __reduce__(self): return (int, (9,))
def f(n): return Liar({value})
"""
SUBCLASS = LIAR.replace("    __class__ = int\n", "")

# name: (program, tests, the verdicts that are right)
CHEATS: dict[str, tuple[str, Tests, tuple[Verdict, ...]]] = {
    # leaving early
    "sys_exit": ("import sys; sys.exit(0)", SQUARE, (WA,)),
    "os_exit": ("import os; os._exit(0)", SQUARE, (WA,)),
    "quit": ("quit()", SQUARE, (WA,)),
    "exit_in_call": ("def f(n): exit(0)", CALL, (RE,)),
    "os_exit_in_call": ("import os\ndef f(n): os._exit(0)", CALL, (RE,)),
    "os_exit_in_assert": ("import os\ndef f(n): os._exit(0)", ASSERTS, (RE, WA)),
    "exit_at_import_of_assert": ("import sys\ndef f(n): pass\nsys.exit(0)", ASSERTS, (RE, WA)),
    "system_exit_in_assert": ("def f(n): raise SystemExit(0)", ASSERTS, (RE, WA)),
    "exit_raw": ("import ctypes\nctypes.CDLL(None)._exit(0)", SQUARE, (WA,)),
    "abort": ("import os; os.abort()", NOTHING, (RE,)),
    "kill_itself": ("import os, signal\nos.kill(os.getpid(), signal.SIGTERM)", NOTHING, (RE,)),
    "sigkill_itself": ("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)", NOTHING, (RE,)),
    "return_at_module_level": ("return 9", SQUARE, (CE,)),
    "exception_with_nothing_expected": ("int('x')", NOTHING, (RE,)),
    "hidden_exception_with_nothing_expected": (
        "import sys\nsys.excepthook = sys.__excepthook__ = lambda *a: None\n1 / 0", NOTHING, (RE,)),
    "exit_code_1_with_nothing_expected": ("import sys\nsys.exit(1)", NOTHING, (RE,)),
    "exit_code_256": ("import sys\nsys.exit(256)", SQUARE, (WA, RE)),
    "exit_text": ("import sys\nsys.exit('9')", SQUARE, (RE,)),
    "keyboard_interrupt": ("raise KeyboardInterrupt", NOTHING, (RE,)),
    "generator_exit": ("raise GeneratorExit", NOTHING, (RE,)),
    "exception_in_thread_and_exit": (
        "import os, threading\nthreading.Thread(target=os._exit, args=(0,)).start()", SQUARE, (WA,)),
    "exit_from_handler": ("import atexit, os\natexit.register(os._exit, 0)\nraise ValueError", SQUARE, (WA, RE)),
    # printing much, the input, both answers, something alike
    "nothing": ("", SQUARE, (WA,)),
    "input_again": ("print(input())", SQUARE, (WA,)),
    "yes_and_no": ("print('yes no')", WORD, (WA,)),
    "yes_and_no_by_line": ("print('yes')\nprint('no')", WORD, (WA,)),
    "yes_over_no": ("print('no\\ryes')", WORD, (WA,)),
    "yes_deleted": ("print('nox\\b\\b\\byes')", WORD, (WA,)),
    "yes_in_colours": ("print('\\x1b[8mno\\x1b[0myes')", WORD, (WA,)),
    "many_answers": ("print(*range(100), sep='\\n')", SQUARE, (WA,)),
    "many_answers_in_a_line": ("print(*range(100))", SQUARE, (WA,)),
    "number_within_a_number": ("print('1' * 400 + '9' + '16')", SQUARE, (WA,)),
    "full_width_digits": ("print('９' if input() == '3' else '１６')", SQUARE, (WA,)),
    "arabic_digits": ("print('٩')", SQUARE, (WA,)),
    "cyrillic_letters": ("print('уеѕ' if input() == 'x' else 'nо')", WORD, (WA,)),
    "zero_width": ("print('y\\u200bes' if input() == 'x' else 'n\\u200bo')", WORD, (WA,)),
    "nan_for_a_number": ("print('nan')", Tests.stdio([""], ["1.5"]), (WA,)),
    "infinity_for_a_number": ("print('inf')", Tests.stdio([""], ["1.5"]), (WA,)),
    "huge_exponent": ("print('1e999999999')", Tests.stdio([""], ["1.5"]), (WA,)),
    "nul_bytes": ("print('\\0' * 5 + '9')", SQUARE, (WA,)),
    "no_text": ("import os\nos.write(1, b'\\xff\\xfe9\\x00')", SQUARE, (WA,)),
    "half_a_surrogate": ("print('\\ud800')", SQUARE, (RE, WA)),
    "answer_on_stderr": ("import sys\nprint(int(input()) ** 2, file=sys.stderr)", SQUARE, (WA,)),
    "answer_as_value": ("import os\ntry: os.write(3, b'9')\nexcept OSError: pass", SQUARE, (WA,)),
    "answer_into_stdin": ("import os\nos.pwrite(0, b'9\\n', 0)", SQUARE, (WA, RE)),
    "verdict_printed": ("print('ACCEPTED')\nprint('{\"verdict\": \"ACCEPTED\"}')", SQUARE, (WA,)),
    "claims_everything_equal": (LIAR.format(base="", value="") + "print(f(1) == 16)", SQUARE, (WA,)),
    "first_test_only": ("print(9)", SQUARE, (WA,)),
    "state_of_the_last_test": (
        "import builtins\nn = getattr(builtins, 'n', 0)\nbuiltins.n = n + 1\nprint([9, 16][n])",
        Tests.stdio(["4\n", "3\n"], ["16\n", "9\n"]), (WA,)),
    # values that lie
    "liar": (LIAR.format(base="", value=""), CALL, (RE, WA)),
    "liar_int": (SUBCLASS.format(base="(int)", value="7"), CALL, (WA, RE)),
    "liar_float": (SUBCLASS.format(base="(float)", value="7.0"), CALL, (WA, RE)),
    "liar_str": (SUBCLASS.format(base="(str)", value="'wrong'"), TEXT, (WA, RE)),
    "liar_list": (SUBCLASS.format(base="(list)", value="[7]"), CALL, (WA, RE)),
    "liar_tuple": (SUBCLASS.format(base="(tuple)", value="(7,)"), CALL, (WA, RE)),
    "liar_dict": (SUBCLASS.format(base="(dict)", value="{7: 7}"), TABLE, (WA, RE)),
    "liar_set": (SUBCLASS.format(base="(set)", value="[7]"), CALL, (WA, RE)),
    "liar_bytes": (SUBCLASS.format(base="(bytes)", value="b'x'"), TEXT, (WA, RE)),
    "liar_in_assert": (LIAR.format(base="", value=""), ASSERTS, (RE, WA)),
    "liar_int_in_assert": (SUBCLASS.format(base="(int)", value="7"), ASSERTS, (RE, WA)),
    "liar_within_a_list": (SUBCLASS.format(base="(int)", value="7")
                           + "g = f\ndef f(n): return [g(n), g(n), g(n)]", ITEMS, (WA, RE)),
    "lying_keys": ("class K(str):\n    def __eq__(s, o): return True\n    def __hash__(s): return 1\n"
                   "def f(n): return {K('x'): 1, K('y'): 2}", TABLE, (WA, RE)),
    "lying_metaclass": ("class M(type):\n    def __eq__(s, o): return True\n    __hash__ = type.__hash__\n"
                        "    def __instancecheck__(s, o): return True\nclass A(metaclass=M): pass\ndef f(n): return A",
                        CALL, (RE, WA)),
    "not_a_number": ("def f(n): return float('nan')", CALL, (WA,)),
    "infinity": ("def f(n): return float('inf')", CALL, (WA,)),
    "truth_for_a_number": ("def f(n): return True", Tests.call("f", [[3]], [9]), (WA,)),
    "text_for_a_number": ("def f(n): return '9'", CALL, (WA,)),
    "list_of_answers": ("def f(n): return [9, 16]", CALL, (WA,)),
    "none": ("def f(n): pass", CALL, (WA,)),
    "no_function": ("print(9)", CALL, (RE,)),
    "function_that_is_none": ("f = 9", CALL, (RE,)),
    "returns_itself": ("def f(n): return f", CALL, (RE,)),
    "returns_a_module": ("import os\ndef f(n): return os", CALL, (RE,)),
    "endless_generator": ("def f(n):\n    while True: yield 1", ITEMS, (RE, WA, TLE, MLE, OLE)),
    "endless_iterator": ("import itertools\ndef f(n): return itertools.count()", ITEMS, (RE, WA, TLE, MLE, OLE)),
    "endless_list": ("class L(list):\n    def __iter__(s):\n        while True: yield 1\ndef f(n): return L([1])",
                     ITEMS, (RE, WA, TLE, MLE, OLE)),
    "huge_range": ("def f(n): return range(10 ** 18)", ITEMS, (RE, WA)),
    "contains_itself": ("def f(n):\n    x = [1]\n    x.append(x)\n    return x", ITEMS, (RE,)),
    "nested_100000_deep": ("def f(n):\n    x = []\n    for _ in range(10 ** 5): x = [x]\n    return x", ITEMS, (RE,)),
    "nested_dicts": ("def f(n):\n    x = {}\n    for _ in range(10 ** 5): x = {1: x}\n    return x", TABLE, (RE,)),
    "huge_int": ("def f(n): return 10 ** (10 ** 6)", CALL, (WA, TLE)),
    "huge_negative_int": ("def f(n): return -(1 << 4_000_000)", CALL, (WA, RE)),
    "huge_text": ("def f(n): return 'x' * (64 << 20)", TEXT, (OLE, MLE)),
    "huge_list": ("def f(n): return [0] * 10 ** 7", ITEMS, (OLE, MLE, TLE)),
    "loops_in_repr": ("class A(int):\n    def __repr__(s):\n        while True: pass\n    __str__ = __repr__\n"
                      "def f(n): return A(7)", CALL, (WA, TLE, RE)),
    "loops_in_del": ("class A:\n    def __del__(s):\n        while True: pass\na = A()\ndel a", NOTHING, (TLE,)),
    "loops_in_hash": ("class A(int):\n    def __hash__(s):\n        while True: pass\ndef f(n): return {A(1)}",
                      ITEMS, (TLE,)),
    # forging on descriptor 3
    "value_garbage": ("import os\ndef f(n):\n    os.write(3, b'\\xff\\x00garbage')\n    os._exit(0)", CALL, (RE,)),
    "value_twice": ("import os\ndef f(n):\n    os.write(3, b'9 16')\n    os._exit(0)", CALL, (RE, WA)),
    "value_before_the_value": ("import os\ndef f(n):\n    os.write(3, b'9')\n    return 16", CALL, (RE, WA)),
    "value_with_an_unknown_tag": (
        "import os\ndef f(n):\n    os.write(3, b'{\"__class__\": \"int\"}')\n    os._exit(0)", CALL, (RE,)),
    "value_that_refers": ("import os\ndef f(n):\n    os.write(3, b'{\"object\": [0, \"x\", true]}')\n    os._exit(0)",
                          CALL, (RE,)),
    "value_of_two_tags": ("import os\ndef f(n):\n    os.write(3, b'{\"int\": \"9\", \"x\": \"9\"}')\n    os._exit(0)",
                          CALL, (RE,)),
    "value_of_a_type": ("def f(n): return int", CALL, (RE, WA)),
    "value_nan_in_json": ("import os\ndef f(n):\n    os.write(3, b'NaN')\n    os._exit(0)", CALL, (RE,)),
    "value_nested": ("import os\ndef f(n):\n    os.write(3, b'[' * 400000)\n    os._exit(0)", CALL, (RE,)),
    "value_long_integer": ("import os\ndef f(n):\n    os.write(3, b'9' * 1000000)\n    os._exit(0)", CALL, (RE,)),
    "value_huge": ("import os\ndef f(n):\n    while True: os.write(3, b' ' * (1 << 20))", CALL, (OLE,)),
    "value_by_exit_code": ("import os\ndef f(n): os._exit(9)", CALL, (RE,)),
    "value_written_and_failed": ("import os\ndef f(n):\n    os.write(3, str(n * n).encode())\n    raise ValueError",
                                 CALL, (RE,)),
    "value_descriptor_closed": ("import os\ndef f(n):\n    os.close(3)\n    return n * n", CALL, (RE,)),
    "value_descriptor_moved": ("import os\ndef f(n):\n    os.dup2(1, 3)\n    return n * n", CALL, (RE,)),
    # replacing what judges
    "patches_the_encoder": (
        "import sys\nfor m in list(sys.modules.values()):\n"
        "    if getattr(m, '__name__', '').startswith('guard'):\n"
        "        m.encode = lambda value: 'true'\ndef f(n): return 0", CALL, (WA, RE)),
    "replaces_json": ("import json, json.encoder\njson.dumps = json.loads = lambda *a, **k: '9'\n"
                      "json.encoder.encode_basestring_ascii = lambda s: '9'\ndef f(n): return 'no'", TEXT, (WA, RE)),
    "replaces_print": ("import builtins\nbuiltins.print = lambda *a, **k: None\nprint(9)", SQUARE, (WA,)),
    "replaces_stdout": ("import sys, io\nsys.stdout = io.StringIO()\nprint(int(input()) ** 2)", SQUARE, (WA,)),
    "replaces_modules": ("import sys\nfor name in list(sys.modules): sys.modules[name] = None", WORD, (WA, RE)),
    "empties_builtins": ("import builtins\nfor name in dir(builtins):\n    if name not in ('delattr', 'builtins'):\n"
                         "        delattr(builtins, name)", SQUARE, (WA, RE)),
    "finds_the_answer_in_frames": (
        "import sys\nframe, seen = sys._getframe(), []\nwhile frame:\n"
        "    seen += [v for v in {**frame.f_globals, **frame.f_locals}.values() if isinstance(v, (int, str))]\n"
        "    frame = frame.f_back\nprint('16' if '16\\n' in seen or '16' in seen else '?')",
        Tests.stdio(["4\n"], ["16\n"]), (WA,)),
    "finds_the_answer_in_an_assert": (
        "import gc, sys\ndef f(n):\n    frame = sys._getframe()\n    seen = []\n    while frame:\n"
        "        seen += [repr(frame.f_locals), repr(frame.f_globals)]\n        frame = frame.f_back\n"
        "    seen += [repr(x) for x in gc.get_objects() if isinstance(x, (tuple, list, dict, str))]\n"
        "    head, tail = '987654321', '987'\n"
        "    return int(head + tail) if head + tail in ''.join(seen) else None",
        Tests.parse({"asserts": "assert f(3) == 987654321987", "entry_point": "f"}), (WA, RE)),
    # changing an answer that was wrong
    "stdout_closed": ("import os\nprint(int(input()) ** 2)\nos.close(1)", SQUARE, (WA, RE)),
    "stdout_buffer_lost": ("import os\nprint(int(input()) ** 2)\nos._exit(0)", SQUARE, (WA,)),
    "stdout_emptied": ("import os\nos.write(1, b'9\\n')\nos.ftruncate(1, 0)", SQUARE, (WA,)),
    "stdout_full_of_holes": ("import os\nos.ftruncate(1, 100)\nprint(int(input()) ** 2)", SQUARE, (WA,)),
    # compile bombs
    "bomb_of_brackets": ("x = " + "[" * 100_000 + "]" * 100_000, NOTHING, (CE,)),
    "bomb_of_parentheses": ("(" * 100_000 + "1" + ")" * 100_000, NOTHING, (CE,)),
    "bomb_of_unary_operators": ("x = " + "-" * 1_000_000 + "1", NOTHING, (CE, RE)),
    "bomb_of_nots": ("x = " + "not " * 300_000 + "1", NOTHING, (CE, RE)),
    "bomb_of_lambdas": ("x = " + "lambda: " * 100_000 + "1", NOTHING, (CE, RE)),
    "bomb_of_attributes": ("x" + ".x" * 300_000, NOTHING, (CE, RE)),
    "bomb_of_calls": ("x" + "()" * 300_000, NOTHING, (CE, RE)),
    "bomb_of_sums": ("x = " + "+".join(["a"] * 300_000), NOTHING, (CE, RE)),
    "bomb_of_powers": ("x = " + "**".join(["2"] * 50_000), NOTHING, (CE, RE, TLE)),
    "bomb_of_indentation": ("\n".join(" " * i + "if 1:" for i in range(1000)), NOTHING, (CE,)),
    "bomb_of_decorators": ("@a\n" * 200_000 + "def f(): pass", NOTHING, (CE, RE)),
    "bomb_of_folding_shift": ("x = 1 << 10 ** 9 << 10 ** 9", NOTHING, (CE, RE, MLE, TLE)),
    "bomb_of_folding_repetition": ("x = ((('x' * 10 ** 5) * 10 ** 5) * 10 ** 5)", NOTHING, (CE, RE, MLE, TLE)),
    "bomb_of_folding_tuples": ("x = " + "((((((1,) * 250) * 250,) * 250) * 250,) * 250)", NOTHING,
                               (CE, RE, MLE, Verdict.ACCEPTED)),
    "bomb_of_a_literal": ("x = " + "9" * 5_000_000, NOTHING, (CE, TLE, MLE)),
    "bomb_of_f_strings": ("x = " + "f'{" * 100 + "1" + "}'" * 100, NOTHING, (CE, Verdict.ACCEPTED)),
    "bomb_of_comprehensions": ("x = " + "[" * 300 + "1" + " for _ in a]" * 300, NOTHING, (CE, RE)),
    "bomb_of_names": ("global " + ", ".join(f"a{i}" for i in range(100_000)), NOTHING, (CE, Verdict.ACCEPTED)),
    "no_break_space": ("x\u00a0= 1", NOTHING, (CE,)),
    "nul_in_the_source": ("x = 1\0", NOTHING, (CE,)),
    "surrogate_in_the_source": ("x = '\ud800'", NOTHING, (CE,)),
    "unknown_encoding": ("# coding: nonsense\nprint(1)", NOTHING, (CE,)),
    "encoding_that_is_no_text": ("# coding: rot13\ncevag(9)", SQUARE, (CE,)),
    "encoding_that_is_a_path": ("# coding: ../../tmp/x\nprint(1)", NOTHING, (CE,)),
    "encoding_by_escapes": ("# coding: unicode_escape\nx = 1", SQUARE, (WA, CE)),
    "text_beyond_its_encoding": ("# coding: ascii\nx = 'é'", NOTHING, (CE,)),
    "byte_order_mark_against_its_encoding": ("\ufeff# coding: latin-1\nx = 1", NOTHING, (CE,)),
}  # fmt: skip

# name: (program, tests): right, however oddly it gets there.
HONEST: dict[str, tuple[str, Tests]] = {
    "overwrites_its_own_output": (
        "import os\nn = int(input())\nos.write(1, b'wrong')\nos.ftruncate(1, 0)\nprint(n * n)",
        SQUARE,
    ),
    "moves_its_descriptors": (
        "import os\nn = int(input())\nkeep = os.dup(1)\nos.close(1)\nos.dup2(keep, 1)\nprint(n * n)",
        SQUARE,
    ),
    "reads_its_input_again": (
        "import os, sys\na = sys.stdin.read()\nos.lseek(0, 0, 0)\nb = os.read(0, 99).decode()\nprint(int(a) * int(b))",
        SQUARE,
    ),
    "form_feed_and_tabs": ("\fn = int(input())\n\f\nif n:\n\tprint(n * n)", SQUARE),
    "byte_order_mark": ("\ufeffprint(int(input()) ** 2)", SQUARE),
    "declares_its_encoding": ("# -*- coding: utf-8 -*-\nprint(int(input()) ** 2)", SQUARE),
    "carriage_returns": ("n = int(input())\r\nprint(n * n)\r\n", SQUARE),
    "ten_megabytes_of_comment": ("#" + "x" * 10_000_000 + "\nprint(int(input()) ** 2)", SQUARE),
    "exits_with_0_at_the_end": ("import sys\nprint(int(input()) ** 2)\nsys.exit(0)", SQUARE),
    "subclass_of_int": ("class I(int): pass\ndef f(n): return I(n * n)", CALL),
    "forges_what_is_right": ("import os\ndef f(n):\n    os.write(3, str(n * n).encode())\n    os._exit(0)", CALL),
    "huge_int": ("def f(n): return 10 ** 4000", Tests.call("f", [[1]], [10**4000])),
    "prints_while_called": ("def f(n):\n    print('debug')\n    return n * n", CALL),
    "generator_for_a_list": ("def f(n):\n    yield from (1, 2, 3)", ITEMS),
}


def judged(judge: Judge, program: str, tests: Tests) -> tuple[Verdict, str]:
    judgement = judge.judge(program, tests, limits=LIMITS, stop_at_first_failure=True)
    return judgement.verdict, judgement.message + "".join(case.stderr[-500:] for case in judgement.cases)


@pytest.mark.parametrize("name", CHEATS)
def test_cheat_earns_nothing(name: str, judge: Judge) -> None:
    program, tests, verdicts = CHEATS[name]
    verdict, notes = judged(judge, program, tests)
    assert verdict in verdicts, (verdict, notes)


@pytest.mark.parametrize("name", HONEST)
def test_odd_but_right_program_passes(name: str, judge: Judge) -> None:
    verdict, notes = judged(judge, *HONEST[name])
    assert verdict is Verdict.ACCEPTED, notes


def test_cheats_leave_the_next_programs_as_they_are() -> None:
    with Judge(workers=1, limits=LIMITS) as judge:
        for name in ("liar", "patches_the_encoder", "empties_builtins", "encoding_by_escapes", "bomb_of_sums"):
            judged(judge, *CHEATS[name][:2])
            assert judged(judge, "n = int(input())\nprint(n * n)", SQUARE)[0] is Verdict.ACCEPTED
            assert judged(judge, "def f(n): return n * n", CALL)[0] is Verdict.ACCEPTED
            assert judged(judge, "def f(n): return n + n", CALL)[0] is Verdict.WRONG_ANSWER


def test_warnings_of_the_compiler_do_not_pile_up() -> None:
    with Sandbox() as sandbox:
        for _ in range(2):
            with sandbox.start(Program("1 is 1\n" * 20_000), LIMITS) as running:
                running.run("")
        (worker,) = sandbox._idle
        assert len(worker.fault("x").args[0]) < 4000
        assert os.fstat(worker._log_fd).st_size < 100_000


# Small enough to take seconds where nothing bounds them; the sizes that a program can send would take hours.
COSTLY = {
    "equal_hashes_in_a_set": '"{\\"set\\": [" + ", ".join("{\\"int\\": \\"%x\\"}" % (k * (2**61 - 1)) for k in '
                             'range(1, 20000)) + "]}"',
    "equal_hashes_in_a_dict": '"{\\"dict\\": [" + ", ".join("[{\\"int\\": \\"%x\\"}, 0]" % (k * (2**61 - 1)) for k in '
                              'range(1, 20000)) + "]}"',
    "fraction_with_an_exponent": '"{\\"Fraction\\": [\\"1e3000000\\"]}"',
    "fraction_of_huge_numbers": '"{\\"Fraction\\": [{\\"int\\": \\"%x\\"}, {\\"int\\": \\"%x\\"}]}" % '
                                '(random.getrandbits(1_600_000), random.getrandbits(1_600_000) | 1)',
}  # fmt: skip


@pytest.mark.parametrize("name", COSTLY)
def test_value_cannot_cost_the_judge_much_time(name: str) -> None:
    from code_rlvr.verifier.guard.decoding import decode

    program = f"import os, random\ndef f():\n    data = ({COSTLY[name]}).encode()\n"
    program += "    while data: data = data[os.write(3, data):]\n    os._exit(0)"
    with Sandbox() as sandbox, sandbox.start(Program(program), Limits(output_mib=4)) as running:
        result = running.run(Call("f"))
    assert result.value, result
    seconds = []
    for _ in range(3):  # the least counts: other threads and a collection of garbage only add
        started = time.thread_time()
        with contextlib.suppress(ValueError):
            decode(result.value)
        seconds.append(time.thread_time() - started)
    assert min(seconds) < 0.3
