# MEMORY_LIMIT
# Two GiB at most, of which no limit on private data knows.
import mmap, time
held = []
try:
    for _ in range(32):
        area = mmap.mmap(-1, 64 << 20)
        ctypes.memset(ctypes.addressof(ctypes.c_char.from_buffer(area)), 1, 64 << 20)
        held.append(area)
except OSError:
    raise MemoryError
