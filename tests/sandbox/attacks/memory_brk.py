# MEMORY_LIMIT
libc.sbrk.restype = ctypes.c_void_p
for _ in range(32):
    block = libc.sbrk(ctypes.c_long(64 << 20))
    if block in (None, 2**64 - 1):
        raise MemoryError
    ctypes.memset(block, 1, 64 << 20)
