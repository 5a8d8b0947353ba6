# SIGNALED SIGSEGV or CPU_LIMIT
import signal
libc.signal.argtypes = [ctypes.c_int, ctypes.c_void_p]
handler = ctypes.CFUNCTYPE(None, ctypes.c_int)(lambda number: None)
libc.signal(11, 1)  # ignored: the kernel shall end it all the same
ctypes.string_at(0)
