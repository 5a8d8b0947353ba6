# SIGNALED SIGSYS
# int 0x80 with the number of getpid there, from memory that is written and then run.
import mmap
area = mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=7)
area.write(bytes.fromhex("b814000000cd80c3"))  # mov eax, 20; int 0x80; ret
address = ctypes.addressof(ctypes.c_char.from_buffer(area))
print(ctypes.CFUNCTYPE(ctypes.c_int)(address)(), flush=True)
