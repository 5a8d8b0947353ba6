# MEMORY_LIMIT
import mmap
held = []
for _ in range(32):
    area = mmap.mmap(-1, 64 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    ctypes.memset(ctypes.addressof(ctypes.c_char.from_buffer(area)), 1, 64 << 20)
    held.append(area)
raise MemoryError
