# SIGNALED SIGSEGV
import faulthandler
for fd in range(3, 64):
    try:
        faulthandler.enable(fd)
    except (OSError, ValueError):
        pass
faulthandler.enable(2, all_threads=True)
ctypes.string_at(0)
