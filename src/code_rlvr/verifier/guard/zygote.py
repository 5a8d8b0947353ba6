"""The zygote: a fresh interpreter that confines itself and forks a process for each program.

Order matters.  The modules that programs usually import come first, so that no program pays for them; then no new
privileges, no capabilities, Landlock; the system call filter last.  A layer that the kernel or the container does
not permit is left out and told to the judge, which decides whether that is enough.

Covered: preparation, layers, the loop over programs, the end of whatever a program left behind.
Not covered: namespaces (`keeper`), what happens to one program (`supervisor`).
"""

from __future__ import annotations

import _socket
import builtins
import contextlib
import gc
import importlib
import marshal
import math
import os
import resource
import sys

from . import child, filters, kernel
from .child import OPEN_FILES, Confinement
from .files import read_all
from .limits import clamp, lower
from .messages import pack_answer, receive
from .offered import offer_only
from .supervisor import Supervisor, kill_descendants

TYPE_CHECKING = False  # importing typing costs 8 ms
if TYPE_CHECKING:
    from typing import Any, NoReturn

MIB = 1 << 20
STACK_BYTES = 100 * MIB  # the kernel leaves 128 MiB below the main stack
REHEARSALS = 10
THREAD_STACK_BYTES = 8 * MIB
# Imported once here rather than by each program.  Each costs every fork, so rarer ones wait for who names them.
PRELOADED = (
    "bisect", "collections", "copy", "functools", "heapq", "io", "itertools", "math", "operator", "random", "re",
    "string", "threading", "time", "typing", "encodings.latin_1",
)  # fmt: skip


def main(control_fd: int, layers_so_far: str, folder: str) -> NoReturn:
    """Become the zygote: confine this process, then run one program after another until the judge hangs up.

    Args:
        control_fd: The socket to the judge.
        layers_so_far: The names of those that the keeper has put on, with commas.
        folder: An empty folder that programs may list, or "".
    """
    kernel.prctl(kernel.PR_SET_PDEATHSIG, kernel.SIGKILL)
    control = _socket.socket(fileno=os.dup(control_fd))  # a low number, whatever the judge has open
    os.close(control_fd)
    _, (settings_fd,) = receive(control)
    settings = marshal.loads(read_all(settings_fd))
    prepare_interpreter(settings["packages"])
    if settings["offered"] is not None:
        offer_only(settings["offered"], settings["packages"])
    if folder:
        settings["listable"].append(folder)
    layers = layers_so_far.split(",") if layers_so_far else []
    confinement = confine(settings, layers)
    rehearse(confinement)
    gc.collect()
    gc.freeze()
    control.send(pack_answer({"layers": layers, "version": list(sys.version_info[:3])}))
    while True:
        program, fds = receive(control)
        pid = os.fork()
        if pid == 0:
            Supervisor(control, program, confinement).serve(fds[0])
        for fd in fds:
            os.close(fd)
        _, status = os.waitpid(pid, 0)
        end_descendants()
        if status != 0:
            control.send(pack_answer({"died": status}))
            while receive(control)[0]:  # tests that were on their way, up to the end of the program
                continue


def prepare_interpreter(packages: tuple[str, ...]) -> None:
    """Import what programs import, without leaving anything that costs each fork or differs from a script's run."""
    register = os.register_at_fork
    os.register_at_fork = lambda **hooks: None  # threading's alone costs 0.2 ms a fork
    try:
        for name in PRELOADED:
            importlib.import_module(name)
    finally:
        os.register_at_fork = register
    sys.modules["random"].seed(0)  # the same program does the same on the same input, as with the fixed hash seed
    sys.path[:] = [*sys.path[1:], *packages]
    getattr(sys, "set_int_max_str_digits", int)(0)
    builtins.exit = builtins.quit = sys.exit  # type: ignore[assignment]  # -S left them out
    compile("if x: pass", "<warm up>", "exec", 0, True)  # the first call builds every type of the syntax tree
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    lower(resource.RLIMIT_NOFILE, OPEN_FILES)
    _, hard = resource.getrlimit(resource.RLIMIT_STACK)
    resource.setrlimit(resource.RLIMIT_STACK, (clamp(STACK_BYTES, hard), hard))
    kernel.set_default_thread_stack(THREAD_STACK_BYTES)


def confine(settings: dict[str, Any], layers: list[str]) -> Confinement:
    """Take every right away that programs do not need; returns what each child puts on in addition."""
    kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1)
    kernel.prctl(kernel.PR_SET_DUMPABLE, 0)  # so that programs cannot open what this process has open, by /proc
    kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
    kernel.drop_capabilities()
    abi = kernel.landlock_abi() if settings["isolation"] == "full" else 0
    if abi:
        rules = [(path, kernel.READ_FILE | kernel.READ_DIR) for path in settings["readable"]]
        rules += [(path, kernel.READ_DIR) for path in settings["listable"]]
        rules += [("/dev/null", kernel.READ_FILE | kernel.WRITE_FILE | kernel.TRUNCATE)]
        kernel.restrict_self(abi, rules)
        layers.append(f"landlock {abi}")
    program_filter = None
    machine = os.uname().machine
    if settings["isolation"] == "full" and machine in filters.MACHINES:
        # An old kernel, or one that emulates another, may know none; the judge decides.
        with contextlib.suppress(OSError):
            kernel.Filter(filters.base_filter(machine, read_only=not abi)).add()
            layers.append("seccomp")
            taken_away = filters.program_filter(machine)
            program_filter = kernel.Filter(taken_away, filters.pid_slots(taken_away))
    return Confinement(program_filter, dies_with_parent="pid" in layers)


def rehearse(confinement: Confinement) -> None:
    """Run a few tests here, so that what they leave in caches and in the bytecode is inherited, not made for each."""
    judge, guard = _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)
    program = {"output_bytes": MIB}
    request = {
        "test": "run",
        "input": b"1\n",
        "input_is_file": False,
        "cpu_s": 1.0,
        "last_s": 1.0,
        "deadline": math.inf,
    }
    supervisor = Supervisor(guard, program, confinement)
    supervisor.codes = [compile("print(2)", "<rehearsal>", "exec", 0, True)]
    for _ in range(REHEARSALS):
        child.run(supervisor.codes, {}, request)
        supervisor.run_test(request, [])
        judge.recv(1 << 16)
    judge.close()
    guard.close()


def end_descendants() -> None:
    """Kill and reap whatever the last program left behind: only a program without a filter can leave anything."""
    if os.getpid() == 1:
        with contextlib.suppress(ProcessLookupError):
            os.kill(-1, kernel.SIGKILL)
    kill_descendants()
