"""Planted programs that attack the sandbox: each is held, and nothing outside is any different afterwards.

Every file in `attacks` is one program; it runs after `attacks/prelude.py` and is told what it may aim at, all of it
this test's own.  Its first line says how it has to end: one or more of `RunStatus`, with an exit code or a signal.  One
that ends by itself prints "held" after it has seen every attempt refused.  `# cpu_s: N` gives it more time.

Each is also checked for: a bystander untouched (`outside`), the next run of it ending as the first, the next program on
the same worker finding the interpreter as it was, worker and zygote the same as before.
Not covered: cheating for a reward (`test_reward_cheats`).
"""

from __future__ import annotations

import json
import os
import platform
import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from code_rlvr import Limits, RunResult, RunStatus
from code_rlvr.verifier.program import Program
from code_rlvr.verifier.sandbox import Sandbox
from tests.sandbox.outside import Bystander, untouched
from tests.sandbox.processes import NAMED, descendants

ATTACKS = Path(__file__).parent / "attacks"
PRELUDE = (ATTACKS / "prelude.py").read_text()
PROGRAMS = sorted(path for path in ATTACKS.glob("*.py") if path.name != "prelude.py")
LIMITS = Limits(cpu_s=0.5, wall_s=1.0, memory_mib=256, output_mib=1.0)

# Known holes, to be removed from here with the hole.
OPEN: dict[str, str] = {}

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="system calls by their numbers on x86_64")

# What a fresh program finds; the same after every attack.
CANARY = """
import builtins, gc, os, resource, signal, sys, threading
print(sorted(dir(builtins)), sorted(sys.modules), len(threading.enumerate()), sys.getrecursionlimit())
print([getattr(builtins, name) is not None for name in dir(builtins) if name != "None"].count(False))
print([resource.getrlimit(kind) for kind in range(16) if kind != resource.RLIMIT_CPU], resource.getrlimit(7)[0])
print([str(signal.getsignal(number)) for number in sorted(signal.valid_signals())], signal.pthread_sigmask(0, []))
print(dict(os.environ), sys.argv, sys.path, os.getcwd(), os.listdir("."), gc.isenabled(), gc.get_threshold())
print(input() * 2, open(0).read(), [fd for fd in range(100) if os.path.lexists(f"/proc/self/fd/{fd}")])
"""
NEIGHBOUR = (
    NAMED.format(name="neighbour")
    + """
import signal, sys, time
def leave(*_):
    print(secret)
    sys.exit(0)
secret = input()
signal.signal(signal.SIGUSR1, leave)
while True: time.sleep(100)
"""
)


@pytest.fixture(scope="module")
def bystander(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bystander]:
    home_file = Path.home() / f".planted-{os.getpid()}"
    bystander = Bystander(tmp_path_factory.mktemp("attacked"), home_file)
    yield bystander
    bystander.close()


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with pytest.MonkeyPatch.context() as environment, Sandbox() as sandbox:
        environment.setenv("PLANTED_KEY", "secret")
        if not {"pid", "seccomp"} <= {*sandbox.layers}:
            pytest.skip("without a process namespace of their own, planted programs could hit others")
        yield sandbox


@pytest.fixture(scope="module")
def neighbours(sandbox: Sandbox, bystander: Bystander) -> Iterator[list[int]]:
    """A program that runs on another worker all the while, and has to be right at the end; its process ids."""
    others = set(descendants())
    with Sandbox() as second, second.start(Program(NEIGHBOUR), Limits(cpu_s=50, wall_s=110)) as running:
        running.begin(f"neighbour-{bystander.token[::-1]}\n")
        while "neighbour" not in descendants().values():
            continue
        pids = sorted(set(descendants()) - others)
        yield pids
        (pid,) = [pid for pid, name in descendants().items() if name == "neighbour"]
        os.kill(pid, signal.SIGUSR1)
        result = running.finish()
        assert (result.status, result.exit_code) == (RunStatus.EXITED, 0)
        assert result.stdout.decode() == f"neighbour-{bystander.token[::-1]}\n"


def ran(sandbox: Sandbox, source: str, stdin: str, limits: Limits, *, times: int = 1) -> list[RunResult]:
    with sandbox.start(Program(source, PRELUDE if source is not CANARY else None), limits) as running:
        assert running.compile_error is None, running.compile_error
        return [running.run(stdin) for _ in range(times)]


@contextmanager
def same_worker(sandbox: Sandbox) -> Iterator[None]:
    """Meanwhile one worker serves everything, and every program finds there what the first one found."""
    (before,) = ran(sandbox, CANARY, "ab\n", LIMITS)
    assert before.exit_code == 0, before.stderr
    (worker,) = sandbox._idle
    yield
    assert sandbox._idle == [worker]
    (after,) = ran(sandbox, CANARY, "ab\n", LIMITS)
    assert (after.stdout, after.stderr, after.status) == (before.stdout, before.stderr, before.status)


def end_of(result: RunResult) -> str:
    if result.status is RunStatus.SIGNALED and result.signal is not None:
        return f"SIGNALED {signal.Signals(result.signal).name}"
    return (
        f"EXITED {result.exit_code}" if result.status is RunStatus.EXITED and result.exit_code else result.status.value
    )


def known(names: list[str]) -> list[object]:
    """Parameters, those with a known hole marked."""
    marks = {name: [pytest.mark.xfail(reason=OPEN[name], strict=True)] for name in names if name in OPEN}
    return [pytest.param(name, id=name, marks=marks.get(name, [])) for name in names]


@pytest.mark.parametrize("name", known([program.stem for program in PROGRAMS]))
def test_planted_program_is_held_and_touches_nothing(
    name: str, sandbox: Sandbox, bystander: Bystander, neighbours: list[int]
) -> None:
    source = (ATTACKS / f"{name}.py").read_text()
    ends = source.partition("\n")[0].removeprefix("# ").split(" or ")
    cpu_s = re.search(r"^# cpu_s: (\d+)$", source, re.MULTILINE)
    limits = Limits(cpu_s=float(cpu_s[1]), wall_s=8, memory_mib=256, output_mib=1.0) if cpu_s else LIMITS
    own = sorted(set(descendants()) - {bystander.process.pid} - {*neighbours})
    aims = {**bystander.address(), "pids": own, "neighbours": neighbours}
    with same_worker(sandbox), untouched(bystander):
        for result in ran(sandbox, source, json.dumps(aims) + "\n", limits, times=1 if "LIMIT" in ends[0] else 2):
            assert end_of(result) in ends, (end_of(result), result.stdout[-500:], result.stderr.decode()[-1500:])
            if result.status is RunStatus.EXITED and not result.exit_code:
                assert result.stdout == b"held\n"
                assert not result.stderr


def test_there_are_many_planted_programs() -> None:
    assert len(PROGRAMS) >= 60
    assert not set(OPEN) - {program.stem for program in PROGRAMS}


# Numbers on x86_64, with arguments that do no harm where nothing refuses them.
SYSCALLS: dict[str, tuple[int, ...]] = {
    "accept": (43, -1, 0, 0), "acct": (163, 1), "add_key": (248, 0, 0, 0, 0, -1), "adjtimex": (159, 0),
    "bind": (49, -1, 0, 0), "bpf": (321, 0, 0, 0), "cachestat": (451, -1, 0, 0, 0), "capget": (125, 0, 0),
    "capset": (126, 0, 0), "chmod": (90, 0, 0), "chown": (92, 0, 0, 0), "chroot": (161, 0),
    "clock_adjtime": (305, 0, 0), "clock_settime": (227, 0, 0), "connect": (42, -1, 0, 0),
    "copy_file_range": (326, -1, 0, -1, 0, 0, 0), "creat": (85, 0, 0), "delete_module": (176, 0, 0),
    "epoll_pwait2": (441, -1, 0, 0, 0, 0), "execve": (59, 0, 0, 0), "execveat": (322, -1, 0, 0, 0, 0),
    "fallocate": (285, -1, 0, 0, 1), "fanotify_init": (300, 0xFFFFFFFF, 0), "fchmod": (91, 1, 0o600),
    "fchown": (93, 1, 0, 0), "finit_module": (313, -1, 0, 0), "flock": (73, 1, 8), "fsconfig": (431, -1, 0, 0, 0, 0),
    "fsetxattr": (190, 1, 0, 0, 0, 0), "fsmount": (432, -1, 0, 0), "fsopen": (430, 0, 0), "fspick": (433, -1, 0, 0),
    "futex_waitv": (449, 0, 0, 0, 0, 0), "get_mempolicy": (239, 0, 0, 0, 0, 0), "get_robust_list": (274, 1, 0, 0),
    "init_module": (175, 0, 0, 0), "inotify_init1": (294, 0xFFFF), "io_setup": (206, 0, 0),
    "io_uring_enter": (426, -1, 0, 0, 0, 0), "io_uring_register": (427, -1, 0, 0, 0), "io_uring_setup": (425, 0, 0),
    "ioperm": (173, 0, 0, 0), "iopl": (172, 0), "ioprio_set": (251, 1, 0, 0), "kcmp": (312, 0, 0, 0, 0, 0),
    "kexec_load": (246, 0, 99, 0, 0xFFFF), "keyctl": (250, 0xFFFF), "landlock_create_ruleset": (444, 0, 0, 1),
    "landlock_restrict_self": (446, -1, 0), "link": (86, 0, 0), "listen": (50, -1, 0), "listmount": (458, 0, 0, 0, 0),
    "lsm_list_modules": (461, 0, 0, 0), "lsm_set_self_attr": (460, 0, 0, 0, 0), "map_shadow_stack": (453, 0, 0, 0),
    "mbind": (237, 0, 0, 0, 0, 0, 0), "membarrier_free_memfd": (319, 0, 0), "memfd_secret": (447, 0xFFFF),
    "migrate_pages": (256, 0, 0, 0, 0), "mkdir": (83, 0, 0), "mknod": (133, 0, 0, 0), "mlock": (149, 0, 0),
    "mlock2": (325, 0, 0, 0), "mlockall": (151, 0), "modify_ldt": (154, 0, 0, 0), "mount": (165, 0, 0, 0, 0, 0),
    "mount_setattr": (442, -1, 0, 0, 0, 0), "move_mount": (429, -1, 0, -1, 0, 0), "move_pages": (279, 0, 0, 0, 0, 0, 0),
    "mq_open": (240, 0, 0, 0, 0), "mseal": (462, 0, 0, 0), "msgget": (68, 0, 0),
    "name_to_handle_at": (303, -1, 0, 0, 0, 0), "nfsservctl": (180,), "open_by_handle_at": (304, -1, 0, 0),
    "open_tree": (428, -1, 0, 0), "openat2": (437, -100, 0, 0, 0), "perf_event_open": (298, 0, 0, -1, -1, 0),
    "personality": (135, 0xFFFFFFFF), "pidfd_getfd": (438, -1, 0, 0), "pidfd_send_signal": (424, -1, 0, 0, 0),
    "pivot_root": (155, 0, 0), "pkey_alloc": (330, 0, 0), "process_madvise": (440, -1, 0, 0, 0, 0),
    "process_mrelease": (448, -1, 0), "ptrace": (101, 0xFFFF, 0, 0, 0), "quotactl": (179, 0, 0, 0, 0),
    "quotactl_fd": (443, -1, 0, 0, 0), "reboot": (169, 0, 0, 0, 0), "recvmmsg": (299, -1, 0, 0, 0, 0),
    "recvmsg": (47, -1, 0, 0), "remap_file_pages": (216, 0, 0, 0, 0, 0), "rename": (82, 0, 0),
    "request_key": (249, 0, 0, 0, 0), "rmdir": (84, 0), "rt_sigqueueinfo": (129, 0, 0, 0),
    "sched_setaffinity": (203, 0, 0, 0), "sched_setattr": (314, 0, 0, 0), "sched_setparam": (142, 0, 0),
    "sched_setscheduler": (144, 0, 0, 0), "seccomp": (317, 1, 8, 0), "semget": (64, 0, 0, 0),
    "sendfile": (40, -1, -1, 0, 0), "sendmmsg": (307, -1, 0, 0, 0), "sendmsg": (46, -1, 0, 0),
    "set_mempolicy": (238, 0, 0, 0), "setdomainname": (171, 1, -1), "setfsuid": (122, -1), "setgid": (106, 65534),
    "setgroups": (116, 0, 0), "sethostname": (170, 1, -1), "setns": (308, -1, 0), "setpgid": (109, 0, 0),
    "setpriority": (141, 0, 0, 0), "setresuid": (117, -1, -1, -1), "setsid": (112,), "setsockopt": (54, -1, 0, 0, 0, 0),
    "settimeofday": (164, 1, 0), "setuid": (105, 65534), "setxattr": (188, 0, 0, 0, 0, 0), "shmat": (30, -1, 0, 0),
    "shmctl": (31, -1, 0, 0), "shmget": (29, 0, 0, 0), "signalfd4": (289, -1, 0, 8, 0), "socket": (41, -1, 0, 0),
    "splice": (275, -1, 0, -1, 0, 0, 0), "statmount": (457, 0, 0, 0, 0), "swapoff": (168, 0), "swapon": (167, 0, 0),
    "symlink": (88, 0, 0), "sync": (162,), "sysfs": (139, 9, 0, 0), "syslog": (103, 10, 0, 0),
    "tee": (276, -1, -1, 0, 0), "timer_create": (222, 0, 0, 0), "timerfd_create": (283, 99, 0),
    "tkill": (200, 0, 0), "truncate": (76, 0, 0), "umask": (95, 0o22), "umount2": (166, 0, 0), "unlink": (87, 0),
    "unshare": (272, 0), "userfaultfd": (323, 0xFFFF), "ustat": (136, 0, 0), "utimensat": (280, -100, 0, 0, 0),
    "vfork_by_clone": (56, 0x4111, 0, 0, 0, 0), "vmsplice": (278, -1, 0, 0, 0), "waitid": (247, 0, 0, 0, 0, 0),
}  # fmt: skip


@pytest.mark.parametrize("name", SYSCALLS)
def test_system_call_is_refused(name: str, sandbox: Sandbox, bystander: Bystander) -> None:
    source = f"refused(call, {', '.join(map(str, SYSCALLS[name]))})\nprint('held')"
    (result,) = ran(sandbox, source, json.dumps(bystander.address()) + "\n", LIMITS)
    assert (result.stdout, result.status, result.exit_code) == (b"held\n", RunStatus.EXITED, 0), result.stderr
