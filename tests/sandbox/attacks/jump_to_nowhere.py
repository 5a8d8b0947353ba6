# SIGNALED SIGSEGV
ctypes.CFUNCTYPE(ctypes.c_int)(0x10)()
