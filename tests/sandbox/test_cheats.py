"""Programs that try to get at the answers, the verdict or the judge, beyond what tests/cases covers.

Each targets only what its own test started.  Not covered: the file system and the network (a later layer's work).
"""

from __future__ import annotations

import pytest

from code_rlvr import Judge, Limits, RunStatus, Tests, Verdict
from code_rlvr.verifier.program import Call, Program
from code_rlvr.verifier.sandbox import Sandbox

SECRET = "k7Qx-expected-9Zw"
LIMITS = Limits(cpu_s=2.0, wall_s=8.0)

EVERYTHING_IN_REACH = """
import gc, os, sys
found = [repr(sys.argv), repr(dict(os.environ)), repr(os.listdir("."))]
frame = sys._getframe()
while frame is not None:
    found += [repr(frame.f_locals), repr(frame.f_globals)]
    frame = frame.f_back
found += [repr(thing) for thing in gc.get_objects() if isinstance(thing, (str, bytes, dict, list, tuple))]
for fd in range(64):
    try:
        found.append(repr(os.pread(fd, 1 << 20, 0)))
    except OSError as error:
        found.append(f"{fd}: {error}")
text = "".join(found)
sys.stdout.write(f"{len(text) > 10_000} {'k7Qx-' + 'expected' in text}")
"""


def test_expected_output_is_nowhere_in_reach_of_the_program(judge: Judge) -> None:
    tests = Tests.stdio(["in\n", "in\n"], [SECRET, SECRET])
    assert judge.judge(EVERYTHING_IN_REACH, tests, limits=LIMITS).verdict is Verdict.WRONG_ANSWER
    with Sandbox() as sandbox, sandbox.start(Program(EVERYTHING_IN_REACH), LIMITS) as running:
        assert running.run("in\n").stdout == b"True False"


def test_program_owns_no_descriptors_but_its_own() -> None:
    source = """
import os
def is_open(fd):
    try: os.fstat(fd)
    except OSError: return False
    return True
print([fd for fd in range(4096) if is_open(fd)])
def f(): pass
"""
    with Sandbox() as sandbox, sandbox.start(Program(source), LIMITS) as running:
        assert running.run("").stdout == b"[0, 1, 2]\n"
        assert running.run(Call("f")).stdout == b"[0, 1, 2, 3]\n"


def test_reports_written_to_every_descriptor_change_nothing(judge: Judge) -> None:
    source = """
import marshal, os
for fd in range(3, 64):
    for forged in (b"compiled", marshal.dumps(("", 0, 0.0, 0.0, 0))):
        try:
            os.write(fd, forged)
        except OSError:
            pass
print(input() + "!")
"""
    assert judge.judge(source, Tests.stdio(["a", "b"], ["a!", "c!"])).test_pass_rate == 0.5


def test_environment_holds_nothing_of_the_callers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("API_KEY", SECRET)
    with Sandbox() as sandbox, sandbox.start(Program("import os\nprint(dict(os.environ))"), LIMITS) as running:
        stdout = running.run("").stdout.decode()
    assert "API_KEY" not in stdout
    assert SECRET not in stdout


@pytest.mark.parametrize(
    "trick",
    [
        "import sys\nsys.stdout = sys.__stdout__ = None",
        "import builtins\nbuiltins.print = lambda *a, **k: None\nprint('yes')",
        "import sys\nsys.exit = lambda *a: None\nsys.modules.clear()",
        "import os\nos._exit = lambda *a: None",
        "import sys\nsys._getframe(1).f_locals.clear()\nsys._getframe(1).f_globals.clear()",
    ],
)
def test_broken_runtime_passes_nothing(trick: str, judge: Judge) -> None:
    judgement = judge.judge(trick, Tests.stdio(["x"], ["yes"]))
    assert judgement.verdict in (Verdict.WRONG_ANSWER, Verdict.RUNTIME_ERROR)


def test_replaced_exit_cannot_bring_a_child_back_into_the_guard(judge: Judge) -> None:
    source = "import os, sys\nos._exit = os.abort = lambda *a: None\nprint(input())\nraise KeyboardInterrupt"
    judgement = judge.judge(source, Tests.stdio(["a", "b"], ["a", "b"]))
    assert [case.verdict for case in judgement.cases] == [Verdict.RUNTIME_ERROR] * 2


def test_call_answers_with_its_own_value_however_it_sends_it() -> None:
    source = "import os\ndef f():\n    os.write(3, b'[1, 2]')\n    os._exit(0)"
    with Sandbox() as sandbox, sandbox.start(Program(source), LIMITS) as running:
        result = running.run(Call("f"))
    assert (result.status, result.value) == (RunStatus.EXITED, b"[1, 2]")


def test_arguments_of_one_test_are_not_changed_by_another(judge: Judge) -> None:
    source = "def f(items):\n    items.append(0)\n    return len(items)"
    assert judge.judge(source, Tests.call("f", [[[1]], [[1]]], [2, 2])).accepted
