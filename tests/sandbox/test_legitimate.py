"""What contest programs need, the sandbox gives them: nothing here may fail because of it."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Iterator

import pytest

from code_rlvr import Judge, Limits, RunStatus, Tests, Verdict
from code_rlvr.verifier.program import Program
from code_rlvr.verifier.sandbox import Sandbox

LIMITS = Limits(cpu_s=8.0, wall_s=30.0, memory_mib=512, output_mib=1.0)
STDIN = "3 4\n5\n"

# Need what no contest program may have, or open windows, or do something when they are imported.
NOT_FOR_CONTESTS = {
    "antigravity", "this", "idlelib", "lib2to3", "tkinter", "turtle", "turtledemo", "test", "ensurepip", "venv",
    "__phello__", "__hello__", "pydoc_data", "msilib", "nt", "winreg", "winsound", "msvcrt", "ossaudiodev", "nis",
    "distutils", "curses", "crypt", "spwd",
}  # fmt: skip

EVERY_MODULE = """
import importlib, sys, warnings
warnings.simplefilter("ignore")
failed = []
for name in input().split():
    try:
        importlib.import_module(name)
    except BaseException as error:
        failed.append(f"{name}: {error!r}")
print(failed)
"""

# name: (program, what it prints)
PROGRAMS = {
    "big_stack": (
        "import sys, threading\nsys.setrecursionlimit(10 ** 6)\nthreading.stack_size(256 << 20)\n"
        "def deep(n): return 0 if n == 0 else 1 + deep(n - 1)\n"
        "thread = threading.Thread(target=lambda: print(deep(200_000)))\nthread.start()\nthread.join()", "200000\n"),
    "deep_recursion_in_the_main_thread": (
        "import sys\nsys.setrecursionlimit(10 ** 6)\ndef deep(n): return 0 if n == 0 else 1 + deep(n - 1)\n"
        "print(deep(100_000))", "100000\n"),
    "thread_pool": (
        "from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor(8) as pool:\n"
        "    print(sum(pool.map(lambda n: n * n, range(100))))", "328350\n"),
    "threads_with_queue_and_lock": (
        "import queue, threading\nq, lock, total = queue.Queue(), threading.Lock(), [0]\ndef work():\n"
        "    while (n := q.get()) is not None:\n        with lock: total[0] += n\n"
        "threads = [threading.Thread(target=work) for _ in range(4)]\nfor t in threads: t.start()\n"
        "for n in [*range(100), *[None] * 4]: q.put(n)\nfor t in threads: t.join()\nprint(total)", "[4950]\n"),
    "asyncio": (
        "import asyncio\nasync def one(n):\n    await asyncio.sleep(0.001)\n    return n\nasync def main():\n"
        "    return sum(await asyncio.gather(*map(one, range(50)))) + await asyncio.to_thread(abs, -1)\n"
        "print(asyncio.run(main()))", "1226\n"),
    "dev_stdin": ("print(open('/dev/stdin').read().split())", "['3', '4', '5']\n"),
    "open_zero": ("print(open(0).read().split())", "['3', '4', '5']\n"),
    "os_read": ("import os\nprint(os.read(0, os.fstat(0).st_size))", "b'3 4\\n5\\n'\n"),
    "stdin_buffer": ("import sys\nprint(sys.stdin.buffer.readline(), sys.stdin.buffer.read())", "b'3 4\\n' b'5\\n'\n"),
    "bytes_io_over_stdin": (
        "import io, os\nprint([*map(int, io.BytesIO(os.read(0, os.fstat(0).st_size)).readline().split())])",
        "[3, 4]\n"),
    "stdin_mapped": ("import mmap\nprint(mmap.mmap(0, 0, prot=mmap.PROT_READ).read())", "b'3 4\\n5\\n'\n"),
    "stdin_iterated": ("import sys\nprint([line.strip() for line in sys.stdin])", "['3 4', '5']\n"),
    "fileinput": ("import fileinput\nprint([line.strip() for line in fileinput.input()])", "['3 4', '5']\n"),
    "select_on_stdin": ("import select\nprint(len(select.select([0], [1], [], 1)[0]))", "1\n"),
    "stdout_rewrapped": (
        "import io, os, sys\nsys.stdout = io.TextIOWrapper(open(1, 'wb', closefd=False), newline='\\n')\nprint('a')",
        "a\n"),
    "stdout_by_open": ("import sys\nout = open('/dev/stdout', 'w')\nout.write('a')\nout.close()", "a"),
    "print_to_os_write": ("import os\nos.writev(1, [b'a', b'b'])", "ab"),
    "exit_at_the_end": ("import sys\nprint(1)\nsys.exit(0)", "1\n"),
    "atexit": ("import atexit\natexit.register(print, 'last')\nprint('first', end=' ')", "first last\n"),
    "no_final_newline": ("print('x', end='')", "x"),
    "clocks": (
        "import time\nstart = time.perf_counter()\ntime.sleep(0.01)\nassert time.perf_counter() > start\n"
        "time.time_ns(), time.monotonic(), time.process_time(), time.thread_time(), time.localtime(), time.tzname\n"
        "import datetime\ndatetime.datetime.now(), datetime.date.today()\nprint('ok')", "ok\n"),
    "random": (
        "import random, secrets, uuid, os\nrandom.seed(1)\nprint(random.randint(1, 100), len(os.urandom(8)))\n"
        "random.SystemRandom().random(), secrets.token_hex(), uuid.uuid4(), uuid.uuid1()", "18 8\n"),
    "alarm_of_its_own": (
        "import signal\ndef late(*_): raise TimeoutError\nsignal.signal(signal.SIGALRM, late)\nsignal.alarm(1)\n"
        "try:\n    signal.pause()\nexcept TimeoutError: print('cut')", "cut\n"),
    "limits_of_its_own": (
        "import resource, sys\nresource.setrlimit(resource.RLIMIT_STACK, (64 << 20, resource.getrlimit(3)[1]))\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss > 0)", "True\n"),
    "processors": ("import os, multiprocessing\nprint(os.cpu_count() > 0, len(os.sched_getaffinity(0)) > 0)",
                   "True True\n"),
    "platform": ("import os, platform, sys\nprint(platform.python_implementation(), os.name, sys.platform)",
                 "CPython posix linux\n"),
    "tracemalloc_and_gc": (
        "import gc, tracemalloc\ntracemalloc.start()\nx = [[] for _ in range(1000)]\ngc.collect()\n"
        "print(tracemalloc.get_traced_memory()[1] > 0)", "True\n"),
    "ctypes": ("import ctypes\nprint(ctypes.CDLL(None).abs(-3), ctypes.c_int32(2 ** 31).value)", "3 -2147483648\n"),
    "decimals_and_fractions": (
        "from decimal import *\nfrom fractions import *\ngetcontext().prec = 60\n"
        "print(Decimal(2).sqrt() > 1, Fraction(6, 4))",
        "True 3/2\n"),
    "pickle_of_a_dataclass": (
        "import copy, pickle\nfrom dataclasses import dataclass\n@dataclass(order=True)\nclass A:\n    n: int = 1\n"
        "print(pickle.loads(pickle.dumps(A(2))), copy.deepcopy(A()))", "A(n=2) A(n=1)\n"),
    "zoneinfo_and_locale": (
        "import locale, zoneinfo\nlocale.setlocale(locale.LC_ALL, 'C')\nprint(zoneinfo.ZoneInfo('UTC'))", "UTC\n"),
    "sqlite_in_memory": (
        "import sqlite3\nbase = sqlite3.connect(':memory:')\nprint(base.execute('select 1 + 1').fetchone())", "(2,)\n"),
    "hashes_and_compression": (
        "import bz2, hashlib, lzma, zlib\nprint(hashlib.md5(b'').hexdigest()[:4],\n"
        "      len(zlib.compress(b'a' * 999)) < 99,\n"
        "      bz2.decompress(bz2.compress(b'x')), lzma.decompress(lzma.compress(b'x')))", "d41d True b'x' b'x'\n"),
    "numbers_of_any_length": (
        "print(len(str(7 ** 20_000)), int('9' * 5000) % 7)", f"16902 {(10**5000 - 1) % 7}\n"),
    "unittest": (
        "import unittest\nclass T(unittest.TestCase):\n    def test(self): self.assertEqual(1, 1)\n"
        "print(unittest.TextTestRunner(stream=open('/dev/null', 'w')).run(\n"
        "    unittest.defaultTestLoader.loadTestsFromTestCase(T)).wasSuccessful())", "True\n"),
    "temporary_files_are_refused_clearly": (
        "import tempfile\nfor deed in (tempfile.TemporaryFile, tempfile.mkdtemp):\n    try: deed()\n"
        "    except OSError as error: print('temporary directory' in str(error) or error.strerror)",
        "True\nTrue\n"),
}  # fmt: skip

WRITER = "import io, os, sys\nout = sys.stdout\nclass W:\n    def write(self, text): out.write(text)\n"
# How programs may end, whose exit code and output are those of plain Python.
ENDINGS = {
    "stdout_detached_and_wrapped_again": (
        "import io, sys\nsys.stdout = io.TextIOWrapper(sys.stdout.detach(), encoding='utf-8')\nprint(9)"),
    "stdout_detached_for_a_codec": (
        "import codecs, sys\nsys.stdout = codecs.getwriter('utf-8')(sys.stdout.detach())\nprint(9)"),
    "stdout_detached": "import sys\nprint(9, flush=True)\nsys.stdout.detach()",
    "stdout_detached_for_bytes": "import sys\nout, sys.stdout = sys.stdout.detach(), None\nout.write(b'9')",
    "stdout_deleted": "import os, sys\nprint(9)\ndel sys.stdout\nos.write(1, b'8')",
    "every_stream_deleted": "import sys\nprint(9)\ndel sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__",
    "stdout_under_no_name": "import io, sys\nprint(9)\nsys.stdout = sys.__stdout__ = io.StringIO()",
    "stdout_closed": "import sys\nprint(9)\nsys.stdout.close()",
    "stdout_whose_descriptor_is_closed": "import os\nprint(9)\nos.close(1)",
    "stdout_is_a_number": "import sys\nprint(9)\nsys.stdout = 5",
    "stdout_without_flush": f"{WRITER}sys.stdout = W()\nprint(9)",
    "stdout_whose_flush_raises": f"{WRITER}    def flush(self): raise OSError('full')\nsys.stdout = W()\nprint(9)",
    "stdout_whose_flush_exits": f"{WRITER}    def flush(self): sys.exit(0)\nsys.stdout = W()\nprint(9)",
    "stdout_whose_flush_raises_after_an_exit": f"{WRITER}    def flush(self): 1 / 0\nsys.stdout = W()\nsys.exit(3)",
    "stdout_that_says_it_is_closed": (
        f"{WRITER}    closed = True\n    def flush(self): 1 / 0\nsys.stdout = W()\nprint(9)"),
    "stdout_that_cannot_say_whether_it_is_closed": (
        f"{WRITER}    closed = property(lambda self: 1 / 0)\n    def flush(self): out.flush()\n"
        "sys.stdout = W()\nprint(9)"),
    "stderr_whose_flush_raises": (
        "import sys\nclass W:\n    def write(self, text): pass\n    def flush(self): 1 / 0\n"
        "sys.stderr = W()\nprint(9)"),
    "file_whose_flush_raises": (
        "import io\nclass R(io.RawIOBase):\n    def flush(self): raise OSError('full')\nr = R()\nprint(9)"),
    "exit_handler_that_raises": "import atexit\natexit.register(lambda: 1 / 0)\nprint(9)",
    "thread_handler_that_raises": "import threading\nthreading._register_atexit(lambda: 1 / 0)\nprint(9)",
}  # fmt: skip

# Where a file may be that is never closed: the interpreter flushes it at the end.
HOLDERS = {
    "method": "write = open(1, 'w').write\nwrite('9')",
    "csv_writer": "import csv\ncsv.writer(open(1, 'w')).writerow([9])",
    "csv_writer_kept": "import csv\nout = csv.writer(open(1, 'w'))\nout.writerow([9])",
    "partial": "import functools\nsay = functools.partial(print, file=open(1, 'w'))\nsay(9)",
    "default": "def say(text, out=open(1, 'w')): out.write(text)\nsay('9')",
    "keyword_default": "say = lambda text, *, out=open(1, 'w'): out.write(text)\nsay('9')",
    "closure": "def make():\n    out = open(1, 'w')\n    return lambda text: out.write(text)\nsay = make()\nsay('9')",
    "attribute": "class A: pass\na = A()\na.out = open(1, 'w')\na.out.write('9')",
    "slot": "class A: __slots__ = ('out',)\na = A()\na.out = open(1, 'w')\na.out.write('9')",
    "class_attribute": "class A: out = open(1, 'w')\nA.out.write('9')",
    "generator": (
        "def writer():\n    out = open(1, 'w')\n    while True: out.write((yield))\n"
        "w = writer()\nnext(w)\nw.send('9')"),
    "another_module": "import string\nstring.out = open(1, 'w')\nstring.out.write('9')",
    "exit_handler": "import atexit\natexit.register(open(1, 'w').write, '9')",
    "binary": "import io\nwrite = io.BufferedWriter(io.FileIO(1, 'w')).write\nwrite(b'9')",
    "detached_standard_output": "import sys\nwrite = sys.stdout.detach().write\nwrite(b'9')\nsys.stdout = None",
    "class_of_its_own": (
        "import io, os\nclass Out(io.RawIOBase):\n    text = b''\n"
        "    def flush(self):\n        os.write(1, self.text)\n        self.text = b''\n"
        "outs = [Out()]\nouts[0].text = b'9'"),
    "two_names": (
        "import gc\na = open(1, 'w', closefd=False)\ngc.collect()\nb = open(1, 'w', closefd=False)\n"
        "b.write('8')\na.write('9')"),
    "beside_one_that_cannot_be_flushed": (
        "import io\nclass R(io.RawIOBase):\n    def flush(self): raise SystemExit(3)\n"
        "held = [R(), open(1, 'w')]\nheld[1].write('9')"),
    "beside_an_object_that_lies": (
        "class Liar:\n    __class__ = property(lambda self: 1 / 0)\nheld = [Liar(), open(1, 'w')]\nheld[1].write('9')"),
    "beside_a_pipe_that_a_thread_waits_for": (
        "import os, threading, time\nr, w = os.pipe()\nheld = [os.fdopen(r), open(1, 'w')]\nheld[1].write('9')\n"
        "threading.Thread(target=held[0].read, daemon=True).start()\ntime.sleep(0.1)"),
}  # fmt: skip

OK, WA, RE = Verdict.ACCEPTED, Verdict.WRONG_ANSWER, Verdict.RUNTIME_ERROR
MATCH = "import re\ndef f(x): return re.search('^a.*b$', x)"
OWN = (
    "class Box:\n    def __init__(self, x): self.x = x\n    def __len__(self): return len(self.x)\n"
    "def f(x): return Box(x)"
)
FRAME = (
    "class Frame:\n    def __bool__(self): raise ValueError('the truth value of a Frame is ambiguous')\n"
    "def f(x): return Frame()"
)

# name: (program, assertions, what plain Python says of each)
OF_WHAT_CANNOT_CROSS = {
    "match": (MATCH, ("assert f('ab')", "assert not f('b')", "assert f('ab') is not None", "assert f('b') is None",
                      "assert bool(f('ab')) == True", "assert f('ab') != None", "assert f('ab') and True"), OK),
    "match_where_there_is_none": (MATCH, ("assert not f('ab')", "assert f('b')", "assert f('ab') is None",
                                          "assert bool(f('ab')) == False", "assert f('ab') == None"), WA),
    "none_where_truth_is_wanted": ("def f(x): pass", ("assert f(1)", "assert f(1) is not None", "assert f(1) != None"),
                                   WA),
    "object_of_its_own": (OWN, ("assert f('x')", "assert not f('')", "assert f('') is not None",
                                "assert f('x') is not True", "assert (1 if f('x') else 0) == 1"), OK),
    "object_of_its_own_that_is_false": (OWN, ("assert f('')", "assert f('x') is None", "assert f('') or False"), WA),
    "object_without_truth": (FRAME, ("assert f(1) is not None", "assert f(1) is not True"), OK),
    "object_asked_for_the_truth_it_lacks": (FRAME, ("assert f(1)", "assert not f(1)"), RE),
    "function": ("def f(x): return lambda: x", ("assert f(1)", "assert f(1) is not None"), OK),
    "module": ("import math\ndef f(x): return math", ("assert f(1)",), OK),
    "class": ("def f(x): return type('C', (), {})", ("assert f(1)",), OK),
    "generator_of_objects": ("def f(x):\n    yield object()", ("assert f(1)", "assert f(1) is not None"), OK),
    "endless_generator": ("def f(x):\n    while True: yield x", ("assert f(1)",), OK),
    "generator_that_would_raise": ("def f(x):\n    yield 1\n    raise ValueError('later')", ("assert f(1)",), OK),
    "list_of_functions": ("def f(x): return [len] * x", ("assert f(1)", "assert not f(0)", "assert f(1) != None"), OK),
    "list_that_holds_itself": ("def f(x):\n    x = []\n    x.append(x)\n    return x", ("assert f(1)",), OK),
    "stream": ("import sys\ndef f(x): return sys.stdout", ("assert f(1)",), OK),
    "method_of_solution": (
        "class Solution:\n    def f(self, x): return self", ("assert Solution().f(1)", "assert f(1)"), OK),
}  # fmt: skip
# What a checker can ask, for it calls back; the judge cannot, and says so.
MORE_OF_IT = ("f('ab') == 'ab'", "len(f('ab')) == 2", "f('ab') in [1]", "isinstance(f('ab'), str)", "[f('ab')] == [1]")


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox() as sandbox:
        yield sandbox


def ran(sandbox: Sandbox, source: str, stdin: str = STDIN) -> str:
    with sandbox.start(Program(source), LIMITS) as running:
        assert running.compile_error is None
        result = running.run(stdin)
    assert (result.status, result.exit_code) == (RunStatus.EXITED, 0), (result.status, result.stderr.decode())
    assert not result.stderr
    return result.stdout.decode()


@pytest.mark.parametrize("name", PROGRAMS)
def test_program_may_do_what_contests_need(name: str, sandbox: Sandbox) -> None:
    source, printed = PROGRAMS[name]
    assert ran(sandbox, source) == printed


@pytest.mark.parametrize("name", ENDINGS)
def test_program_ends_as_in_plain_python(name: str, sandbox: Sandbox) -> None:
    plain = subprocess.run([sys.executable, "-I", "-c", ENDINGS[name]], capture_output=True, timeout=60)
    with sandbox.start(Program(ENDINGS[name]), LIMITS) as running:
        result = running.run("")
    assert (result.stdout, result.exit_code) == (plain.stdout, plain.returncode), (result.stderr, plain.stderr)


@pytest.mark.parametrize("name", HOLDERS)
def test_file_is_flushed_at_the_end_whoever_holds_it(name: str, sandbox: Sandbox) -> None:
    plain = subprocess.run([sys.executable, "-I", "-c", HOLDERS[name]], capture_output=True, timeout=60, check=True)
    assert plain.stdout.startswith(b"9")
    assert ran(sandbox, HOLDERS[name], "").encode() == plain.stdout


def test_every_module_of_the_standard_library_can_be_imported(sandbox: Sandbox) -> None:
    names = [name for name in sys.stdlib_module_names if name not in NOT_FOR_CONTESTS]
    here = [name for name in sorted(names) if importlib.util.find_spec(name)]
    assert len(here) > 200
    assert ran(sandbox, EVERY_MODULE, " ".join(here) + "\n") == "[]\n"


@pytest.mark.xfail(reason="its lock is a named semaphore, which is a file in /dev/shm", strict=True)
def test_thread_pool_of_multiprocessing_works(sandbox: Sandbox) -> None:
    source = "from multiprocessing.dummy import Pool\nwith Pool(4) as pool: print(sum(pool.map(abs, range(-9, 9))))"
    assert ran(sandbox, source) == "81\n"


@pytest.mark.skipif(not importlib.util.find_spec("numpy"), reason="numpy is not installed")
def test_numpy_computes_with_its_libraries(sandbox: Sandbox) -> None:
    source = """
import numpy as np, threading
a = np.arange(250_000, dtype=float).reshape(500, 500) % 7
b = a @ a.T + 500 * np.eye(500)
def solve(): results.append(np.allclose(np.linalg.inv(b) @ b, np.eye(500)))
results = []
thread = threading.Thread(target=solve)
thread.start(); thread.join(); solve()
print(results, np.fft.fft(np.ones(8)).real[0], np.random.default_rng(1).integers(10) < 10)
print(np.loadtxt(open(0), max_rows=1))
"""
    assert ran(sandbox, source) == "[True, True] 8.0 True\n[3. 4.]\n"


def test_solution_is_a_script_like_any_other(sandbox: Sandbox) -> None:
    source = (
        "import sys\nprint(__name__, len(sys.argv), sys.modules['__main__'].__dict__ is globals(), sys.stdin.encoding)"
    )
    assert ran(sandbox, source) == "__main__ 1 True utf-8\n"


def verdicts(judge: Judge, program: str, assertions: tuple[str, ...]) -> list[Verdict]:
    judgement = judge.judge(program, Tests("assert", asserts=assertions, entry_point="f"))
    return [case.verdict for case in judgement.cases]


@pytest.mark.parametrize("name", OF_WHAT_CANNOT_CROSS)
def test_truth_of_a_value_that_cannot_cross_is_what_plain_python_says(name: str, judge: Judge) -> None:
    program, assertions, verdict = OF_WHAT_CANNOT_CROSS[name]
    assert verdicts(judge, program, assertions) == [verdict] * len(assertions)


# In a checker a list is never an object that stays where it is: one that is nested too deeply is refused there.
@pytest.mark.parametrize("name", sorted(OF_WHAT_CANNOT_CROSS.keys() - {"list_that_holds_itself"}))
def test_a_checker_says_the_same_of_it(name: str, judge: Judge) -> None:
    program, assertions, verdict = OF_WHAT_CANNOT_CROSS[name]
    loops = tuple(f"for _ in [1]:\n    {assertion}" for assertion in assertions)
    assert verdicts(judge, program, loops) == [verdict] * len(loops)


@pytest.mark.parametrize("condition", MORE_OF_IT)
def test_more_than_the_truth_of_it_is_a_runtime_error_that_says_why(condition: str, judge: Judge) -> None:
    judgement = judge.judge(MATCH, Tests("assert", asserts=(f"assert {condition}",), entry_point="f"))
    (case,) = judgement.cases
    assert case.verdict is RE
    assert case.stderr.startswith("a value of type Match cannot leave the sandbox")
    assert "only whether it is true, or is None" in case.stderr


def test_an_expected_output_is_never_met_by_a_value_that_cannot_cross(judge: Judge) -> None:
    outputs = [None, True, False, 1, "x", [], {}, ["", True, True], {"opaque": ["", True, True]}]
    judgement = judge.judge(OWN, Tests.call("f", [["x"]] * len(outputs), outputs))
    assert {case.verdict for case in judgement.cases} == {RE}
    assert "a value of type Box cannot leave the sandbox" in judgement.cases[0].stderr


@pytest.mark.parametrize("demonstration", ["print(f(int(input())))", "import sys; sys.exit(f(0))", "assert f(1) == 3"])
@pytest.mark.parametrize(
    "tests",
    [
        Tests.call("f", [[1], [2]], [2, 3]),
        Tests("assert", asserts=("assert f(1) == 2",), entry_point="f"),
        Tests("assert", asserts=("for i in range(3):\n    assert f(i) == i + 1",), entry_point="f"),
    ],
    ids=["call", "assert", "checker"],
)
def test_a_demonstration_below_the_main_guard_is_not_run_where_a_function_is_tested(
    tests: Tests, demonstration: str, judge: Judge
) -> None:
    program = f"def f(a):\n    return a + 1\n\n\nif __name__ == '__main__':\n    {demonstration}\n"
    assert judge.judge(program, tests).verdict is Verdict.ACCEPTED
    assert judge.judge(program.replace("+ 1", "+ 2"), tests).verdict is Verdict.WRONG_ANSWER


def test_a_function_that_is_tested_finds_its_module_by_name(judge: Judge) -> None:
    program = """
import pickle, sys, typing, dataclasses
@dataclasses.dataclass
class Pair:
    a: "int"
def f(a):
    assert sys.modules[__name__].__dict__ is globals()
    assert typing.get_type_hints(Pair) == {"a": int}
    return pickle.loads(pickle.dumps(Pair(a))).a
"""
    assert judge.judge(program, Tests.call("f", [[1]], [1])).verdict is Verdict.ACCEPTED
