# MEMORY_LIMIT or EXITED
# cpu_s: 3
# Maps 50 MiB, writes to it, gives all but one page back: pages of a shared map stay.  600 MiB at most.
import time
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
SIZE, held = 50 << 20, 0
for _ in range(12):
    area = libc.mmap(None, SIZE, 3, 1 | 0x20, -1, 0)
    if area in (None, 2**64 - 1):
        break
    ctypes.memset(area, 1, SIZE)
    libc.munmap(area + 4096, SIZE - 4096)
    held += SIZE
    assert held < 400 << 20, "more than the memory limit is held"
print("held")
