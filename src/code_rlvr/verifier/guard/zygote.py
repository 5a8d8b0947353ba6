"""The keeper and the zygote: from a fresh interpreter to a confined one that forks a process for each program.

Order matters.  Namespaces first, as making them needs what the later layers take away; then the modules that
programs usually import, so that no program pays for them; then no new privileges, no capabilities, Landlock;
the system call filter last.  A layer that the kernel or the container does not permit is left out and told to
the judge, which decides whether that is enough.

Covered: start, layers, the loop over programs, the end of whatever a program left behind.
Not covered: what happens to one program (`supervisor`).
"""

from __future__ import annotations

import builtins
import contextlib
import gc
import importlib
import os
import resource
import select
import socket
import sys

from . import filters, kernel
from .limits import clamp, lower
from .messages import MESSAGE_BYTES, pack, receive, unpack
from .supervisor import Supervisor, kill_descendants

TYPE_CHECKING = False  # importing typing costs 8 ms
if TYPE_CHECKING:
    from typing import Any, NoReturn

SIGKILL = 9
NOBODY = 65534
MIB = 1 << 20
STACK_BYTES = 100 * MIB  # the kernel leaves 128 MiB below the main stack
THREAD_STACK_BYTES = 8 * MIB
OPEN_FILES = 64
# Imported once here rather than by each program; what costs every fork more than it saves most is left out.
PRELOADED = (
    "abc", "array", "bisect", "cmath", "collections", "copy", "datetime", "decimal", "enum", "fractions",
    "functools", "heapq", "io", "itertools", "json", "math", "operator", "queue", "random", "re", "statistics",
    "string", "struct", "threading", "time", "typing", "encodings.latin_1",
)  # fmt: skip
_NAMESPACES = (
    ("pid", kernel.CLONE_NEWPID), ("mount", kernel.CLONE_NEWNS), ("ipc", kernel.CLONE_NEWIPC),
    ("net", kernel.CLONE_NEWNET),
)  # fmt: skip


def main(arguments: list[str]) -> NoReturn:
    """Keep a zygote until it ends or the judge's process does.

    Args:
        arguments: The control socket's descriptor, the judge's process id.
    """
    control, judge = socket.socket(fileno=int(arguments[0])), int(arguments[1])
    caller = os.pidfd_open(judge)
    if os.getppid() != judge:  # it ended before the line above, and its id may be another's by now
        os._exit(1)
    settings, _ = unpack(control.recv(MESSAGE_BYTES))
    namespaces = enter_namespaces() if settings["isolation"] == "full" else []
    keeper = os.getpid()
    pid = os.fork()
    if pid == 0:
        os.close(caller)
        kernel.prctl(kernel.PR_SET_PDEATHSIG, SIGKILL)
        if "pid" not in namespaces and os.getppid() != keeper:
            os._exit(1)
        serve(control, settings, namespaces)
    control.close()
    poll = select.poll()
    for fd in (caller, os.pidfd_open(pid)):
        poll.register(fd, select.POLLIN)
    poll.poll()
    os.kill(pid, SIGKILL)
    os.waitpid(pid, 0)
    os._exit(0)


def enter_namespaces() -> list[str]:
    """Leave every namespace that may be left; the names of those that were."""
    uid, gid = os.geteuid(), os.getegid()
    entered = []
    try:
        kernel.unshare(kernel.CLONE_NEWUSER)
        entered.append("user")
        for name, line in (("setgroups", "deny"), ("uid_map", f"{NOBODY} {uid} 1"), ("gid_map", f"{NOBODY} {gid} 1")):
            with open(f"/proc/self/{name}", "w") as file:
                file.write(line)
    except OSError:
        pass  # not permitted here; with enough rights of its own a container may still permit the others
    for name, flag in _NAMESPACES:
        try:
            kernel.unshare(flag)
            entered.append(name)
        except OSError:
            continue
    return entered


def serve(control: socket.socket, settings: dict[str, Any], layers: list[str]) -> NoReturn:
    """Become the zygote: confine this process, then run one program after another until the judge hangs up."""
    prepare_interpreter(settings)
    folder = enter_empty_folder(settings, layers)
    if folder:
        settings["listable"].append(folder)
    ruleset = confine(settings, layers)
    control.send(pack({"layers": layers, "version": list(sys.version_info[:3])}))
    while True:
        message, fds = receive(control)
        pid = os.fork()
        if pid == 0:
            Supervisor(control, message, ruleset, layers).serve(fds[0])
        for fd in fds:
            os.close(fd)
        _, status = os.waitpid(pid, 0)
        end_descendants()
        if status != 0:
            control.send(pack({"died": status}))
            while "end" not in receive(control)[0]:  # tests that were on their way
                continue


def prepare_interpreter(settings: dict[str, Any]) -> None:
    """Import what programs import, without leaving anything that costs each fork or differs from a script's run."""
    register = os.register_at_fork
    os.register_at_fork = lambda **hooks: None  # threading's alone costs 0.2 ms a fork
    try:
        for name in PRELOADED:
            importlib.import_module(name)
    finally:
        os.register_at_fork = register
    sys.path[:] = [path for path in sys.path if path != settings["home"]] + settings["packages"]
    getattr(sys, "set_int_max_str_digits", int)(0)
    builtins.exit = builtins.quit = sys.exit  # type: ignore[assignment]  # -S left them out
    compile("if x: pass", "<warm up>", "exec", 0, True)  # the first call builds every type of the syntax tree
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    lower(resource.RLIMIT_NOFILE, OPEN_FILES)
    _, hard = resource.getrlimit(resource.RLIMIT_STACK)
    resource.setrlimit(resource.RLIMIT_STACK, (clamp(STACK_BYTES, hard), hard))
    kernel.set_default_thread_stack(THREAD_STACK_BYTES)


def enter_empty_folder(settings: dict[str, Any], layers: list[str]) -> str | None:
    """Work in a folder that is empty and takes nothing, and show this namespace's processes only, as far as permitted.

    Without a mount namespace of its own the process works in /, of which Landlock shows nothing.
    """
    os.chdir("/")
    if "mount" not in layers:
        return None
    try:
        kernel.mount("none", "/", "", kernel.MS_REC | kernel.MS_PRIVATE)
        flags = kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC
        if "pid" in layers:
            kernel.mount("proc", "/proc", "proc", flags)
        for folder in ("/mnt", "/media", "/srv"):
            if os.path.isdir(folder) and not any(path.startswith(folder) for path in settings["readable"]):
                kernel.mount("tmpfs", folder, "tmpfs", flags | kernel.MS_RDONLY)
                os.chdir(folder)
                return folder
    except OSError:  # a container may not let its own mounts be covered
        pass
    return None


def confine(settings: dict[str, Any], layers: list[str]) -> int | None:
    """Take every right away that programs do not need; returns the ruleset that each child puts on in addition."""
    kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1)
    kernel.prctl(kernel.PR_SET_DUMPABLE, 0)  # no ptrace from outside of the namespace that is not root's
    kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
    kernel.drop_capabilities()
    ruleset = None
    abi = kernel.landlock_abi() if settings["isolation"] == "full" else 0
    if abi:
        rules = [(path, kernel.READ_FILE | kernel.READ_DIR) for path in settings["readable"]]
        rules += [(path, kernel.READ_DIR) for path in settings["listable"]]
        rules += [("/dev/null", kernel.READ_FILE | kernel.WRITE_FILE | kernel.TRUNCATE)]
        # The supervisor reads from /proc how many threads a child has; the child has no such rule.
        kernel.restrict_self(kernel.make_ruleset(abi, [*rules, ("/proc", kernel.READ_FILE)]))
        ruleset = kernel.make_ruleset(abi, rules)
        layers.append(f"landlock {abi}")
    gc.collect()
    gc.freeze()
    machine = os.uname().machine
    if settings["isolation"] == "full" and machine in filters.MACHINES:
        try:
            kernel.Filter(filters.base_filter(machine, read_only=not abi)).add()
            layers.append("seccomp")
        except OSError:  # an old kernel, or one that emulates another; the judge decides
            pass
    return ruleset


def end_descendants() -> None:
    """Kill and reap whatever the last program left behind: only a program without a filter can leave anything."""
    if os.getpid() == 1:
        with contextlib.suppress(ProcessLookupError):
            os.kill(-1, SIGKILL)
    kill_descendants()
