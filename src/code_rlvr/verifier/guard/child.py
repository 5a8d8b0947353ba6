"""A test's process: turns a fresh fork into it, runs the program as the interpreter would run a script, leaves.

Covered: the last layers of confinement, real stdin and stdout, exit codes, exit handlers.
Not covered: compiling, watching (`supervisor`).
"""

from __future__ import annotations

import _io
import atexit
import builtins
import contextlib
import gc
import os
import sys
import types

from . import kernel
from .decoding import decode
from .frames import find_function
from .opaque import encode_answer

TYPE_CHECKING = False  # importing typing costs 8 ms
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

OPEN_FILES = 64  # all that this process can have open
VALUE_FD = DIALOGUE_FD = 3
UNFLUSHED = 120  # the interpreter's exit code when a standard stream cannot be flushed
STDOUT = (sys.__stdout__, getattr(sys.__stdout__, "buffer", None))  # whatever a program makes of that name


class Confinement:
    """What turns a fresh child into the process that a program may have to itself; made once, put on by each.

    Every page that a child writes to is copied first, for each test: what can be prepared is prepared before.

    Args:
        program_filter: What system calls it gives up; None without system call filters.
        dies_with_parent: Whether all these processes end with the first of their namespace.
    """

    def __init__(self, program_filter: kernel.Filter | None, dies_with_parent: bool) -> None:
        self.dies_with_parent = dies_with_parent
        self.may_fork = program_filter is None
        self._filter = program_filter

    def put_on(self, fds: list[int]) -> None:
        """Confine this process; `fds` become its descriptors 0, 1, 2 and, if there is a fourth, 3."""
        if not self.dies_with_parent:
            kernel.prctl(kernel.PR_SET_PDEATHSIG, kernel.SIGKILL)
        kernel.make_dumpable()  # or /dev/stdin could not be opened
        for number, fd in enumerate(fds):
            os.dup2(fd, number)
        os.closerange(len(fds), OPEN_FILES)
        if self._filter is None:
            os.setsid()  # without a filter there can be descendants, and they share a group
        else:
            self._filter.add(os.getpid())


def run(codes: list[types.CodeType], shared: dict[str, Any], request: dict[str, Any]) -> int:
    """Run the program, make the test's call if it is one, flush; returns the exit code."""
    threading = sys.modules["threading"]  # the zygote imported it without its fork hooks
    test, status = request["test"], 0
    # Whoever tests a function imports it, so that a demonstration below `if __name__ == "__main__"` does not run.
    module = types.ModuleType("solution" if test in ("call", "serve") else "__main__")
    module.__dict__.update(shared, __builtins__=builtins, __file__="solution.py")
    sys.modules["__main__"] = sys.modules[module.__name__] = module
    sys.argv = ["solution.py"]
    arguments = read_arguments() if test == "call" else None
    # What only dialogues need is imported by their supervisors, lest it cost every fork.
    if test == "check":
        from .dialogue import checker_names  # noqa: PLC0415

        module.__dict__.update(checker_names(DIALOGUE_FD, request["stubs"]))
    try:
        for code in codes:
            exec(code, module.__dict__)
        if arguments is not None:
            answer_call(find_function(module.__dict__, request["function"]), *arguments)
        elif test == "serve":
            from .dialogue import serve  # noqa: PLC0415

            serve(DIALOGUE_FD, module.__dict__)
    except SystemExit as leaving:
        status = leaving.code & 0xFF if isinstance(leaving.code, int) else int(leaving.code is not None)
        if status and not isinstance(leaving.code, int):
            print(leaving.code, file=sys.stderr)
    except BaseException as error:  # noqa: BLE001  whatever a program raises is its own end, not the guard's
        status = 1
        trace = error.__traceback__ and error.__traceback__.tb_next
        sys.__excepthook__(type(error), error.with_traceback(trace), trace)
    return finish(threading, status)


def finish(threading: types.ModuleType, status: int) -> int:
    """Wait for threads, run exit handlers, flush, in the interpreter's own order; returns the exit code.

    As there, only a standard stream that cannot be flushed changes it.  Source: `Py_FinalizeEx`.
    """
    if len(threading._active) > 1 or threading._threading_atexits:
        succeeds(threading._shutdown)
    if atexit._ncallbacks():
        succeeds(atexit._run_exitfuncs)
    for stream in (sys.__dict__.get("stdout"), sys.__dict__.get("stderr")):  # a program may have deleted them
        if stream is not None and not is_closed(stream) and not succeeds(flush, stream):
            status = UNFLUSHED
    succeeds(flush_files)
    return status


def succeeds(deed: Callable[..., object], *arguments: object) -> bool:
    """Whether something of the program's comes to its end; what it raises is told on standard error."""
    try:
        deed(*arguments)
    except BaseException as error:  # noqa: BLE001  a broken stream or exit handler is the program's own
        trace = error.__traceback__ and error.__traceback__.tb_next
        sys.__excepthook__(type(error), error.with_traceback(trace), trace)
        return False
    return True


def flush_files() -> None:
    """Flush what destructors would: they never run here, and freeing all that a program holds takes longer.

    The collector lists what a program has made, here from the oldest, and not the interpreter's own objects, which are
    frozen.  No error counts, as none does in a destructor.
    """
    files = []
    for generation in (2, 1, 0):
        made = gc.get_objects(generation=generation)
        files += [value for value in made if issubclass(type(value), _io._IOBase)]  # isinstance would ask the value
        del made
    for stream in (*files, *STDOUT):
        with contextlib.suppress(BaseException):
            # A reader has nothing to flush, and a thread that waits for its pipe to fill holds its lock.
            if not isinstance(getattr(stream, "buffer", stream), _io.BufferedReader):
                flush(stream)


def flush(stream: Any) -> None:
    stream.flush()


def is_closed(stream: Any) -> bool:
    """Whether a stream says that it is closed; one that cannot say is open, as for the interpreter."""
    try:
        return bool(stream.closed)
    except BaseException:  # noqa: BLE001  whatever a program's stream raises
        return False


def read_arguments() -> tuple[Any, Any]:
    """What a call is made with; read to the end, so that the program finds its standard input empty."""
    encoded = b""
    while chunk := os.read(0, 1 << 20):
        encoded += chunk
    args, kwargs = decode(encoded)
    return args, kwargs


def answer_call(function: Any, args: Any, kwargs: Any) -> None:
    """Make the call and write down what it returned."""
    value = encode_answer(function(*args, **kwargs)).encode("ascii")
    while value:
        value = value[os.write(VALUE_FD, value) :]
