"""Which system calls may be made: an allow-list as seccomp programs, assembled here.

Two programs are stacked.  The zygote installs `base_filter`, an allow-list for itself and all that it forks.
Each child adds `program_filter`, which takes away what only the guard needs; it is short, because installing
one costs time for every instruction.  The stricter answer of the two holds.

| not in the list, so refused | because it could |
|---|---|
| execve, fork, vfork, clone of anything but an ordinary thread | start processes |
| socket, connect, bind, … (a pair of connected sockets is allowed: event loops wake up by it) | reach the network |
| kill and tgkill of others, ptrace, process_vm_*, pidfd_*, prlimit64 of others, F_SETOWN | reach other processes |
| unlink, rename, mkdir, link, chmod, chown, setxattr, utimens, … | change files |
| shared anonymous memory, descriptor tables of a thread's own | escape the limits |
| mount, unshare, setns, bpf, io_uring, perf_event_open, keyctl, userfaultfd, … | reach the kernel |

Sources: seccomp(2), syscall numbers in the kernel's asm/unistd_64.h and asm-generic/unistd.h.
Not covered: which files may be read (Landlock), how much of anything (limits).
"""

from __future__ import annotations

import struct

TYPE_CHECKING = False  # importing typing costs 8 ms
if TYPE_CHECKING:
    from collections.abc import Iterable

    Numbers = dict[str, tuple[int | None, int | None]]

# name: its number on (x86_64, aarch64)
ALLOWED: Numbers = {
    "read": (0, 63), "write": (1, 64), "readv": (19, 65), "writev": (20, 66), "pread64": (17, 67),
    "pwrite64": (18, 68), "lseek": (8, 62), "close": (3, 57), "dup": (32, 23),
    "dup2": (33, None), "dup3": (292, 24), "fstat": (5, 80), "newfstatat": (262, 79), "stat": (4, None),
    "lstat": (6, None), "statx": (332, 291), "access": (21, None), "faccessat": (269, 48), "faccessat2": (439, 439),
    "readlink": (89, None), "readlinkat": (267, 78), "open": (2, None), "openat": (257, 56), "getdents64": (217, 61),
    "getcwd": (79, 17), "chdir": (80, 49), "fchdir": (81, 50), "ftruncate": (77, 46), "fsync": (74, 82),
    "fdatasync": (75, 83), "fadvise64": (221, 223), "pipe": (22, None), "pipe2": (293, 59), "poll": (7, None),
    "ppoll": (271, 73), "select": (23, None), "pselect6": (270, 72), "epoll_create": (213, None),
    "epoll_create1": (291, 20), "epoll_ctl": (233, 21), "epoll_wait": (232, None), "epoll_pwait": (281, 22),
    "eventfd2": (290, 19), "mprotect": (10, 226), "munmap": (11, 215), "mremap": (25, 216),
    "madvise": (28, 233), "brk": (12, 214), "mincore": (27, 232),
    "rt_sigaction": (13, 134), "rt_sigprocmask": (14, 135), "rt_sigreturn": (15, 139), "rt_sigpending": (127, 136),
    "rt_sigtimedwait": (128, 137), "rt_sigsuspend": (130, 133), "sigaltstack": (131, 132),
    "restart_syscall": (219, 128), "pause": (34, None), "alarm": (37, None), "getitimer": (36, 102),
    "setitimer": (38, 103), "futex": (202, 98), "set_robust_list": (273, 99), "rseq": (334, 293),
    "set_tid_address": (218, 96), "sched_yield": (24, 124), "sched_getaffinity": (204, 123),
    "arch_prctl": (158, None), "getcpu": (309, 168), "getpid": (39, 172), "gettid": (186, 178),
    "getppid": (110, 173), "getpgrp": (111, None), "getpgid": (121, 155), "getsid": (124, 156), "getuid": (102, 174),
    "geteuid": (107, 175), "getgid": (104, 176), "getegid": (108, 177), "getgroups": (115, 158),
    "getresuid": (118, 148), "getresgid": (120, 150), "uname": (63, 160), "sysinfo": (99, 179), "times": (100, 153),
    "time": (201, None), "gettimeofday": (96, 169), "clock_gettime": (228, 113), "clock_getres": (229, 114),
    "clock_nanosleep": (230, 115), "nanosleep": (35, 101), "getrusage": (98, 165), "getrlimit": (97, 163),
    "getrandom": (318, 278), "getpriority": (140, 141), "exit": (60, 93),
    "exit_group": (231, 94), "wait4": (61, 260), "recvfrom": (45, 207), "shutdown": (48, 210),
    "getsockname": (51, 204), "getpeername": (52, 205),
}  # fmt: skip
# Allowed with some arguments only; the rules are in `base_filter` and `program_filter`.
RESTRICTED: Numbers = {
    "mmap": (9, 222), "close_range": (436, 436), "setrlimit": (160, 164), "getsockopt": (55, 209),
    "clone": (56, 220), "kill": (62, 129), "tgkill": (234, 131), "fcntl": (72, 25), "ioctl": (16, 29),
    "prctl": (157, 167), "prlimit64": (302, 261), "socketpair": (53, 199), "sendto": (44, 206), "clone3": (435, 435),
}  # fmt: skip
# For the guard alone.
GUARD_ONLY: Numbers = {
    "sendmsg": (46, 211), "recvmsg": (47, 212), "memfd_create": (319, 279), "pidfd_open": (434, 434),
    "seccomp": (317, 277),
}  # fmt: skip
MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}  # column above, AUDIT_ARCH_*

_ALLOW, _KILL_PROCESS, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_EPERM, _ENOMEM, _ENOSYS = 1, 12, 38
_LOAD, _AND, _JEQ, _JGE, _JSET, _RETURN = 0x20, 0x54, 0x15, 0x35, 0x45, 0x06
_NR, _ARCH = 0, 4  # offsets in struct seccomp_data

_X32_BIT = 0x40000000
_FIRST_NEW_CALL = 424  # above, libraries try and fall back on ENOSYS
_CLONE_NEW = 0x7E020000
_CLONE_OF_THREADS = 0x00010F00  # VM FS FILES SIGHAND THREAD: a thread that shares all that a limit counts
_MAP_SHARED, _MAP_ANONYMOUS = 0x01, 0x20
_RLIMIT_CPU = 0
_AF_UNIX = 1
_SIGKILL = 9
_ANY_PID = 0x7FEDCBA9  # stands for a process id; above any
_FCNTL = (0, 1, 2, 3, 4, 5, 6, 7, 1030, 1032)  # duplicate, get and set flags, locks, the size of a pipe
_IOCTL = (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)  # TCGETS TIOCGWINSZ FIONREAD FIONBIO FIONCLEX FIOCLEX
_GETSOCKOPT = (3, 4, 7, 8)  # SO_TYPE, SO_ERROR, SO_SNDBUF, SO_RCVBUF
_CLOSE_RANGE = (0, 4)  # not CLOSE_RANGE_UNSHARE: descriptors in a table of their own are not counted
_PRCTL = (3, 15, 16, 0x53564D41)  # PR_GET_DUMPABLE, PR_SET_NAME, PR_GET_NAME, PR_SET_VMA
_WRITING = 0o1 | 0o2 | 0o100 | 0o1000 | 0o20000000  # O_WRONLY O_RDWR O_CREAT O_TRUNC, the bit of O_TMPFILE


def _op(code: int, k: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("HBBI", code, if_true, if_false, k)


def _end(result: int) -> bytes:
    return _op(_RETURN, result)


def _refuse(errno: int = _EPERM) -> bytes:
    return _end(_ERRNO | errno)


def _load(argument: int, high: bool = False) -> bytes:
    return _op(_LOAD, 16 + 8 * argument + 4 * high)


def _one_of(argument: int, values: Iterable[int]) -> bytes:
    """Allow if the low word of an argument, all that the kernel looks at, is one of a few values."""
    return _load(argument) + b"".join(_op(_JEQ, value, 0, 1) + _end(_ALLOW) for value in values) + _refuse()


def _zero(argument: int) -> bytes:
    """Allow if an argument is zero, in both words."""
    return b"".join(_load(argument, high) + _op(_JEQ, 0, 1, 0) + _refuse() for high in (False, True)) + _end(_ALLOW)


def _none_of_bits(argument: int, mask: int) -> bytes:
    return _load(argument) + _op(_JSET, mask, 0, 1) + _refuse() + _end(_ALLOW)


def _no_shared_memory() -> bytes:
    """Allow a mapping that is not shared and anonymous: such memory stays when unmapped in part, and is not counted."""
    return (
        _load(3) + _op(_JSET, _MAP_ANONYMOUS, 1, 0) + _end(_ALLOW)
        + _op(_JSET, _MAP_SHARED, 0, 1) + _refuse(_ENOMEM) + _end(_ALLOW)
    )  # fmt: skip


def _a_thread() -> bytes:
    """Allow a clone that is a thread and shares everything, as libraries make it."""
    return (
        _load(0) + _op(_AND, _CLONE_OF_THREADS) + _op(_JEQ, _CLONE_OF_THREADS, 1, 0) + _refuse() + _end(_ALLOW)
    )  # fmt: skip


def _not_cpu_limit(resource: int, new: int | None) -> bytes:
    """Allow reading limits and setting others: the kernel's SIGKILL at a CPU limit shall mean someone else's.

    Args:
        resource: Which argument names the limit.
        new: Which argument points to the new value, if that may be missing.
    """
    unset = b"".join(_load(new, high) + _op(_JEQ, 0, 1, 0) + _refuse() for high in (False, True)) if new else _refuse()
    return _load(resource) + _op(_JEQ, _RLIMIT_CPU, 1, 0) + _end(_ALLOW) + unset + _end(_ALLOW)


def _own_signal(pid: int, signal_argument: int) -> bytes:
    """Allow if the target is this process, and the signal not SIGKILL: that one shall mean someone else's."""
    return (
        _load(0) + _op(_JEQ, pid, 1, 0) + _refuse()
        + _load(signal_argument) + _op(_JEQ, _SIGKILL, 0, 1) + _refuse()
        + _end(_ALLOW)
    )  # fmt: skip


def _when(number: int | None, block: bytes) -> bytes:
    """A block for one system call; the number is in the accumulator, before and, if it is another, after."""
    return b"" if number is None else _op(_JEQ, number, 0, len(block) // 8) + block


def base_filter(machine: str, read_only: bool) -> bytes:
    """The allow-list of the zygote and all that it forks.

    Args:
        machine: As uname says, a key of `MACHINES`.
        read_only: Whether to refuse opening files for writing; for kernels where nothing else does.
    """
    column, arch = MACHINES[machine]
    number = {name: numbers[column] for name, numbers in {**ALLOWED, **RESTRICTED, **GUARD_ONLY}.items()}
    blocks = {
        "clone": _none_of_bits(0, _CLONE_NEW),
        "clone3": _refuse(_ENOSYS),  # its flags are in memory, where no filter sees them; libraries fall back
        "fcntl": _one_of(1, _FCNTL),
        "ioctl": _one_of(1, _IOCTL),
        "prlimit64": _one_of(0, [0]),
        "socketpair": _one_of(0, [_AF_UNIX]),
        "sendto": _zero(4),  # the address
        "mmap": _no_shared_memory(),
        "close_range": _one_of(2, _CLOSE_RANGE),
        "getsockopt": _one_of(2, _GETSOCKOPT),
    }
    if read_only:
        blocks.update(open=_none_of_bits(1, _WRITING), openat=_none_of_bits(2, _WRITING))
    program = _op(_LOAD, _ARCH) + _op(_JEQ, arch, 1, 0) + _end(_KILL_PROCESS) + _op(_LOAD, _NR)
    program += _op(_JGE, _X32_BIT, 0, 1) + _refuse(_ENOSYS)
    program += b"".join(_when(number[name], block) for name, block in blocks.items())
    for first, last in _ranges(n for name, n in number.items() if n is not None and name not in blocks):
        program += _op(_JGE, first, 0, 2) + _op(_JGE, last + 1, 1, 0) + _end(_ALLOW)
    return program + _op(_JGE, _FIRST_NEW_CALL, 0, 1) + _refuse(_ENOSYS) + _refuse()


def program_filter(machine: str) -> bytes:
    """What a child gives up in addition.

    Args:
        machine: As uname says, a key of `MACHINES`.

    Returns:
        A program in which the process id is yet to be filled in, at `pid_slots`.
    """
    column, _ = MACHINES[machine]
    pid = _ANY_PID
    number = {name: numbers[column] for name, numbers in {**RESTRICTED, **GUARD_ONLY}.items()}
    program = _op(_LOAD, _NR)
    for name in GUARD_ONLY:
        program += _when(number[name], _refuse())
    program += _when(number["clone"], _a_thread())
    program += _when(number["setrlimit"], _not_cpu_limit(0, None)) + _when(number["prlimit64"], _not_cpu_limit(1, 2))
    program += _when(number["prctl"], _one_of(0, _PRCTL))
    program += _when(number["kill"], _own_signal(pid, 1)) + _when(number["tgkill"], _own_signal(pid, 2))
    return program + _end(_ALLOW)


def pid_slots(program: bytes) -> list[int]:
    """Where in a program of `program_filter` the process id stands that signals may be sent to."""
    wanted = struct.pack("I", _ANY_PID)
    return [i for i in range(4, len(program), 8) if program[i : i + 4] == wanted]


def _ranges(numbers: Iterable[int]) -> list[tuple[int, int]]:
    """Sorted numbers as (first, last) of each run without a gap."""
    ranges: list[tuple[int, int]] = []
    for number in sorted(numbers):
        if ranges and number == ranges[-1][1] + 1:
            ranges[-1] = (ranges[-1][0], number)
        else:
            ranges.append((number, number))
    return ranges
