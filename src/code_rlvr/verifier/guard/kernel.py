"""System calls for which Python has no function, and what they need of structures and constants.

Sources: the manual pages seccomp(2), landlock(7), prctl(2), capset(2), unshare(2), user_namespaces(7), mount(2),
pthread_attr_setdefault_np(3), and the kernel's include/uapi/linux/{landlock,seccomp,prctl,sched,capability}.h.

Covered: making the calls, OSError for what the kernel refuses.  Not covered: which to make, and when.
"""

from __future__ import annotations

import ctypes
import os
import struct

TYPE_CHECKING = False  # importing typing costs 8 ms
if TYPE_CHECKING:
    from collections.abc import Iterable

SIGKILL = 9  # importing the signal module would cost every fork
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 1, 4, 36, 38
CLONE_NEWNS, CLONE_NEWIPC, CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = (
    0x00020000, 0x08000000, 0x10000000, 0x20000000, 0x40000000,
)  # fmt: skip
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REC, MS_PRIVATE = 0x1, 0x2, 0x4, 0x8, 0x4000, 0x40000

_SECCOMP = {"x86_64": 317, "aarch64": 277}
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same on every architecture
_SET_MODE_FILTER = 1
_RULE_PATH_BENEATH = 1
_CREATE_RULESET_VERSION = 1
_CAPABILITY_VERSION_3 = 0x20080522

READ_FILE, READ_DIR, WRITE_FILE, TRUNCATE = 1 << 2, 1 << 3, 1 << 1, 1 << 14
_NET_BIND_AND_CONNECT = 0b11
_SCOPE_ABSTRACT_SOCKETS_AND_SIGNALS = 0b11

# Holds the interpreter's lock, as no call here waits for anything.
_libc = ctypes.PyDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long
_libc.syscall.argtypes = [ctypes.c_long] * 7
# The same without conversions, for calls that every test pays for.
_quick_syscall, _quick_prctl = ctypes.PyDLL(None).syscall, ctypes.PyDLL(None).prctl


def _call(name: str, *arguments: object) -> int:
    result = int(getattr(_libc, name)(*arguments))
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), name)
    return result


def _syscall(number: int, *arguments: int) -> int:
    return _call("syscall", number, *arguments, *[0] * (6 - len(arguments)))


def prctl(option: int, argument: int) -> None:
    """Set an attribute of this process."""
    _call("prctl", option, ctypes.c_ulong(argument), ctypes.c_ulong(0), ctypes.c_ulong(0), ctypes.c_ulong(0))


def make_dumpable() -> None:
    """Let this process look into its own /proc/self, which one that is not dumpable cannot."""
    _quick_prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)


def unshare(flags: int) -> None:
    """Leave the namespaces that `flags` name for new ones."""
    _call("unshare", flags)


def mount(source: str, target: str, kind: str, flags: int) -> None:
    """Mount a file system, or change how a mount spreads."""
    _call("mount", source.encode(), target.encode(), kind.encode(), ctypes.c_ulong(flags), None)


def drop_capabilities() -> None:
    """Give up every capability, of which a user has none and root, also of its own namespace, has all."""
    header = struct.pack("Ii", _CAPABILITY_VERSION_3, 0)
    _call("capset", header, bytes(24))


def set_default_thread_stack(size: int) -> None:
    """Give threads a stack of this size, whatever RLIMIT_STACK was when the interpreter started; glibc only."""
    attributes = ctypes.create_string_buffer(64)  # pthread_attr_t has 56 bytes on x86_64, 64 on aarch64
    _libc.pthread_attr_init(attributes)
    _libc.pthread_attr_setstacksize(attributes, ctypes.c_size_t(size))
    getattr(_libc, "pthread_attr_setdefault_np", id)(attributes)


class Filter:
    """A seccomp program, laid out beforehand as the kernel reads it, so that adding it touches little memory.

    Args:
        program: From `filters`.
        pid_slots: Where in it a process id has to be filled in.
    """

    def __init__(self, program: bytes, pid_slots: Iterable[int] = ()) -> None:
        self._code = ctypes.create_string_buffer(program, len(program))
        self._slots = [ctypes.c_uint32.from_buffer(self._code, slot) for slot in pid_slots]
        fprog = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(self._code))
        self._fprog = ctypes.create_string_buffer(fprog, len(fprog))
        self._pointer = ctypes.c_void_p(ctypes.addressof(self._fprog))
        self._number = _SECCOMP[os.uname().machine]

    def add(self, pid: int = 0) -> None:
        """Put this process, and all its descendants, under the program for ever."""
        for slot in self._slots:
            slot.value = pid
        if _quick_syscall(self._number, _SET_MODE_FILTER, 0, self._pointer):
            raise OSError("the kernel refused a system call filter")


def landlock_abi() -> int:
    """The version of Landlock that this kernel has; 0 for none."""
    try:
        return _syscall(_CREATE_RULESET, 0, 0, _CREATE_RULESET_VERSION)
    except OSError:
        return 0


def restrict_self(abi: int, rules: Iterable[tuple[str, int]]) -> None:
    """Forbid this process by Landlock everything that this kernel can forbid, but for the rules.

    Also out of reach, from version 6 on: signals to, and abstract sockets of, whoever is not under the same ruleset.

    Args:
        abi: The kernel's version of Landlock, 1 or more.
        rules: (path, rights): what may be done with a file, or with everything below a folder.
    """
    filesystem = (1 << {1: 13, 2: 14, 3: 15, 4: 15}.get(abi, 16)) - 1
    attributes = [filesystem]
    if abi >= 4:
        attributes.append(_NET_BIND_AND_CONNECT)
    if abi >= 6:
        attributes.append(_SCOPE_ABSTRACT_SOCKETS_AND_SIGNALS)
    size = 8 * len(attributes)
    buffer = ctypes.create_string_buffer(struct.pack(f"{len(attributes)}Q", *attributes), size)
    ruleset = _syscall(_CREATE_RULESET, ctypes.addressof(buffer), size, 0)
    for path, rights in rules:
        try:
            fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:  # what is not there need not be allowed
            continue
        rights &= filesystem if os.path.isdir(path) else filesystem & ~READ_DIR
        beneath = ctypes.create_string_buffer(struct.pack("=Qi", rights, fd), 12)
        try:
            _syscall(_ADD_RULE, ruleset, _RULE_PATH_BENEATH, ctypes.addressof(beneath), 0)
        finally:
            os.close(fd)
    _syscall(_RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)
