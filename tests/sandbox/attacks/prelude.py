# What every planted program starts with.  `outside` names what the test made for it: nothing else may be a target.
import ctypes
import errno
import json
import os
import sys

outside = json.loads(sys.stdin.readline())
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
OWN = os.getpid()
REFUSALS = {errno.EPERM, errno.EACCES, errno.ENOSYS, errno.EROFS}


def call(number, *arguments):
    """A system call by its number."""
    ctypes.set_errno(0)
    result = libc.syscall(ctypes.c_long(number), *[ctypes.c_long(a) if isinstance(a, int) else a for a in arguments])
    if result == -1:
        raise OSError(ctypes.get_errno(), errno.errorcode.get(ctypes.get_errno()), f"system call {number}")
    return result


def refused(deed, *arguments, also=(), **keywords):
    """Do something that has to be refused; a process that this made after all ends at once."""
    try:
        result = deed(*arguments, **keywords)
    except OSError as error:
        assert error.errno in REFUSALS or error.errno in also, f"{deed} {arguments}: {error!r}"
        return
    if os.getpid() != OWN:
        os._exit(0)
    raise AssertionError(f"not refused: {deed} {arguments} gave {result!r}")
