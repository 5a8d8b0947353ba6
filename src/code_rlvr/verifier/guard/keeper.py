"""The keeper: makes the namespaces, starts the zygote in them, and ends it when the judge's process ends.

The zygote is a fresh interpreter and not a fork of this one: every generation of forks makes the next fork slower,
as the kernel keeps the chain of ancestors for each mapping.

Covered: namespaces, mounts, the worker's control group, the end of everything when the judge is killed.
Not covered: the zygote's own confinement (`zygote`).
"""

from __future__ import annotations

import os
import select
import sys

from . import kernel
from .cgroup import ControlGroup

TYPE_CHECKING = False  # importing typing costs 8 ms
if TYPE_CHECKING:
    from typing import NoReturn

NOBODY = 65534
_NAMESPACES = (
    ("pid", kernel.CLONE_NEWPID), ("mount", kernel.CLONE_NEWNS), ("ipc", kernel.CLONE_NEWIPC),
    ("net", kernel.CLONE_NEWNET),
)  # fmt: skip


def main(
    judge: int, control_fd: int, isolation: str, folders: list[str], group_path: str, zygote: list[str]
) -> NoReturn:
    """Keep a zygote until it ends or the judge's process does.

    Args:
        judge: The process id of the judge.
        control_fd: The zygote's socket to the judge.
        isolation: "full" or "process".
        folders: Which may be covered by an empty one to work in, as the zygote needs nothing of them.
        group_path: The control group to make, or "" for none.
        zygote: The command that is to become the zygote; told in addition the layers that there are, and the folder.
    """
    caller = os.pidfd_open(judge)
    if os.getppid() != judge:  # it ended before the line above, and its id may be another's by now
        os._exit(1)
    group = make_group(group_path)
    layers = enter_namespaces() if isolation == "full" else []
    pid = os.fork()
    if pid == 0:
        try:
            folder = enter_empty_folder(folders, layers)
            if group and joins(group):
                layers.append("cgroup")
            kernel.prctl(kernel.PR_SET_PDEATHSIG, kernel.SIGKILL)
            os.execv(sys.executable, [*zygote, ",".join(layers), folder])
        finally:
            os._exit(1)
    os.close(control_fd)  # or the judge would not see the zygote end
    poll = select.poll()
    for fd in (caller, os.pidfd_open(pid)):
        poll.register(fd, select.POLLIN)
    poll.poll()
    os.kill(pid, kernel.SIGKILL)
    os.waitpid(pid, 0)
    if group:
        group.remove()
    os._exit(0)


def make_group(path: str) -> ControlGroup | None:
    """A control group, if one is wanted and permitted."""
    try:
        return ControlGroup(path) if path else None
    except OSError:
        return None


def joins(group: ControlGroup) -> bool:
    """Put this process into a group; whether that was permitted."""
    try:
        group.join()
    except OSError:
        return False
    return True


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


def enter_empty_folder(folders: list[str], namespaces: list[str]) -> str:
    """Work in a folder that is empty and takes nothing, and show this namespace's processes only, as far as permitted.

    Returns:
        The folder; "" for /, of which Landlock shows nothing.
    """
    os.chdir("/")
    if "mount" not in namespaces:
        return ""
    try:
        kernel.mount("none", "/", "", kernel.MS_REC | kernel.MS_PRIVATE)
        flags = kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC
        if "pid" in namespaces:
            kernel.mount("proc", "/proc", "proc", flags)
        for folder in filter(os.path.isdir, folders):
            kernel.mount("tmpfs", folder, "tmpfs", flags | kernel.MS_RDONLY)
            os.chdir(folder)
            return folder
    except OSError:  # a container may not let its own mounts be covered
        pass
    return ""
