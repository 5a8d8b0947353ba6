# EXITED
import fcntl, socket
ends = socket.socketpair()
fds = [0, 1, 2, ends[0].fileno(), *os.pipe()]
for fd in fds:
    for owner in (os.getppid(), 1, outside["sentinel"], -1):
        refused(fcntl.fcntl, fd, 8, owner)  # F_SETOWN
        refused(fcntl.fcntl, fd, 15, bytes(8))  # F_SETOWN_EX
        refused(call, 16, fd, 0x8901, ctypes.byref(ctypes.c_int(owner)))  # FIOSETOWN
        refused(call, 16, fd, 0x8902, ctypes.byref(ctypes.c_int(owner)))  # SIOCSPGRP
    refused(fcntl.fcntl, fd, 10, 9)  # F_SETSIG
    refused(fcntl.fcntl, fd, 1026, 1)  # F_NOTIFY
    refused(fcntl.fcntl, fd, 1024, 0)  # F_SETLEASE
    refused(fcntl.fcntl, fd, 1033, 0xF)  # F_ADD_SEALS
    refused(fcntl.fcntl, fd, 1031, 1 << 20)  # F_SETPIPE_SZ
    refused(call, 16, fd, 0x5452, ctypes.byref(ctypes.c_int(1)))  # FIOASYNC
    refused(call, 16, fd, 0x5412, ctypes.create_string_buffer(b"x"))  # TIOCSTI
print("held")
