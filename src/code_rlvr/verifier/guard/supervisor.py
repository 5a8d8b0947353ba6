"""One program: compiles it under limits, forks a child for each test, watches the child and tells how it ended.

The program's text is compiled here, inside the confinement, and never run here.  What is told about a child comes
from the kernel: `wait4` and its CPU clock.  Output files are made here too, so that a test costs the judge
one message each way.

A child is stopped here when all its threads together have used up the CPU time, by the child's own clock, and when
its last wall second is over.  What else it may hold or wait for, the judge looks at from outside.

Covered: one program from its text to the reports on its tests.
Not covered: what the program may do (`filters`, Landlock), what its end means (the judge).
"""

from __future__ import annotations

import gc
import math
import os
import resource
import select
import time
import warnings

from . import child, kernel
from .files import input_file, output_file, read_all
from .limits import COMPILE_MIB, clamp, lower
from .messages import INLINE_BYTES, pack_answer, pack_report, receive, send_files

TYPE_CHECKING = False  # importing typing costs 8 ms
if TYPE_CHECKING:
    import _socket
    import types
    from typing import Any, NoReturn

MIB = 1 << 20
OWN_CPU_S = 30  # for starting children; no program has so many tests
DATA_SLACK_MIB = 320  # thread stacks count in full, and contest programs ask for 256 MiB of stack
ADDRESS_SLACK_MIB = 1536  # shared libraries, arenas
STDERR_TAIL_BYTES = 2000
CPUS = os.cpu_count() or 1


class Supervisor:
    """Supervises one program, in a process that ends with it.

    Args:
        control: The socket to the judge.
        program: The judge's description of the program and its limits.
        confinement: What each of its children puts on.
    """

    def __init__(self, control: _socket.socket, program: dict[str, Any], confinement: child.Confinement) -> None:
        self.control = control
        self.program = program
        self.confinement = confinement
        self.codes: list[types.CodeType] = []
        self.shared: dict[str, Any] = {}

    def serve(self, source_fd: int) -> NoReturn:
        """Compile the program, then run its tests until the judge says that this was the last."""
        if not self.confinement.dies_with_parent:
            kernel.prctl(kernel.PR_SET_PDEATHSIG, kernel.SIGKILL)
        if self.confinement.may_fork:
            kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1)
        source = read_all(source_fd)
        prelude_size = self.program["prelude_size"]
        sources = {"<solution>": source[prelude_size:]}
        if prelude_size:
            sources = {"<prelude>": source[:prelude_size], **sources}
        error = self.compile(sources)
        if error is None:
            self.shared = preload(self.program["imports"])
            memory_mib = self.program["memory_mib"] + DATA_SLACK_MIB
            lower(resource.RLIMIT_DATA, memory_mib * MIB)
            lower(resource.RLIMIT_AS, (memory_mib + ADDRESS_SLACK_MIB) * MIB)
            lower(resource.RLIMIT_FSIZE, self.program["output_bytes"] + 1)
            # A backstop behind `watch`: whole seconds, and this process is under it too.
            lower(resource.RLIMIT_CPU, math.ceil(time.process_time() + self.program["deadline_s"]) + OWN_CPU_S)
        gc.freeze()
        self.control.send(pack_answer({"compiled": True} if error is None else {"refused": error[:2000]}))
        while True:
            request, fds = receive(self.control)
            if not request:  # the end of the program
                os._exit(0)
            self.run_test(request, fds)

    def compile(self, sources: dict[str, bytes]) -> str | None:
        """Compile under a CPU and a memory limit; what the compiler said if it refused.

        A compilation that is endless or crashes ends this process by SIGXCPU or SIGSEGV, which the zygote sees.
        """
        bounds = {
            resource.RLIMIT_CPU: math.ceil(time.process_time() + self.program["compile_s"]),
            resource.RLIMIT_DATA: COMPILE_MIB * MIB,
        }
        before = {kind: resource.getrlimit(kind) for kind in bounds}
        try:
            for kind, bound in bounds.items():
                resource.setrlimit(kind, (clamp(bound, before[kind][1]), before[kind][1]))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # they would fill the log
                self.codes = [compile(text, name, "exec", 0, True) for name, text in sources.items()]
        except Exception as error:  # noqa: BLE001  whatever the compiler raises, it refuses: a fault would dodge a 0
            return f"{type(error).__name__}: {error}"
        finally:
            for kind, limits in before.items():
                resource.setrlimit(kind, limits)
        return None

    def run_test(self, request: dict[str, Any], fds: list[int]) -> None:
        """Run one test in a child and report how it ended."""
        fd_in = fds.pop(0) if request["input_is_file"] else input_file(request["input"])
        outputs = [output_file(), output_file()]
        if request["test"] == "call":
            outputs.append(output_file())
        started = time.monotonic()
        pid = os.fork()
        if pid == 0:
            try:
                self.confinement.put_on([fd_in, *outputs, *fds])
                os._exit(child.run(self.codes, self.shared, request))
            finally:
                os._exit(1)
        for fd in (fd_in, *fds):
            os.close(fd)
        stopped = self.watch(pid, started, request)
        if stopped:
            os.kill(pid, kernel.SIGKILL)
        if self.confinement.may_fork:
            kill_group(pid)
        _, status, usage = os.wait4(pid, 0)
        if self.confinement.may_fork:
            kill_descendants()
        cpu_s, wall_s = usage.ru_utime + usage.ru_stime, time.monotonic() - started
        self.report((stopped, status, cpu_s, wall_s, usage.ru_maxrss), outputs)

    def report(self, ending: tuple[str, int, float, float, int], outputs: list[int]) -> None:
        """Send how a child ended and what it wrote; close its files."""
        sizes = [os.fstat(fd).st_size for fd in outputs]
        stdout, stderr, *value = outputs
        tail = os.pread(stderr, STDERR_TAIL_BYTES, max(0, sizes[1] - STDERR_TAIL_BYTES)) if sizes[1] else b""
        if sum(sizes) - sizes[1] <= INLINE_BYTES:
            written = [os.pread(fd, INLINE_BYTES, 0) for fd in (stdout, *value)]
            self.control.send(pack_report(*ending, max(sizes), tail, *written))
        else:
            send_files(self.control, pack_report(*ending, max(sizes), tail), [stdout, *value])
        for fd in outputs:
            os.close(fd)

    def watch(self, pid: int, started: float, request: dict[str, Any]) -> str:
        """Wait until the child ends or has used something up; "" or the name of what it used up.

        Args:
            pid: The child.
            started: When it was forked.
            request: Its limits: `cpu_s` of all its threads, `last_s` of wall time, and a `deadline`.
        """
        clock = (~pid << 3) | 2  # the process's CPU clock, as clock_getcpuclockid makes it
        pidfd = os.pidfd_open(pid)
        poll = select.poll()
        poll.register(pidfd, select.POLLIN)
        poll.register(self.control.fileno(), 0)  # tells of nothing but that the judge is gone
        left_cpu_s = cpu_s = request["cpu_s"]
        end = min(started + request["last_s"], request["deadline"])
        try:
            while True:
                left_s = min(end - time.monotonic(), left_cpu_s / CPUS)
                if left_s <= 0:
                    return "cpu" if left_cpu_s <= 0 else "wall"
                for fd, _ in poll.poll(max(1.0, 1000 * left_s)):
                    if fd == pidfd:
                        return ""
                    os._exit(0)
                left_cpu_s = cpu_s - time.clock_gettime(clock)
        finally:
            os.close(pidfd)


def preload(imports: list[list[str]]) -> dict[str, Any]:
    """Import once what each test would, and return the names that the program need not import."""
    shared: dict[str, Any] = {}
    for name, home, attribute in imports:
        try:
            module = __import__(home)
        except Exception:  # noqa: BLE001  whatever a broken package raises, the program shall meet it itself
            continue
        if name:
            shared[name] = getattr(module, attribute) if attribute else module
    return shared


def kill_group(pid: int) -> None:
    """Kill a child's process group; one that died before it made one has none."""
    try:
        os.killpg(pid, kernel.SIGKILL)
    except ProcessLookupError:
        return


def kill_descendants() -> None:
    """Kill and reap whatever a test left behind; orphans were handed to this process as their subreaper."""
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
            if int(parent) == os.getpid():
                os.kill(int(pid), kernel.SIGKILL)
        time.sleep(0.001)
