"""The only file that runs inside the sandbox's process: supervises one program, forks a child per test.

    judge ── socket ── guard (this file, trusted; it compiles the program and never runs it)
                         └── a child per test: limits, then the program, then `_exit`

The guard holds no expected output, so there is nothing in it to steal.  What it reports about a child comes
from the kernel (`wait4`, the child's CPU clock), never from the child.  A child owns descriptors 0, 1, 2 and,
for a call, 3, to which it writes the value returned: its own answer, which it may fake as it likes.

Covered: CPU, wall, memory, output and file limits; the death of every descendant; real stdin and stdout.
Not covered: file system, network, signals to other processes (a system call filter's work).

Runs as ``python -S guard.py FD`` on the standard library alone, and imports little of it: each start pays.
"""

from __future__ import annotations

import _ctypes
import _io
import _socket
import builtins
import gc
import marshal
import math
import os
import resource
import select
import sys
import time
import types
from _json import encode_basestring_ascii

TYPE_CHECKING = False  # importing typing costs 8 ms
if TYPE_CHECKING:
    from typing import Any, NoReturn

    Codes = list[types.CodeType]

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER = 1, 4, 36
SIGKILL = 9
MIB = 1 << 20
DATA_SLACK_MIB = 320  # thread stacks count in full, and contest programs ask for 256 MiB of stack
ADDRESS_SLACK_MIB = 1536  # shared libraries, arenas
STACK_BYTES = 100 * MIB  # the kernel leaves 128 MiB below the main stack
MAX_DEPTH = 200  # of a value returned

# What the ctypes package would make, without the 3 ms of importing it; flag 1 is the C calling convention.
_Foreign: Any = type("_Foreign", (_ctypes.CFuncPtr,), {"_flags_": 1})
_prctl = _Foreign(_ctypes.dlsym(_ctypes.dlopen(None, 0), "prctl"))  # type: ignore[arg-type]  # this process


def main() -> None:
    """Serve one program: read it, compile it, run its tests until the judge hangs up."""
    control = _socket.socket(fileno=int(sys.argv[1]))
    _prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    _prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)  # no ptrace and no pidfd_getfd from a child that is not root
    getattr(sys, "set_int_max_str_digits", int)(0)
    builtins.exit = builtins.quit = sys.exit  # type: ignore[assignment]  # -S left them out
    control.send(b"ready")
    request, (source_fd,) = receive(control)
    program = marshal.loads(read_all(source_fd))
    codes, error = compile_program(program, request["compile_s"])
    if error is not None:
        control.send(b"refused " + error.encode("utf-8", "replace")[:2000])
        return
    sys.path = [path for path in sys.path if path != os.path.dirname(__file__)] + program["paths"]
    shared = preload(program["imports"])
    gc.freeze()
    control.send(b"compiled")
    while True:
        request, fds = receive(control)
        control.send(marshal.dumps(supervise(codes, shared, request, fds)))


def receive(control: _socket.socket) -> tuple[dict[str, Any], list[int]]:
    """The judge's next request and the descriptors that came with it; ends the guard if the judge is gone."""
    message, ancillary, _, _ = control.recvmsg(1 << 16, _socket.CMSG_SPACE(5 * 4))
    if not message:
        os._exit(0)
    return marshal.loads(message), memoryview(ancillary[0][2]).cast("i").tolist()


def read_all(fd: int) -> bytes:
    """All of a file, closing it."""
    with open(fd, "rb", buffering=0) as file:
        return file.readall()


def compile_program(program: dict[str, Any], compile_s: float) -> tuple[Codes, str | None]:
    """Compile the prelude and the program under a CPU and a memory limit.

    A compilation that is endless or crashes ends this process by SIGXCPU or SIGSEGV, which the judge sees.
    """
    bounds = {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_CPU: math.ceil(time.process_time() + compile_s),
        resource.RLIMIT_DATA: 1024 * MIB,
    }
    before = {kind: resource.getrlimit(kind) for kind in bounds}
    try:
        for kind, bound in bounds.items():
            resource.setrlimit(kind, (clamp(bound, before[kind][1]), before[kind][1]))
        sources = {"<prelude>": program["prelude"], "<solution>": program["source"]}
        return [compile(text, name, "exec", 0, True) for name, text in sources.items() if text is not None], None
    except (SyntaxError, ValueError, OverflowError, RecursionError, MemoryError) as error:
        return [], f"{type(error).__name__}: {error}"
    finally:
        for kind, limits in before.items():
            resource.setrlimit(kind, limits)


def clamp(value: int, hard: int) -> int:
    """A limit that does not exceed the inherited one."""
    return value if hard == resource.RLIM_INFINITY else min(value, hard)


def preload(imports: list[tuple[str, str, str]]) -> dict[str, Any]:
    """Import once what each test would, and return the names that the program need not import."""
    shared: dict[str, Any] = {}
    for name, home, attribute in imports:
        try:
            module = __import__(home)
        except ImportError:  # the program shall meet it itself
            continue
        if name:
            shared[name] = getattr(module, attribute) if attribute else module
    return shared


def supervise(codes: Codes, shared: dict[str, Any], request: dict[str, Any], fds: list[int]) -> Any:
    """Run one test in a child and say how it ended: (stopped_for, wait_status, cpu_s, wall_s, memory_kib)."""
    call = marshal.loads(read_all(fds.pop())) if request["call"] else None
    os.chdir(request["cwd"])
    guard, started = os.getpid(), time.monotonic()
    pid = os.fork()
    if pid == 0:
        try:
            confine(guard, request, fds)
            run(codes, shared, call)
        finally:
            os._exit(1)
    for fd in fds:
        os.close(fd)
    stopped_for = watch(pid, started, request["cpu_s"], request["wall_s"])
    for kill in (os.killpg, os.kill):  # the group first; a child that died before setsid has none
        try:
            kill(pid, SIGKILL)
        except ProcessLookupError:
            continue
    _, status, usage = os.wait4(pid, 0)
    kill_descendants(guard)
    return stopped_for, status, usage.ru_utime + usage.ru_stime, time.monotonic() - started, usage.ru_maxrss


def watch(pid: int, started: float, cpu_s: float, wall_s: float) -> str:
    """Wait until the child ends or has used up its time; "" or the name of what it used up."""
    clock = (~pid << 3) | 2  # the process's CPU clock, as clock_getcpuclockid makes it
    pidfd = os.pidfd_open(pid)
    poll = select.poll()
    poll.register(pidfd, select.POLLIN)
    left_cpu_s = cpu_s
    try:
        while True:
            left_wall_s = wall_s - (time.monotonic() - started)
            if left_cpu_s <= 0 or left_wall_s <= 0:
                return "cpu" if left_cpu_s <= 0 else "wall"
            if poll.poll(max(1.0, 1000 * min(left_wall_s, left_cpu_s / (os.cpu_count() or 1)))):
                return ""
            left_cpu_s = cpu_s - time.clock_gettime(clock)
    finally:
        os.close(pidfd)


def kill_descendants(guard: int) -> None:
    """Kill and reap whatever the test left behind; orphans were handed to the guard as their subreaper."""
    while True:
        try:
            if os.waitpid(-1, os.WNOHANG)[0] != 0:
                continue
        except ChildProcessError:
            return
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/stat", "rb") as file:
                    _, parent, *_ = file.read().rpartition(b")")[2].split()
            except OSError:  # it ended meanwhile
                continue
            if int(parent) == guard:
                os.kill(int(pid), SIGKILL)
        time.sleep(0.001)


def confine(guard: int, request: dict[str, Any], fds: list[int]) -> None:
    """Turn a fresh child into the process that the program may have to itself."""
    os.setsid()
    _prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0)
    if os.getppid() != guard:
        os._exit(1)
    _prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)  # or /dev/stdin could not be opened
    for number, fd in enumerate(fds):
        os.dup2(fd, number)
    os.closerange(len(fds), 1 << 16)
    data_mib = request["memory_mib"] + DATA_SLACK_MIB
    for kind, value in (
        (resource.RLIMIT_CPU, math.ceil(request["cpu_s"]) + 1),  # whole seconds: a backstop behind `watch`
        (resource.RLIMIT_DATA, data_mib * MIB),
        (resource.RLIMIT_AS, (data_mib + ADDRESS_SLACK_MIB) * MIB),
        (resource.RLIMIT_FSIZE, request["output_bytes"] + 1),
        (resource.RLIMIT_NOFILE, 64),
    ):
        value = clamp(value, resource.getrlimit(kind)[1])
        resource.setrlimit(kind, (value, value))
    _, stack_hard = resource.getrlimit(resource.RLIMIT_STACK)
    resource.setrlimit(resource.RLIMIT_STACK, (clamp(STACK_BYTES, stack_hard), stack_hard))


def run(codes: Codes, shared: dict[str, Any], call: dict[str, Any] | None) -> NoReturn:
    """Run the program as the interpreter would run a script, then leave without the guard's own clean-up."""
    module, status = types.ModuleType("__main__"), 0
    module.__dict__.update(shared, __builtins__=builtins, __file__="solution.py")
    sys.modules["__main__"], sys.argv = module, ["solution.py"]
    try:
        for code in codes:
            exec(code, module.__dict__)
        if call is not None:
            value = find_function(module.__dict__, call["function"])(*call["args"], **call["kwargs"])
            with open(3, "wb", closefd=False) as result:
                result.write(encode(value).encode("ascii"))
    except SystemExit as leaving:
        status = leaving.code & 0xFF if isinstance(leaving.code, int) else int(leaving.code is not None)
        if status and not isinstance(leaving.code, int):
            print(leaving.code, file=sys.stderr)
    except BaseException as error:  # noqa: BLE001  whatever a program raises is its own end, not the guard's
        status = 1
        trace = error.__traceback__ and error.__traceback__.tb_next
        sys.__excepthook__(type(error), error.with_traceback(trace), trace)
    os._exit(finish(module, status))


def finish(module: types.ModuleType, status: int) -> int:
    """Wait for threads, run exit handlers, flush, in the interpreter's own order; returns the exit code."""
    try:
        for home, hook in (("threading", "_shutdown"), ("atexit", "_run_exitfuncs")):
            if home in sys.modules:
                getattr(sys.modules[home], hook)()
        # File objects in globals would be flushed by their destructors, which never run here.
        owned = [value for value in list(module.__dict__.values()) if isinstance(value, _io._IOBase)]
        for stream in (sys.stdout, sys.stderr, *owned, sys.__stdout__):
            if stream is not None and not getattr(stream, "closed", False):
                stream.flush()
    except BaseException as error:  # noqa: BLE001  a broken stream or exit handler is the program's own
        sys.__excepthook__(type(error), error, error.__traceback__)
        return status or 1
    return status


def find_function(names: dict[str, Any], path: str) -> Any:
    """The function that a test calls: a global, a method `Class.name`, or a method of `class Solution`."""
    head, _, method = path.partition(".")
    if not method and head not in names and "Solution" in names:
        head, method = "Solution", head
    if head not in names:
        raise NameError(f"the program defines no {path!r}")
    return getattr(names[head](), method) if method else names[head]


def encode(value: Any, depth: int = 0) -> str:
    """A plain value as tagged JSON, which `values.decode` reads; TypeError or ValueError if not plain."""
    if depth > MAX_DEPTH:
        raise ValueError("the value returned is nested too deeply to leave the sandbox")
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        return encode_basestring_ascii(str.__str__(value))
    if isinstance(value, int):
        small = -(1 << 62) < value < 1 << 62
        return int.__repr__(value) if small else f'{{"int": "{int.__format__(value, "x")}"}}'
    if isinstance(value, float):
        return float.__repr__(value) if math.isfinite(value) else f'{{"float": "{float.__repr__(value)}"}}'
    if isinstance(value, complex):
        return f'{{"complex": [{encode(value.real)}, {encode(value.imag)}]}}'
    if isinstance(value, (bytes, bytearray)):
        return f'{{"bytes": "{value.hex()}"}}'
    if isinstance(value, dict):
        return f'{{"dict": {encode([[key, item] for key, item in value.items()], depth)}}}'
    for kind in (list, tuple, set, frozenset):
        if isinstance(value, kind):
            body = "[" + ", ".join([encode(item, depth + 1) for item in value]) + "]"
            return body if kind is list else f'{{"{kind.__name__}": {body}}}'
    if type(value).__module__ == "numpy" and hasattr(value, "item") and not getattr(value, "shape", None):
        return encode(value.item(), depth + 1)
    raise TypeError(f"the value returned, of type {type(value).__name__}, cannot leave the sandbox: not plain data")


if __name__ == "__main__":
    main()
