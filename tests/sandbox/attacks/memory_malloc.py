# MEMORY_LIMIT
libc.malloc.restype = ctypes.c_void_p
for _ in range(32):
    block = libc.malloc(ctypes.c_size_t(64 << 20))
    if not block:
        raise MemoryError
    ctypes.memset(block, 1, 64 << 20)
