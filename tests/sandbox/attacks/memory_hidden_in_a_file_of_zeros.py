# EXITED 1
# cpu_s: 3
# The same by way of /dev/zero, whose shared maps have pages of their own; it cannot be opened.
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
zero = os.open("/dev/zero", os.O_RDONLY)
SIZE, held = 50 << 20, 0
for _ in range(12):
    area = libc.mmap(None, SIZE, 1, 1, zero, 0)
    if area in (None, 2**64 - 1):
        break
    if libc.madvise(ctypes.c_void_p(area), ctypes.c_size_t(SIZE), 22) != 0:  # MADV_POPULATE_READ
        break
    libc.munmap(area + 4096, SIZE - 4096)
    held += SIZE
    assert held < 400 << 20, "more than the memory limit is held"
print("held")
